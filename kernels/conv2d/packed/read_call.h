// SPDX-License-Identifier: Apache-2.0
// What the calls of convolutions on packed weights have in common when they are checked at load:
// their first arguments.
#pragma once
#include "kernels/conv2d/packed/kernel.h"
#include "kernels/image/windows.h"
#include "kernels/linear/packed/limits.h"

namespace deuteron {

DEUTERON_FIELDS(PackedConv2dArgs, n, in_h, in_w, in_c, out_h, out_w, out_c, kernel_h, kernel_w,
                stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w, x_zero, y_zero,
                has_shifts, y_step, y_row)

enum {
  kPackedX,
  kPackedWeights,
  kPackedWindow,
  kPackedStride,
  kPackedPadding,
  kPackedDilation,
  kPackedXZero
};

// What a row begins with: the fields of its struct's PackedConv2dArgs, which it begins with.
#define DEUTERON_PACKED_WINDOW                                                                \
  input(Is::s8_image), input(Is::s8_bytes), list(Is::reach, DEUTERON_PACKED_FIELD(kernel_h)), \
      list(Is::reach, DEUTERON_PACKED_FIELD(stride_h)),                                       \
      list(Is::padding, DEUTERON_PACKED_FIELD(pad_h)),                                        \
      list(Is::reach, DEUTERON_PACKED_FIELD(dilation_h)),                                     \
      number(Is::step, DEUTERON_PACKED_FIELD(x_zero))
#define DEUTERON_PACKED_FIELD(name) field_at<offsetof(PackedConv2dArgs, name)>()

// Of packed_conv2d, and what has its arguments.
inline constexpr Argument kPackedRow[] = {DEUTERON_PACKED_WINDOW,
                                          number(Is::step, DEUTERON_PACKED_FIELD(y_zero)),
                                          scratch(Is::room), output(Is::s8_image)};

// `out`: where the result stands. Of what the row has filled the shapes are checked.
inline bool packed_window_fits(const Call& call, int out, PackedConv2dArgs& a, Status* why) {
  const Tensor& y = call.tensor(out);
  if (!read_images(call, out, &a.n, why)) return false;
  a.out_c = y.sizes[1];
  if (a.in_c < 1) return refuse(why, kPackedX, "must have a channel");
  if (y.numel > 0) set_dense_result(a);  // without elements its row may have more than 2^31 bytes
  return windows_fit(a, out, kPackedStride, a.in_c, a.kernel_h, why);
}

// Of the constant of packed weights, without shifts and with them.
struct PackedBytes {
  int64_t plain, with_shifts;
};
template <Packing p>
PackedBytes int8_bytes(const PackedConv2dArgs& a) {
  const int64_t bytes = packed_bytes(p, a.out_c, a.length());
  return {bytes, bytes + packed_shifts_bytes(p, a.out_c)};
}

// The elements of a window fit int32.
inline bool has_window(const PackedConv2dArgs& a) {
  return int64_t{a.kernel_h} * a.kernel_w <= INT32_MAX / a.in_c;
}

// The kernel that a call is of: packed_conv2d, packed_conv2d_shifts, whose filters have shifts, or
// packed_linear.
enum class PackedKind { any_shifts, all_shifts, behind_relu };

// Null where the kernel serves the windows of a call.
template <PackedKind kind>
const char* why_not_packed(const PackedConv2dArgs& a, Packing p) {
  if constexpr (kind == PackedKind::any_shifts) return why_not_packed_conv2d(a, p);
  if constexpr (kind == PackedKind::behind_relu) return why_not_packed_linear(a, p);
  return why_not_packed_windows(a, p);
}

// A call of a packed kernel, its row read, whose result stands at `out`. Without elements of it
// nothing behind its shapes is looked at. `bytes_of` is no argument: a call through a pointer would
// leave the stack without a bound (runtime/ports/stack.cmake).
template <Packing p, PackedBytes (*bytes_of)(const PackedConv2dArgs&) = int8_bytes<p>,
          PackedKind kind = PackedKind::any_shifts>
bool packed_call_fits(const Call& call, int out, PackedConv2dArgs& a, Status* why) {
  if (!packed_window_fits(call, out, a, why)) return false;
  if (call.tensor(out).numel == 0) return true;
  if (!has_window(a)) return refuse(why, kPackedWindow, "has too many elements");
  const int32_t given = call.tensor(kPackedWeights).numel;
  const PackedBytes bytes = bytes_of(a);
  a.has_shifts = kind == PackedKind::all_shifts || given == bytes.with_shifts;
  if (const char* words = why_not_packed<kind>(a, p)) return refuse(why, kPackedWeights, words);
  return given == (a.has_shifts ? bytes.with_shifts : bytes.plain) ||
         refuse(why, kPackedWeights, "must have the bytes that its packing takes");
}

}  // namespace deuteron
