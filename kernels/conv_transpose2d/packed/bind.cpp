// SPDX-License-Identifier: Apache-2.0
// deuteron::packed_conv_transpose2d: its arguments checked once, at load. docs/kernels.md
#include "kernels/common/kernels.h"
#include "kernels/conv_transpose2d/packed/kernel.h"
#include "kernels/dense/packed_call.h"
#include "kernels/image/windows.h"
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

enum { kX, kPacked };
using Args = PackedConvTranspose2dArgs;
constexpr Argument kRow[] = {input(Is::s8_image),
                             input(Is::s8_bytes),
                             list(Is::reach, DEUTERON_FIELD(kernel_h)),
                             list(Is::phases, DEUTERON_FIELD(stride_h)),
                             list(Is::padding, DEUTERON_FIELD(pad_h)),
                             number(Is::step, DEUTERON_FIELD(x_zero)),
                             number(Is::step, DEUTERON_FIELD(y_zero)),
                             scratch(Is::room),
                             output(Is::s8_image)};
constexpr int kOut = last_of(kRow), kScratch = kOut - 1;
static_assert(kMostPhases == 8, "Is::phases");

template <Packing p>
Status prepare(Call& call, Prepared* prepared) {
  PackedConvTranspose2dArgs a{};
  const Tensor &packed = call.tensor(kPacked), &scratch = call.tensor(kScratch);
  Status s = read_row(call, kRow, &a);
  if (!s.ok() || !read_images(call, kOut, &a.n, &s)) return s;
  a.out_c = call.tensor(kOut).sizes[1];
  if (call.tensor(kX).numel < 1) return bad_argument(kX, "must have elements");
  if (call.tensor(kOut).numel == 0) return keep_nothing(prepared);
  if (const char* why = why_not_packed_conv_transpose2d(a, p)) return bad_argument(kPacked, why);
  if (packed.numel != packed_conv_transpose2d_bytes(a, p))
    return bad_argument(kPacked, "must have the bytes that its packing takes");
  if (scratch.numel < packed_conv_transpose2d_least_scratch_bytes(a, p))
    return bad_argument(kScratch, "must hold the windows");
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

const Kernel kPackedConvTranspose2dMve4x16 =
    kernel_by<kRow>("deuteron::packed_conv_transpose2d.mve_4x16", prepare<Packing::mve_4x16>);
const Kernel kPackedConvTranspose2dDsp4x4 =
    kernel_by<kRow>("deuteron::packed_conv_transpose2d.dsp_4x4", prepare<Packing::dsp_4x4>);

}  // namespace deuteron
