// deuteron::resize2d: its arguments and every position of its tables checked once, at load.
#include "ops/device/kernels.h"
#include "ops/device/prepare.h"
#include "ops/resize2d/kernel.h"
#include "ops/resize2d/prepare.h"
#include "runtime/instruction_set.h"

namespace deuteron {

namespace {

Status prepare(Call& call, Prepared* prepared) {
  Resize2dArgs a;
  if (Status s = read_resize2d<why_not_image>(call, a); !s.ok()) return s;
  if (call.tensor(kResizeOut).numel == 0) return keep_nothing(prepared);
  const Tensor &x = call.tensor(kResizeX), &y = call.tensor(kResizeOut), &rows = call.tensor(kResizeRows),
               &columns = call.tensor(kResizeColumns);
  const auto* from = static_cast<const int8_t*>(x.data);
  const auto *row = static_cast<const int32_t*>(rows.data), *column = static_cast<const int32_t*>(columns.data);
  auto* to = static_cast<int8_t*>(y.data);
  return keep_fastest<resize2d_s8, resize2d_s8_mve>(call, prepared, a, from, row, column, to);
}

}  // namespace

const Kernel kResize2d = {"deuteron::resize2d.out", "TTTO", prepare};

}  // namespace deuteron
