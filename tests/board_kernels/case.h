// SPDX-License-Identifier: Apache-2.0
// A random case of a kernel on an emulated board: numbers from a seed, operands in memory whose
// ends are watched, and the comparison. Operands that are read end where the board's memory ends,
// so that a read behind them faults; what is written has guards on both sides.
#pragma once
#include <cstdint>

#include "runtime/ports/semihosting.h"

namespace deuteron {

class Random {
 public:
  explicit Random(uint32_t seed) : state_(seed * 2654435761u + 0x9e3779b9u) {
    for (int i = 0; i < 4; ++i) next();
  }
  uint32_t next() {  // xorshift32, Marsaglia
    state_ ^= state_ << 13, state_ ^= state_ >> 17, state_ ^= state_ << 5;
    return state_ == 0 ? state_ = 0x6c8e9cf5u : state_;
  }
  int32_t between(int32_t low, int32_t high) {
    return low + static_cast<int32_t>(next() / 2 % (static_cast<uint32_t>(high - low) + 1));
  }
  bool one_in(int32_t n) { return between(1, n) == 1; }
  template <int32_t n>
  int32_t of(const int32_t (&values)[n]) {
    return values[between(0, n - 1)];
  }

 private:
  uint32_t state_;
};

// Which of the operands ends at the end of which memory; the other ones lie in the middle.
int8_t* at_end_of_pool(uint32_t bytes);
int8_t* at_end_of_ram(uint32_t bytes);

// An output or scratch: `bytes` of it between guards, all filled with the same.
struct Guarded {
  int8_t* data;
  uint32_t bytes;
};
Guarded guarded(int which, uint32_t bytes, int32_t misalignment = 0);  // which: 0..3
bool guards_hold(const Guarded& g);
bool same_bytes(const Guarded& a, const Guarded& b, uint32_t bytes, int32_t* where);

void fill_bytes(Random& r, int8_t* to,
                int32_t count);  // any int8; the ends of the range more often
// Operands of so many bytes, filled, that end where a memory does: which one ends where is drawn.
struct LayerOperands {
  int8_t *x, *weight;
};
LayerOperands some_layer(Random& r, int32_t xs, int32_t weights);
// Some rows of a matrix end with a number that a kernel may leave out, one in four wholly.
void end_rows_with(Random& r, int32_t number, int8_t* x, int32_t rows, int32_t length);
void fill_sums(Random& r, int32_t* to, int32_t count);  // biases
// Multipliers and shifts: all shifts 0, of -12..0, or anything down to -31. now and then a shift
// above 0.
void fill_scales(Random& r, int32_t* multiplier, int32_t* shift, int32_t count);
int32_t a_zero(Random& r);  // -128..127, the ends more often
void bounds(Random& r, int32_t* low, int32_t* high);

// The outcome of a case. `line`: what it was, to be printed when it fails.
enum class Outcome { same, not_served, different };
Outcome compared(const Guarded& expected, const Guarded& found, uint32_t bytes,
                 const Guarded* scratch, Line& line);

struct CheckedKernel {
  const char* name;
  Outcome (*run)(uint32_t seed);
};
Outcome check_conv2d(uint32_t seed);
Outcome check_depthwise_conv2d(uint32_t seed);
Outcome check_linear(uint32_t seed);
Outcome check_linear_rows(uint32_t seed);
Outcome check_add(uint32_t seed);
Outcome check_mul(uint32_t seed);
Outcome check_avg_pool2d(uint32_t seed);
Outcome check_sum(uint32_t seed);
Outcome check_max_pool2d(uint32_t seed);
Outcome check_lookup(uint32_t seed);
Outcome check_pad(uint32_t seed);
Outcome check_copy(uint32_t seed);
Outcome check_quantize(uint32_t seed);
Outcome check_dequantize(uint32_t seed);
Outcome check_minimum(uint32_t seed);
Outcome check_maximum(uint32_t seed);
Outcome check_matmul(uint32_t seed);
Outcome check_packed_conv2d(uint32_t seed);
Outcome check_packed_conv2d_w4(uint32_t seed);
Outcome check_packed_conv2d_shifts(uint32_t seed);
Outcome check_packed_conv2d_add(uint32_t seed);
Outcome check_packed_conv2d_add_shifts(uint32_t seed);
Outcome check_packed_linear(uint32_t seed);
Outcome check_packed_conv_transpose2d(uint32_t seed);
Outcome check_linear_add(uint32_t seed);
Outcome check_linear_once(uint32_t seed);
Outcome check_lstm(uint32_t seed);
Outcome check_gru(uint32_t seed);
Outcome check_rnn(uint32_t seed);
Outcome check_sequence_lstm(uint32_t seed);
Outcome check_conv2d_s16(uint32_t seed);
Outcome check_depthwise_conv2d_s16(uint32_t seed);
Outcome check_conv2d_s8_s16(uint32_t seed);
Outcome check_depthwise_conv2d_s8_s16(uint32_t seed);
Outcome check_conv2d_16x8(uint32_t seed);
Outcome check_linear_16x8(uint32_t seed);
Outcome check_matmul_16x8(uint32_t seed);
Outcome check_add_s16(uint32_t seed);
Outcome check_avg_pool2d_s16(uint32_t seed);
Outcome check_mul_s16(uint32_t seed);
Outcome check_max_pool2d_s16(uint32_t seed);
Outcome check_quantize_s16(uint32_t seed);
Outcome check_requantize(uint32_t seed);
Outcome check_quantize_bytes(uint32_t seed);
Outcome check_softmax(uint32_t seed);
Outcome check_permute(uint32_t seed);
Outcome check_layer_norm(uint32_t seed);

}  // namespace deuteron
