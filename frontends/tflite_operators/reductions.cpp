// Means, sums and extremes over some axes, positions of extremes, and running sums.
#include <fmt/format.h>

#include "frontends/tflite_operators/import_table.h"

namespace deuteron::tflite {
namespace {

// The result's shape says whether the axes are kept.
template <i64 fn>
void import_reduce(Call& c) {
  c.takes(2, 2);
  const ValueId x = c.real(0);
  const Axes axes = c.axes(1, c.rank(x));
  if (!c.ok()) return;
  if (axes.empty()) return c.result(x);
  const ValueId y = c.add(Reduce{fn, axes}, {x});
  const Shape& to = c.declared_result(0).shape;
  c.require(!c.ok() || numel(to) == c.type(y).elements(), "has a result of another shape than the file says: it is damaged", to_text(to),
            to_text(c.shape(y)), "tflite.result.shape");
  if (c.ok()) c.result(c.shape(y) == to ? y : c.reshape(c.rounded(y), to, "reshaped"));
}

void finish_position(Call& c, const char* kernel) {
  c.takes(2, 2);
  const ValueId x = c.real(0);
  const std::vector<i64> given = c.integers(1);
  c.require(given.size() == 1, "works along more than one axis", std::to_string(given.size()), "1", "tflite.operator.axis");
  if (!c.ok()) return;
  const i64 axis = c.axis(given[0], c.rank(x));
  if (!c.ok()) return;
  Shape to = c.shape(x);
  to.erase(to.begin() + axis);
  using K = KernelArg::Kind;
  KernelCall call;
  call.name = kernel, call.overload = "out";
  call.args = {{K::input, 0, 0, {}, plain_face(c.shape(x))},
               {K::integer, axis, 0, {}, {}},
               {K::boolean, 0, 0, {}, {}},
               {K::output, 0, 0, {}, plain_face(to)}};
  c.result(c.add_call(std::move(call), {x}, {DType::s64, to, {}}));
}

}  // namespace

static void import_arg_max(Call& c) { finish_position(c, "aten::argmax"); }
static void import_arg_min(Call& c) { finish_position(c, "aten::argmin"); }

static void import_cumsum(Call& c) {
  const auto* o = c.options<CumsumOptions>();
  c.takes(2, 2);
  const ValueId x = c.real(0);
  const std::vector<i64> given = c.integers(1);
  c.require(given.size() == 1, "works along more than one axis", std::to_string(given.size()), "1", "tflite.operator.axis");
  if (!c.ok()) return;
  c.require(!o->exclusive() && !o->reverse(), "is exclusive or runs backwards", "", "", "tflite.cumsum.order");
  if (c.ok()) c.result(c.add(Cumsum{c.axis(given[0], c.rank(x))}, {x}));
}

static constexpr ImportRow kReductionsRows[] = {
    {BuiltinOperator::ARG_MAX, import_arg_max},
    {BuiltinOperator::ARG_MIN, import_arg_min},
    {BuiltinOperator::CUMSUM, import_cumsum},
    {BuiltinOperator::MEAN, import_reduce<Reduce::kMean>},
    {BuiltinOperator::REDUCE_MAX, import_reduce<Reduce::kMax>},
    {BuiltinOperator::REDUCE_MIN, import_reduce<Reduce::kMin>},
    {BuiltinOperator::SUM, import_reduce<Reduce::kSum>},
};
ImportRows reductions_rows() { return kReductionsRows; }

}  // namespace deuteron::tflite
