// SPDX-License-Identifier: Apache-2.0
// Cases of int16 kernels that do not multiply matrices.
#include <cstring>

#include "kernels/max_pool2d/s16/kernel.h"
#include "kernels/mul/s16/kernel.h"
#include "runtime/instruction_set.h"
#include "tests/board_kernels/int16.h"

namespace deuteron {

Outcome check_mul_s16(uint32_t seed) {
  Random r(seed);
  MulS16Args a{};
  a.period = r.between(1, r.one_in(2) ? 24 : 150);
  a.count = r.one_in(2) ? a.period : a.period * r.between(1, 6);
  a.multiplier = static_cast<int32_t>(r.next() >> 1), a.shift = r.one_in(4) ? 0 : r.between(0, 30);
  bounds_s16(r, &a.y_min, &a.y_max);
  const int16_t *x = some_steps(r, at_end_of_pool, a.count),
                *other = some_steps(r, at_end_of_ram, a.period);
  const uint32_t ys = static_cast<uint32_t>(a.count) * 2;
  const Guarded expected = guarded(0, ys), found = guarded(1, ys);
  Line line("@differs mul_s16 ");
  line.number(seed).text(" count,period ").signed_number(a.count).text(" ").signed_number(a.period);
  if constexpr (!kHasMve) return Outcome::not_served;
  mul_s16(a, x, other, steps_of(expected));
  if constexpr (kHasMve) {
    const bool in_place = r.one_in(3);
    if (in_place) std::memcpy(found.data, x, ys);
    mul_s16_mve(a, in_place ? steps_of(found) : x, other, steps_of(found));
  }
  return compared(expected, found, ys, nullptr, line);
}

Outcome check_max_pool2d_s16(uint32_t seed) {
  Random r(seed);
  const Axis h = some_axis(r, 6), w = some_axis(r, 6);
  MaxPool2dArgs a{r.between(1, 2), h.in,       w.in,     r.between(1, 21),
                  h.out,           w.out,      h.kernel, w.kernel,
                  h.stride,        w.stride,   h.pad,    w.pad,
                  h.dilation,      w.dilation, 0,        0};
  bounds_s16(r, &a.y_min, &a.y_max);
  const int16_t* x = some_steps(r, at_end_of_pool, a.n * a.in_h * a.in_w * a.channels);
  const uint32_t ys = static_cast<uint32_t>(a.n * a.out_h * a.out_w * a.channels) * 2;
  const Guarded expected = guarded(0, ys), found = guarded(1, ys);
  Line line("@differs max_pool2d_s16 ");
  line.number(seed).text(" c ").signed_number(a.channels);
  if constexpr (!kHasMve) return Outcome::not_served;
  max_pool2d_s16(a, x, steps_of(expected));
  if constexpr (kHasMve) max_pool2d_s16_mve(a, x, steps_of(found));
  return compared(expected, found, ys, nullptr, line);
}

}  // namespace deuteron
