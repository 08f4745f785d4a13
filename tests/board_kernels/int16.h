// SPDX-License-Identifier: Apache-2.0
// What the cases of kernels with int16 operands or results have in common.
#pragma once
#include "tests/board_kernels/case.h"

namespace deuteron {

// Any int16, `count` of them, from a word on; they end where a memory ends, or two bytes before.
inline const int16_t* some_steps(Random& r, int8_t* (*place)(uint32_t), int32_t count) {
  int8_t* const to = place(static_cast<uint32_t>(count + count % 2) * 2);
  fill_bytes(r, to, count * 2);
  return reinterpret_cast<const int16_t*>(to);
}
inline int16_t* steps_of(const Guarded& g) { return reinterpret_cast<int16_t*>(g.data); }

inline void bounds_s16(Random& r, int32_t* low, int32_t* high) {
  *low = -32768, *high = 32767;
  if (!r.one_in(3)) return;
  *low = r.between(-32768, 32767);
  *high = r.between(*low, 32767);
}

struct Axis {
  int32_t in, kernel, stride, pad, dilation, out;
};
inline Axis some_axis(Random& r, int32_t most) {
  Axis a{};
  a.kernel = r.between(1, 5), a.stride = r.between(1, 3), a.dilation = r.one_in(5) ? 2 : 1;
  a.pad = r.one_in(2) ? r.between(0, a.kernel - 1) : 0;
  const int32_t reach = (a.kernel - 1) * a.dilation + 1;
  a.in = r.between(reach > 2 * a.pad ? reach - 2 * a.pad : 1, reach + most);
  a.out = (a.in + 2 * a.pad - reach) / a.stride + 1;
  return a;
}

}  // namespace deuteron
