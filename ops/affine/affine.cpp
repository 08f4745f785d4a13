// SPDX-License-Identifier: Apache-2.0
#include "ops/affine/affine.h"

#include "ops/op.h"

namespace deuteron {

static Result<std::vector<Type>> infer(const Affine& a, TypeView in) {
  const bool reads_steps =
      in.size() == 3 && in[0].dtype == DType::s8 && !in[0].quant.empty() && a.quant.empty();
  if (in.size() != 3 || (in[0].dtype != DType::f32 && !reads_steps))
    return Refusal{"affine takes x, shift and factor; x is float, or int8 steps of a float result",
                   std::to_string(in.size()), "3", "affine.operands"};
  const i64 channels = in[2].elements();
  const bool fits = in[1].dtype == DType::f32 && in[2].dtype == DType::f32 &&
                    in[1].shape == in[2].shape && in[2].rank() == 1 && channels > 0 &&
                    in[0].elements() % channels == 0;
  if (!fits)
    return Refusal{"shift and factor must be float, with one element for each channel",
                   to_text(in[1].shape), to_text(in[2].shape), "affine.channels"};
  if (a.quant.empty()) return std::vector<Type>{{DType::f32, in[0].shape, {}}};
  return std::vector<Type>{{DType::s8, in[0].shape, a.quant}};
}

// What is added and multiplied in the kernel, which counts in steps on the side that is int8.
static Result<Lowered> deuteron_call(const Affine& a, const LowerContext& c) {
  const Type &x = c.in[0], &y = c.out[0];
  const bool makes_steps = !a.quant.empty();
  if (makes_steps == (x.dtype != DType::f32) || !c.data[1] || !c.data[2])
    return Refusal{"one side of an affine call is int8, and the other float", "", "",
                   "affine.operands"};
  const Quant& steps = makes_steps ? y.quant : x.quant;
  const double scale = steps.scale[0], zero = steps.zero_point[0];
  std::vector<float> shift, factor;
  const std::span<const float> shifts = c.data[1]->as<float>(), factors = c.data[2]->as<float>();
  for (size_t k = 0; k < factors.size(); ++k) {
    shift.push_back(static_cast<float>(makes_steps ? double{shifts[k]} : shifts[k] / scale - zero));
    factor.push_back(static_cast<float>(makes_steps ? factors[k] / scale : factors[k] * scale));
  }
  const Shape channels{static_cast<i64>(factor.size())};
  CallBuilder call(makes_steps ? "deuteron::quantize_channels" : "deuteron::dequantize_channels",
                   c.in.size(), 1);
  call.in(0, elementwise_face(x.shape))
      .constant(DType::f32, channels, std::move(shift))
      .constant(DType::f32, channels, std::move(factor));
  if (makes_steps) call.integer(steps.zero_point[0]).integer(steps.low).integer(steps.high);
  call.out(0, elementwise_face(y.shape));
  if (makes_steps) call.may_share(0, 0);
  return call.done();
}

static OpFacts facts_of(const Affine&) { return facts(Family::by_channel); }
static std::vector<Example<Affine>> examples() {
  return {{"a row", {}, {{1, 7}, {7}, {7}}}, {"an image", {}, {{1, 5, 3, 7}, {7}, {7}}}};
}

const OpDef<Affine>& def_of(const Affine&) {
  static constexpr OpDef<Affine> d{
      .name = "affine",
      .infer = infer,
      .quantize = {},
      .macs = no_macs,
      .execute = execute,
      .cortex_m = deuteron_call,
      .npu = not_on_npu<Affine>("the CPU makes floats and takes them"),
      .facts = facts_of,
      .axes = kNoAxisRules<Affine>,
      .view = nullptr,
      .forms = {.simpler = nullptr, .kernel = nullptr, .last = nullptr, .portable = portable_form},
      .examples = examples,
      .function = nullptr};
  return d;
}

}  // namespace deuteron
