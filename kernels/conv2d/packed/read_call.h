// SPDX-License-Identifier: Apache-2.0
// What the calls of convolutions on packed weights have in common when they are checked at load:
// their first arguments.
#pragma once
#include "kernels/common/prepare.h"
#include "kernels/conv2d/packed/kernel.h"
#include "kernels/image/window.h"
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

// `out`: where the result stands; it and x are images. What is not an argument of all calls is left
// as it is.
inline Status read_packed_window(const Call& call, int out, PackedConv2dArgs& a) {
  const Tensor &x = call.tensor(kPackedX), &y = call.tensor(out);
  a.n = x.sizes[0], a.in_c = x.sizes[1], a.in_h = x.sizes[2], a.in_w = x.sizes[3];
  a.out_c = y.sizes[1], a.out_h = y.sizes[2], a.out_w = y.sizes[3];
  if (a.in_c < 1) return bad_argument(kPackedX, "must have a channel");
  if (y.sizes[0] != a.n) return bad_argument(out, "must have the batch of the input");
  if (const char* why = read_pair(call, kPackedWindow, 1, kMaxReach, &a.kernel_h, &a.kernel_w))
    return bad_argument(kPackedWindow, why);
  if (const char* why = read_pair(call, kPackedStride, 1, kMaxReach, &a.stride_h, &a.stride_w))
    return bad_argument(kPackedStride, why);
  if (const char* why = read_pair(call, kPackedPadding, 0, kMaxReach, &a.pad_h, &a.pad_w))
    return bad_argument(kPackedPadding, why);
  if (const char* why =
          read_pair(call, kPackedDilation, 1, kMaxReach, &a.dilation_h, &a.dilation_w))
    return bad_argument(kPackedDilation, why);
  if (!is_s8(call.integer(kPackedXZero))) return bad_argument(kPackedXZero, "must be -128..127");
  a.x_zero = static_cast<int32_t>(call.integer(kPackedXZero));
  if (y.numel > 0) set_dense_result(a);  // without elements its row may have more than 2^31 bytes
  if (const char* why =
          why_not_window(a.in_h, a.out_h, a.kernel_h, a.stride_h, a.pad_h, a.dilation_h))
    return bad_argument(out, why);
  if (const char* why =
          why_not_window(a.in_w, a.out_w, a.kernel_w, a.stride_w, a.pad_w, a.dilation_w))
    return bad_argument(out, why);
  if (const char* why = why_not_steps(a, a.in_c, a.kernel_h))
    return bad_argument(kPackedStride, why);
  return Status{};
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

// Null where the weights are those of a call whose shapes are known.
template <Packing p, PackedKind kind>
const char* why_not_packed_weights(const PackedConv2dArgs& a, const void* packed, int64_t bytes,
                                   int64_t needed) {
  if (reinterpret_cast<uintptr_t>(packed) % 4 != 0) return "must be 4-aligned";
  if (const char* why = why_not_packed<kind>(a, p)) return why;
  return bytes == needed ? nullptr : "must have the bytes that its packing takes";
}

// A call of a packed kernel whose y_zero, scratch and result stand there. Without elements of the
// result nothing behind its shapes is read. `bytes_of` is no argument: a call through a pointer
// would leave the stack without a bound (runtime/ports/stack.cmake).
template <Packing p, PackedBytes (*bytes_of)(const PackedConv2dArgs&) = int8_bytes<p>,
          PackedKind kind = PackedKind::any_shifts>
Status read_packed_call(Call& call, int y_zero, int scratch, int out, PackedConv2dArgs& a) {
  if (const char* why = why_not_image(call.tensor(kPackedX))) return bad_argument(kPackedX, why);
  if (const char* why = why_not_image(call.tensor(out))) return bad_argument(out, why);
  if (Status s = read_packed_window(call, out, a); !s.ok()) return s;
  if (!is_s8(call.integer(y_zero))) return bad_argument(y_zero, "must be -128..127");
  a.y_zero = static_cast<int32_t>(call.integer(y_zero));
  if (call.tensor(out).numel == 0) return Status{};
  if (!has_window(a)) return bad_argument(kPackedWindow, "has too many elements");
  const Tensor &packed = call.tensor(kPackedWeights), &room = call.tensor(scratch);
  if (const char* why = why_not_dense(packed, ScalarType::s8, 1))
    return bad_argument(kPackedWeights, why);
  const PackedBytes bytes = bytes_of(a);
  a.has_shifts = kind == PackedKind::all_shifts || packed.numel == bytes.with_shifts;
  if (const char* why = why_not_packed_weights<p, kind>(
          a, packed.data, packed.numel, a.has_shifts ? bytes.with_shifts : bytes.plain))
    return bad_argument(kPackedWeights, why);
  if (room.type != ScalarType::u8) return bad_argument(scratch, "must be bytes");
  if (!is_aligned(room, 4)) return bad_argument(scratch, "must be 4-aligned");
  return Status{};
}

}  // namespace deuteron
