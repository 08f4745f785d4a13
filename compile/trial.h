// SPDX-License-Identifier: Apache-2.0
// A part of the pipeline on a graph of its own, of which the user hears nothing: what would come of
// it.
#pragma once
#include <string>
#include <string_view>

#include "compile/compilation.h"
#include "compile/options.h"
#include "compile/pass.h"

namespace deuteron {

class Trial {
 public:
  // As `pass` compiles, with as many rewrites as it has left, but without bands of rows: these come
  // where the memory is too small, and then cost on both sides.
  Trial(const PassContext& pass, Graph trial_graph);

  // A pass alone, or a function that does as one.
  PassContext context() {
    return {graph, target_, samples_, options, result, diagnostics, &rewrites_left};
  }
  // False when a pass reported an error.
  bool run(std::string_view from, std::string_view to);

  Graph graph;
  CompileOptions options;
  Compilation result;
  Diagnostics diagnostics;
  i64 rewrites_left;

 private:
  const Target& target_;
  const Samples& samples_;
};

}  // namespace deuteron
