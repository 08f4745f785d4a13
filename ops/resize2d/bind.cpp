// deuteron::resize2d: its arguments and every position of its tables checked once, at load.
#include "ops/device/kernels.h"
#include "ops/device/prepare.h"
#include "ops/resize2d/kernel.h"
#include "ops/resize2d/prepare.h"
#include "runtime/instruction_set.h"

namespace deuteron {

namespace {

enum { kX, kRows, kColumns, kOut };

Status prepare(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(kX), &y = call.tensor(kOut), &rows = call.tensor(kRows), &columns = call.tensor(kColumns);
  if (const char* why = why_not_image(x)) return bad_argument(kX, why);
  if (const char* why = why_not_image(y)) return bad_argument(kOut, why);
  const Resize2dArgs a{x.sizes[0], x.sizes[2], x.sizes[3], x.sizes[1], y.sizes[2], y.sizes[3]};
  if (y.sizes[0] != a.n || y.sizes[1] != a.channels) return bad_argument(kOut, "must have the batch and the channels of the input");
  if (y.numel == 0) return keep_nothing(prepared);
  if (x.numel == 0) return bad_argument(kX, "has no elements");
  if (const char* why = why_not_positions(rows, a.in_h, a.out_h)) return bad_argument(kRows, why);
  if (const char* why = why_not_positions(columns, a.in_w, a.out_w)) return bad_argument(kColumns, why);
  const auto* from = static_cast<const int8_t*>(x.data);
  const auto *row = static_cast<const int32_t*>(rows.data), *column = static_cast<const int32_t*>(columns.data);
  auto* to = static_cast<int8_t*>(y.data);
  if (is_for<Feature::mve>(call)) return keep_for<Feature::mve, resize2d_s8_mve>(call, prepared, a, from, row, column, to);
  return keep<resize2d_s8>(call, prepared, a, from, row, column, to);
}

}  // namespace

const Kernel kResize2d = {"deuteron::resize2d.out", "TTTO", prepare};

}  // namespace deuteron
