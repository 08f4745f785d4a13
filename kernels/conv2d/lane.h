// SPDX-License-Identifier: Apache-2.0
// How one of the windows that a kernel without vectors meets together is copied (tiles_thumb2.h,
// tiles_thumb1.h).
#pragma once
#include <cstdint>

namespace deuteron {

inline constexpr int32_t kTileAlone = 4;  // filters that a window meets at once where it is alone

// Both write from `to` on and give where the next element goes. offset: of the input, -(its zero
// point).
struct Lane {
  int16_t* (*widen)(const int8_t* from, int32_t count, int32_t offset, int16_t* to);
  int16_t* (*widen_padding)(int32_t count, int32_t offset, int16_t* to);  // elements outside x
};

}  // namespace deuteron
