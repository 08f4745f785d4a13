// SPDX-License-Identifier: Apache-2.0
// The table of kernel.h as TFLite makes it.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/unary/s16/kernel.h"
#include "ops/op.h"

namespace deuteron {

// A function over 512 parts of an int16 range, in steps of the result. An entry is moved by half of
// the error that the line to the next one has in its middle. Source: TFLite's LUTPopulate of int16,
// which computes in `Real`.
template <class Real, class Function>
std::vector<int16_t> tflite_table_s16(Real x_scale, i32 x_zero, Real y_scale, Function function) {
  constexpr i32 kLow = -32768, kHigh = 32767, kParts = kLookupS16Entries - 1;
  const Real first = x_scale * static_cast<Real>(kLow - x_zero),
             last = x_scale * static_cast<Real>(kHigh - x_zero);
  const Real part = (last - first) / kParts, steps = 65536 / (y_scale * kHigh - y_scale * kLow);
  const auto at = [&](i32 i) { return first + static_cast<Real>(i) * part; };
  // What is beyond all numbers has no middle; TFLite's conversion gives 0 then.
  const auto held = [](Real v) {
    return std::isnan(v) ? int16_t{0} : static_cast<int16_t>(std::clamp<Real>(v, kLow, kHigh));
  };
  std::vector<int16_t> table;
  for (i32 i = 0; i < kParts; ++i) {
    const Real here = std::round(function(at(i)) * steps), next = function(at(i + 1)) * steps;
    const Real between = std::round((next + here) / 2),
               wanted = std::round(function(at(i) + part / 2) * steps);
    table.push_back(held(here - std::round((between - wanted) / 2)));
  }
  table.push_back(held(std::round(function(last) * steps)));
  return table;
}

}  // namespace deuteron
