// SPDX-License-Identifier: Apache-2.0
// Runs random cases of every kernel of the board's instruction set against the portable one.
// Command line: KERNEL [FIRST_SEED [COUNT]]; `all`: each. 3000 cases if nothing else is said.
#include <cstring>

#include "runtime/ports/semihosting.h"
#include "tests/board_kernels/case.h"
#include "tests/board_words.h"

namespace deuteron {
namespace {

constexpr CheckedKernel kChecked[] = {
    {"conv2d", check_conv2d},
    {"depthwise_conv2d", check_depthwise_conv2d},
    {"linear", check_linear},
    {"linear_rows", check_linear_rows},
    {"add", check_add},
    {"mul", check_mul},
    {"avg_pool2d", check_avg_pool2d},
    {"sum", check_sum},
    {"max_pool2d", check_max_pool2d},
    {"lookup", check_lookup},
    {"pad", check_pad},
    {"copy", check_copy},
    {"quantize", check_quantize},
    {"dequantize", check_dequantize},
    {"minimum", check_minimum},
    {"maximum", check_maximum},
    {"matmul", check_matmul},
    {"packed_conv2d", check_packed_conv2d},
    {"packed_conv2d_shifts", check_packed_conv2d_shifts},
    {"packed_conv2d_w4", check_packed_conv2d_w4},
    {"packed_conv2d_add", check_packed_conv2d_add},
    {"packed_conv2d_add_shifts", check_packed_conv2d_add_shifts},
    {"packed_linear", check_packed_linear},
    {"packed_conv_transpose2d", check_packed_conv_transpose2d},
    {"linear_add", check_linear_add},
    {"linear_once", check_linear_once},
    {"lstm", check_lstm},
    {"gru", check_gru},
    {"rnn", check_rnn},
    {"sequence_lstm", check_sequence_lstm},
    {"conv2d_s16", check_conv2d_s16},
    {"depthwise_conv2d_s16", check_depthwise_conv2d_s16},
    {"conv2d_s8_s16", check_conv2d_s8_s16},
    {"depthwise_conv2d_s8_s16", check_depthwise_conv2d_s8_s16},
    {"conv2d_16x8", check_conv2d_16x8},
    {"linear_16x8", check_linear_16x8},
    {"matmul_16x8", check_matmul_16x8},
    {"add_s16", check_add_s16},
    {"avg_pool2d_s16", check_avg_pool2d_s16},
    {"mul_s16", check_mul_s16},
    {"max_pool2d_s16", check_max_pool2d_s16},
    {"quantize_s16", check_quantize_s16},
    {"requantize", check_requantize},
    {"quantize_bytes", check_quantize_bytes},
    {"softmax", check_softmax},
    {"permute", check_permute},
    {"layer_norm", check_layer_norm},
};
constexpr uint32_t kCases = 3000, kMostFailures = 5;

bool check(const CheckedKernel& k, uint32_t first, uint32_t count) {
  uint32_t served = 0, failed = 0;
  for (uint32_t i = 0; i < count && failed < kMostFailures; ++i) {
    const Outcome o = k.run(first + i);
    served += o != Outcome::not_served;
    failed += o == Outcome::different;
  }
  Line("@kernel ")
      .text(k.name)
      .text(" ")
      .number(count)
      .text(" cases, served ")
      .number(served)
      .text(", different ")
      .number(failed)
      .print();
  return failed == 0;
}

}  // namespace
}  // namespace deuteron

int main() {
  using namespace deuteron;
  static char text[256];
  char* rest = text;
  if (!command_line(text, sizeof text)) text[0] = 0;
  const char* name = take_word(rest);
  const uint32_t first = number_of(take_word(rest)), count = number_of(take_word(rest));
  const bool all = std::strcmp(name, "all") == 0;
  bool good = true, found = false;
  for (const CheckedKernel& k : kChecked) {
    if (!all && std::strcmp(name, k.name) != 0) continue;
    found = true;
    good &= check(k, first, count == 0 ? kCases : count);
  }
  if (!found) return static_cast<int>(BoardExit::bad_job);
  return static_cast<int>(good ? BoardExit::done : BoardExit::other_outputs);
}
