// deuteron::resize2d_s16: its arguments and every position of its tables checked once, at load.
#include "ops/device/kernels.h"
#include "ops/device/prepare_s16.h"
#include "ops/resize2d/prepare.h"
#include "ops/resize2d_s16/kernel.h"

namespace deuteron {
namespace {

Status prepare(Call& call, Prepared* prepared) {
  Resize2dArgs a;
  if (Status s = read_resize2d<why_not_image_s16>(call, a); !s.ok()) return s;
  if (call.tensor(kResizeOut).numel == 0) return keep_nothing(prepared);
  const Tensor &x = call.tensor(kResizeX), &y = call.tensor(kResizeOut), &rows = call.tensor(kResizeRows),
               &columns = call.tensor(kResizeColumns);
  return keep<resize2d_s16>(call, prepared, a, static_cast<const int16_t*>(x.data), static_cast<const int32_t*>(rows.data),
                            static_cast<const int32_t*>(columns.data), static_cast<int16_t*>(y.data));
}

}  // namespace

const Kernel kResize2dS16 = {"deuteron::resize2d_s16.out", "TTTO", prepare};

}  // namespace deuteron
