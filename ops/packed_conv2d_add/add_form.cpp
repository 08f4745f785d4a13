// SPDX-License-Identifier: Apache-2.0
#include "ops/packed_conv2d_add/add_form.h"

#include <cstdlib>

#include "ops/packed_conv2d/packed_args.h"
#include "ops/packed_conv2d_add/kernel.h"

namespace deuteron {

// Arguments of the addition.
enum { kFirstOperand, kSecondOperand, kFirstFactor, kSecondFactor, kFirst };

Result<Lowered> with_addition(const KernelCall& convolution, const KernelCall& addition, bool is_first) {
  using enum PackedArg;
  PackedConv2dArgs a = packed_args_of(convolution.args);
  const Packing p = packing_of(convolution.overload);
  const bool all_shifts = convolution.name == "deuteron::packed_conv2d_shifts";
  a.has_shifts = !all_shifts && numel(arg_of(convolution.args, packed).face.sizes) != packed_bytes(p, a.out_c, a.length());
  if (const char* why = why_not_packed_conv2d_add(a)) return Refusal{std::string("the convolution ") + why, "", "", ""};
  // The call with shifts has the bits behind the point of linear_add.q21, the other one those of linear_add.
  const bool is_q21 = addition.overload == "q21";
  if (is_q21 && !all_shifts) return Refusal{"the addition has 21 bits behind the point", "", "", ""};
  const i64 scale = all_shifts && !is_q21 ? 2 : 1;
  const auto number = [&](int arg) { return addition.args[arg].integer * scale; };
  const i64 reach = 128 * (std::abs(number(kFirstFactor)) + std::abs(number(kSecondFactor))) + std::abs(number(kFirst));
  if (scale != 1 && reach > INT32_MAX) return Refusal{"a sum of the addition would wrap", "", "", ""};
  CallBuilder call(all_shifts ? "deuteron::packed_conv2d_add_shifts" : "deuteron::packed_conv2d_add", 3, 1);
  const auto of = [&](PackedArg arg) -> const KernelArg& { return arg_of(convolution.args, arg); };
  call.overload(convolution.overload).in(0, of(x).face).in(1, of(packed).face);
  for (const PackedArg list : {window, stride, padding, dilation}) call.integers(of(list).integers);
  call.integer(of(x_zero).integer).integer(of(y_zero).integer).in(2, of(out).face);
  call.integer(number(is_first ? kFirstFactor : kSecondFactor));
  call.integer(number(is_first ? kSecondFactor : kFirstFactor)).integer(number(kFirst));
  const i64 most = packed_conv2d_add_scratch_bytes(a, p);
  call.scratch(most, {packed_conv2d_add_least_scratch_bytes(a, p), most}).out(0, of(out).face).may_share(0, 2);
  Lowered lowered = call.done();
  lowered.call.macs = convolution.macs;
  return lowered;
}

}  // namespace deuteron
