// SPDX-License-Identifier: Apache-2.0
// deuteron::conv2d_s8_s16: its arguments checked once, at load.
#include "kernels/common/kernels.h"
#include "kernels/common/row.h"
#include "kernels/conv2d/packed/read_call.h"
#include "kernels/conv2d/s8_s16/kernel.h"

namespace deuteron {

DEUTERON_FIELDS(Conv2dS8S16Args, layer, shift, y_min, y_max)

namespace {

using Args = Conv2dS8S16Args;
static_assert(offsetof(Args, layer) == 0, "the fields of the window");
constexpr Argument kRow[] = {DEUTERON_PACKED_WINDOW,
                             number(Is::bits_15, DEUTERON_FIELD(shift)),
                             number(Is::wide_step, DEUTERON_FIELD(y_min)),
                             number(Is::wide_step_max, DEUTERON_FIELD(y_max)),
                             scratch(Is::room),
                             output(Is::s16_image)};
static_assert(kS8S16MostShift == 15, "Is::bits_15");

Status prepare(Call& call, Prepared* prepared) {
  constexpr int kOut = last_of(kRow), kScratch = kOut - 1;
  Args a{};
  Status s = read_row(call, kRow, &a);
  if (!s.ok() || !packed_window_fits(call, kOut, a.layer, &s)) return s;
  const Tensor &packed = call.tensor(kPackedWeights), &scratch = call.tensor(kScratch);
  if (call.tensor(kOut).numel == 0) return keep_nothing(prepared);
  if (!has_window(a.layer)) return bad_argument(kPackedWindow, "has too many elements");
  if (const char* why = why_not_packed_conv2d(a.layer, Packing::mve_4x16))
    return bad_argument(kPackedWeights, why);
  if (packed.numel != packed_bytes(Packing::mve_4x16, a.layer.out_c, a.layer.length()))
    return bad_argument(kPackedWeights, "must have the bytes that its packing takes");
  if (scratch.numel < packed_conv2d_scratch_bytes(a.layer, Packing::mve_4x16))
    return bad_argument(kScratch, "must hold the windows");
  const auto* from = static_cast<const int8_t*>(call.tensor(kPackedX).data);
  const auto* weights = static_cast<const int8_t*>(packed.data);
  return keep_fastest<conv2d_s8_s16, conv2d_s8_s16_mve, conv2d_s8_s16_dsp>(
      call, prepared, a, from, weights, scratch.data,
      static_cast<int16_t*>(call.tensor(kOut).data));
}

}  // namespace

const Kernel kConv2dS8S16 = kernel_by<kRow>("deuteron::conv2d_s8_s16.out", prepare);

}  // namespace deuteron
