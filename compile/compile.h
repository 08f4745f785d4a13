// SPDX-License-Identifier: Apache-2.0
// The whole way from a float or quantized graph to a program file, without touching any file.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "compile/calibrate/samples.h"

namespace deuteron {

struct Compilation;     // compile/compilation.h
struct CompileOptions;  // compile/options.h
struct Target;          // targets/target.h

// `samples` may be empty for a quantized model. Errors are in `diagnostics`; then the result is
// empty.
std::optional<Compilation> compile(Graph graph, const Target& target, const Samples& samples,
                                   const CompileOptions& options, Diagnostics& diagnostics);

// The names that --skip-pass and --stop-after take, in order.
std::vector<std::string> pass_names();

}  // namespace deuteron
