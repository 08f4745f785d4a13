// SPDX-License-Identifier: Apache-2.0
// The table of kernel.h for a function of real numbers, and how far its lines may miss it.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/unary/s16/kernel.h"
#include "ops/op.h"

namespace deuteron {

// Entry k is f at the step 128 * (k - 256), rounded to y's steps; the last one is at 32768, one
// behind the last number. `f` takes and gives real values. Between two entries lies a straight
// line: where f bends by at most b (its second derivative in y's steps for one of x, squared) the
// result is off by at most 128^2 / 8 * b, half a step of an entry's, and half a step of the line's
// own rounding.
template <class F>
std::vector<int16_t> table_s16(const Quant& x, const Quant& y, F f) {
  std::vector<int16_t> table;
  for (i32 k = 0; k < kLookupS16Entries; ++k) {
    const float real =
        static_cast<float>((k - kLookupS16Entries / 2) * kLookupS16Steps) * x.scale[0];
    table.push_back(
        static_cast<int16_t>(quantize_value(f(real), y.scale[0], y.zero_point[0], y.low, y.high)));
  }
  return table;
}

// Half a step of int8: a table that misses by more is no finer than int8's, which has an entry for
// each number.
inline constexpr i32 kMostTableError = 128;

// The largest distance from f, in y's steps, of the lines within x's range: seen at three places
// between any two entries. Lines with an end that y cannot hold do not count.
template <class F>
double largest_error(std::span<const int16_t> table, const Quant& x, const Quant& y, F f) {
  constexpr i32 kPart = kLookupS16Steps / 4;
  double most = 0;
  for (i32 k = 0; k + 1 < kLookupS16Entries; ++k) {
    const double from = table[static_cast<size_t>(k)], to = table[static_cast<size_t>(k) + 1];
    const i32 first = (k - kLookupS16Entries / 2) * kLookupS16Steps;
    if (first + kLookupS16Steps <= x.low || first > x.high || std::min(from, to) <= y.low ||
        std::max(from, to) >= y.high)
      continue;
    for (i32 part = kPart; part < kLookupS16Steps; part += kPart) {
      const double exact =
          static_cast<double>(f(static_cast<float>(first + part) * x.scale[0])) / y.scale[0];
      const double error = std::abs(from + (to - from) * part / kLookupS16Steps - exact);
      most = std::isnan(error) ? INFINITY : std::max(most, error);
    }
  }
  return most;
}

// The call of the kernel for f. Types fit: the caller's.
template <class F>
Result<Lowered> lower_table_s16(const LowerContext& c, std::string_view name, F f) {
  const Type &x = c.in[0], &y = c.out[0];
  std::vector<int16_t> table = table_s16(x.quant, y.quant, f);
  if (const double error = largest_error(table, x.quant, y.quant, f); !(error <= kMostTableError))
    return Refusal{
        fmt::format("lines between the entries of a table miss the function {} by too many steps",
                    name),
        fmt::format("{:.0f}", error), std::to_string(kMostTableError), "int16.table"};
  CallBuilder call("deuteron::lookup_s16", c.in.size(), 1);
  call.in(0, elementwise_face(x.shape)).constant(DType::s16, {kLookupS16Entries}, std::move(table));
  call.out(0, elementwise_face(y.shape)).may_share(0, 0);
  return call.done();
}

}  // namespace deuteron
