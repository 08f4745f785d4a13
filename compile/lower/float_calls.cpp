// SPDX-License-Identifier: Apache-2.0
// The float form of every operator that has one: a kernel of ATen, for the operators that int8 has
// no kernel for.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compile/lower/float_calls.h"
#include "ops/families.h"
#include "ops/kernel_call/host_call.h"
#include "ops/unary/functions.h"

namespace deuteron {
namespace {

using Answer = Result<Lowered>;

Refusal no_kernel(std::string_view name) {
  return {fmt::format("there is no portable kernel of {}", name), "", "", "portable.kernel"};
}

// [n,h,w,c] as torch's [n,c,h,w] that lies channels-last; everything else as it is stored.
Face face_of(const Type& t) { return elementwise_face(t.shape); }

Answer float_form(const Conv2d& a, const LowerContext& c) {
  if (a.pad_before != a.pad_after)
    return Refusal{"the portable convolution pads both sides alike",
                   to_text(Shape{a.pad_before.h, a.pad_before.w}),
                   to_text(Shape{a.pad_after.h, a.pad_after.w}), "portable.conv2d.pad"};
  CallBuilder call("aten::convolution", c.in.size(), 1);
  call.in(0, channels_last_face(c.in[0].shape)).in(1, channels_last_face(c.in[1].shape));
  if (c.in.size() > 2) call.in(2, plain_face(c.in[2].shape));
  else call.none();
  call.integers({a.stride.h, a.stride.w})
      .integers({a.pad_before.h, a.pad_before.w})
      .integers({a.dilation.h, a.dilation.w});
  call.boolean(false).integers({0, 0}).integer(a.groups).out(0, channels_last_face(c.out[0].shape));
  return call.done();
}

// A transposed convolution, which alone pads its result: the weight [oc,kh,kw,ic] as torch's
// [ic,oc,kh,kw]. With groups torch's is no other view of ours: their form has none.
template <class Transposed>
requires requires(const Transposed& a) { a.output_pad; }
Answer float_form(const Transposed& a, const LowerContext& c) {
  if (a.groups != 1) return no_kernel("a transposed convolution with groups and computed weights");
  const Shape& w = c.in[1].shape;
  CallBuilder call("aten::convolution", c.in.size(), 1);
  call.in(0, channels_last_face(c.in[0].shape)).in(1, {{w[3], w[0], w[1], w[2]}, {1, 2, 3, 0}});
  if (c.in.size() > 2) call.in(2, plain_face(c.in[2].shape));
  else call.none();
  call.integers({a.stride.h, a.stride.w})
      .integers({a.pad.h, a.pad.w})
      .integers({a.dilation.h, a.dilation.w});
  call.boolean(true)
      .integers({a.output_pad.h, a.output_pad.w})
      .integer(1)
      .out(0, channels_last_face(c.out[0].shape));
  return call.done();
}

// A 1x1 convolution over the rows.
Answer float_form(const Linear&, const LowerContext& c) {
  const Shape& w = c.in[1].shape;
  const i64 rows = c.in[0].elements() / w[1];
  CallBuilder call("aten::convolution", c.in.size(), 1);
  call.in(0, channels_last_face({1, rows, 1, w[1]})).in(1, channels_last_face({w[0], 1, 1, w[1]}));
  if (c.in.size() > 2) call.in(2, plain_face(c.in[2].shape));
  else call.none();
  call.integers({1, 1})
      .integers({0, 0})
      .integers({1, 1})
      .boolean(false)
      .integers({0, 0})
      .integer(1)
      .out(0, channels_last_face({1, rows, 1, w[0]}));
  return call.done();
}

// Broadcasting is by the storage order's axes, so the faces are plain.
Answer binary_call(const char* kernel, const LowerContext& c, std::optional<float> alpha) {
  CallBuilder call(kernel, c.in.size(), 1);
  call.in(0, plain_face(c.in[0].shape)).in(1, plain_face(c.in[1].shape));
  if (alpha && *alpha == std::floor(*alpha) && std::abs(*alpha) < 1000)
    call.integer(static_cast<i64>(*alpha));
  else if (alpha) call.real(*alpha);
  call.out(0, plain_face(c.out[0].shape));
  return call.done();
}
Answer float_form(const Add& a, const LowerContext& c) {
  return binary_call("aten::add", c, a.alpha);
}
Answer float_form(const Mul&, const LowerContext& c) {
  return binary_call("aten::mul", c, std::nullopt);
}
Answer float_form(const Div&, const LowerContext& c) {
  return binary_call("aten::div", c, std::nullopt);
}
Answer float_form(const Minimum&, const LowerContext& c) {
  return binary_call("aten::minimum", c, std::nullopt);
}
Answer float_form(const Maximum&, const LowerContext& c) {
  return binary_call("aten::maximum", c, std::nullopt);
}

Answer float_form(const MaxPool2d& a, const LowerContext& c) {
  CallBuilder call("aten::max_pool2d_with_indices", c.in.size(), 1);
  call.in(0, channels_last_face(c.in[0].shape))
      .integers({a.kernel.h, a.kernel.w})
      .integers({a.stride.h, a.stride.w});
  call.integers({a.pad.h, a.pad.w}).integers({a.dilation.h, a.dilation.w}).boolean(a.ceil_mode);
  call.out(0, channels_last_face(c.out[0].shape))
      .scratch({DType::s64, c.out[0].shape, {}},
               channels_last_face(c.out[0].shape));  // the indices
  return call.done();
}

Answer float_form(const Softmax& a, const LowerContext& c) {
  if (a.beta != 1)
    return Refusal{"the portable kernel has no factor", fmt::format("{:g}", a.beta), "1",
                   "portable.softmax.beta"};
  CallBuilder call("aten::_softmax", c.in.size(), 1);
  call.in(0, plain_face(c.in[0].shape))
      .integer(a.axis)
      .boolean(false)
      .out(0, plain_face(c.out[0].shape));
  return call.done();
}

Answer float_form(const Clamp& a, const LowerContext& c) {
  CallBuilder call("aten::clamp", c.in.size(), 1);
  call.in(0, face_of(c.in[0]));
  for (const float bound : {a.bounds.low, a.bounds.high}) {
    if (std::isinf(bound)) call.none();
    else call.real(bound);
  }
  call.out(0, face_of(c.out[0])).may_share(0, 0);
  return call.done();
}

Answer float_form(const Permute& a, const LowerContext& c) {
  CallBuilder call("aten::permute_copy", c.in.size(), 1);
  call.in(0, plain_face(c.in[0].shape)).integers(a.perm).out(0, plain_face(c.out[0].shape));
  return call.done();
}

// torch lists pairs (before, after) from the last axis on.
Answer float_form(const Pad& a, const LowerContext& c) {
  std::vector<i64> pairs;
  for (size_t k = a.before.size(); k-- > 0;) pairs.insert(pairs.end(), {a.before[k], a.after[k]});
  CallBuilder call("aten::constant_pad_nd", c.in.size(), 1);
  call.in(0, plain_face(c.in[0].shape))
      .integers(std::move(pairs))
      .real(a.value)
      .out(0, plain_face(c.out[0].shape));
  return call.done();
}

Answer float_form(const Expand& a, const LowerContext& c) {
  CallBuilder call("aten::expand_copy", c.in.size(), 1);
  call.in(0, plain_face(c.in[0].shape))
      .integers(a.shape)
      .boolean(false)
      .out(0, plain_face(c.out[0].shape));
  return call.done();
}

Answer float_form(const Reduce& a, const LowerContext& c) {
  static constexpr std::pair<const char*, const char*> kKernels[] = {{"aten::mean", "out"},
                                                                     {"aten::sum", "IntList_out"},
                                                                     {"aten::amax", "out"},
                                                                     {"aten::amin", "out"}};
  const bool keeps = c.out[0].rank() == c.in[0].rank();
  CallBuilder call(kKernels[a.fn].first, c.in.size(), 1);
  call.overload(kKernels[a.fn].second);
  call.in(0, plain_face(c.in[0].shape)).integers(a.axes).boolean(keeps);
  if (a.fn == Reduce::kMean || a.fn == Reduce::kSum) call.none();  // of the input's dtype
  call.out(0, plain_face(c.out[0].shape));
  return call.done();
}

Answer float_form(const Resize2d& a, const LowerContext& c) {
  if (a.mode != Resize2d::kBilinear || (!a.align_corners && !a.half_pixel))
    return no_kernel("resize2d with these positions");
  CallBuilder call("aten::upsample_bilinear2d", c.in.size(), 1);
  call.overload("vec_out")
      .in(0, channels_last_face(c.in[0].shape))
      .integers({a.size.h, a.size.w})
      .boolean(a.align_corners)
      .none();
  call.out(0, channels_last_face(c.out[0].shape));
  return call.done();
}

// The functions that ATen has a kernel for.
Answer float_form(const Unary& a, const LowerContext& c) {
  const AtenKernel& kernel = row_of(a.fn).aten;
  if (kernel.name) {
    CallBuilder call(kernel.name, c.in.size(), 1);
    call.overload(kernel.overload).in(0, face_of(c.in[0]));
    if (kernel.arguments != AtenArguments::none) call.real(a.alpha);
    if (kernel.arguments == AtenArguments::alpha_1_1) call.integer(1).integer(1);
    call.out(0, face_of(c.out[0]));
    return call.done();
  }
  return no_kernel(name_of(a.fn));
}

// Of the functions above, or of one that the operator's own header declares.
template <class T>
concept HasFloatForm = requires(const T& op, const LowerContext& c) {
  float_form(op, c);
};

}  // namespace

Result<Lowered> float_call(const Op& op, const LowerContext& c) {
  if (has_bounds_beside(op))
    return Refusal{"portable kernels have no bounds", "", "", "portable.bounds"};
  Answer answer = std::visit(
      [&]<class T>(const T& o) -> Answer {
        if constexpr (HasFloatForm<T>) return float_form(o, c);
        else return no_kernel(name_of(op));
      },
      op);
  if (!answer) return answer;
  // With the constants and the scratch that the call adds, the runtime must take it.
  std::vector<const Type*> in, out;
  for (size_t k = 0; k < c.in.size(); ++k) in.push_back(&c.in[k]);
  for (const NewConstant& constant : answer.value->constants) in.push_back(&constant.type);
  for (size_t k = 0; k < c.out.size(); ++k) out.push_back(&c.out[k]);
  for (const Type& t : answer.value->scratch) out.push_back(&t);
  if (const auto fault = fault_of_call(answer.value->call, TypeView(in), TypeView(out)))
    return Refusal{
        fmt::format("the portable kernel {} does not take it: {}", answer.value->call.name, *fault),
        "", "", "portable.call"};
  return answer;
}

}  // namespace deuteron
