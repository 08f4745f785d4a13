// SPDX-License-Identifier: Apache-2.0
#include "frontends/pt2/call/schema_arguments.h"

#include <charconv>

#include "base/check.h"

namespace deuteron::pt2 {

using K = Argument::Kind;

static i64 integer_of(std::string_view text) {
  i64 v = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), v);
  DEUTERON_CHECK(error == std::errc() && end == text.data() + text.size(), std::string(text));
  return v;
}

static double real_of(std::string_view text) {
  double v = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), v);
  DEUTERON_CHECK(error == std::errc() && end == text.data() + text.size(), std::string(text));
  return v;
}

// A literal as make_schemas.py writes it.
static std::optional<Argument> literal(std::string_view text) {
  Argument a;
  if (text.empty() || text == "None" || text == "[]") return std::nullopt;
  if (text == "True" || text == "False") {
    a.kind = K::boolean;
    a.integer = text == "True";
  } else if (text.front() == '"') {
    a.kind = K::text;
    a.text = text.substr(1, text.size() - 2);
  } else if (text.front() == '[') {
    a.kind = K::integers;
    for (size_t at = 1; at < text.size();) {
      const size_t end = text.find_first_of(",]", at);
      a.integers.push_back(integer_of(text.substr(at, end - at)));
      at = end + 1;
    }
  } else if (text.find_first_of(".ei") != text.npos) {
    a.kind = K::real;
    a.real = real_of(text);
  } else {
    a.kind = K::integer;
    a.integer = integer_of(text);
    a.real = static_cast<double>(a.integer);
  }
  return a;
}

std::optional<Argument> default_argument(std::string_view target, std::string_view argument) {
  const std::optional<TorchParameter> p = parameter_of(target, argument);
  return p ? literal(p->fallback) : std::nullopt;
}

bool takes(const TorchParameter& p, const Argument& a) {
  const bool is_number = a.kind == K::integer || a.kind == K::real || a.kind == K::boolean;
  const std::string_view element = p.element();
  if (a.kind == K::other || a.kind == K::complex) return true;
  if (a.kind == K::none) return p.may_be_none();
  if (p.is_list()) {
    if (element == "Tensor")
      return a.kind == K::tensors || (a.kind == K::integers && a.integers.empty());
    if (element == "float") return a.kind == K::reals || a.kind == K::integers;
    if (element == "int" || element == "SymInt")
      return a.kind == K::integers || a.kind == K::integer;
    return true;
  }
  if (element == "Tensor") return a.kind == K::tensor || is_number;  // x + 2 is an add.Tensor
  if (element == "Scalar" || element == "float") return is_number;
  if (element == "int" || element == "SymInt")
    return a.kind == K::integer || a.kind == K::boolean || a.kind == K::dtype;
  if (element == "bool") return a.kind == K::boolean || a.kind == K::integer;
  if (element == "str") return a.kind == K::text;
  return a.kind == K::integer || a.kind == K::dtype;  // ScalarType, Layout, Device, MemoryFormat
}

std::string_view describe_kind(const TorchParameter& p) {
  const std::string_view element = p.element();
  const bool is_integer = element == "int" || element == "SymInt";
  if (p.is_list())
    return element == "Tensor" ? "a list of tensors"
           : is_integer        ? "a list of integers"
                               : "a list of numbers";
  if (element == "Tensor") return "a tensor";
  if (element == "bool") return "true or false";
  if (element == "str") return "a string";
  return element == "Scalar" || element == "float" ? "a number" : "an integer";
}

}  // namespace deuteron::pt2
