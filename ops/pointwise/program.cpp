// SPDX-License-Identifier: Apache-2.0
// Programs of Pointwise: what they compute, and their text.
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <iterator>

#include "ops/op.h"
#include "ops/pointwise/pointwise.h"

namespace deuteron {

static constexpr std::string_view kNames[] = {
    "", "add", "sub", "mul", "div", "minimum", "maximum", "clamp"};  // in the order of PointFn

static float apply(const PointStep& s, float a, float b) {
  switch (s.fn) {
    case PointFn::unary:
      return evaluate(s.unary, a, s.alpha);
    case PointFn::add:
      return a + b;
    case PointFn::sub:
      return a - b;
    case PointFn::mul:
      return a * b;
    case PointFn::div:
      return a / b;
    case PointFn::minimum:
      return a < b || a != a ? a : b;
    case PointFn::maximum:
      return a > b || a != a ? a : b;
    case PointFn::clamp:
      return a < s.bounds.low ? s.bounds.low : a > s.bounds.high ? s.bounds.high : a;
  }
  return a;
}

float evaluate(const PointProgram& p, float x) {
  std::array<float, kMostPointSteps> values;
  const auto value = [&](const PointOperand& o) {
    return o.from == PointOperand::kX ? x : o.from < 0 ? o.number : values[o.from];
  };
  for (size_t k = 0; k < p.steps.size(); ++k)
    values[k] = apply(p.steps[k], value(p.steps[k].a), value(p.steps[k].b));
  return p.steps.empty() ? x : values[p.steps.size() - 1];
}

std::optional<PointLine> line_of(const PointProgram& p) {
  std::vector<PointLine> lines;
  const auto line = [&](const PointOperand& o) -> PointLine {
    return o.from == PointOperand::kX ? PointLine{1, 0}
           : o.from < 0               ? PointLine{0, o.number}
                                      : lines[o.from];
  };
  for (const PointStep& s : p.steps) {
    const PointLine a = line(s.a), b = line(s.b);
    if (s.fn == PointFn::add) lines.push_back({a.slope + b.slope, a.offset + b.offset});
    else if (s.fn == PointFn::sub) lines.push_back({a.slope - b.slope, a.offset - b.offset});
    else if (s.fn == PointFn::mul && (a.slope == 0 || b.slope == 0))
      lines.push_back({a.slope * b.offset + b.slope * a.offset, a.offset * b.offset});
    else if (s.fn == PointFn::div && b.slope == 0 && b.offset != 0)
      lines.push_back({a.slope / b.offset, a.offset / b.offset});
    else if (s.fn == PointFn::unary && s.unary == UnaryFn::neg)
      lines.push_back({-a.slope, -a.offset});
    else if (s.fn == PointFn::unary && s.unary == UnaryFn::identity) lines.push_back(a);
    else return std::nullopt;
  }
  const PointLine result = lines.empty() ? PointLine{1, 0} : lines.back();
  if (!std::isfinite(result.slope) || !std::isfinite(result.offset)) return std::nullopt;
  return result;
}

static std::string text_of(const PointOperand& o) {
  return o.from == PointOperand::kX ? "x"
         : o.from < 0               ? fmt::format("{}", o.number)
                                    : fmt::format("%{}", o.from);
}

std::string to_text(const PointProgram& p) {
  std::string text;
  for (const PointStep& s : p.steps) {
    if (!text.empty()) text += ' ';
    if (s.fn == PointFn::unary)
      text += fmt::format("{}({},{})", name_of(s.unary), text_of(s.a), s.alpha);
    else if (s.fn == PointFn::clamp)
      text += fmt::format("clamp({},{},{})", text_of(s.a), s.bounds.low, s.bounds.high);
    else
      text +=
          fmt::format("{}({},{})", kNames[static_cast<size_t>(s.fn)], text_of(s.a), text_of(s.b));
  }
  return text;
}

static std::optional<float> number_of(std::string_view text) {
  float v = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), v);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return v;
}

static std::optional<PointOperand> operand_of(std::string_view text, size_t steps) {
  if (text == "x") return PointOperand{};
  if (text.starts_with('%')) {
    i64 k = -1;
    const auto [end, error] = std::from_chars(text.data() + 1, text.data() + text.size(), k);
    if (error != std::errc() || end != text.data() + text.size() || k < 0 ||
        k >= static_cast<i64>(steps))
      return std::nullopt;
    return PointOperand{k, 0};
  }
  const auto v = number_of(text);
  return v ? std::optional(PointOperand{PointOperand::kNumber, *v}) : std::nullopt;
}

static std::optional<PointStep> step_of(std::string_view text, size_t steps) {
  const size_t open = text.find('(');
  if (open == std::string_view::npos || !text.ends_with(')')) return std::nullopt;
  const std::string_view name = text.substr(0, open);
  std::vector<std::string_view> parts;
  std::string_view rest = text.substr(open + 1, text.size() - open - 2);
  for (size_t comma = rest.find(','); comma != std::string_view::npos; comma = rest.find(',')) {
    parts.push_back(rest.substr(0, comma));
    rest.remove_prefix(comma + 1);
  }
  parts.push_back(rest);
  PointStep s;
  const auto a = operand_of(parts[0], steps);
  if (!a) return std::nullopt;
  s.a = *a;
  if (name == "clamp") {
    const auto low = parts.size() == 3 ? number_of(parts[1]) : std::nullopt,
               high = parts.size() == 3 ? number_of(parts[2]) : std::nullopt;
    if (!low || !high) return std::nullopt;
    s.fn = PointFn::clamp;
    s.bounds = {*low, *high};
    return s;
  }
  if (parts.size() != 2) return std::nullopt;
  if (const auto unary = unary_named(name)) {
    const auto alpha = number_of(parts[1]);
    if (!alpha) return std::nullopt;
    s.unary = *unary;
    s.alpha = *alpha;
    return s;
  }
  for (size_t k = 1; k < std::size(kNames) - 1; ++k)
    if (kNames[k] == name) s.fn = static_cast<PointFn>(k);
  const auto b = operand_of(parts[1], steps);
  if (s.fn == PointFn::unary || !b) return std::nullopt;
  s.b = *b;
  return s;
}

std::optional<PointProgram> point_program_named(std::string_view text) {
  PointProgram p;
  while (!text.empty()) {
    const size_t blank = std::min(text.find(' '), text.size());
    const auto step = step_of(text.substr(0, blank), p.steps.size());
    if (!step || p.steps.size() == kMostPointSteps) return std::nullopt;
    p.steps.push_back(*step);
    text.remove_prefix(std::min(blank + 1, text.size()));
  }
  return p;
}

}  // namespace deuteron
