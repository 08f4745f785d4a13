// SPDX-License-Identifier: Apache-2.0
// deuteron::conv2d_s16: its arguments checked once, at load.
#include "kernels/common/kernels.h"
#include "kernels/common/prepare_window_s16.h"
#include "kernels/conv2d/s16/kernel.h"
#include "runtime/instruction_set.h"

namespace deuteron {

DEUTERON_FIELDS(Conv2dS16Args, n, in_h, in_w, in_c, out_h, out_w, out_c, kernel_h, kernel_w,
                stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w, y_min, y_max)

namespace {

enum { kX, kPacked, kWindow, kStride, kPadding, kDilation, kYMin, kYMax, kScratch, kOut };

Status prepare(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(kX), &y = call.tensor(kOut), &packed = call.tensor(kPacked),
               &scratch = call.tensor(kScratch);
  if (const char* why = why_not_image_s16(x)) return bad_argument(kX, why);
  if (const char* why = why_not_image_s16(y)) return bad_argument(kOut, why);
  if (!is_aligned(x, 4)) return bad_argument(kX, "must be 4-aligned");
  Conv2dS16Args a{};
  a.n = x.sizes[0], a.in_c = x.sizes[1], a.in_h = x.sizes[2], a.in_w = x.sizes[3];
  a.out_c = y.sizes[1], a.out_h = y.sizes[2], a.out_w = y.sizes[3];
  if (a.in_c < 1) return bad_argument(kX, "must have a channel");
  if (y.sizes[0] != a.n) return bad_argument(kOut, "must have the batch of the input");
  if (const char* why = read_pair(call, kWindow, 1, kS16MostLength, &a.kernel_h, &a.kernel_w))
    return bad_argument(kWindow, why);
  if (Status s = read_window_s16(call, kStride, kOut, a.in_c, a.kernel_h, a); !s.ok()) return s;
  if (y.numel == 0) return keep_nothing(prepared);
  if (a.in_c >= kS16MostLength || int64_t{a.kernel_h} * a.in_c + 1 > kS16MostLength / a.kernel_w)
    return bad_argument(kWindow, "has more than 2^15 elements");
  if (const char* why = why_not_dense(packed, ScalarType::s8, 1)) return bad_argument(kPacked, why);
  if (!is_aligned(packed, 4)) return bad_argument(kPacked, "must be 4-aligned");
  if (packed.numel != packed_s16_bytes(a.out_c, a.length()))
    return bad_argument(kPacked, "must have the bytes that its packing takes");
  if (scratch.type != ScalarType::u8) return bad_argument(kScratch, "must be bytes");
  if (scratch.numel < conv2d_s16_scratch_bytes(a))
    return bad_argument(kScratch, "must hold the columns of its windows");
  if (!is_aligned(scratch, 4)) return bad_argument(kScratch, "must be 4-aligned");
  const auto* from = static_cast<const int16_t*>(x.data);
  const auto* weights = static_cast<const int8_t*>(packed.data);
  auto* to = static_cast<int16_t*>(y.data);
  return keep_fastest<conv2d_s16, conv2d_s16_mve, conv2d_s16_dsp>(call, prepared, a, from, weights,
                                                                  scratch.data, to);
}

}  // namespace

const Kernel kConv2dS16 = {"deuteron::conv2d_s16.out", "TTLLLLIIXO", prepare};

}  // namespace deuteron
