// What prepare() of the int16 kernels has in common.
#pragma once
#include "ops/device/prepare.h"

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

// x and y of as many rows of the last dimension, which has 1..65536 elements: arguments `x` and `out`.
inline Status why_not_rows_s16(const Call& call, int x, int out, int32_t* columns) {
  for (const int i : {x, out}) {
    const Tensor& t = call.tensor(i);
    if (const char* why = why_not_s16(t)) return bad_argument(i, why);
    if (t.rank < 1 || !is_dense(t)) return bad_argument(i, "must have a dimension, and be stored in the order of its dimensions");
  }
  const Tensor& rows = call.tensor(x);
  if (!same_layout(rows, call.tensor(out))) return bad_argument(out, "must have the sizes and the order of the input");
  *columns = rows.sizes[rows.rank - 1];
  if (*columns < 1 || *columns > 1 << 16) return bad_argument(x, "must have 1..65536 elements in a row");
  return Status{};
}

// The bounds of the result, which stand together from argument `first` on.
inline Status read_bounds_s16(const Call& call, int first, int32_t* low, int32_t* high) {
  if (!is_s16(call.integer(first))) return bad_argument(first, "must be -32768..32767");
  if (!lies_in(call.integer(first + 1), call.integer(first), 32767)) return bad_argument(first + 1, "must be activation_min..32767");
  *low = static_cast<int32_t>(call.integer(first));
  *high = static_cast<int32_t>(call.integer(first + 1));
  return Status{};
}

}  // namespace deuteron
