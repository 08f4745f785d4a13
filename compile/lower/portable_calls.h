// SPDX-License-Identifier: Apache-2.0
// Calls of the lowered program that compute in float, because no int8 kernel takes the operator.
#pragma once
#include <span>
#include <string_view>

#include "base/diagnostic.h"
#include "ir/graph.h"

namespace deuteron {

struct InFloat;
struct Target;

// Of the float tensors that a call on portable kernels reads and writes; 0 for a call of the
// dialects, which are int8 but for the edges.
i64 portable_float_bytes(const Graph& lowered, const Node& call);

// What runs in float, and what that costs: one warning for each of the user's operators, however
// many kernels it became. `macs`: of the whole program. `meant`: what is in float on purpose.
void warn_of_portable_calls(const Graph& lowered, i64 macs, const Target& target,
                            std::span<const InFloat> meant, Diagnostics& diagnostics);
// Null: it is not.
const char* why_in_float(std::span<const InFloat> meant, const Origin& origin);

// Of the dialect that only our runtime has: docs/kernels.md.
inline bool is_own_dialect(const KernelCall& call) { return call.name.starts_with("deuteron::"); }
// Nothing that stock firmware has computes as these do: with --dialect stock they are errors. The
// others then have another form.
inline bool has_no_stock_form(std::string_view kernel) {
  return kernel == "deuteron::lstm" || kernel == "deuteron::gru" || kernel == "deuteron::rnn" ||
         kernel.ends_with("_16x8");
}
inline bool is_of_dialect(const KernelCall& call) {
  return call.name.starts_with("cortex_m::") || is_own_dialect(call);
}

}  // namespace deuteron
