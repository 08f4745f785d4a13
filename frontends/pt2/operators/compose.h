// SPDX-License-Identifier: Apache-2.0
// Short spellings for importers that compose an operator of torch from others.
#pragma once
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "frontends/pt2/call/call.h"

namespace deuteron::pt2 {

inline constexpr float kInfinity = std::numeric_limits<float>::infinity();

inline void require_axes(Call& c, ValueId x) {
  c.require(!c.ok() || c.rank(x) > 0, "works along an axis of a tensor without axes", "", "",
            "pt2.slice.rank");
}

// An operand whose elements are only moved: float32, or integers and masks as they are.
inline ValueId movable(Call& c, std::string_view argument) {
  const ValueId v = c.any_tensor(argument);
  const Type& type = c.type(v);
  const bool is_whole =
      type.dtype == DType::s64 || type.dtype == DType::s32 || type.dtype == DType::b8;
  return is_whole && type.quant.empty() ? v : c.tensor(argument);
}

inline ValueId number(Call& c, double value) {
  return c.constant("number", {}, {static_cast<float>(value)});
}
inline ValueId apply(Call& c, UnaryFn fn, ValueId x, std::string_view suffix = {},
                     float alpha = 0) {
  return c.add(Unary{fn, alpha}, {x}, suffix);
}
// a + factor * b
inline ValueId sum(Call& c, ValueId a, ValueId b, std::string_view suffix = {}, double factor = 1) {
  Add op;
  op.alpha = static_cast<float>(factor);
  return c.add(op, {a, b}, suffix);
}
inline ValueId difference(Call& c, ValueId a, ValueId b, std::string_view suffix = {}) {
  return sum(c, a, b, suffix, -1);
}
inline ValueId product(Call& c, ValueId a, ValueId b, std::string_view suffix = {}) {
  return c.add(Mul{}, {a, b}, suffix);
}
inline ValueId quotient(Call& c, ValueId a, ValueId b, std::string_view suffix = {}) {
  return c.add(Div{}, {a, b}, suffix);
}
inline ValueId between(Call& c, ValueId x, Bounds bounds, std::string_view suffix = {}) {
  Clamp op;
  op.bounds = bounds;
  return c.add(op, {x}, suffix);
}

// x repeated to a shape that it broadcasts to.
inline ValueId expanded(Call& c, ValueId x, Shape shape, std::string_view suffix = {}) {
  if (!c.ok() || x < 0 || c.shape(x) == shape) return x;
  Shape full = c.shape(x);
  full.insert(full.begin(), shape.size() - full.size(), 1);
  const ValueId axes =
      full == c.shape(x)
          ? x
          : c.reshape(x, full, suffix.empty() ? "axes" : std::string(suffix) + "_axes");
  return full == shape ? axes : c.add(Expand{std::move(shape)}, {axes}, suffix);
}

// Positions along one axis that an argument of a few bytes may ask for.
inline constexpr i64 kMostPicked = i64{1} << 24;
// Elements of one axis by their positions: nothing where these are all in their order.
inline ValueId picked(Call& c, ValueId x, i64 axis, Axes index, std::string_view suffix = {}) {
  if (!c.ok() || x < 0) return -1;
  const i64 count = static_cast<i64>(index.size());
  bool in_order = true;
  for (i64 at = 0; at < count; ++at) in_order = in_order && index[at] == at;
  if (in_order && count == c.shape(x)[axis]) return x;
  return c.add(Gather{axis, std::move(index)}, {x}, suffix);
}

// Of more than four axes, neighbours that are not padded become one: kernels take four.
inline ValueId padded(Call& c, ValueId x, const Pad& op, std::string_view suffix = {}) {
  if (!c.ok() || x < 0) return -1;
  Pad merged;
  merged.value = op.value;
  Shape shape, out = c.shape(x);
  bool joins = false;
  for (size_t k = 0; k < out.size(); ++k) {
    const bool plain = op.before[k] == 0 && op.after[k] == 0;
    if (plain && joins) {
      shape.back() *= out[k];
    } else {
      shape.push_back(out[k]), merged.before.push_back(op.before[k]),
          merged.after.push_back(op.after[k]);
    }
    joins = plain;
    out[k] += op.before[k] + op.after[k];
  }
  if (op.before.size() <= 4) return c.add(op, {x}, suffix);
  const ValueId y = c.add(merged, {c.reshape(x, shape, "merged")}, "padded");
  return c.ok() ? c.reshape(y, out, suffix) : -1;
}

// What the model calls with a number that may be missing, as `other=None`.
inline double number_or(Call& c, std::string_view argument, double otherwise) {
  return c.has(argument) ? c.number(argument) : otherwise;
}

}  // namespace deuteron::pt2
