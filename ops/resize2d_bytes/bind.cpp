// deuteron::resize2d_bytes: its arguments and every position of its tables checked once, at load.
#include <cstring>

#include "ops/device/kernels.h"
#include "ops/device/prepare.h"
#include "ops/resize2d/prepare.h"
#include "ops/resize2d_bytes/kernel.h"

namespace deuteron {
namespace {

const char* why_not_place(int32_t first, int32_t bits, int32_t in) {
  if (!lies_in(first, 0, in - 1)) return "has a position outside the axis";
  float weight = 0;
  std::memcpy(&weight, &bits, sizeof weight);
  return weight >= -1 && weight <= 1 ? nullptr : "has a weight out of range";
}

Status prepare(Call& call, Prepared* prepared) {
  Resize2dArgs a;
  if (Status s = read_resize2d<why_not_image, why_not_place>(call, a); !s.ok()) return s;
  if (call.tensor(kResizeOut).numel == 0) return keep_nothing(prepared);
  const Tensor &x = call.tensor(kResizeX), &y = call.tensor(kResizeOut), &rows = call.tensor(kResizeRows),
               &columns = call.tensor(kResizeColumns);
  return keep<resize2d_bytes>(call, prepared, a, static_cast<const int8_t*>(x.data), static_cast<const int32_t*>(rows.data),
                              static_cast<const int32_t*>(columns.data), static_cast<int8_t*>(y.data));
}

}  // namespace

const Kernel kResize2dBytes = {"deuteron::resize2d_bytes.out", "TTTO", prepare};

}  // namespace deuteron
