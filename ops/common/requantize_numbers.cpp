// SPDX-License-Identifier: Apache-2.0
#include "ops/common/requantize_numbers.h"

#include <fmt/format.h>

#include <cmath>

#include "kernels/requantize/kernel.h"

namespace deuteron {

std::optional<RequantizeNumbers> requantize_numbers(const Type& x, const Type& y) {
  const auto has_steps = [](const Type& t) {
    const bool has_one_scale = !t.quant.empty() && !t.quant.per_channel();
    return has_one_scale &&
           (t.dtype == DType::s8 || (t.dtype == DType::s16 && t.quant.zero_point[0] == 0));
  };
  if (!has_steps(x) || !has_steps(y) || x.dtype == y.dtype) return std::nullopt;
  const i32 steps = x.dtype == DType::s8 ? kRequantizeSteps : 1;
  int exponent = 0;
  const double part =
      std::frexp(static_cast<double>(x.quant.scale[0]) / y.quant.scale[0] / steps, &exponent);
  i32 factor = static_cast<i32>(std::lround(part * 32768));  // part is 0.5 or more
  if (factor == 32768) factor = 16384, ++exponent;
  if (exponent < -15 || exponent > 15) return std::nullopt;
  return RequantizeNumbers{factor, exponent};
}

Result<Lowered> lower_requantize(const Type& x, const Type& y) {
  const std::optional<RequantizeNumbers> n = requantize_numbers(x, y);
  if (!n)
    return Refusal{"no kernel makes the result's steps of the operand's",
                   fmt::format("{} to {}", name_of(x.dtype), name_of(y.dtype)),
                   "s8 to s16 or back, one scale each, zero point 0 of s16", "int16.requantize"};
  CallBuilder call(y.dtype == DType::s8 ? "deuteron::requantize_s8" : "deuteron::requantize_s16", 1,
                   1);
  call.in(0, elementwise_face(x.shape))
      .integer(x.quant.zero_point[0])
      .integer(n->factor)
      .integer(n->shift);
  call.integer(y.quant.zero_point[0])
      .integer(y.quant.low)
      .integer(y.quant.high)
      .out(0, elementwise_face(y.shape));
  return call.done();
}

}  // namespace deuteron
