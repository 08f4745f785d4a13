// What the calls of convolutions on packed weights have in common when they are checked at load: their first arguments.
#pragma once
#include "ops/device/prepare.h"
#include "ops/image/window.h"
#include "ops/packed_conv2d/kernel.h"

namespace deuteron {

DEUTERON_FIELDS(PackedConv2dArgs, n, in_h, in_w, in_c, out_h, out_w, out_c, kernel_h, kernel_w, stride_h, stride_w, pad_h, pad_w,
                dilation_h, dilation_w, x_zero, y_zero, has_shifts, y_step, y_row)

enum { kPackedX, kPackedWeights, kPackedWindow, kPackedStride, kPackedPadding, kPackedDilation, kPackedXZero };

// `out`: where the result stands; it and x are images. What is not an argument of all calls is left as it is.
inline Status read_packed_window(const Call& call, int out, PackedConv2dArgs& a) {
  const Tensor &x = call.tensor(kPackedX), &y = call.tensor(out);
  a.n = x.sizes[0], a.in_c = x.sizes[1], a.in_h = x.sizes[2], a.in_w = x.sizes[3];
  a.out_c = y.sizes[1], a.out_h = y.sizes[2], a.out_w = y.sizes[3];
  if (a.in_c < 1) return bad_argument(kPackedX, "must have a channel");
  if (y.sizes[0] != a.n) return bad_argument(out, "must have the batch of the input");
  if (const char* why = read_pair(call, kPackedWindow, 1, kMaxReach, &a.kernel_h, &a.kernel_w)) return bad_argument(kPackedWindow, why);
  if (const char* why = read_pair(call, kPackedStride, 1, kMaxReach, &a.stride_h, &a.stride_w)) return bad_argument(kPackedStride, why);
  if (const char* why = read_pair(call, kPackedPadding, 0, kMaxReach, &a.pad_h, &a.pad_w)) return bad_argument(kPackedPadding, why);
  if (const char* why = read_pair(call, kPackedDilation, 1, kMaxReach, &a.dilation_h, &a.dilation_w))
    return bad_argument(kPackedDilation, why);
  if (!is_s8(call.integer(kPackedXZero))) return bad_argument(kPackedXZero, "must be -128..127");
  a.x_zero = static_cast<int32_t>(call.integer(kPackedXZero));
  if (y.numel > 0) set_dense_result(a);  // without elements its row may have more than 2^31 bytes
  if (const char* why = why_not_window(a.in_h, a.out_h, a.kernel_h, a.stride_h, a.pad_h, a.dilation_h)) return bad_argument(out, why);
  if (const char* why = why_not_window(a.in_w, a.out_w, a.kernel_w, a.stride_w, a.pad_w, a.dilation_w)) return bad_argument(out, why);
  if (const char* why = why_not_steps(a, a.in_c, a.kernel_h)) return bad_argument(kPackedStride, why);
  return Status{};
}

// Of the constant of packed weights, without shifts and with them.
struct PackedBytes {
  int64_t plain, with_shifts;
};
template <Packing p>
PackedBytes int8_bytes(const PackedConv2dArgs& a) {
  const int64_t bytes = packed_bytes(p, a.out_c, a.length());
  return {bytes, bytes + packed_shifts_bytes(a.out_c)};
}

// A call of a packed kernel whose y_zero, scratch and result stand there. Without elements of the result nothing behind its shapes is read.
template <Packing p>
Status read_packed_call(Call& call, int y_zero, int scratch, int out, PackedConv2dArgs& a,
                        PackedBytes (*bytes_of)(const PackedConv2dArgs&) = int8_bytes<p>) {
  if (const char* why = why_not_image(call.tensor(kPackedX))) return bad_argument(kPackedX, why);
  if (const char* why = why_not_image(call.tensor(out))) return bad_argument(out, why);
  if (Status s = read_packed_window(call, out, a); !s.ok()) return s;
  if (!is_s8(call.integer(y_zero))) return bad_argument(y_zero, "must be -128..127");
  a.y_zero = static_cast<int32_t>(call.integer(y_zero));
  if (call.tensor(out).numel == 0) return Status{};
  if (int64_t{a.kernel_h} * a.kernel_w > INT32_MAX / a.in_c) return bad_argument(kPackedWindow, "has too many elements");
  const Tensor &packed = call.tensor(kPackedWeights), &room = call.tensor(scratch);
  if (const char* why = why_not_dense(packed, ScalarType::s8, 1)) return bad_argument(kPackedWeights, why);
  if (!is_aligned(packed, 4)) return bad_argument(kPackedWeights, "must be 4-aligned");
  const PackedBytes bytes = bytes_of(a);
  a.has_shifts = packed.numel == bytes.with_shifts;
  if (const char* why = why_not_packed_conv2d(a, p)) return bad_argument(kPackedWeights, why);
  if (packed.numel != bytes.plain && !a.has_shifts) return bad_argument(kPackedWeights, "must have the bytes that its packing takes");
  if (room.type != ScalarType::u8) return bad_argument(scratch, "must be bytes");
  if (!is_aligned(room, 4)) return bad_argument(scratch, "must be 4-aligned");
  return Status{};
}

}  // namespace deuteron
