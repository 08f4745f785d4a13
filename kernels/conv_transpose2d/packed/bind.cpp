// SPDX-License-Identifier: Apache-2.0
// deuteron::packed_conv_transpose2d: its arguments checked once, at load. docs/kernels.md
#include "kernels/common/kernels.h"
#include "kernels/conv_transpose2d/packed/kernel.h"
#include "kernels/dense/packed_call.h"
#include "runtime/instruction_set.h"

namespace deuteron {

DEUTERON_FIELDS(PackedConvTranspose2dArgs, n, in_h, in_w, in_c, out_h, out_w, out_c, kernel_h,
                kernel_w, stride_h, stride_w, pad_h, pad_w, x_zero, y_zero)
#if !defined(DEUTERON_MICROCONTROLLER)
template <>
inline constexpr std::string_view kKernelName<packed_conv_transpose2d_s8<Packing::mve_4x16>> =
    "packed_conv_transpose2d_s8<Packing::mve_4x16>";
template <>
inline constexpr std::string_view kKernelName<packed_conv_transpose2d_s8<Packing::dsp_4x4>> =
    "packed_conv_transpose2d_s8<Packing::dsp_4x4>";
#endif

namespace {

enum { kX, kPacked, kWindow, kStride, kPadding, kXZero, kYZero, kScratch, kOut };

Status read_shapes(const Call& call, PackedConvTranspose2dArgs& a) {
  const Tensor &x = call.tensor(kX), &y = call.tensor(kOut);
  if (const char* why = why_not_image(x)) return bad_argument(kX, why);
  if (const char* why = why_not_image(y)) return bad_argument(kOut, why);
  a.n = x.sizes[0], a.in_c = x.sizes[1], a.in_h = x.sizes[2], a.in_w = x.sizes[3];
  a.out_c = y.sizes[1], a.out_h = y.sizes[2], a.out_w = y.sizes[3];
  if (x.numel < 1) return bad_argument(kX, "must have elements");
  if (y.sizes[0] != a.n) return bad_argument(kOut, "must have the batch of the input");
  if (const char* why = read_pair(call, kWindow, 1, kMaxReach, &a.kernel_h, &a.kernel_w))
    return bad_argument(kWindow, why);
  if (const char* why = read_pair(call, kStride, 1, kMostPhases, &a.stride_h, &a.stride_w))
    return bad_argument(kStride, why);
  if (const char* why = read_pair(call, kPadding, 0, kMaxReach, &a.pad_h, &a.pad_w))
    return bad_argument(kPadding, why);
  if (!is_s8(call.integer(kXZero))) return bad_argument(kXZero, "must be -128..127");
  if (!is_s8(call.integer(kYZero))) return bad_argument(kYZero, "must be -128..127");
  a.x_zero = static_cast<int32_t>(call.integer(kXZero));
  a.y_zero = static_cast<int32_t>(call.integer(kYZero));
  return Status{};
}

template <Packing p>
Status prepare(Call& call, Prepared* prepared) {
  PackedConvTranspose2dArgs a{};
  if (Status s = read_shapes(call, a); !s.ok()) return s;
  const Tensor &packed = call.tensor(kPacked), &scratch = call.tensor(kScratch);
  if (call.tensor(kOut).numel == 0) return keep_nothing(prepared);
  if (const char* why = why_not_packed_conv_transpose2d(a, p)) return bad_argument(kPacked, why);
  if (const char* why = why_not_dense(packed, ScalarType::s8, 1)) return bad_argument(kPacked, why);
  if (!is_aligned(packed, 4)) return bad_argument(kPacked, "must be 4-aligned");
  if (packed.numel != packed_conv_transpose2d_bytes(a, p))
    return bad_argument(kPacked, "must have the bytes that its packing takes");
  if (scratch.type != ScalarType::u8) return bad_argument(kScratch, "must be bytes");
  if (scratch.numel < packed_conv_transpose2d_least_scratch_bytes(a, p))
    return bad_argument(kScratch, "must hold the windows");
  if (!is_aligned(scratch, 4)) return bad_argument(kScratch, "must be 4-aligned");
  const auto *x = static_cast<const int8_t*>(call.tensor(kX).data),
             *weights = static_cast<const int8_t*>(packed.data);
  auto* y = static_cast<int8_t*>(call.tensor(kOut).data);
  if constexpr (p == Packing::mve_4x16)
    if (is_for<Feature::mve>(call))
      return keep_for<Feature::mve, packed_conv_transpose2d_s8_mve>(call, prepared, a, x, weights,
                                                                    scratch.data, scratch.numel, y);
  if constexpr (p == Packing::dsp_4x4)
    if (is_for<Feature::dsp>(call))
      return keep_for<Feature::dsp, packed_conv_transpose2d_s8_dsp>(call, prepared, a, x, weights,
                                                                    scratch.data, scratch.numel, y);
  if constexpr (kIsMicrocontroller) return wrong_packing(kPacked, p);
  else return keep<packed_conv_transpose2d_s8<p>>(call, prepared, a, x, weights, y);
}

}  // namespace

const Kernel kPackedConvTranspose2dMve4x16 = {"deuteron::packed_conv_transpose2d.mve_4x16",
                                              "TTLLLIIXO", prepare<Packing::mve_4x16>};
const Kernel kPackedConvTranspose2dDsp4x4 = {"deuteron::packed_conv_transpose2d.dsp_4x4",
                                             "TTLLLIIXO", prepare<Packing::dsp_4x4>};

}  // namespace deuteron
