// SPDX-License-Identifier: Apache-2.0
// Operators that choose: by a mask, by a triangle, by positions, the largest ones.
#include <fmt/format.h>

#include <numeric>

#include "frontends/onnx/operators/compose.h"
#include "frontends/onnx/operators/import_table.h"

namespace deuteron::onnx {

static void import_where(Call& c) {
  const Operand mask = c.operand(0), yes = c.operand(1), no = c.operand(2);
  const Shape shape = broadcast(c, broadcast(c, c.shape(mask), c.shape(yes)), c.shape(no));
  c.result(chosen(c, mask, yes, no, shape, ""));
}

static void import_trilu(Call& c) {
  const bool upper = c.integer("upper", 1) != 0;
  const double diagonal = c.number_of(1, "diagonal", 0);
  const i64 k = diagonal < -1e6  ? -1'000'000
                : diagonal > 1e6 ? 1'000'000
                                 : static_cast<i64>(diagonal);
  c.result(c.torch(upper ? "aten.triu.default" : "aten.tril.default",
                   {{"self", c.operand(0)}, {"diagonal", k}}));
}

static void import_top_k(Call& c) {
  const Operand x = c.operand(0);
  const std::vector<i64> count = c.integers_of(1, "number of elements");
  const i64 rank = c.rank(x), axis = c.axis(c.integer("axis", -1), rank);
  c.require(
      !c.ok() || (count.size() == 1 && rank > 0 && count[0] >= 1 && count[0] <= c.shape(x)[axis]),
      "picks too many elements", count.empty() ? "none" : std::to_string(count[0]),
      c.ok() && rank > 0 ? std::to_string(c.shape(x)[axis]) : "1", "onnx.topk.count");
  if (!c.ok()) return;
  Shape shape = c.shape(x);
  shape[axis] = count[0];
  const bool largest = c.integer("largest", 1) != 0, in_order = c.integer("sorted", 1) != 0;
  const std::vector<Operand> y = c.torch_all_as(
      "aten.topk.default",
      {{"self", x}, {"k", count[0]}, {"dim", axis}, {"largest", largest}, {"sorted", in_order}},
      {{c.dtype(x), shape, {}}, {DType::s64, shape, {}}});
  for (size_t k = 0; k < y.size(); ++k)
    if (c.wants(k) && c.ok()) c.result(k, y[k]);
}

// A row of `off` with an `on` for each index: constants only where both are numbers. Negative
// indices count from the end, and one outside has no `on`: so a computed index is looked for from
// both ends.
static void import_one_hot(Call& c) {
  const Operand index = c.operand(0);
  const double depth = c.number_of(1, "number of classes", 0);
  const auto values = c.known_numbers(c.operand(2));
  const i64 rank = c.rank(index), axis = c.axis(c.integer("axis", -1), rank + 1);
  c.require(!c.ok() || (values && values->size() == 2 && depth >= 1 && depth <= 1 << 20),
            "makes codes of computed values, or of no classes", std::to_string(depth), "1..",
            "onnx.one_hot.values");
  if (!c.ok()) return;
  Shape shape = c.shape(index);
  shape.push_back(static_cast<i64>(depth));
  const i64 classes = static_cast<i64>(depth);
  Shape column = c.shape(index);
  column.push_back(1);
  const Operand at = view(c, as_integers(c, index), column, "column");
  const auto codes = [&](i64 first, const std::string& name) {
    std::vector<i64> positions;
    for (i64 k = 0; k < classes; ++k) positions.push_back(first + k);
    const Operand each = c.known(name + "_classes", {DType::s64, {classes}, {}}, positions);
    const Operand hits = c.torch_as("aten.eq.Tensor", {{"self", at}, {"other", each}}, DType::b8,
                                    shape, name + "_hits");
    return converted(c, hits, DType::f32, name);
  };
  const Operand front = codes(0, "front"), back = codes(-classes, "back");
  Operand y = sum(c, front, back, "codes");
  const double off = static_cast<double>((*values)[0]), on = static_cast<double>((*values)[1]);
  y = shifted(c, scaled(c, y, on - off, "scaled"), off, "shifted");
  if (axis != rank) y = with_axis_moved(c, y, rank, axis, "");
  c.result(y);
}

// 1 at the first of the largest elements along an axis, 0 elsewhere. Up to opset 12 all axes from
// `axis` on are one.
static void import_hardmax(Call& c) {
  Operand x = c.operand(0);
  const Shape given = c.shape(x);
  i64 axis = c.axis(c.integer("axis", c.opset() < 13 ? 1 : -1), c.rank(x));
  c.require(!c.ok() || !given.empty(), "works along an axis of a tensor without axes", "0", "1",
            "onnx.operand.axis");
  if (!c.ok()) return;
  const bool flat = c.opset() < 13 && axis + 1 != static_cast<i64>(given.size());
  if (flat)
    x = view(c, x, {numel(std::span(given).first(static_cast<size_t>(axis))), -1}, "flat"),
    axis = 1;
  if (!c.ok()) return;
  const Shape shape = c.shape(x);
  Shape first = shape, along(shape.size(), 1);
  first[axis] = 1, along[axis] = shape[axis];
  if (!c.may_make(shape[axis])) return;
  std::vector<i64> places(static_cast<size_t>(shape[axis]));
  std::iota(places.begin(), places.end(), 0);
  const Operand at = position_of_largest(c, x, axis, true, first, "at");
  const Operand each = c.known("places", {DType::s64, along, {}}, places);
  const Operand hits =
      c.torch_as("aten.eq.Tensor", {{"self", at}, {"other", each}}, DType::b8, shape, "hits");
  const Operand y = converted(c, hits, DType::f32, flat ? "codes" : "");
  c.result(flat ? view(c, y, given, "") : y);
}

static constexpr ImportRow kChoicesRows[] = {
    {"Hardmax", import_hardmax}, {"OneHot", import_one_hot}, {"TopK", import_top_k},
    {"Trilu", import_trilu},     {"Where", import_where},
};
ImportRows choices_rows() { return kChoicesRows; }

}  // namespace deuteron::onnx
