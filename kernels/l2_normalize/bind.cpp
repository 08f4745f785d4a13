// SPDX-License-Identifier: Apache-2.0
// deuteron::l2_normalize: its arguments checked once, at load.
#include "kernels/common/kernels.h"
#include "kernels/common/prepare.h"
#include "kernels/l2_normalize/kernel.h"

namespace deuteron {

DEUTERON_FIELDS(L2NormalizeArgs, rows, depth, x_zero, of_bytes)

namespace {

enum { kX, kXZero, kOfBytes, kOut };

Status prepare(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(kX), &y = call.tensor(kOut);
  if (x.rank < 1) return bad_argument(kX, "must have a dimension");
  if (const char* why = why_not_dense(x, ScalarType::s8, x.rank)) return bad_argument(kX, why);
  if (const char* why = why_not_dense(y, ScalarType::s8, x.rank)) return bad_argument(kOut, why);
  if (!same_sizes(x, y)) return bad_argument(kOut, "must have the sizes of the input");
  if (!is_s8(call.integer(kXZero))) return bad_argument(kXZero, "must be int8");
  if (x.numel == 0) return keep_nothing(prepared);
  const int32_t depth = x.sizes[x.rank - 1];
  if (depth > kMostL2Depth) return bad_argument(kX, "is too long for sums of squares within int32");
  const L2NormalizeArgs a{x.numel / depth, depth, static_cast<int32_t>(call.integer(kXZero)),
                          call.boolean(kOfBytes)};
  return keep<l2_normalize_s8>(call, prepared, a, static_cast<const int8_t*>(x.data),
                               static_cast<int8_t*>(y.data));
}

}  // namespace

const Kernel kL2Normalize = {"deuteron::l2_normalize.out", "TIBO", prepare, true};

}  // namespace deuteron
