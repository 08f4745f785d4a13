// SPDX-License-Identifier: Apache-2.0
// What prepare() of the int16 kernels has in common.
#pragma once
#include "kernels/common/prepare.h"

namespace deuteron {

inline bool is_s16(int64_t v) { return lies_in(v, -32768, 32767); }

inline const char* why_not_s16(const Tensor& t) {
  if (t.type != ScalarType::s16) return "must be int16";
  if (!is_aligned(t, 2)) return "must be 2-aligned";
  return nullptr;
}
inline const char* why_not_image_s16(const Tensor& t) {
  if (const char* why = why_not_s16(t)) return why;
  if (t.rank != 4) return "must have rank 4";
  if (!is_channels_last(t)) return "must be stored channels-last";
  return nullptr;
}

// x and y of as many rows of the last dimension, which has 1..65536 elements: arguments `x` and
// `out`.
inline Status why_not_rows_s16(const Call& call, int x, int out, int32_t* columns) {
  for (const int i : {x, out}) {
    const Tensor& t = call.tensor(i);
    if (const char* why = why_not_s16(t)) return bad_argument(i, why);
    if (t.rank < 1 || !is_dense(t))
      return bad_argument(i, "must have a dimension, and be stored in the order of its dimensions");
  }
  const Tensor& rows = call.tensor(x);
  if (!same_layout(rows, call.tensor(out)))
    return bad_argument(out, "must have the sizes and the order of the input");
  *columns = rows.sizes[rows.rank - 1];
  if (*columns < 1 || *columns > 1 << 16)
    return bad_argument(x, "must have 1..65536 elements in a row");
  return Status{};
}

// The bounds of the result, which stand together from argument `first` on.
inline Status read_bounds_s16(const Call& call, int first, int32_t* low, int32_t* high) {
  if (!is_s16(call.integer(first))) return bad_argument(first, "must be -32768..32767");
  if (!lies_in(call.integer(first + 1), call.integer(first), 32767))
    return bad_argument(first + 1, "must be activation_min..32767");
  *low = static_cast<int32_t>(call.integer(first));
  *high = static_cast<int32_t>(call.integer(first + 1));
  return Status{};
}

// Two operands of one layout and how their product or quotient is scaled: the arguments of a call,
// in the order of this list.
enum PairS16 { kPairX, kPairOther, kPairMultiplier, kPairShift, kPairYMin, kPairYMax, kPairOut };
template <class Args>
Status read_pair_s16(const Call& call, int64_t most_shift, const char* why_not_shift, Args* a) {
  const Tensor &x = call.tensor(kPairX), &other = call.tensor(kPairOther),
               &y = call.tensor(kPairOut);
  for (const int i : {int{kPairX}, int{kPairOther}, int{kPairOut}})
    if (const char* why = why_not_s16(call.tensor(i))) return bad_argument(i, why);
  if (!same_layout(x, other))
    return bad_argument(kPairOther, "must have the sizes and the order of the first");
  if (!same_layout(x, y))
    return bad_argument(kPairOut, "must have the sizes and the order of the operands");
  if (!lies_in(call.integer(kPairMultiplier), 0, INT32_MAX))
    return bad_argument(kPairMultiplier, "is out of range");
  if (!lies_in(call.integer(kPairShift), -31, most_shift))
    return bad_argument(kPairShift, why_not_shift);
  a->count = x.numel;
  a->multiplier = static_cast<int32_t>(call.integer(kPairMultiplier)),
  a->shift = static_cast<int32_t>(call.integer(kPairShift));
  return read_bounds_s16(call, kPairYMin, &a->y_min, &a->y_max);
}
template <auto kernel, class Args>
Status keep_pair_s16(Call& call, Prepared* prepared, const Args& a) {
  return keep<kernel>(call, prepared, a, static_cast<const int16_t*>(call.tensor(kPairX).data),
                      static_cast<const int16_t*>(call.tensor(kPairOther).data),
                      static_cast<int16_t*>(call.tensor(kPairOut).data));
}

// x seen as [outer,slice,inner], y as [outer,inner], both in the order in which they lie in memory,
// and how what becomes of a slice is scaled: the arguments of a call, in the order of this list. Of
// a result without elements `a` has none.
enum SlicesS16 { kSlicesX, kSlicesInner, kSlicesMultiplier, kSlicesShift, kSlicesOut };
template <class Args>
Status read_slices_s16(const Call& call, int64_t most_shift, const char* why_not_shift, Args* a) {
  const Tensor &x = call.tensor(kSlicesX), &y = call.tensor(kSlicesOut);
  for (const int i : {int{kSlicesX}, int{kSlicesOut}})
    if (const char* why = why_not_s16(call.tensor(i))) return bad_argument(i, why);
  if (!lies_in(call.integer(kSlicesMultiplier), 0, INT32_MAX))
    return bad_argument(kSlicesMultiplier, "is out of range");
  if (!lies_in(call.integer(kSlicesShift), -31, most_shift))
    return bad_argument(kSlicesShift, why_not_shift);
  *a = Args{};
  if (y.numel == 0) return Status{};
  const int64_t inner = call.integer(kSlicesInner);
  if (inner < 1 || y.numel % inner != 0)
    return bad_argument(kSlicesInner, "must divide the elements of the result");
  if (x.numel == 0 || x.numel % y.numel != 0)
    return bad_argument(kSlicesX, "must have as many elements for each of the result");
  a->outer = static_cast<int32_t>(y.numel / inner), a->slice = x.numel / y.numel,
  a->inner = static_cast<int32_t>(inner);
  a->multiplier = static_cast<int32_t>(call.integer(kSlicesMultiplier)),
  a->shift = static_cast<int32_t>(call.integer(kSlicesShift));
  return Status{};
}
template <auto kernel, class Args>
Status keep_slices_s16(Call& call, Prepared* prepared, const Args& a) {
  return keep<kernel>(call, prepared, a, static_cast<const int16_t*>(call.tensor(kSlicesX).data),
                      static_cast<int16_t*>(call.tensor(kSlicesOut).data));
}

}  // namespace deuteron
