// SPDX-License-Identifier: Apache-2.0
// Rows of bytes, some way apart. Rows are short, such as the channels of a pixel: finding out how
// one is aligned would cost more than copying it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "runtime/instruction_set.h"

#if defined(DEUTERON_MVE)
#include <arm_mve.h>
#endif

namespace deuteron {

// Where rows are copied from and to; steps in bytes.
struct Rows {
  const uint8_t* x;
  uint8_t* y;
  ptrdiff_t x_step, y_step;
  int32_t count;
};

// copy(x, y) for each row, beginning `at` bytes behind its first.
template <class Copy>
inline void each_row(const Rows& rows, size_t at, const Copy& copy) {
  const uint8_t* x = rows.x + at;
  uint8_t* y = rows.y + at;
  const ptrdiff_t x_step = rows.x_step, y_step = rows.y_step;
  for (int32_t r = rows.count; r > 0; --r, x += x_step, y += y_step) copy(x, y);
}

// x and y do not overlap. Few bytes go column by column, so that a predicate or a count of words is
// found once; long rows one by one, as caches want it.
[[gnu::noinline]] inline void copy_rows_of(const Rows& rows, size_t bytes) {
  constexpr size_t kFew = 64;
#if defined(DEUTERON_MVE)
  if (bytes > kFew) {
    each_row(rows, 0, [&](const uint8_t* x, uint8_t* y) {
      for (size_t at = 0; at < bytes; at += 16) {
        const mve_pred16_t here = vctp8q(static_cast<uint32_t>(bytes - at));
        vst1q_p_u8(y + at, vld1q_z_u8(x + at, here), here);
      }
    });
    return;
  }
  for (size_t at = 0; at < bytes; at += 16) {
    const mve_pred16_t here = vctp8q(static_cast<uint32_t>(bytes - at));
    each_row(rows, at,
             [&](const uint8_t* x, uint8_t* y) { vst1q_p_u8(y, vld1q_z_u8(x, here), here); });
  }
#elif defined(DEUTERON_UNALIGNED)
  if (bytes > kFew) {
    each_row(rows, 0, [&](const uint8_t* x, uint8_t* y) { std::memcpy(y, x, bytes); });
    return;
  }
  size_t at = 0;
  for (; bytes - at >= 16; at += 16)
    each_row(rows, at, [](const uint8_t* x, uint8_t* y) { std::memcpy(y, x, 16); });
  for (; bytes - at >= 4; at += 4)
    each_row(rows, at, [](const uint8_t* x, uint8_t* y) { std::memcpy(y, x, 4); });
  if (bytes - at == 3)
    return each_row(rows, at, [](const uint8_t* x, uint8_t* y) { std::memcpy(y, x, 3); });
  if (bytes - at == 2)
    return each_row(rows, at, [](const uint8_t* x, uint8_t* y) { std::memcpy(y, x, 2); });
  if (bytes - at == 1) each_row(rows, at, [](const uint8_t* x, uint8_t* y) { *y = *x; });
#else
  constexpr size_t kCalled = 24;  // bytes of a row from which on a call takes fewer instructions
                                  // than a loop over rows for each of them
  const auto places = reinterpret_cast<uintptr_t>(rows.x) | reinterpret_cast<uintptr_t>(rows.y);
  const bool has_words =
      (places | static_cast<uintptr_t>(rows.x_step) | static_cast<uintptr_t>(rows.y_step)) % 4 == 0;
  if (bytes > (has_words ? kFew : kCalled)) {
    each_row(rows, 0, [&](const uint8_t* x, uint8_t* y) { std::memcpy(y, x, bytes); });
    return;
  }
  size_t at = 0;
  for (; has_words && bytes - at >= 4; at += 4)
    each_row(rows, at, [](const uint8_t* x, uint8_t* y) {
      std::memcpy(__builtin_assume_aligned(y, 4), __builtin_assume_aligned(x, 4), 4);
    });
  for (; bytes - at >= 3; at += 3)
    each_row(rows, at, [](const uint8_t* x, uint8_t* y) {
      const uint8_t first = x[0], second = x[1], third = x[2];
      y[0] = first, y[1] = second, y[2] = third;
    });
  for (; at < bytes; ++at) each_row(rows, at, [](const uint8_t* x, uint8_t* y) { *y = *x; });
#endif
}

}  // namespace deuteron
