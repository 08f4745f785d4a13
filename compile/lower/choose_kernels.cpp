// SPDX-License-Identifier: Apache-2.0
// Brings int8 operators to the forms that the dialect has a kernel for.
#include "compile/pass.h"
#include "compile/quantize/recurrent.h"
#include "ir/rewrite/broadcast_rules.h"
#include "ir/rewrite/forms.h"
#include "ir/rewrite/fuse_rules.h"
#include "ir/rewrite/kernel_forms.h"
#include "ir/rewrite/view_rules.h"
#include "targets/target.h"

namespace deuteron {

void choose_kernels(PassContext& pass) {
  std::vector<Rule> rules(view_rules().begin(), view_rules().end());
  rules.insert(rules.end(), fuse_rules().begin(), fuse_rules().end());
  rules.insert(rules.end(), recurrent_rules().begin(), recurrent_rules().end());
  rules.insert(rules.end(), {kLinearToConv, kLinearToMatmul});
  if (pass.target.options.is_for_stock()) rules.push_back(bilinear_in_float);
  rules.push_back(kernel_form({pass.target.isa, pass.target.npu.has_value(), pass.target.cmsis_nn,
                               pass.target.options.is_for_stock()}));
  rules.insert(rules.end(), broadcast_rules().begin(), broadcast_rules().end());
  rewrite(pass.graph, rules, pass.rules());
  static constexpr Rule kLast[] = {last_form};
  rewrite(pass.graph, kLast, pass.rules());
}

}  // namespace deuteron
