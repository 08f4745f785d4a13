// Short spellings for importers that compose an operator of torch from others.
#pragma once
#include <limits>
#include <string_view>
#include <utility>

#include "frontends/pt2_call/call.h"

namespace deuteron::pt2 {

inline constexpr float kInfinity = std::numeric_limits<float>::infinity();

inline void require_axes(Call& c, ValueId x) {
  c.require(!c.ok() || c.rank(x) > 0, "works along an axis of a tensor without axes", "", "", "pt2.slice.rank");
}

// An operand whose elements are only moved: float32, or integers and masks as they are.
inline ValueId movable(Call& c, std::string_view argument) {
  const ValueId v = c.any_tensor(argument);
  const Type& type = c.type(v);
  const bool is_whole = type.dtype == DType::s64 || type.dtype == DType::s32 || type.dtype == DType::b8;
  return is_whole && type.quant.empty() ? v : c.tensor(argument);
}

inline ValueId number(Call& c, double value) { return c.constant("number", {}, {static_cast<float>(value)}); }
inline ValueId apply(Call& c, UnaryFn fn, ValueId x, std::string_view suffix = {}, float alpha = 0) {
  return c.add(Unary{fn, alpha}, {x}, suffix);
}
// a + factor * b
inline ValueId sum(Call& c, ValueId a, ValueId b, std::string_view suffix = {}, double factor = 1) {
  Add op;
  op.alpha = static_cast<float>(factor);
  return c.add(op, {a, b}, suffix);
}
inline ValueId difference(Call& c, ValueId a, ValueId b, std::string_view suffix = {}) { return sum(c, a, b, suffix, -1); }
inline ValueId product(Call& c, ValueId a, ValueId b, std::string_view suffix = {}) { return c.add(Mul{}, {a, b}, suffix); }
inline ValueId quotient(Call& c, ValueId a, ValueId b, std::string_view suffix = {}) { return c.add(Div{}, {a, b}, suffix); }
inline ValueId between(Call& c, ValueId x, Bounds bounds, std::string_view suffix = {}) {
  Clamp op;
  op.bounds = bounds;
  return c.add(op, {x}, suffix);
}

// What the model calls with a number that may be missing, as `other=None`.
inline double number_or(Call& c, std::string_view argument, double otherwise) { return c.has(argument) ? c.number(argument) : otherwise; }

}  // namespace deuteron::pt2
