// SPDX-License-Identifier: Apache-2.0
// What prepare() of the three convolutions has in common. Their Args name the same things alike,
// and their argument lists have, from `x_offset` on: x_offset, y_zero, multipliers, shifts, y_min,
// y_max.
#pragma once
#include "kernels/common/prepare.h"

namespace deuteron {

// Extents of x and y, both images that have been checked.
template <class Args>
void read_extents(const Tensor& x, const Tensor& y, Args& a) {
  a.n = x.sizes[0], a.in_c = x.sizes[1], a.in_h = x.sizes[2], a.in_w = x.sizes[3];
  a.out_c = y.sizes[1], a.out_h = y.sizes[2], a.out_w = y.sizes[3];
}

// The numbers that are neither shapes nor tensors, but for windows.
template <class Args>
Status read_offsets(const Call& call, int x_offset, Args& a) {
  const int y_zero = x_offset + 1, y_min = x_offset + 4, y_max = x_offset + 5;
  if (!lies_in(call.integer(x_offset), -255, 255))
    return bad_argument(x_offset, "must be -255..255");
  if (!is_s8(call.integer(y_zero))) return bad_argument(y_zero, "must be -128..127");
  if (!is_s8(call.integer(y_min))) return bad_argument(y_min, "must be -128..127");
  if (!lies_in(call.integer(y_max), call.integer(y_min), 127))
    return bad_argument(y_max, "must be activation_min..127");
  a.x_offset = static_cast<int32_t>(call.integer(x_offset));
  a.y_zero = static_cast<int32_t>(call.integer(y_zero));
  a.y_min = static_cast<int32_t>(call.integer(y_min));
  a.y_max = static_cast<int32_t>(call.integer(y_max));
  return Status{};
}

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
Status keep_conv(Call& call, Prepared* prepared, int x, int weight, int bias, int x_offset,
                 int scratch, int y, Args a) {
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
