// SPDX-License-Identifier: Apache-2.0
#include "frontends/pt2/file/size_expression.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <utility>

namespace deuteron::pt2 {
namespace {

constexpr i64 kMost = i64{1} << 40, kMostPower = 8;
constexpr int kMostLevels = 64;

// Mul(Rational(1, 2), Symbol('s0')): a whole number only at the end. The denominator is positive.
struct Ratio {
  i64 top = 0, bottom = 1;
};

std::optional<Ratio> reduced(__int128 top, __int128 bottom) {
  if (bottom == 0) return std::nullopt;
  if (bottom < 0) top = -top, bottom = -bottom;
  __int128 a = top < 0 ? -top : top, b = bottom;
  while (b != 0) a = std::exchange(b, a % b);
  if (a > 1) top /= a, bottom /= a;
  if (top > kMost || top < -kMost || bottom > kMost) return std::nullopt;
  return Ratio{static_cast<i64>(top), static_cast<i64>(bottom)};
}
std::optional<Ratio> sum(Ratio a, Ratio b) {
  return reduced(__int128{a.top} * b.bottom + __int128{b.top} * a.bottom,
                 __int128{a.bottom} * b.bottom);
}
std::optional<Ratio> product(Ratio a, Ratio b) {
  return reduced(__int128{a.top} * b.top, __int128{a.bottom} * b.bottom);
}
std::optional<Ratio> quotient(Ratio a, Ratio b) {
  return reduced(__int128{a.top} * b.bottom, __int128{a.bottom} * b.top);
}
bool is_less(Ratio a, Ratio b) { return __int128{a.top} * b.bottom < __int128{b.top} * a.bottom; }
Ratio rounded_down(Ratio a) {
  return {a.top >= 0 ? a.top / a.bottom : -((-a.top + a.bottom - 1) / a.bottom), 1};
}
std::optional<Ratio> floor_quotient(Ratio a, Ratio b) {
  const auto q = quotient(a, b);
  return q ? std::optional(rounded_down(*q)) : std::nullopt;
}
std::optional<Ratio> remainder(Ratio a, Ratio b) {  // with the sign of b, as Python's
  const auto q = floor_quotient(a, b);
  const auto p = q ? product(*q, {-b.top, b.bottom}) : std::nullopt;
  return p ? sum(a, *p) : std::nullopt;
}
std::optional<Ratio> power(Ratio base, Ratio exponent) {
  if (exponent.bottom != 1 || exponent.top > kMostPower || exponent.top < -kMostPower)
    return std::nullopt;
  std::optional<Ratio> result = Ratio{1, 1};
  for (i64 k = (exponent.top < 0 ? -exponent.top : exponent.top); k > 0 && result; --k)
    result = product(*result, base);
  return result && exponent.top < 0 ? quotient({1, 1}, *result) : result;
}

struct Function {
  std::string_view name;
  std::optional<Ratio> (*apply)(Ratio, Ratio);
  bool is_folded;  // takes any number of arguments, from the left; else two
};
constexpr Function kFunctions[] = {
    {"Add", sum, true},
    {"Mul", product, true},
    {"Pow", power, false},
    {"PowByNatural", power, false},
    {"FloorDiv", floor_quotient, false},
    {"CleanDiv", floor_quotient, false},
    {"IntTrueDiv", quotient, false},
    {"Mod", remainder, false},
    {"PythonMod", remainder, false},
    {"Max", [](Ratio a, Ratio b) { return std::optional(is_less(a, b) ? b : a); }, true},
    {"Min", [](Ratio a, Ratio b) { return std::optional(is_less(b, a) ? b : a); }, true},
};

class Evaluation {
 public:
  Evaluation(std::string_view text, const Symbols& symbols) : rest_(text), symbols_(symbols) {}

  std::optional<Ratio> whole() {
    const auto value = term(0);
    skip_spaces();
    return rest_.empty() ? value : std::nullopt;
  }

 private:
  void skip_spaces() {
    while (!rest_.empty() && rest_[0] == ' ') rest_.remove_prefix(1);
  }
  bool take(char c) {
    skip_spaces();
    if (rest_.empty() || rest_[0] != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  std::optional<i64> integer() {
    skip_spaces();
    i64 value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc() || value > kMost || value < -kMost) return std::nullopt;
    rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
    return value;
  }

  // 's0', positive=True, integer=True)
  std::optional<Ratio> symbol() {
    const size_t end = take('\'') ? rest_.find('\'') : std::string_view::npos;
    const size_t close = end == std::string_view::npos ? end : rest_.find(')', end);
    if (close == std::string_view::npos) return std::nullopt;
    const std::string_view name = rest_.substr(0, end);
    rest_.remove_prefix(close + 1);
    return number_of(name);
  }
  std::optional<Ratio> number_of(std::string_view name) const {
    const auto it = symbols_.find(name);
    return it == symbols_.end() ? std::nullopt : std::optional(Ratio{it->second, 1});
  }

  std::optional<Ratio> term(int level) {
    skip_spaces();
    size_t length = 0;
    while (length < rest_.size() &&
           (std::isalnum(static_cast<unsigned char>(rest_[length])) || rest_[length] == '_'))
      ++length;
    const std::string_view name = rest_.substr(0, length);
    if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) || level > kMostLevels)
      return std::nullopt;
    rest_.remove_prefix(length);
    if (!take('(')) return number_of(name);
    if (name == "Symbol") return symbol();
    if (name == "Integer") {
      const auto value = integer();
      return value && take(')') ? std::optional(Ratio{*value, 1}) : std::nullopt;
    }
    if (name == "Rational") {
      const auto top = integer();
      const auto bottom = take(',') ? integer() : std::nullopt;
      return top && bottom && take(')') ? reduced(*top, *bottom) : std::nullopt;
    }
    const Function* function = std::find_if(std::begin(kFunctions), std::end(kFunctions),
                                            [&](const Function& f) { return f.name == name; });
    return function == std::end(kFunctions) ? std::nullopt : applied(*function, level);
  }

  std::optional<Ratio> applied(const Function& function, int level) {
    auto value = term(level + 1);
    size_t count = 1;
    while (value && take(',')) {
      skip_spaces();
      if (rest_.starts_with("evaluate=")) {  // how SymPy made it, no argument
        rest_.remove_prefix(std::min(rest_.find(')'), rest_.size()));
        break;
      }
      const auto next = term(level + 1);
      value =
          next && (function.is_folded || count == 1) ? function.apply(*value, *next) : std::nullopt;
      ++count;
    }
    return value && take(')') && (function.is_folded || count == 2) ? value : std::nullopt;
  }

  std::string_view rest_;
  const Symbols& symbols_;
};

}  // namespace

std::optional<i64> size_of(std::string_view expression, const Symbols& symbols) {
  const auto value = Evaluation(expression, symbols).whole();
  return value && value->bottom == 1 ? std::optional(value->top) : std::nullopt;
}

std::vector<std::string> symbols_in(std::string_view expression) {
  constexpr std::string_view kSymbol = "Symbol('";
  std::vector<std::string> names;
  for (size_t at = expression.find(kSymbol); at != std::string_view::npos;
       at = expression.find(kSymbol, at)) {
    at += kSymbol.size();
    const std::string name(
        expression.substr(at, std::min(expression.find('\'', at), expression.size()) - at));
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  if (names.empty() && !expression.empty() &&
      expression.find_first_of("( ") == std::string_view::npos)
    names.emplace_back(expression);
  return names;
}

}  // namespace deuteron::pt2
