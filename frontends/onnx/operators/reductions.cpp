// SPDX-License-Identifier: Apache-2.0
// Sums, means, extremes and the like over some axes; positions of extremes; running sums.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "frontends/onnx/operators/compose.h"
#include "frontends/onnx/operators/import_table.h"

namespace deuteron::onnx {
namespace {

// Which axes, and whether they stay. Up to some opset an attribute says, since then an operand.
struct Reduced {
  Operand x;
  std::vector<i64> axes;
  bool keeps = true, is_nothing = false;
};
Reduced read_reduced(Call& c) {
  Reduced r{c.operand(0), c.integers("axes"), c.integer("keepdims", 1) != 0, false};
  if (c.has(1)) r.axes = c.integers_of(1, "axes");
  const i64 rank = c.rank(r.x);
  r.axes = c.axes(std::move(r.axes), rank);
  if (r.axes.empty() && c.integer("noop_with_empty_axes", 0)) r.is_nothing = true;
  else if (r.axes.empty())
    r.axes.resize(static_cast<size_t>(rank)), std::iota(r.axes.begin(), r.axes.end(), 0);
  return r;
}

Operand reduced(Call& c, const Reduced& r, const Operand& x, std::string_view target,
                std::string_view suffix) {
  if (r.is_nothing || r.axes.empty()) return x;
  return c.torch(target, {{"self", x}, {"dim", r.axes}, {"keepdim", r.keeps}}, suffix);
}

constexpr std::string_view kSum = "aten.sum.dim_IntList";

}  // namespace

static void import_reduce(Call& c) {
  const Reduced r = read_reduced(c);
  const std::string_view target = c.op() == "ReduceMean"  ? "aten.mean.dim"
                                  : c.op() == "ReduceMax" ? "aten.amax.default"
                                  : c.op() == "ReduceMin" ? "aten.amin.default"
                                                          : kSum;
  c.result(reduced(c, r, r.x, target, ""));
}
static void import_sum_of_magnitudes(Call& c) {
  const Reduced r = read_reduced(c);
  c.result(reduced(c, r, c.torch("aten.abs.default", {{"self", r.x}}, "abs"), kSum, ""));
}
static void import_sum_of_squares(Call& c) {
  const Reduced r = read_reduced(c);
  const bool root = c.op() == "ReduceL2";
  const Operand y = reduced(c, r, c.torch("aten.square.default", {{"self", r.x}}, "squares"), kSum,
                            root ? "sum" : "");
  c.result(root ? c.torch("aten.sqrt.default", {{"self", y}}) : y);
}
static void import_log_sum(Call& c) {
  const Reduced r = read_reduced(c);
  c.result(c.torch("aten.log.default", {{"self", reduced(c, r, r.x, kSum, "sum")}}));
}
static void import_log_sum_exp(Call& c) {
  const Reduced r = read_reduced(c);
  if (!c.ok() || r.is_nothing || r.axes.empty()) return c.result(r.x);
  Shape shape = c.shape(r.x);
  for (const i64 axis : r.axes) shape[axis] = r.keeps ? 1 : 0;
  if (!r.keeps) std::erase(shape, 0);
  c.result(c.torch_as("aten.logsumexp.default",
                      {{"self", r.x}, {"dim", r.axes}, {"keepdim", r.keeps}}, DType::f32, shape));
}

// One axis after the other, from the last.
static void import_product(Call& c) {
  const Reduced r = read_reduced(c);
  Operand y = r.x;
  std::vector<i64> axes = r.axes;
  std::sort(axes.rbegin(), axes.rend());
  for (size_t k = 0; k < axes.size() && !r.is_nothing && c.ok(); ++k) {
    Shape shape = c.shape(y);
    if (r.keeps) shape[axes[k]] = 1;
    else shape.erase(shape.begin() + axes[k]);
    y = c.torch_as("aten.prod.dim_int", {{"self", y}, {"dim", axes[k]}, {"keepdim", r.keeps}},
                   c.dtype(y), shape, k + 1 == axes.size() ? "" : fmt::format("axis{}", axes[k]));
  }
  c.result(y);
}

// The first of equal ones; the last where the model asks: the first of the flipped axis, counted
// from its end.
static void import_position(Call& c) {
  Operand x = c.operand(0);
  const i64 rank = c.rank(x), axis = c.axis(c.integer("axis", 0), rank);
  const bool keeps = c.integer("keepdims", 1) != 0;
  c.require(!c.ok() || rank > 0, "works along an axis of a tensor without axes", "0", "1",
            "onnx.operand.axis");
  const bool last = c.integer("select_last_index", 0) != 0;
  if (!c.ok()) return;
  Shape shape = c.shape(x);
  const i64 extent = shape[axis];
  if (last) x = flipped(c, x, axis, "flipped");
  if (keeps) shape[axis] = 1;
  else shape.erase(shape.begin() + axis);
  const char* target = c.op() == "ArgMax" ? "aten.argmax.default" : "aten.argmin.default";
  const Operand y = c.torch_as(target, {{"self", x}, {"dim", axis}, {"keepdim", keeps}}, DType::s64,
                               shape, last ? "from_end" : "");
  if (!last) return c.result(y);
  const Operand back =
      c.torch_as("aten.mul.Scalar", {{"self", y}, {"other", -1}}, DType::s64, shape, "back");
  const Operand end = c.known("last", {DType::s64, {}, {}}, std::vector<i64>{extent - 1});
  c.result(c.torch_as("aten.add.Tensor", {{"self", back}, {"other", end}}, DType::s64, shape));
}

static void import_running_sum(Call& c) {
  const Operand x = c.operand(0);
  const i64 rank = c.rank(x),
            axis = c.axis(static_cast<i64>(std::clamp(c.number_of(1, "axis", 0), -1e6, 1e6)), rank);
  const bool backward = c.integer("reverse", 0) != 0, exclusive = c.integer("exclusive", 0) != 0;
  if (!c.ok()) return;
  const Operand in = backward ? flipped(c, x, axis, "flipped") : x;
  Operand y = c.torch_as("aten.cumsum.default", {{"self", in}, {"dim", axis}}, c.dtype(x),
                         c.shape(x), backward || exclusive ? "sums" : "");
  if (exclusive) y = difference(c, y, in, backward ? "others" : "");
  c.result(backward ? flipped(c, y, axis, "") : y);
}

// An exclusive one begins with 1 and leaves out the last element.
static void import_running_product(Call& c) {
  const Operand x = c.operand(0);
  const i64 rank = c.rank(x),
            axis = c.axis(static_cast<i64>(std::clamp(c.number_of(1, "axis", 0), -1e6, 1e6)), rank);
  const bool backward = c.integer("reverse", 0) != 0, exclusive = c.integer("exclusive", 0) != 0;
  c.require(!c.ok() || rank > 0, "works along an axis of a tensor without axes", "0", "1",
            "onnx.operand.axis");
  if (!c.ok()) return;
  Shape one = c.shape(x);
  Operand y = backward ? flipped(c, x, axis, "flipped") : x;
  if (exclusive) {
    const i64 extent = one[axis];
    one[axis] = 1;
    if (!c.may_make(numel(one))) return;
    const Operand first =
        c.numbers("first", one, std::vector<float>(static_cast<size_t>(numel(one)), 1.0f));
    y = extent == 1
            ? first
            : joined(c, {first, sliced(c, y, axis, 0, extent - 1, 1, "others")}, axis, "moved");
  }
  y = c.torch("aten.cumprod.default", {{"self", y}, {"dim", axis}}, backward ? "products" : "");
  c.result(backward ? flipped(c, y, axis, "") : y);
}

static constexpr ImportRow kReductionsRows[] = {
    {"ArgMax", import_position},
    {"ArgMin", import_position},
    {"CumProd", import_running_product},
    {"CumSum", import_running_sum},
    {"ReduceL1", import_sum_of_magnitudes},
    {"ReduceL2", import_sum_of_squares},
    {"ReduceLogSum", import_log_sum},
    {"ReduceLogSumExp", import_log_sum_exp},
    {"ReduceMax", import_reduce},
    {"ReduceMean", import_reduce},
    {"ReduceMin", import_reduce},
    {"ReduceProd", import_product},
    {"ReduceSum", import_reduce},
    {"ReduceSumSquare", import_sum_of_squares},
};
ImportRows reductions_rows() { return kReductionsRows; }

}  // namespace deuteron::onnx
