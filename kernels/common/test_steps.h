// SPDX-License-Identifier: Apache-2.0
// Steps of int16 for kernel tests.
#pragma once
#include "kernels/common/test_call.h"

namespace deuteron {

// A tensor of any int16, the ends among them.
inline Tensor& add_int16(TestCall& call, Random& random, std::vector<int32_t> sizes,
                         std::vector<uint8_t> order = {}) {
  Tensor& t = call.tensor(ScalarType::s16, std::move(sizes), std::move(order));
  auto* to = static_cast<int16_t*>(t.data);
  for (int32_t i = 0; i < t.numel; ++i)
    to[i] = static_cast<int16_t>(random.in(0, 9) == 0 ? (random.in(0, 1) == 0 ? -32768 : 32767)
                                                      : random.in(-32768, 32767));
  return t;
}

// A call of two operands and a result of int16, of `count` elements each, with numbers in between.
inline TestCall pair_of_int16(const Kernel& kernel, int32_t count,
                              std::initializer_list<int32_t> numbers, Random& random) {
  TestCall call(kernel);
  for (int k = 0; k < 2; ++k) add_int16(call, random, {count});
  for (const int32_t v : numbers) call.integer(v);
  call.tensor(ScalarType::s16, {count});
  return call;
}
// reference(x, other) of each pair of elements.
template <class Reference>
std::vector<int16_t> expected_of_pair(TestCall& call, int32_t count, Reference reference) {
  std::vector<int16_t> expected;
  for (int32_t i = 0; i < count; ++i)
    expected.push_back(static_cast<int16_t>(
        reference(data_of<int16_t>(call.tensor_at(0))[i], data_of<int16_t>(call.tensor_at(1))[i])));
  return expected;
}

// A constant with these elements.
template <class T>
Tensor& add_constant(TestCall& call, ScalarType type, const std::vector<T>& elements,
                     std::vector<int32_t> sizes = {}) {
  if (sizes.empty()) sizes = {static_cast<int32_t>(elements.size())};
  Tensor& t = call.tensor(type, std::move(sizes));
  if (!elements.empty()) std::memcpy(t.data, elements.data(), elements.size() * sizeof(T));
  t.constant = true;
  return t;
}

inline std::vector<int8_t> any_int8(Random& random, int64_t count) {
  std::vector<int8_t> v(static_cast<size_t>(count));
  for (int8_t& e : v) e = random.s8();
  return v;
}
// Within -most..most.
inline std::vector<int64_t> any_int64(Random& random, int32_t count, int64_t most) {
  std::vector<int64_t> v(static_cast<size_t>(count));
  for (int64_t& e : v) e = std::uniform_int_distribution<int64_t>(-most, most)(random.engine);
  return v;
}

}  // namespace deuteron
