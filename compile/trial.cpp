// SPDX-License-Identifier: Apache-2.0
#include "compile/trial.h"

#include <utility>

#include "compile/compilation.h"
#include "compile/pipeline.h"

namespace deuteron {

// What the user wants to look at is the compilation itself.
static CompileOptions quiet(CompileOptions options) {
  options.intermediates.clear();
  options.stop_after.clear();
  options.skip_passes.push_back("split-rows");
  return options;
}

Trial::Trial(const PassContext& pass, Graph trial_graph)
    : graph(std::move(trial_graph)),
      options(quiet(pass.options)),
      rewrites_left(*pass.rewrites_left),
      target_(pass.target),
      samples_(pass.samples) {
  result.forms = pass.result.forms;
  result.unit_order = pass.result.unit_order;
}

bool Trial::run(std::string_view from, std::string_view to) {
  PassContext own = context();
  return run_passes(own, from, to);
}

}  // namespace deuteron
