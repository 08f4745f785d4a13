// SPDX-License-Identifier: Apache-2.0
// A convolution over time that sees no later step, and keeps its last steps for the next call.
#include <fmt/format.h>

#include "frontends/onnx/operators/compose.h"
#include "frontends/onnx/operators/import_table.h"
#include "frontends/onnx/operators/layers.h"
#include "frontends/onnx/operators/window.h"

namespace deuteron::onnx {

static void import_causal_convolution(Call& c) {
  const Operand x = c.operand(0), weight = c.operand(1), bias = c.has(2) ? c.operand(2) : Operand{};
  const std::string activation = c.text("activation", "none");
  c.require(activation == "none" || activation == "silu" || activation == "swish",
            "has an unknown activation", activation, "none, silu, swish", "onnx.causal.activation");
  const Shape s = c.shape(x), w = c.shape(weight);
  c.require(!c.ok() || (s.size() == 3 && w.size() == 3 && w[0] == s[1] && w[1] == 1),
            "has a weight that does not fit signals [n,c,l]", to_text(w),
            c.ok() && s.size() == 3 ? fmt::format("{},1,k", s[1]) : "3 axes", "onnx.causal.weight");
  if (!c.ok()) return;
  const i64 past = w[2] - 1;
  Operand seen = x;
  if (c.has(3) && past > 0) seen = joined(c, {c.operand(3), x}, 2, "seen");
  else if (past > 0) seen = padded(c, x, {past}, {0}, 0, "seen");
  c.require(!c.ok() || c.shape(seen)[2] == s[2] + past,
            "has a past of another length than its weight", c.ok() ? to_text(c.shape(seen)) : "",
            std::to_string(past), "onnx.causal.weight");
  const std::vector<i64> one{1};
  const Operand y =
      convolved_inside(c, seen, weight, bias, one, one, s[1], activation == "none" ? "" : "sums");
  c.result(0, activation == "none" ? y : c.torch("aten.silu.default", {{"self", y}}));
  if (!c.wants(1)) return;
  c.require(past > 0, "keeps no steps: its weight sees one", "0", "1", "onnx.slice.empty");
  if (c.ok()) c.result(1, sliced(c, seen, 2, s[2], s[2] + past, 1, "present"));
}

static constexpr ImportRow kCausalRows[] = {
    {"CausalConvWithState", import_causal_convolution},
};
ImportRows causal_rows() { return kCausalRows; }

}  // namespace deuteron::onnx
