// deuteron::resize2d_s16: its arguments and every position of its tables checked once, at load.
#include "ops/device/kernels.h"
#include "ops/device/prepare_s16.h"
#include "ops/resize2d/prepare.h"
#include "ops/resize2d_s16/kernel.h"

namespace deuteron {
namespace {

enum { kX, kRows, kColumns, kOut };

Status prepare(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(kX), &y = call.tensor(kOut), &rows = call.tensor(kRows), &columns = call.tensor(kColumns);
  if (const char* why = why_not_image_s16(x)) return bad_argument(kX, why);
  if (const char* why = why_not_image_s16(y)) return bad_argument(kOut, why);
  const Resize2dArgs a{x.sizes[0], x.sizes[2], x.sizes[3], x.sizes[1], y.sizes[2], y.sizes[3]};
  if (y.sizes[0] != a.n || y.sizes[1] != a.channels) return bad_argument(kOut, "must have the batch and the channels of the input");
  if (y.numel == 0) return keep_nothing(prepared);
  if (x.numel == 0) return bad_argument(kX, "has no elements");
  if (const char* why = why_not_positions(rows, a.in_h, a.out_h)) return bad_argument(kRows, why);
  if (const char* why = why_not_positions(columns, a.in_w, a.out_w)) return bad_argument(kColumns, why);
  return keep<resize2d_s16>(call, prepared, a, static_cast<const int16_t*>(x.data), static_cast<const int32_t*>(rows.data),
                            static_cast<const int32_t*>(columns.data), static_cast<int16_t*>(y.data));
}

}  // namespace

const Kernel kResize2dS16 = {"deuteron::resize2d_s16.out", "TTTO", prepare};

}  // namespace deuteron
