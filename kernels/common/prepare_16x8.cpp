// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/prepare_16x8.h"

namespace deuteron {

const char* why_not_wide_sums(const Tensor& t, int32_t channels) {
  if (t.type != ScalarType::s64) return "must be int64";
  if (!is_aligned(t, 8)) return "must be 8-aligned";
  if (t.numel != channels) return "must have one entry for each output channel";
  return nullptr;
}

bool read_sums_16x8(const Call& call, int bias, int32_t channels, Sums16x8* s, Status* status) {
  if (const Tensor* given = call.optional_tensor(bias)) {
    if (given->type == ScalarType::s32) {
      if (const char* why = why_not_channel_sums(*given, channels))
        return refuse(status, bias, why);
      s->narrow = static_cast<const int32_t*>(given->data);
    } else {
      if (const char* why = why_not_wide_sums(*given, channels)) return refuse(status, bias, why);
      s->wide = static_cast<const int64_t*>(given->data);
    }
  }
  const Tensor &multipliers = call.tensor(bias + 1), &shifts = call.tensor(bias + 2);
  const bool is_narrow = s->narrow != nullptr;
  const char* why = is_narrow ? why_not_multipliers(multipliers, channels)
                              : why_not_channel_constants(multipliers, channels, 0, 32767);
  if (why) return refuse(status, bias + 1, why);
  why = is_narrow ? why_not_shifts(shifts, channels)
                  : why_not_channel_constants(shifts, channels, kLeastShift16x8, kMostShift16x8);
  if (why) return refuse(status, bias + 2, why);
  s->multiplier = static_cast<const int32_t*>(multipliers.data);
  s->shift = static_cast<const int32_t*>(shifts.data);
  return true;
}

}  // namespace deuteron
