// SPDX-License-Identifier: Apache-2.0
#include "ops/unary/sigmoid_16x8.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/unary/sigmoid_16x8/kernel.h"
#include "ops/common/int16.h"

namespace deuteron {
namespace {

struct Ratio {
  i32 multiplier, shift;
};

// x's scale in steps of 1 / 12288. TFLite knows some powers of two, and cuts the rest off to 15
// bits.
Ratio ratio_of(float scale, bool is_tanh) {
  const float exponent = std::log(scale) * (1.0f / std::log(2.0f)), nearest = std::round(exponent);
  const int left = 12 + static_cast<int>(nearest);
  if (std::abs(exponent - nearest) < 1e-3f && (left == 0 || (left == 1 && is_tanh)))
    return {3 << left, 0};
  double multiplier = scale * 4096.0 * 3.0;
  Ratio r{0, 0};
  for (; multiplier <= 32767.0 / 2.0 && r.shift <= 30; ++r.shift) multiplier *= 2;
  r.multiplier = static_cast<i32>(std::min(multiplier, 1e9));
  return r;
}

}  // namespace

// Each entry is moved by half of the error that the line to the next one has in its middle; the
// last one is all ones.
std::vector<int16_t> sigmoid_16x8_table() {
  constexpr i32 kLast = kSigmoid16x8Entries - 1;
  const auto value = [](double i) { return 65536 / (1 + std::exp(-i / 24)); };
  std::vector<int16_t> table;
  for (i32 i = 0; i < kLast; ++i) {
    const double error = value(i + 0.5) - (value(i) + value(i + 1)) / 2;
    table.push_back(static_cast<int16_t>(static_cast<uint16_t>(std::lround(value(i) + error / 2))));
  }
  table.push_back(-1);
  return table;
}

Result<Lowered> lower_sigmoid_16x8(const LowerContext& c, bool is_tanh) {
  constexpr i32 kMost = 65535;
  const Type &x = c.in[0], &y = c.out[0];
  if (auto why = require_int16(c)) return *why;
  if (y.quant.scale[0] != 0x1p-15f)
    return Refusal{"the result must have scale 2^-15", fmt::format("{:g}", y.quant.scale[0]),
                   "3.05176e-05", "int16x8.scale"};
  const Ratio ratio = ratio_of(x.quant.scale[0], is_tanh);
  if (ratio.multiplier > kMost)
    return Refusal{"the operand's scale is too coarse", fmt::format("{:g}", x.quant.scale[0]),
                   fmt::format("{:g}", kMost / 12288.0), "int16x8.scale"};
  CallBuilder call("deuteron::sigmoid_16x8", c.in.size(), 1);
  call.in(0, elementwise_face(x.shape))
      .constant(DType::s16, {kSigmoid16x8Entries}, sigmoid_16x8_table());
  call.integer(ratio.multiplier)
      .integer(ratio.shift)
      .boolean(is_tanh)
      .out(0, elementwise_face(y.shape))
      .may_share(0, 0);
  return call.done();
}

}  // namespace deuteron
