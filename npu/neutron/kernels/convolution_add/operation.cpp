// SPDX-License-Identifier: Apache-2.0
#include "npu/neutron/kernels/convolution/operation.h"
#include "npu/neutron/converter/fuse.h"
#include "npu/neutron/converter/scales.h"
#include "npu/neutron/kernels/convolution/lower.h"
#include "npu/neutron/kernels/convolution_add/cost.h"
#include "npu/neutron/kernels/pairwise/operation.h"

namespace deuteron::neutron {
namespace {

// A convolution whose results are added to a fourth operand. The operation's own parameters and
// bounds are the convolution's.
struct ConvolutionAdd {
  Window window;
  Quant middle, sum;  // the convolution's results as the addition reads them; the result
  i32 low = -128, high = 127;
};

// conv2d -> add   becomes   one operation, which adds its results as they leave. Of two
// convolutions it is the later one: its other operand is there before it begins, and nothing is
// kept longer than before. Refused when somebody else reads the middle, when an operand is repeated
// or constant.
bool fuse(Model& m, const TensorUses& uses, Operation& s) {
  if (s.def != &pairwise_operation || s.as<Pairwise>().fn != PairFn::add) return false;
  const auto maker = [&](size_t operand) { return uses.producer[s.inputs[operand]]; };
  const size_t later = maker(0) > maker(1) ? 0 : 1;
  const TensorId middle = s.inputs[later], other = s.inputs[1 - later];
  if (maker(later) < 0 || !uses.read_once(middle) || m.is_constant(other)) return false;
  Operation& conv = m.operations[maker(later)];
  const Shape& shape = m.type(middle).shape;
  if (conv.def != &convolution_operation || m.type(other).shape != shape ||
      m.type(s.output).shape != shape)
    return false;
  conv.attributes =
      ConvolutionAdd{conv.as<Convolution>().window, m.type(middle).quant, s.y, s.low, s.high};
  conv.def = &convolution_add_operation;
  conv.inputs.push_back(other);
  conv.output = s.output;
  join_origins(conv, s);
  s.output = kNoTensor;
  return true;
}

// Of a convolution and an Add, each a kernel.
i64 cycles_apart(const Machine& m, const ConvAddCall& c) {
  const i64 results = i64{c.conv.n} * c.conv.out_h * c.conv.out_w * c.conv.out_c;
  return cost_of(m, method_of(c), c.conv).total() +
         cycles::element_wise(m, results, 3 * results).total();
}

Fault lower(Lowering& l, const Operation& s) {
  const auto& a = s.as<ConvolutionAdd>();
  const TensorId other = s.inputs[3];
  ConvAddCall c{};
  DEUTERON_TRY(fill_convolution(l, s, a.window, "conv2d", c.conv));
  const Kind method = kind_of_convolution(l.machine(), a.window, c.conv);
  DEUTERON_TRY(locate_operands(l, s, method, l.weights(s.inputs[1]), "conv2d", c.conv));
  const auto f = pair_multipliers(PairFn::add, a.middle, l.type(other).quant, a.sum,
                                  Rounding::tflite, kScaleRule);
  if (!f) return l.bad_scale("pairwise");
  l.locate(c.other, other);
  c.method = static_cast<i32>(method), c.other_pitch = l.word(l.pitch(other)),
  c.left_shift = f->left_shift;
  c.x_zero = a.middle.zero_point[0], c.x_multiplier = f->x.value, c.x_shift = f->x.shift;
  c.other_zero = l.type(other).quant.zero_point[0], c.other_multiplier = f->other.value,
  c.other_shift = f->other.shift;
  c.sum_zero = a.sum.zero_point[0], c.sum_multiplier = f->y.value, c.sum_shift = f->y.shift;
  c.sum_min = a.low, c.sum_max = a.high;
  l.push_assumed(Kind::kConv2DAdd, c, cycles_apart(l.machine(), c));
  return std::nullopt;
}

}  // namespace

const OperationDef convolution_add_operation = {
    .tflite = {},
    .fusing = {.is_identity = never_identity,
               .ending = requantized_ending,
               .only_moves = false,
               .as_function = no_function,
               .fold = nullptr,
               .fuse = fuse},
    .placing = kWithGaps,
    .lower = lower,
};

}  // namespace deuteron::neutron
