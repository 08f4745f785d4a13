// SPDX-License-Identifier: Apache-2.0
// Minimum and maximum: an odometer over all dimensions but the innermost, which is a row.
#pragma once
#include "kernels/common/one_copy.h"
#include "kernels/minimum/kernel.h"

namespace deuteron {

struct Least {
  template <class T>
  T operator()(T a, T b) const {
    return a < b ? a : b;
  }
};
struct Most {
  template <class T>
  T operator()(T a, T b) const {
    return a > b ? a : b;
  }
};

// A row, element by element: a loop for each kind of step.
template <class F, class T>
void extremum_row(F f, int32_t count, const T* x, int32_t x_step, const T* other,
                  int32_t other_step, T* y) {
  if (x_step == 1 && other_step == 1) {
    for (int32_t i = 0; i < count; ++i) y[i] = f(x[i], other[i]);
  } else if (x_step == 1 && other_step == 0) {
    const T b = *other;
    for (int32_t i = 0; i < count; ++i) y[i] = f(x[i], b);
  } else if (x_step == 0 && other_step == 1) {
    const T a = *x;
    for (int32_t i = 0; i < count; ++i) y[i] = f(a, other[i]);
  } else {
    for (int32_t i = 0; i < count; ++i) y[i] = f(x[i * x_step], other[i * other_step]);
  }
}

// `row(count, x, x_step, other, other_step, y)` does a row. One copy for minimum and maximum, whose
// rows are functions of one type.
template <class Row, class T>
DEUTERON_ONE_COPY void extremum(Row row, const ExtremumArgs& a, const T* x, const T* other, T* y) {
  int32_t at[kMaxRank] = {}, x_at = 0, other_at = 0;
  const int32_t last = a.rank - 1;
  for (int32_t k = 0; k < a.rank; ++k)
    if (a.extent[k] == 0) return;
  for (;;) {
    row(a.extent[last], x + x_at, a.x_step[last], other + other_at, a.other_step[last], y);
    y += a.extent[last];
    int32_t k = last - 1;
    for (; k >= 0; --k) {
      x_at += a.x_step[k];
      other_at += a.other_step[k];
      if (++at[k] < a.extent[k]) break;
      x_at -= a.extent[k] * a.x_step[k];
      other_at -= a.extent[k] * a.other_step[k];
      at[k] = 0;
    }
    if (k < 0) return;
  }
}

// All rows element by element, with the function F.
template <class F, class T>
void extremum_by_element(const ExtremumArgs& a, const T* x, const T* other, T* y) {
  extremum([](int32_t count, const T* u, int32_t u_step, const T* v, int32_t v_step,
              T* to) { extremum_row(F{}, count, u, u_step, v, v_step, to); },
           a, x, other, y);
}

}  // namespace deuteron
