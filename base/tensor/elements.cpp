// SPDX-License-Identifier: Apache-2.0
#include "base/tensor/elements.h"

#include <cstring>

#include "base/check.h"

namespace deuteron {

// Calls `f` with a value of the C++ type of `d`.
template <class F>
static void with_element(DType d, F f) {
  switch (d) {
    case DType::f32:
      return f(float{});
    case DType::s8:
      return f(int8_t{});
    case DType::s16:
      return f(int16_t{});
    case DType::s32:
      return f(int32_t{});
    case DType::s64:
      return f(int64_t{});
    case DType::u8:
    case DType::b8:
      return f(uint8_t{});
    case DType::f64:
      return f(double{});
    default:
      DEUTERON_CHECK(false, "no float form of " + std::string(name_of(d)));
  }
}

std::vector<float> numbers_of(const void* elements, const Type& type) {
  const Quant& q = type.quant;
  const i64 inner =
      q.per_channel() ? numel(std::span(type.shape).subspan(static_cast<size_t>(q.axis) + 1)) : 1;
  std::vector<float> numbers(static_cast<size_t>(type.elements()));
  with_element(type.dtype, [&]<class T>(T item) {
    const auto convert = [&](size_t begin, size_t end, auto number_of) {
      for (size_t k = begin; k < end; ++k) {
        std::memcpy(&item, static_cast<const std::byte*>(elements) + k * sizeof item, sizeof item);
        numbers[k] = number_of(item);
      }
    };
    if (q.empty()) return convert(0, numbers.size(), [](T v) { return static_cast<float>(v); });
    // with the same parameters
    const size_t run = q.per_channel() ? static_cast<size_t>(inner) : numbers.size();
    for (size_t begin = 0, c = 0; begin < numbers.size();
         begin += run, c = c + 1 < q.scale.size() ? c + 1 : 0) {
      const i64 zero = q.zero_point[c];
      const float scale = q.scale[c];
      convert(begin, begin + run,
              [=](T v) { return static_cast<float>(static_cast<i64>(v) - zero) * scale; });
    }
  });
  return numbers;
}

std::vector<std::byte> elements_of(std::span<const float> numbers, const Type& type) {
  const Quant& q = type.quant;
  DEUTERON_CHECK(!q.per_channel(), to_text(type));
  std::vector<std::byte> elements(numbers.size() * static_cast<size_t>(bytes_of(type.dtype)));
  with_element(type.dtype, [&]<class T>(T item) {
    for (size_t k = 0; k < numbers.size(); ++k) {
      item = q.empty() ? static_cast<T>(numbers[k])
                       : static_cast<T>(quantize_value(numbers[k], q.scale[0], q.zero_point[0],
                                                       q.low, q.high));
      std::memcpy(elements.data() + k * sizeof item, &item, sizeof item);
    }
  });
  return elements;
}

}  // namespace deuteron
