// SPDX-License-Identifier: Apache-2.0
// cortex_m::pad: its arguments checked once, at load. The lists always have four entries, for the
// last dimensions on the right, in the order N,H,W,C where the input passes for channels-last, else
// in the order of the dimensions.
#include "kernels/common/kernels.h"
#include "kernels/common/prepare.h"
#include "kernels/pad/kernel.h"

namespace deuteron {

DEUTERON_FIELDS(PadArgs, in, before, after, value)

namespace {

enum { kX, kBefore, kAfter, kValue, kOut };

// The dialect's own test, which the lists follow: wider than the order that the bytes have, for one
// channel or one pixel passes.
bool lists_are_channels_last(const Tensor& x) {
  return x.rank == 4 &&
         (x.sizes[1] == 1 || (x.sizes[2] == 1 && x.sizes[3] == 1) || is_channels_last(x));
}

// Inner dimensions without padding are one run of memory with the next one: the channels of an
// image that is padded around its pixels.
void join_inner(PadArgs& a) {
  for (int joined = 0; joined < 3 && a.before[3] == 0 && a.after[3] == 0; ++joined) {
    const int32_t run = a.in[3];
    a.in[3] = a.in[2] * run, a.before[3] = a.before[2] * run, a.after[3] = a.after[2] * run;
    for (int k = 2; k > 0; --k)
      a.in[k] = a.in[k - 1], a.before[k] = a.before[k - 1], a.after[k] = a.after[k - 1];
    a.in[0] = 1, a.before[0] = a.after[0] = 0;
  }
}

Status prepare(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(kX), &y = call.tensor(kOut);
  if (x.type != ScalarType::s8 || x.rank < 1 || x.rank > 4)
    return bad_argument(kX, "must be int8 and have one to four dimensions");
  if (y.type != ScalarType::s8 || y.rank != x.rank)
    return bad_argument(kOut, "must be int8 and have the rank of the input");
  if (!stored_in_order(x, y.dim_order))
    return bad_argument(kOut, "must be stored in the order of the input");
  if (call.list(kBefore).count != 4) return bad_argument(kBefore, "must have four numbers");
  if (call.list(kAfter).count != 4) return bad_argument(kAfter, "must have four numbers");
  if (!is_s8(call.integer(kValue))) return bad_argument(kValue, "must be -128..127");
  if (y.numel == 0) return keep_nothing(prepared);
  // Where the entry of each dimension stands in the lists.
  const int absent = 4 - x.rank;
  int entry[4] = {absent, absent + 1, absent + 2, absent + 3};
  if (lists_are_channels_last(x)) entry[1] = 3, entry[2] = 1, entry[3] = 2;
  PadArgs a{};
  a.value = static_cast<int8_t>(call.integer(kValue));
  for (int k = 0; k < absent; ++k) {
    a.in[k] = 1;
    if (call.list_integer(kBefore, k) != 0)
      return bad_argument(kBefore, "must be 0 for a dimension that is absent");
    if (call.list_integer(kAfter, k) != 0)
      return bad_argument(kAfter, "must be 0 for a dimension that is absent");
  }
  for (int k = 0; k < x.rank; ++k) {
    const int dim = y.dim_order[k], at = absent + k;
    const int64_t before = call.list_integer(kBefore, entry[dim]),
                  after = call.list_integer(kAfter, entry[dim]);
    if (!lies_in(before, 0, INT32_MAX)) return bad_argument(kBefore, "must not be negative");
    if (!lies_in(after, 0, INT32_MAX)) return bad_argument(kAfter, "must not be negative");
    if (before + x.sizes[dim] + after != y.sizes[dim])
      return bad_argument(kOut, "must have the extents of the input and its padding");
    a.in[at] = x.sizes[dim];
    a.before[at] = static_cast<int32_t>(before);
    a.after[at] = static_cast<int32_t>(after);
  }
  join_inner(a);
  return keep_fastest<pad_s8, pad_s8_mve>(call, prepared, a, static_cast<const int8_t*>(x.data),
                                          static_cast<int8_t*>(y.data));
}

}  // namespace

const Kernel kPad = {"cortex_m::pad.out", "TLLIO", prepare};

}  // namespace deuteron
