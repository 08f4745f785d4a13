// SPDX-License-Identifier: Apache-2.0
// Reading and writing at positions, element by element or slice by slice: scatter, gather and their
// relatives. Most are for positions that are known; computed ones are for kernels.
#include <fmt/format.h>

#include <algorithm>

#include "frontends/pt2/operators/compose.h"
#include "frontends/pt2/operators/computed_writes.h"
#include "frontends/pt2/operators/import_table.h"
#include "frontends/pt2/operators/leftovers.h"
#include "frontends/pt2/operators/row_writes.h"

namespace deuteron::pt2 {

static bool is_known(Call& c, std::string_view argument) {
  return c.is_derived_from_constants(c.any_tensor(argument));
}

// index_add, index_copy, index_fill: whole slices along one axis.
static void import_index_write(Call& c) {
  const std::string_view name = c.operator_name();
  const ValueId x = c.tensor("self");
  const i64 axis = c.axis("dim", c.rank(x));
  require_axes(c, x);
  if (!c.ok()) return;
  const ValueId index = c.any_tensor("index");
  const bool known = is_known(c, "index");
  if (!c.ok()) return;
  const auto to = known ? known_positions(c, "index", c.shape(x)[axis]) : std::nullopt;
  if (known && !to) return;
  Shape part = c.shape(x);
  part[axis] = known ? static_cast<i64>(to->size()) : c.type(index).elements();
  ValueId source = -1;
  if (name == "index_fill") {
    source = c.operand("value");
    if (!c.ok()) return;
    source = expanded(c, c.reshape(source, Shape(part.size(), 1), "axes"), part, "values");
  } else {
    source = c.tensor("source");
    c.require(!c.ok() || c.shape(source) == part, "the source does not fit the index",
              c.ok() ? to_text(c.shape(source)) : "", to_text(part), "pt2.scatter.extent");
  }
  if (name == "index_add" && c.ok() && c.number("alpha") != 1)
    source = product(c, source, number(c, c.number("alpha")), "scaled");
  if (!known) return c.result(written_along(c, x, axis, index, source, name == "index_add"));
  if (!c.ok()) return;
  const Rows rows = rows_along(c, x, axis, "self"), written = rows_along(c, source, axis, "source");
  c.result(from_rows(c, rows,
                     name == "index_add" ? accumulated(c, rows.value, written.value, *to)
                                         : overwritten(c, rows.value, written.value, *to)));
}

namespace {

// Positions of elements along an axis, in a tensor of their own.
struct Elements {
  i64 axis;
  Shape shape;
  Axes along;
  // Are the positions those of whole slices?
  bool are_slices(const Shape& x) const {
    for (size_t k = 0; k < shape.size(); ++k)
      if (static_cast<i64>(k) != axis && shape[k] != x[k]) return false;
    const i64 inner = inner_of();
    for (size_t at = 0; at < along.size(); ++at)
      if (along[at] !=
          along[static_cast<size_t>(static_cast<i64>(at) / inner % shape[axis] * inner)])
        return false;
    return true;
  }
  i64 inner_of() const {
    i64 inner = 1;
    for (size_t k = static_cast<size_t>(axis) + 1; k < shape.size(); ++k) inner *= shape[k];
    return inner;
  }
  Axes slices() const {
    Axes s;
    for (i64 k = 0; k < shape[axis]; ++k) s.push_back(along[k * inner_of()]);
    return s;
  }
  // Places in x as a row of elements.
  Axes places(const Shape& x) const {
    Axes flat;
    for (size_t at = 0; at < along.size(); ++at) {
      i64 rest = static_cast<i64>(at), place = 0, stride = 1;
      for (i64 k = static_cast<i64>(shape.size()) - 1; k >= 0; --k) {
        place += (k == axis ? along[at] : rest % shape[k]) * stride;
        stride *= x[k];
        rest /= shape[k];
      }
      flat.push_back(place);
    }
    return flat;
  }
};

std::optional<Elements> read_elements(Call& c, ValueId x, const Shape& limit) {
  const i64 axis = c.axis("dim", c.rank(x));
  const ValueId index = c.any_tensor("index");
  require_axes(c, x);
  if (!c.ok()) return std::nullopt;
  Elements e{axis, c.shape(index), {}};
  bool fits = e.shape.size() == limit.size();
  for (size_t k = 0; fits && k < limit.size(); ++k)
    fits = static_cast<i64>(k) == axis || e.shape[k] <= limit[k];
  c.require(fits, "the index does not fit the tensor", to_text(e.shape), to_text(limit),
            "pt2.scatter.extent");
  if (!c.ok()) return std::nullopt;
  auto along = known_positions(c, "index", c.shape(x)[axis]);
  if (!along) return std::nullopt;
  e.along = std::move(*along);
  return e;
}

// What scatter does with what is there.
enum class Write { over, sum, mean, largest, smallest };

std::optional<Write> kind_of_write(Call& c) {
  const std::string_view name = c.operator_name();
  if (name == "scatter_add") return Write::sum;
  if (!c.has("reduce")) return Write::over;
  const std::string reduce = c.text("reduce");
  if (reduce == "sum" || reduce == "add") return Write::sum;
  if (reduce == "mean") return Write::mean;
  if (reduce == "amax") return Write::largest;
  if (reduce == "amin") return Write::smallest;
  c.require(!c.ok(), "reduces in a way that is not supported", reduce, "sum, add, mean, amax, amin",
            "pt2.scatter.reduce");
  return std::nullopt;
}

ValueId written(Call& c, Write kind, ValueId x, ValueId source, const Axes& to) {
  if (!c.ok()) return -1;
  const bool with_self = !c.has("include_self") || c.boolean("include_self");
  switch (kind) {
    case Write::over:
      return overwritten(c, x, source, to);
    case Write::mean:
      return mean_of_rows(c, x, source, to, with_self);
    case Write::largest:
      return extreme_of_rows(c, x, source, to, true, with_self);
    case Write::smallest:
      return extreme_of_rows(c, x, source, to, false, with_self);
    case Write::sum:
      break;
  }
  if (with_self) return accumulated(c, x, source, to);
  std::vector<float> keep(static_cast<size_t>(c.shape(x)[0]), 1.0f);
  for (const i64 r : to) keep[r] = 0;
  const Shape column{static_cast<i64>(keep.size()), 1};
  return accumulated(c, product(c, x, c.constant("kept", column, std::move(keep)), "kept"), source,
                     to);
}

// Position 0 .. of `source` that are written at all: its first elements along every axis.
ValueId leading(Call& c, ValueId source, const Shape& shape) {
  for (size_t k = 0; k < shape.size() && c.ok(); ++k)
    if (c.shape(source)[k] != shape[k])
      source = c.add(Slice{static_cast<i64>(k), 0, shape[k], 1}, {source},
                     "leading" + std::to_string(k));
  return source;
}

}  // namespace

// scatter, scatter_add, scatter_reduce. Whole slices are rows; else each element is one.
static void import_scatter(Call& c) {
  const bool has_source = c.has("src") && c.is_tensor("src");
  if (!is_known(c, "index") && c.ok() && !c.has("reduce")) return import_leftover(c);
  const ValueId x = c.tensor("self");
  const std::optional<Write> kind = kind_of_write(c);
  const ValueId given = has_source ? c.tensor("src") : c.operand("value");
  if (!c.ok() || !kind) return;
  const auto e = read_elements(c, x, c.shape(x));
  if (!e) return;
  ValueId source = -1;
  if (has_source) {
    bool fits = c.rank(given) == c.rank(x);
    for (size_t k = 0; fits && k < e->shape.size(); ++k) fits = e->shape[k] <= c.shape(given)[k];
    c.require(fits, "the source does not fit the index", to_text(c.shape(given)), to_text(e->shape),
              "pt2.scatter.extent");
    source = leading(c, given, e->shape);
  } else {
    source = expanded(c, c.reshape(given, Shape(e->shape.size(), 1), "axes"), e->shape, "values");
  }
  if (!c.ok()) return;
  if (e->are_slices(c.shape(x))) {
    const Rows rows = rows_along(c, x, e->axis, "self"),
               parts = rows_along(c, source, e->axis, "source");
    return c.result(from_rows(c, rows, written(c, *kind, rows.value, parts.value, e->slices())));
  }
  const ValueId flat = c.reshape(x, {c.type(x).elements(), 1}, "flat");
  const ValueId parts = c.reshape(source, {numel(e->shape), 1}, "parts");
  c.result(c.reshape(written(c, *kind, flat, parts, e->places(c.shape(x))), c.shape(x)));
}

// y[i, j] = x[index[i, j], j]
static void import_gather_elements(Call& c) {
  if (!is_known(c, "index") && c.ok()) return import_leftover(c);
  const ValueId x = c.tensor("self");
  if (!c.ok()) return;
  const auto e = read_elements(c, x, c.shape(x));
  if (!e) return;
  if (e->are_slices(c.shape(x))) return c.result(picked(c, x, e->axis, e->slices()));
  c.result(c.reshape(
      picked(c, c.reshape(x, {c.type(x).elements()}, "flat"), 0, e->places(c.shape(x)), "picked"),
      e->shape));
}

// Elements of all in one row.
static void import_take(Call& c) {
  const ValueId x = c.tensor("self"), index = c.any_tensor("index");
  if (!c.ok()) return;
  const auto positions = known_positions(c, "index", c.type(x).elements());
  if (!positions) return;
  c.result(c.reshape(
      picked(c, c.reshape(x, {c.type(x).elements()}, "flat"), 0, std::move(*positions), "picked"),
      c.shape(index)));
}

static constexpr ImportRow kPositionsRows[] = {
    {"aten.gather.default", import_gather_elements},
    {"aten.index_add.default", import_index_write, true},
    {"aten.index_copy.default", import_index_write, true},
    {"aten.index_fill.int_Scalar", import_index_write, true},
    {"aten.index_fill.int_Tensor", import_index_write, true},
    {"aten.scatter.reduce", import_scatter, true},
    {"aten.scatter.src", import_scatter, true},
    {"aten.scatter.value", import_scatter, true},
    {"aten.scatter.value_reduce", import_scatter, true},
    {"aten.scatter_add.default", import_scatter, true},
    {"aten.scatter_reduce.two", import_scatter, true},
    {"aten.take.default", import_take},
};
ImportRows positions_rows() { return kPositionsRows; }

}  // namespace deuteron::pt2
