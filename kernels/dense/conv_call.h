// SPDX-License-Identifier: Apache-2.0
// What prepare() of the three convolutions has in common. Their Args name the same things alike,
// and their rows have the same begin and the same numbers.
#pragma once
#include "kernels/common/row.h"

namespace deuteron {

enum { kX, kWeight, kBias, kStride, kPadding };
#define DEUTERON_CONV_IMAGE                                      \
  input(Is::s8_image), input(Is::s8_filters), optional_tensor(), \
      list(Is::reach, DEUTERON_FIELD(stride_h)), list(Is::padding, DEUTERON_FIELD(pad_h))
// x_offset, y_zero, multipliers, shifts, y_min, y_max.
#define DEUTERON_CONV_NUMBERS                                                             \
  number(Is::offset, DEUTERON_FIELD(x_offset)), number(Is::step, DEUTERON_FIELD(y_zero)), \
      input(Is::any), input(Is::any), number(Is::step, DEUTERON_FIELD(y_min)),            \
      number(Is::step_max, DEUTERON_FIELD(y_max))

template <class Args>
struct ConvCall {
  Args args;
  const int8_t *x, *weight;
  const int32_t* bias;
  int8_t* y;
  void* scratch;
  int32_t scratch_bytes;
};
template <auto kernel, class Args>
Status keep_plain(Call& call, Prepared* prepared, const ConvCall<Args>& c) {
  return keep_linked<kernel>(call, prepared, c.args, c.x, c.weight, c.bias, c.y);
}
// For kernels of an instruction set.
template <Feature f, auto kernel, class Args>
Status keep_plain_for(Call& call, Prepared* prepared, const ConvCall<Args>& c) {
  if constexpr (is_linked<kernel>())
    return keep_for<f, kernel>(call, prepared, c.args, c.x, c.weight, c.bias, c.y);
  else return lacks_form();
}
template <Feature f, auto kernel, class Args>
Status keep_in_scratch_for(Call& call, Prepared* prepared, const ConvCall<Args>& c) {
  if constexpr (is_linked<kernel>())
    return keep_for<f, kernel>(call, prepared, c.args, c.x, c.weight, c.bias, c.scratch,
                               c.scratch_bytes, c.y);
  else return lacks_form();
}

// Checks what there is for each output channel and keeps the call. `choose` keeps it for the kernel
// that serves it.
template <class Args, Status (*choose)(Call&, Prepared*, const ConvCall<Args>&)>
Status keep_conv(Call& call, Prepared* prepared, int x_offset, int scratch, int y, Args a) {
  constexpr int x = kX, weight = kWeight, bias = kBias;
  const int multipliers = x_offset + 2, shifts = x_offset + 3;
  const Tensor* sums = call.optional_tensor(bias);
  if (sums != nullptr)
    if (const char* why = why_not_channel_sums(*sums, a.out_c)) return bad_argument(bias, why);
  if (const char* why = why_not_multipliers(call.tensor(multipliers), a.out_c))
    return bad_argument(multipliers, why);
  if (const char* why = why_not_shifts(call.tensor(shifts), a.out_c))
    return bad_argument(shifts, why);
  if (call.tensor(y).numel == 0) return keep_nothing(prepared);
  a.multiplier = static_cast<const int32_t*>(call.tensor(multipliers).data);
  a.shift = static_cast<const int32_t*>(call.tensor(shifts).data);
  const Tensor& room = call.tensor(scratch);
  return choose(call, prepared,
                {a, static_cast<const int8_t*>(call.tensor(x).data),
                 static_cast<const int8_t*>(call.tensor(weight).data),
                 sums ? static_cast<const int32_t*>(sums->data) : nullptr,
                 static_cast<int8_t*>(call.tensor(y).data), room.data,
                 room.numel * static_cast<int32_t>(element_bytes(room.type))});
}

}  // namespace deuteron
