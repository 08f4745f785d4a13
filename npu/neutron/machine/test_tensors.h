// SPDX-License-Identifier: Apache-2.0
// Extents, strides and results of kernels' calls, for tests.
#pragma once
#include <algorithm>
#include <array>
#include <vector>

#include "kernels/integer/requantize_reference.h"
#include "npu/neutron/machine/microcode.h"
#include "npu/neutron/machine/test_model.h"

namespace deuteron::neutron::test {

using Extents = std::array<int32_t, kMaxRank>;

inline size_t z(int64_t v) { return static_cast<size_t>(v); }

inline int32_t product(const Extents& e) {
  int32_t p = 1;
  for (const int32_t v : e) p *= v;
  return p;
}
inline Extents dense(const Extents& e) {
  Extents strides{};
  int32_t step = 1;
  for (size_t i = kMaxRank; i-- > 0;) {
    strides[i] = step;
    step *= e[i];
  }
  return strides;
}
inline Extents index_of_flat(int32_t flat, const Extents& e) {
  Extents index{};
  for (size_t i = kMaxRank; i-- > 0;) {
    index[i] = flat % e[i];
    flat /= e[i];
  }
  return index;
}
inline int32_t dot(const Extents& a, const Extents& b) {
  int32_t sum = 0;
  for (size_t i = 0; i < kMaxRank; ++i) sum += a[i] * b[i];
  return sum;
}

// NumPy's strides of a tensor of these extents over extents that it is broadcast to.
inline Extents strides_of(const Extents& own) {
  Extents strides{};
  int32_t step = 1;
  for (int i = kMaxRank - 1; i >= 0; --i) {
    const auto at = static_cast<size_t>(i);
    strides[at] = own[at] == 1 ? 0 : step;
    step *= own[at];
  }
  return strides;
}
// The offset of index `flat` of `extent`, by strides.
inline size_t offset(int32_t flat, const Extents& extent, const Extents& stride) {
  int32_t at = 0;
  for (size_t i = kMaxRank; i-- > 0;) {
    at += flat % extent[i] * stride[i];
    flat /= extent[i];
  }
  return static_cast<size_t>(at);
}

inline int8_t clamped(int64_t v, int64_t low, int64_t high) {
  return static_cast<int8_t>(std::clamp(v, low, high));
}

// -128 to 127.
inline Bytes all_bytes() {
  Bytes all;
  for (int v = -128; v < 128; ++v) all.push_back(static_cast<int8_t>(v));
  return all;
}

// A sum, brought to the result's scale.
inline int8_t end_of(int64_t sum, int64_t multiplier, int shift, int64_t y_zero, int64_t low,
                     int64_t high) {
  return clamped(y_zero + requantize_reference(sum, multiplier, shift), low, high);
}

// Bias, multiplier and shift of each channel.
inline std::vector<int32_t> random_params(Random& random, int32_t channels) {
  std::vector<int32_t> params;
  for (int32_t i = 0; i < channels; ++i)
    params.insert(params.end(),
                  {random.in(-30000, 30000), random.multiplier(), random.in(-12, -5)});
  return params;
}

}  // namespace deuteron::neutron::test
