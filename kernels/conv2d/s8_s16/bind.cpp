// SPDX-License-Identifier: Apache-2.0
// deuteron::conv2d_s8_s16: its arguments checked once, at load.
#include "kernels/common/kernels.h"
#include "kernels/common/prepare_s16.h"
#include "kernels/conv2d/packed/read_call.h"
#include "kernels/conv2d/s8_s16/kernel.h"
#include "runtime/instruction_set.h"

namespace deuteron {

DEUTERON_FIELDS(Conv2dS8S16Args, layer, shift, y_min, y_max)

namespace {

enum { kX = kPackedX, kPacked, kShift = kPackedXZero + 1, kYMin, kYMax, kScratch, kOut };

Status prepare(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(kX), &y = call.tensor(kOut), &packed = call.tensor(kPacked),
               &scratch = call.tensor(kScratch);
  if (const char* why = why_not_image(x)) return bad_argument(kX, why);
  if (const char* why = why_not_image_s16(y)) return bad_argument(kOut, why);
  Conv2dS8S16Args a{};
  if (Status s = read_packed_window(call, kOut, a.layer); !s.ok()) return s;
  if (!lies_in(call.integer(kShift), 0, kS8S16MostShift))
    return bad_argument(kShift, "must be 0..15");
  a.shift = static_cast<int32_t>(call.integer(kShift));
  if (Status s = read_bounds_s16(call, kYMin, &a.y_min, &a.y_max); !s.ok()) return s;
  if (y.numel == 0) return keep_nothing(prepared);
  if (int64_t{a.layer.kernel_h} * a.layer.kernel_w > INT32_MAX / a.layer.in_c)
    return bad_argument(kPackedWindow, "has too many elements");
  if (const char* why = why_not_packed_conv2d(a.layer, Packing::mve_4x16))
    return bad_argument(kPacked, why);
  if (const char* why = why_not_dense(packed, ScalarType::s8, 1)) return bad_argument(kPacked, why);
  if (!is_aligned(packed, 4)) return bad_argument(kPacked, "must be 4-aligned");
  if (packed.numel != packed_bytes(Packing::mve_4x16, a.layer.out_c, a.layer.length()))
    return bad_argument(kPacked, "must have the bytes that its packing takes");
  if (scratch.type != ScalarType::u8) return bad_argument(kScratch, "must be bytes");
  if (scratch.numel < packed_conv2d_scratch_bytes(a.layer, Packing::mve_4x16))
    return bad_argument(kScratch, "must hold the windows");
  if (!is_aligned(scratch, 4)) return bad_argument(kScratch, "must be 4-aligned");
  const auto* from = static_cast<const int8_t*>(x.data);
  const auto* weights = static_cast<const int8_t*>(packed.data);
  auto* to = static_cast<int16_t*>(y.data);
  return keep_fastest<conv2d_s8_s16, conv2d_s8_s16_mve, conv2d_s8_s16_dsp>(
      call, prepared, a, from, weights, scratch.data, to);
}

}  // namespace

const Kernel kConv2dS8S16 = {"deuteron::conv2d_s8_s16.out", "TTLLLLIIIIXO", prepare};

}  // namespace deuteron
