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

// The bounds of the result, which stand together from argument `first` on.
inline Status read_bounds_s16(const Call& call, int first, int32_t* low, int32_t* high) {
  if (!is_s16(call.integer(first))) return bad_argument(first, "must be -32768..32767");
  if (!lies_in(call.integer(first + 1), call.integer(first), 32767)) return bad_argument(first + 1, "must be activation_min..32767");
  *low = static_cast<int32_t>(call.integer(first));
  *high = static_cast<int32_t>(call.integer(first + 1));
  return Status{};
}

}  // namespace deuteron
