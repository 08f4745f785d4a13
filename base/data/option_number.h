// SPDX-License-Identifier: Apache-2.0
// Numbers that the user writes for an option: plain decimals within a range.
#pragma once
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>

namespace deuteron {

struct NumberRange {
  bool whole = false;
  int64_t least = 0, most = 0;  // of whole numbers
  double largest = 0;           // of real numbers: of the absolute value
  enum class Sign : uint8_t { any, positive, not_negative, not_zero } sign = Sign::any;
};

// All that T holds; of 64 bits what is not negative without a sign.
template <class T>
constexpr NumberRange range_of() {
  using Limits = std::numeric_limits<T>;
  if constexpr (std::is_floating_point_v<T>)
    return {false, 0, 0, static_cast<double>(std::numeric_limits<float>::max())};
  else if constexpr (sizeof(T) < sizeof(int64_t)) return {true, Limits::min(), Limits::max()};
  else
    return {true, std::is_signed_v<T> ? std::numeric_limits<int64_t>::min() : 0,
            std::numeric_limits<int64_t>::max()};
}

// What is wrong with the text, with what is allowed; empty: nothing. Not a number are: an empty
// text, nan, inf, a sign +, spaces, hexadecimal digits, a whole number with a leading zero, and
// whatever stands behind a number.
std::string complaint_of(const NumberRange& range, std::string_view text);

// The same for each of several numbers with commas between them.
std::string complaint_of_list(const NumberRange& range, std::string_view texts);

// Calls take(number) for each number of a list that complaint_of_list() has nothing against.
template <class Take>
void for_each_part(std::string_view list, Take take) {
  for (size_t from = 0, to = 0; to != list.npos; from = to + 1) {
    to = list.find(',', from);
    take(list.substr(from, to == list.npos ? to : to - from));
  }
}
double real_of(std::string_view text);

}  // namespace deuteron
