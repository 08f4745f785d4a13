// SPDX-License-Identifier: Apache-2.0
// Cases of layer normalization, against its formula number by number: the portable kernel has
// products of its own for each core.
#include "kernels/layer_norm/kernel.h"

#include <cstring>
#include <initializer_list>

#include "runtime/isa.h"
#include "tests/board_kernels/case.h"

namespace deuteron {
namespace {

uint32_t floor_root(uint64_t v) {
  uint64_t root = 0;
  for (int bit = 31; bit >= 0; --bit) {
    const uint64_t higher = root | uint64_t{1} << bit;
    if (higher * higher <= v) root = higher;
  }
  return static_cast<uint32_t>(root);
}
int64_t rounded(int64_t v, int32_t shift) { return (v + (int64_t{1} << (shift - 1))) >> shift; }

void formula(const LayerNormArgs& a, const int8_t* x, const int32_t* weight, const int32_t* bias,
             int8_t* y) {
  for (int32_t r = 0; r < a.rows; ++r, x += a.columns, y += a.columns) {
    int64_t sum = 0, squares = 0;
    for (int32_t i = 0; i < a.columns; ++i) {
      const int32_t q = x[i] - a.x_zero;
      sum += a.centered ? q : 0;
      squares += q * q;
    }
    uint64_t variance = (static_cast<uint64_t>(a.columns * squares - sum * sum) << a.epsilon_bits) +
                        static_cast<uint64_t>(a.epsilon);
    int64_t factor = 0;
    int32_t left = 0;
    if (variance != 0) {
      for (; variance < uint64_t{1} << 60; variance *= 4) left += 2;
      factor = static_cast<int64_t>((uint64_t{1} << 61) / floor_root(variance));
      if (factor > INT32_MAX) factor = INT32_MAX;
    }
    for (int32_t i = 0; i < a.columns; ++i) {
      const int64_t d = rounded((a.columns * int64_t{x[i] - a.x_zero} - sum) * factor,
                                41 - (a.epsilon_bits + left) / 2);
      const int64_t v =
          a.y_zero + rounded(d * weight[i] + int64_t{bias[i]} * (1 << 20), 20 + a.shift);
      y[i] = static_cast<int8_t>(v < -128 ? -128 : v > 127 ? 127 : v);
    }
  }
}

void fill_numbers(Random& r, int32_t* to, int32_t count) {
  const int32_t right = r.between(1, 14);
  for (int32_t i = 0; i < count; ++i)
    to[i] = r.one_in(30) ? (r.one_in(2) ? 1 << 30 : -(1 << 30))
                         : static_cast<int32_t>(r.next()) >> right;
}

}  // namespace

Outcome check_layer_norm(uint32_t seed) {
  Random r(seed);
  LayerNormArgs a{};
  a.rows = r.between(1, 3), a.columns = r.one_in(8) ? r.between(100, 1500) : r.between(1, 70);
  a.x_zero = a_zero(r), a.y_zero = a_zero(r);
  a.epsilon_bits = 2 * r.between(0, 8);
  a.shift = r.one_in(4) ? r.between(0, 40) : r.between(11, 26);
  a.epsilon = r.one_in(4) ? 0 : static_cast<int64_t>(r.next() >> r.between(0, 31));
  if (r.one_in(10)) a.epsilon <<= r.between(0, 24);
  a.centered = !r.one_in(4);
  const auto bytes = static_cast<uint32_t>(a.rows * a.columns);
  static int32_t weight[1500], bias[1500];
  fill_numbers(r, weight, a.columns);
  fill_numbers(r, bias, a.columns);
  int8_t* x = at_end_of_pool(bytes);
  fill_bytes(r, x, a.rows * a.columns);
  if (r.one_in(3))  // near each other
    for (uint32_t i = 0, right = static_cast<uint32_t>(r.between(1, 7)); i < bytes; ++i)
      x[i] = static_cast<int8_t>(x[i] >> right);
  const Guarded expected = guarded(0, bytes), found = guarded(1, bytes, r.between(0, 3));
  Line line("@differs layer_norm ");
  line.number(seed).text(" rows,columns,xz,yz,epsilon_bits,shift,centered");
  for (const int32_t v : {a.rows, a.columns, a.x_zero, a.y_zero, a.epsilon_bits, a.shift,
                          static_cast<int32_t>(a.centered)})
    line.text(" ").signed_number(v);
  formula(a, x, weight, bias, expected.data);
  const bool in_place = r.one_in(3);
  if (in_place) std::memcpy(found.data, x, bytes);
  const int8_t* from = in_place ? found.data : x;
  if constexpr (kHasMve) layer_norm_s8_mve(a, from, weight, bias, found.data);
  else layer_norm_s8(a, from, weight, bias, found.data);
  return compared(expected, found, bytes, nullptr, line);
}

}  // namespace deuteron
