// SPDX-License-Identifier: Apache-2.0
#include "ops/conv2d/packed_call.h"

#include "kernels/conv2d/packed_add/kernel.h"
#include "kernels/conv2d/packed_w4/kernel.h"

namespace deuteron {

using PackedForm = PackedDense::Form;

std::string_view name_of(Packing p) {
#define DEUTERON_PACKING(name, set) \
  if (p == Packing::name) return #name;
  DEUTERON_PACKINGS(DEUTERON_PACKING)
#undef DEUTERON_PACKING
  DEUTERON_CHECK(false);
}

static const char* name_of(const PackedDense& n) {
  switch (n.form) {
    case PackedForm::plain:
      return n.addition ? "deuteron::packed_conv2d_add" : "deuteron::packed_conv2d";
    case PackedForm::all_shifts:
      return n.addition ? "deuteron::packed_conv2d_add_shifts" : "deuteron::packed_conv2d_shifts";
    case PackedForm::behind_relu:
      return "deuteron::packed_linear";
    case PackedForm::four_bits:
      return "deuteron::packed_conv2d_w4";
  }
  DEUTERON_CHECK(false);
}

static OwnScratch scratch_of(const PackedDense& n) {
  const PackedConv2dArgs& a = n.a;
  const Packing p = n.packing;
  if (n.addition)
    return {packed_conv2d_add_least_scratch_bytes(a, p), packed_conv2d_add_scratch_bytes(a, p)};
  if (n.form == PackedForm::four_bits)
    return {packed_conv2d_w4_least_scratch_bytes(a, p), packed_conv2d_w4_scratch_bytes(a, p)};
  return {packed_conv2d_least_scratch_bytes(a, p), packed_conv2d_scratch_bytes(a, p)};
}

Lowered packed_call(PackedDense n, size_t operands, std::optional<std::vector<int8_t>> weights) {
  const PackedConv2dArgs& a = n.a;
  const Face y = channels_last_face({a.n, a.out_h, a.out_w, a.out_c});
  if (weights) n.weights_bytes = static_cast<i64>(weights->size());
  CallBuilder call(name_of(n), operands, 1);
  call.overload(std::string(name_of(n.packing)))
      .in(0, channels_last_face({a.n, a.in_h, a.in_w, a.in_c}));
  if (weights) call.constant(DType::s8, {n.weights_bytes}, *std::move(weights));
  else call.in(1, plain_face({n.weights_bytes}));
  call.integers({a.kernel_h, a.kernel_w})
      .integers({a.stride_h, a.stride_w})
      .integers({a.pad_h, a.pad_w});
  call.integers({a.dilation_h, a.dilation_w}).integer(a.x_zero).integer(a.y_zero);
  if (n.addition) {
    const LinearAddArgs& sum = n.addition->args;
    call.in(2, y)
        .integer(sum.x_factor)
        .integer(sum.other_factor)
        .integer(sum.first)
        .may_share(0, 2);
  }
  const OwnScratch scratch = scratch_of(n);
  return call.scratch(scratch.most, scratch).out(0, y).numbers(n).done();
}

i32 windows_together(const PackedDense& n, i64 scratch_bytes) {
  if (n.packing != Packing::mve_4x16) return 0;
  i64 bytes = scratch_bytes;
  if (n.addition) bytes = packed_conv2d_scratch_bytes(n.a, n.packing);  // behind the rows
  if (n.form == PackedForm::four_bits)
    bytes = packed_conv2d_w4_room(n.a, n.packing, static_cast<i32>(scratch_bytes)).behind;
  return packed_conv2d_mve_meets(n.a, static_cast<i32>(bytes));
}

}  // namespace deuteron
