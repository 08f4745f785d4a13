// SPDX-License-Identifier: Apache-2.0
// Elements and numbers of every dtype, with and without quantization parameters.
#include "base/tensor/elements.h"

#include <gtest/gtest.h>

#include <cmath>

namespace deuteron {
namespace {

TEST(Elements, WholeNumbersOfEveryDtypeComeBack) {
  const std::vector<float> numbers = {0, 1, 100, 3, 1, 0};
  for (const DType d :
       {DType::f32, DType::f64, DType::s8, DType::s16, DType::s32, DType::s64, DType::u8}) {
    const Type type{d, {2, 3}, {}};
    const std::vector<std::byte> elements = elements_of(numbers, type);
    ASSERT_EQ(static_cast<i64>(elements.size()), type.bytes());
    EXPECT_EQ(numbers_of(elements.data(), type), numbers) << name_of(d);
    // From a place that is not aligned.
    std::vector<std::byte> shifted(elements.size() + 1);
    std::copy(elements.begin(), elements.end(), shifted.begin() + 1);
    EXPECT_EQ(numbers_of(shifted.data() + 1, type), numbers) << name_of(d);
  }
  EXPECT_EQ(elements_of(std::vector<float>{0, 1}, {DType::b8, {2}, {}}),
            (std::vector<std::byte>{std::byte{0}, std::byte{1}}));
}

TEST(Elements, ParametersMakeThemReal) {
  const Type type{DType::s8, {5}, per_tensor(0.5f, 3)};
  const std::vector<std::byte> elements =
      elements_of(std::vector<float>{0, 1, -1.25f, 1000, -1000}, type);
  EXPECT_EQ(static_cast<int8_t>(elements[0]), 3);
  EXPECT_EQ(static_cast<int8_t>(elements[1]), 5);
  EXPECT_EQ(static_cast<int8_t>(elements[2]), 1);  // -2.5 steps: to even
  EXPECT_EQ(static_cast<int8_t>(elements[3]), 127);
  EXPECT_EQ(static_cast<int8_t>(elements[4]), -128);
  EXPECT_EQ(numbers_of(elements.data(), type), (std::vector<float>{0, 1, -1, 62, -65.5f}));
}

TEST(Elements, EachChannelHasItsOwnParameters) {
  Quant q;
  q.scale = {0.5f, 2, 0.25f}, q.zero_point = {0, 1, -4}, q.axis = 1;
  const int8_t elements[] = {2, 4, 3, 5, 0, 4, -2, -4, 1, 1, -4, 0};
  EXPECT_EQ(numbers_of(elements, {DType::s8, {2, 3, 2}, q}),
            (std::vector<float>{1, 2, 4, 8, 1, 2, -1, -2, 0, 0, 0, 1}));
}

}  // namespace
}  // namespace deuteron
