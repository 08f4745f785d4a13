// Operators that put the elements along an axis in order: sorting is the kernel of topk with all of them.
#include <array>

#include "frontends/pt2_operators/compose.h"
#include "frontends/pt2_operators/import_table.h"

namespace deuteron::pt2 {
namespace {

struct Ordered {
  ValueId values = -1, positions = -1;
};

// topk.values(x, k, dim, largest, sorted, values, positions): of equal elements the first one comes first, as in a stable sort.
Ordered in_order(Call& c, ValueId x, i64 axis, i64 count, bool largest) {
  if (!c.ok()) return {};
  using K = KernelArg::Kind;
  Shape shape = c.shape(x);
  if (!shape.empty()) shape[axis] = count;
  KernelCall call;
  call.name = "aten::topk", call.overload = "values";
  call.args = {{K::input, 0, 0, {}, plain_face(c.shape(x))},
               {K::integer, count, 0, {}, {}},
               {K::integer, axis, 0, {}, {}},
               {K::boolean, largest, 0, {}, {}},
               {K::boolean, 1, 0, {}, {}},
               {K::output, 0, 0, {}, plain_face(shape)},
               {K::output, 1, 0, {}, plain_face(shape)}};
  const std::vector<ValueId> results = c.add_call(std::move(call), {x}, {{c.type(x).dtype, shape, {}}, {DType::s64, shape, {}}});
  return c.ok() ? Ordered{results[0], results[1]} : Ordered{};
}

i64 extent_of(Call& c, ValueId x, i64 axis) { return c.rank(x) == 0 ? 1 : c.shape(x)[axis]; }

// Element k of those in order, with and without the axis.
void finish_at(Call& c, ValueId x, i64 axis, i64 k, bool keeps_axis) {
  const Ordered all = in_order(c, x, axis, k + 1, false);
  const std::array<ValueId, 2> results{all.values, all.positions};
  for (size_t i = 0; i < c.result_count() && c.ok(); ++i) {
    const std::string suffix = i == 0 ? "" : "position";
    if (c.rank(x) == 0) {
      c.result(i, results[i]);
      continue;
    }
    Shape shape = c.shape(x);
    if (keeps_axis) shape[axis] = 1;
    else shape.erase(shape.begin() + axis);
    const ValueId one = k == 0 ? results[i] : c.add(Slice{axis, k, 1, 1}, {results[i]}, i == 0 ? "last" : "last_position");
    c.result(i, c.reshape(one, std::move(shape), suffix));
  }
}

}  // namespace

// sort, argsort, msort
static void import_sort(Call& c) {
  const ValueId x = movable(c, "self");
  const i64 axis = c.operator_name() == "msort" ? 0 : c.axis("dim", c.rank(x));
  const bool descending = c.operator_name() != "msort" && c.boolean("descending");
  if (!c.ok()) return;
  const Ordered all = in_order(c, x, axis, extent_of(c, x, axis), descending);
  if (!c.ok()) return;
  if (c.operator_name() == "argsort") return c.result(all.positions);
  c.result(all.values);
  if (c.result_count() > 1) c.result(1, all.positions);
}

static void import_kthvalue(Call& c) {
  const ValueId x = movable(c, "self");
  const i64 axis = c.axis("dim", c.rank(x)), k = c.integer("k");
  c.require(!c.ok() || (k >= 1 && k <= extent_of(c, x, axis)), "asks for an element that is not there", std::to_string(k),
            c.ok() ? std::to_string(extent_of(c, x, axis)) : "", "pt2.order.element");
  if (c.ok()) finish_at(c, x, axis, k - 1, c.boolean("keepdim"));
}

// The lower one of two in the middle.
static void import_median(Call& c) {
  ValueId x = movable(c, "self");
  if (!c.ok()) return;
  const bool flat = !c.has("dim");
  if (flat) x = c.reshape(x, {c.type(x).elements()}, "row");
  const i64 axis = flat ? 0 : c.axis("dim", c.rank(x));
  if (c.ok()) finish_at(c, x, axis, (extent_of(c, x, axis) - 1) / 2, !flat && c.boolean("keepdim"));
}

// A row a line, as make_schemas.py reads them.
// clang-format off
static constexpr ImportRow kOrderingRows[] = {
    {"aten.argsort.default", import_sort},
    {"aten.argsort.stable", import_sort},
    {"aten.kthvalue.default", import_kthvalue},
    {"aten.median.default", import_median},
    {"aten.median.dim", import_median},
    {"aten.msort.default", import_sort},
    {"aten.sort.default", import_sort},
    {"aten.sort.stable", import_sort},
};
// clang-format on
ImportRows ordering_rows() { return kOrderingRows; }

}  // namespace deuteron::pt2
