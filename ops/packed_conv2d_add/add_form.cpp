#include "ops/packed_conv2d_add/add_form.h"

#include "ops/packed_conv2d_add/kernel.h"

namespace deuteron {
namespace {

// Arguments of the two calls.
enum { kX, kPacked, kWindow, kStride, kPadding, kDilation, kXZero, kYZero, kScratch, kOut };
enum { kFirstOperand, kSecondOperand, kFirstFactor, kSecondFactor, kFirst };

i32 narrow(i64 v) { return static_cast<i32>(v); }  // prepare() of the plain call bounds all of them

PackedConv2dArgs args_of(const KernelCall& call) {
  const Shape &x = call.args[kX].face.sizes, &y = call.args[kOut].face.sizes;
  const auto pair = [&](int arg, int k) { return narrow(call.args[arg].integers[k]); };
  PackedConv2dArgs a{};
  a.n = narrow(x[0]), a.in_c = narrow(x[1]), a.in_h = narrow(x[2]), a.in_w = narrow(x[3]);
  a.out_c = narrow(y[1]), a.out_h = narrow(y[2]), a.out_w = narrow(y[3]);
  a.kernel_h = pair(kWindow, 0), a.kernel_w = pair(kWindow, 1), a.stride_h = pair(kStride, 0), a.stride_w = pair(kStride, 1);
  a.pad_h = pair(kPadding, 0), a.pad_w = pair(kPadding, 1), a.dilation_h = pair(kDilation, 0), a.dilation_w = pair(kDilation, 1);
  set_dense_result(a);
  return a;
}

std::optional<Packing> packing_of(std::string_view overload) {
#define DEUTERON_PACKING(name, set) \
  if (overload == #name) return Packing::name;
  DEUTERON_PACKINGS(DEUTERON_PACKING)
#undef DEUTERON_PACKING
  return std::nullopt;
}

}  // namespace

Result<Lowered> with_addition(const KernelCall& convolution, const KernelCall& addition, bool is_first) {
  const PackedConv2dArgs a = args_of(convolution);
  const std::optional<Packing> p = packing_of(convolution.overload);
  DEUTERON_CHECK(p.has_value(), convolution.overload);
  if (const char* why = why_not_packed_conv2d_add(a)) return Refusal{std::string("the convolution ") + why, "", "", ""};
  CallBuilder call("deuteron::packed_conv2d_add", 3, 1);
  const auto& args = convolution.args;
  call.overload(convolution.overload).in(0, args[kX].face).in(1, args[kPacked].face);
  for (const int list : {kWindow, kStride, kPadding, kDilation}) call.integers(args[list].integers);
  call.integer(args[kXZero].integer).integer(args[kYZero].integer).in(2, args[kOut].face);
  call.integer(addition.args[is_first ? kFirstFactor : kSecondFactor].integer);
  call.integer(addition.args[is_first ? kSecondFactor : kFirstFactor].integer).integer(addition.args[kFirst].integer);
  const i64 most = packed_conv2d_add_scratch_bytes(a, *p);
  call.scratch(most, {packed_conv2d_add_least_scratch_bytes(a, *p), most}).out(0, args[kOut].face).may_share(0, 2);
  Lowered lowered = call.done();
  lowered.call.macs = convolution.macs;
  return lowered;
}

}  // namespace deuteron
