// SPDX-License-Identifier: Apache-2.0
#include "kernels/unary/sigmoid_16x8/kernel.h"

namespace deuteron {
namespace {

// The table at |d| / 2^bits, times 2^bits; `most` behind its end.
int32_t at(const int16_t* table, int32_t d, int32_t bits, int32_t most) {
  const uint32_t u = d < 0 ? 0 - static_cast<uint32_t>(d) : static_cast<uint32_t>(d),
                 place = u >> bits;
  if (place >= kSigmoid16x8Entries - 1) return most;
  const int32_t a = static_cast<uint16_t>(table[place]),
                b = static_cast<uint16_t>(table[place + 1]);
  const uint32_t part = u & ((uint32_t{1} << bits) - 1);
  return (a << bits) + static_cast<int32_t>(part) * (b - a);
}

template <class Result>
void each(const Sigmoid16x8Args& args, const int16_t* x, int16_t* y, Result result) {
  const Sigmoid16x8Args a = args;  // for all the compiler knows, y might lie over the arguments
  const int64_t half = a.shift > 0 ? int64_t{1} << (a.shift - 1) : 0;
  for (int32_t i = 0; i < a.count; ++i)
    y[i] = static_cast<int16_t>(
        result(static_cast<int32_t>((int64_t{x[i]} * a.multiplier + half) >> a.shift)));
}

}  // namespace

void logistic_16x8(const Sigmoid16x8Args& a, const int16_t* x, const int16_t* table, int16_t* y) {
  each(a, x, y, [=](int32_t d) {
    const int32_t r = at(table, d, 9, 32767 * 1024);
    return (d >= 0 ? r + 512 : (1 << 25) - r + 511) >> 10;
  });
}

void tanh_16x8(const Sigmoid16x8Args& a, const int16_t* x, const int16_t* table, int16_t* y) {
  each(a, x, y, [=](int32_t d) {
    const int32_t r = at(table, d, 8, 65535 * 256);
    return (d >= 0 ? r - (1 << 23) + 128 : (1 << 23) - r + 127) >> 8;
  });
}

}  // namespace deuteron
