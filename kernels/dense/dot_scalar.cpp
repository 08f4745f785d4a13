// SPDX-License-Identifier: Apache-2.0
// The inner loops of convolution and linear in plain C++, for cores that multiply to two words and
// have many registers: contracts in dot_scalar.h. Thumb has assembly.
#include "kernels/dense/dot_scalar.h"

#include "kernels/integer/requantize.h"
#include "runtime/instruction_set.h"

#if defined(DEUTERON_SCALAR) && !defined(__ARM_ARCH_ISA_THUMB)
namespace deuteron {
namespace {

// Windows, element by element in turns, meet filters whose rows stand one behind the other; the
// byte of window k and filter i goes to y[k] where each window has its own place, else all to y[0].
template <int32_t windows, int32_t filters>
inline void meet_all(const ScalarDot& a) {
  int8_t* y[windows];
  for (int32_t k = 0; k < windows; ++k) y[k] = a.y[k];
  const int8_t* weight = a.weight;
  for (int32_t i = 0; i < a.filters; i += filters, weight += (filters - 1) * a.length) {
    uint32_t sums[filters][windows];
    for (int32_t f = 0; f < filters; ++f)
      for (uint32_t& sum : sums[f]) sum = static_cast<uint32_t>(a.first[i + f]);
    const int16_t* x = a.x;
    for (const int8_t* const end = weight + a.length; weight != end; ++weight, x += windows) {
#pragma GCC unroll 4
      for (int32_t f = 0; f < filters; ++f) {
        const int32_t w = weight[f * a.length];
#pragma GCC unroll 4
        for (int32_t k = 0; k < windows; ++k) sums[f][k] += static_cast<uint32_t>(x[k] * w);
      }
    }
    for (int32_t f = 0; f < filters; ++f)
      for (int32_t k = 0; k < windows; ++k)
        *y[k]++ = requantize_to_s8(sums[f][k], a.multiplier[i + f], a.shift[i + f], a.y_zero,
                                   a.y_min, a.y_max);
  }
}

}  // namespace

extern "C" void deuteron_dot_4x2_scalar(const ScalarDot* a) { meet_all<4, 2>(*a); }
extern "C" void deuteron_dot_1x4_scalar(const ScalarDot* a) { meet_all<1, 4>(*a); }

}  // namespace deuteron
#endif
