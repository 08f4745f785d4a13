// SPDX-License-Identifier: Apache-2.0
// Puts operators into one another, so that fewer are left: bounds, padding, factors and
// element-wise functions.
#include <span>
#include <vector>

#include "compile/options.h"
#include "compile/pass.h"
#include "compile/place/choose_forms.h"
#include "ir/rewrite/affine_rules.h"
#include "ir/rewrite/forms.h"
#include "ir/rewrite/fuse_rules.h"
#include "ir/rewrite/pointwise_rules.h"
#include "ir/rewrite/reduce_rules.h"
#include "ir/rewrite/view_rules.h"
#include "targets/target.h"

namespace deuteron {

static void fuse_with(PassContext& pass, std::span<const Rule> last_rules) {
  std::vector<Rule> rules(view_rules().begin(), view_rules().end());
  rules.insert(rules.end(), fuse_rules().begin(), fuse_rules().end());
  rules.push_back(fold_affine_into_layer);
  rules.insert(rules.end(), pointwise_rules().begin(), pointwise_rules().end());
  rules.insert(rules.end(), last_rules.begin(), last_rules.end());
  rewrite(pass.graph, rules, pass.rules());
}

static std::optional<Patch> in_parts_unless_exact(const Graph& g, const Uses& uses, NodeId root,
                                                  const RuleContext& context) {
  return keeps_exact_form(context, g.nodes[root]) ? std::nullopt : in_parts(g, uses, root);
}

// Where a convolution pools its results itself, as the NPU's do, a pool stays one, unless that
// costs accuracy.
static std::optional<Patch> pool_to_mean_beside(const Graph& g, const Uses& uses, NodeId root,
                                                const RuleContext& context) {
  const bool is_exact = keeps_exact_form(context, g.nodes[root]);
  return is_exact ? pool_to_mean(g, uses, root) : pool_to_mean_beside_npu(g, uses, root);
}

// What only our own kernels have whole: the NPU and stock firmware take the int8 operators that it
// is made of. A quantized model has no parameters for these; npu_forms finds some where there is no
// CPU.
void fuse(PassContext& pass) {
  static constexpr Rule kRules[] = {in_parts_unless_exact};
  const bool quantized = is_quantized(pass.graph);
  const bool whole = pass.target.npu ? quantized && (!pass.target.options.is_for_stock() ||
                                                     !pass.target.has_backend("cortex_m"))
                                     : !pass.target.options.is_for_stock();
  fuse_with(pass, whole ? std::span<const Rule>() : kRules);
}

// Our runtime has int8 sums with a scale of their own; int16 is pooled.
static bool has_sums(const PassContext& pass) {
  return !pass.target.options.is_for_stock() && !has_int16(pass.options);
}

void fuse_again(PassContext& pass) {
  static const Rule kRules[] = {scale_to_depthwise, kReduceByLayers},
                    kBesideNpu[] = {scale_to_depthwise, pool_to_mean_beside, kReduceUnlessInt8},
                    kWithSums[] = {scale_to_depthwise, pool_to_mean, kReduceUnlessInt8};
  static const Rule kAsTflite[] = {
      kReduceUnlessInt8};  // its means are rounded once, and its products stay products
  if (pass.graph.numerics == Numerics::tflite) fuse_with(pass, kAsTflite);
  else if (pass.target.npu) fuse_with(pass, kBesideNpu);
  else fuse_with(pass, has_sums(pass) ? std::span<const Rule>(kWithSums) : kRules);
}

}  // namespace deuteron
