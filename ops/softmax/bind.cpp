// cortex_m::softmax: its arguments checked once, at load. `dim` may be any dimension whose elements lie side by side in memory; the
// stock kernel takes the last one only.
#include "ops/device/kernels.h"
#include "ops/device/prepare.h"
#include "ops/softmax/fields.h"

namespace deuteron {

namespace {

enum { kX, kDim, kXZero, kYZero, kMultiplier, kShift, kDiffMin, kOut };

bool is_innermost(const Tensor& t, int64_t dim) {
  if (t.sizes[dim] == 1) return true;
  int k = t.rank - 1;
  while (t.sizes[t.dim_order[k]] == 1) --k;
  return t.dim_order[k] == dim;
}

Status prepare(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(kX), &y = call.tensor(kOut);
  if (x.type != ScalarType::s8 || x.rank < 1) return bad_argument(kX, "must be int8 and have a dimension");
  if (y.type != ScalarType::s8) return bad_argument(kOut, "must be int8");
  if (!same_layout(x, y)) return bad_argument(kOut, "must have the sizes and the order of the input");
  if (!lies_in(call.integer(kDim), -x.rank, x.rank - 1)) return bad_argument(kDim, "is no dimension of the input");
  const int64_t dim = call.integer(kDim) < 0 ? call.integer(kDim) + x.rank : call.integer(kDim);
  if (!is_innermost(x, dim)) return bad_argument(kDim, "must be the dimension whose elements lie side by side");
  if (x.sizes[dim] < 1) return bad_argument(kX, "must have elements along the dimension");
  if (call.integer(kYZero) != -128) return bad_argument(kYZero, "must be -128");
  if (!lies_in(call.integer(kMultiplier), 0, INT32_MAX)) return bad_argument(kMultiplier, "is out of range");
  if (!lies_in(call.integer(kShift), 0, 31)) return bad_argument(kShift, "must be 0..31");
  if (!lies_in(call.integer(kDiffMin), INT32_MIN, 0)) return bad_argument(kDiffMin, "must not be positive");
  const int64_t largest = call.integer(kDiffMin) > -255 ? -call.integer(kDiffMin) : 255;
  if (largest << call.integer(kShift) > int64_t{1} << 31) return bad_argument(kDiffMin, "must keep differences within int32");
  const SoftmaxArgs a{x.numel / x.sizes[dim], x.sizes[dim], static_cast<int32_t>(call.integer(kMultiplier)),
                      static_cast<int32_t>(call.integer(kShift)), static_cast<int32_t>(call.integer(kDiffMin))};
  return keep<softmax_s8>(call, prepared, a, static_cast<const int8_t*>(x.data), static_cast<int8_t*>(y.data));
}

}  // namespace

const Kernel kSoftmax = {"cortex_m::softmax.out", "TIIIIIIO", prepare, true};

}  // namespace deuteron
