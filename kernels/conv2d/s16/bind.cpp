// SPDX-License-Identifier: Apache-2.0
// deuteron::conv2d_s16: its arguments checked once, at load.
#include "kernels/common/kernels.h"
#include "kernels/common/row.h"
#include "kernels/conv2d/s16/kernel.h"
#include "kernels/image/windows.h"

namespace deuteron {

DEUTERON_FIELDS(Conv2dS16Args, n, in_h, in_w, in_c, out_h, out_w, out_c, kernel_h, kernel_w,
                stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w, y_min, y_max)

namespace {

enum { kX, kPacked, kWindow, kStride };
using Args = Conv2dS16Args;
constexpr Argument kRow[] = {input(Is::s16_words),
                             input(Is::s8_bytes),
                             list(Is::reach_s16, DEUTERON_FIELD(kernel_h)),
                             list(Is::reach, DEUTERON_FIELD(stride_h)),
                             list(Is::padding, DEUTERON_FIELD(pad_h)),
                             list(Is::reach, DEUTERON_FIELD(dilation_h)),
                             number(Is::wide_step, DEUTERON_FIELD(y_min)),
                             number(Is::wide_step_max, DEUTERON_FIELD(y_max)),
                             scratch(Is::room),
                             output(Is::s16_image)};
static_assert(kS16MostLength == 1 << 15, "Is::reach_s16");

Status prepare(Call& call, Prepared* prepared) {
  constexpr int kOut = last_of(kRow), kScratch = kOut - 1;
  const Tensor &y = call.tensor(kOut), &packed = call.tensor(kPacked),
               &scratch = call.tensor(kScratch);
  Args a{};
  Status s = read_row(call, kRow, &a);
  if (!s.ok() || !read_images(call, kOut, &a.n, &s)) return s;
  a.out_c = y.sizes[1];
  if (a.in_c < 1) return bad_argument(kX, "must have a channel");
  if (!windows_fit(a, kOut, kStride, a.in_c, a.kernel_h, &s)) return s;
  if (y.numel == 0) return keep_nothing(prepared);
  if (a.in_c >= kS16MostLength || int64_t{a.kernel_h} * a.in_c + 1 > kS16MostLength / a.kernel_w)
    return bad_argument(kWindow, "has more than 2^15 elements");
  if (packed.numel != packed_s16_bytes(a.out_c, a.length()))
    return bad_argument(kPacked, "must have the bytes that its packing takes");
  if (scratch.numel < conv2d_s16_scratch_bytes(a))
    return bad_argument(kScratch, "must hold the columns of its windows");
  const auto* from = static_cast<const int16_t*>(call.tensor(kX).data);
  const auto* weights = static_cast<const int8_t*>(packed.data);
  return keep_fastest<conv2d_s16, conv2d_s16_mve, conv2d_s16_dsp>(
      call, prepared, a, from, weights, scratch.data, static_cast<int16_t*>(y.data));
}

}  // namespace

const Kernel kConv2dS16 = kernel_by<kRow>("deuteron::conv2d_s16.out", prepare);

}  // namespace deuteron
