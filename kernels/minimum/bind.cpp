// SPDX-License-Identifier: Apache-2.0
// cortex_m::minimum, and what cortex_m::maximum shares with it: their arguments checked once, at
// load. Operands may be stored in any order; broadcasting is by logical dimensions.
#include "kernels/common/kernels.h"
#include "kernels/common/prepare.h"
#include "kernels/minimum/kernel.h"
#include "kernels/minimum/prepare.h"

namespace deuteron {
namespace {

// What one step of each dimension of `y` moves in `t`, whose dimensions are the last ones of y.
// False when they do not broadcast.
bool read_steps(const Tensor& t, const Tensor& y, int32_t* step) {
  if (t.rank > y.rank) return false;
  const int absent = y.rank - t.rank;
  for (int k = 0; k < y.rank; ++k) step[k] = 0;
  int32_t stride = 1;
  for (int i = t.rank - 1; i >= 0; --i) {
    const int dim = t.dim_order[i];
    const int32_t size = t.sizes[dim], wanted = y.sizes[absent + dim];
    if (size != wanted && size != 1) return false;
    if (size != 1) step[absent + dim] = stride;
    stride *= size;
  }
  return true;
}

}  // namespace

Status read_extremum(const Call& call, ExtremumArgs& a) {
  constexpr int kX = kExtremumX, kOther = kExtremumOther, kOut = kExtremumOut;
  const Tensor &x = call.tensor(kX), &other = call.tensor(kOther), &y = call.tensor(kOut);
  if (y.numel == 0) return Status{};
  int32_t x_step[kMaxRank], other_step[kMaxRank];
  if (!read_steps(x, y, x_step)) return bad_argument(kX, "must broadcast to the output");
  if (!read_steps(other, y, other_step))
    return bad_argument(kOther, "must broadcast to the output");
  for (int k = 0; k < y.rank; ++k)
    if (y.sizes[k] != 1 && x_step[k] == 0 && other_step[k] == 0)
      return bad_argument(kOut, "must have the extents of one operand or the other");
  // In place means element for element: an operand that begins where the output begins must lie as
  // the output lies.
  if (x.data == y.data && y.numel > 1 && !(x.numel == y.numel && same_layout(x, y)))
    return bad_argument(kOut, "must lie as the operand in its place");
  if (other.data == y.data && y.numel > 1 && !(other.numel == y.numel && same_layout(other, y)))
    return bad_argument(kOut, "must lie as the operand in its place");
  for (int i = 0; i < y.rank; ++i) {
    const int dim = y.dim_order[i];
    const int32_t size = y.sizes[dim];
    if (size == 1) continue;
    const int32_t k =
        a.rank -
        1;  // the dimension outside: the same run of memory when its step goes over all of this one
    if (a.rank > 0 && a.x_step[k] == size * x_step[dim] &&
        a.other_step[k] == size * other_step[dim]) {
      a.extent[k] *= size;
      a.x_step[k] = x_step[dim];
      a.other_step[k] = other_step[dim];
    } else {
      a.extent[a.rank] = size;
      a.x_step[a.rank] = x_step[dim];
      a.other_step[a.rank++] = other_step[dim];
    }
  }
  if (a.rank == 0) a.extent[a.rank++] = 1;
  return Status{};
}

const Kernel kMinimum = kernel_by<kExtremumRow>(
    "cortex_m::minimum.out",
    prepare_extremum<kExtremumRow, minimum_s8, minimum_s8_mve, minimum_s8_dsp, minimum_s8_scalar>,
    kInPlace);

}  // namespace deuteron
