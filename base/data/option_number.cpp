// SPDX-License-Identifier: Apache-2.0
#include "base/data/option_number.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "base/printable.h"

namespace deuteron {
namespace {

constexpr size_t kMostShown = 40;  // characters of the text, in a message

std::string shown(std::string_view text) {
  const bool cut = text.size() > kMostShown;
  return fmt::format("`{}{}`", printable(text.substr(0, kMostShown), Lines::escaped),
                     cut ? ".." : "");
}

std::string allowed(const NumberRange& range) {
  if (range.whole) {
    const bool any_above = range.most == std::numeric_limits<int64_t>::max();
    return any_above ? fmt::format("a whole number, {} or more", range.least)
                     : fmt::format("a whole number, {} to {}", range.least, range.most);
  }
  switch (range.sign) {
    case NumberRange::Sign::positive:
      return fmt::format("a number above 0, at most {:g}", range.largest);
    case NumberRange::Sign::not_negative:
      return fmt::format("a number, 0 to {:g}", range.largest);
    case NumberRange::Sign::not_zero:
      return fmt::format("a number, -{0:g} to {0:g}, not 0", range.largest);
    case NumberRange::Sign::any:
      break;
  }
  return fmt::format("a number, -{0:g} to {0:g}", range.largest);
}

template <class T>
std::optional<T> parsed(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value)
                                                                  : std::nullopt;
}

bool is_in(const NumberRange& range, std::string_view text) {
  if (range.whole) {
    const size_t first = text.starts_with('-') ? 1 : 0;
    if (text.size() > first + 1 && text[first] == '0') return false;
    const std::optional<int64_t> value = parsed<int64_t>(text);
    return value && *value >= range.least && *value <= range.most;
  }
  const std::optional<double> value = parsed<double>(text);
  if (!value || !(std::abs(*value) <= range.largest)) return false;
  switch (range.sign) {
    case NumberRange::Sign::positive:
      return static_cast<float>(*value) > 0;  // not so small that it becomes 0
    case NumberRange::Sign::not_negative:
      return *value >= 0;
    case NumberRange::Sign::not_zero:
      return static_cast<float>(*value) != 0;
    case NumberRange::Sign::any:
      break;
  }
  return true;
}

}  // namespace

std::string complaint_of(const NumberRange& range, std::string_view text) {
  return is_in(range, text) ? std::string()
                            : fmt::format("{} is not {}", shown(text), allowed(range));
}

std::string complaint_of_list(const NumberRange& range, std::string_view texts) {
  std::string first;
  for_each_part(texts, [&](std::string_view text) {
    if (first.empty()) first = complaint_of(range, text);
  });
  return first;
}

double real_of(std::string_view text) { return parsed<double>(text).value_or(0); }

}  // namespace deuteron
