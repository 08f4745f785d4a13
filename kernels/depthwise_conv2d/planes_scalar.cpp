// SPDX-License-Identifier: Apache-2.0
// Depthwise 3x3 on planes in plain C++, for cores that multiply to two words and have many
// registers: contracts in planes_scalar.h. Nine weights and the columns that the next output meets
// too stay in registers. Thumb has assembly.
#include "kernels/depthwise_conv2d/planes_scalar.h"

#include "kernels/integer/requantize_words.h"

#if defined(DEUTERON_SCALAR) && DEUTERON_SCALAR >= 2 && !defined(__ARM_ARCH_ISA_THUMB)
namespace deuteron {
namespace {

struct Column {
  int32_t top, middle, bottom;
};
inline Column column(const int16_t* x) {
  return {x[0], x[kScalarPlaneRow], x[2 * kScalarPlaneRow]};
}

template <bool is_plain>
inline int8_t finished(uint32_t sum, const ScalarPlane& p) {
  auto v = static_cast<int32_t>(sum);
  if (is_plain)
    return static_cast<int8_t>(saturate_s8(multiply_high_rounded(v, p.multiplier) + p.y_zero));
  v = multiply_high(static_cast<int32_t>(sum << p.left), p.multiplier);
  if (p.right != 0) v = shift_right_rounded(v, p.right);
  return static_cast<int8_t>(clamp_to(add_wrapping(v, p.y_zero), p.y_min, p.y_max));
}

template <int32_t stride, bool is_plain>
inline void run_rows(const int16_t* plane, int8_t* y, const ScalarPlane& all) {
  const ScalarPlane p = all;  // for all the compiler knows, y might lie over it
  const auto met = [&p](const Column& a, const Column& b, const Column& c) {
    const int32_t(&w)[9] = p.weight;
    const auto times = [](int32_t x, int32_t weight) { return static_cast<uint32_t>(x * weight); };
    return finished<is_plain>(static_cast<uint32_t>(p.first) + times(a.top, w[0]) +
                                  times(b.top, w[1]) + times(c.top, w[2]) + times(a.middle, w[3]) +
                                  times(b.middle, w[4]) + times(c.middle, w[5]) +
                                  times(a.bottom, w[6]) + times(b.bottom, w[7]) +
                                  times(c.bottom, w[8]),
                              p);
  };
  for (int32_t r = p.rows; r > 0; --r, plane += stride * kScalarPlaneRow, y += p.row_step) {
    const int16_t* x = plane;
    int8_t* to = y;
    Column a = column(x), b, c;
    if (stride == 1) b = column(++x);
    for (int32_t left = p.columns;;) {  // the columns change their places in turns
      if (stride == 1) c = column(++x);
      else b = column(x + 1), c = column(x += 2);
      *to = met(a, b, c), to += p.y_step;
      if (--left == 0) break;
      if (stride == 1) a = column(++x);
      else b = column(x + 1), a = column(x += 2);
      *to = stride == 1 ? met(b, c, a) : met(c, b, a), to += p.y_step;
      if (stride == 1) {
        if (--left == 0) break;
        b = column(++x);
        *to = met(c, a, b), to += p.y_step;
      }
      if (--left == 0) break;
    }
  }
}

}  // namespace

extern "C" void deuteron_depthwise_s1_scalar(const int16_t* plane, int8_t* y,
                                             const ScalarPlane* a) {
  if (a->is_plain) run_rows<1, true>(plane, y, *a);
  else run_rows<1, false>(plane, y, *a);
}
extern "C" void deuteron_depthwise_s2_scalar(const int16_t* plane, int8_t* y,
                                             const ScalarPlane* a) {
  if (a->is_plain) run_rows<2, true>(plane, y, *a);
  else run_rows<2, false>(plane, y, *a);
}

}  // namespace deuteron
#endif
