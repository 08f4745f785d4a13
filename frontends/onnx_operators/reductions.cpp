// Sums, means, extremes and the like over some axes; positions of extremes; running sums.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "frontends/onnx_operators/compose.h"
#include "frontends/onnx_operators/import_table.h"

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
  else if (r.axes.empty()) r.axes.resize(static_cast<size_t>(rank)), std::iota(r.axes.begin(), r.axes.end(), 0);
  return r;
}

Operand reduced(Call& c, const Reduced& r, const Operand& x, std::string_view target, std::string_view suffix) {
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
  const Operand y = reduced(c, r, c.torch("aten.square.default", {{"self", r.x}}, "squares"), kSum, root ? "sum" : "");
  c.result(root ? c.torch("aten.sqrt.default", {{"self", y}}) : y);
}
static void import_log_sum(Call& c) {
  const Reduced r = read_reduced(c);
  c.result(c.torch("aten.log.default", {{"self", reduced(c, r, r.x, kSum, "sum")}}));
}
static void import_log_sum_exp(Call& c) {
  const Reduced r = read_reduced(c);
  c.result(reduced(c, r, r.x, "aten.logsumexp.default", ""));
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
    y = c.torch_as("aten.prod.dim_int", {{"self", y}, {"dim", axes[k]}, {"keepdim", r.keeps}}, c.dtype(y), shape,
                   k + 1 == axes.size() ? "" : fmt::format("axis{}", axes[k]));
  }
  c.result(y);
}

// The first of equal ones; the last where the model asks: the first of the flipped axis, counted from its end.
static void import_position(Call& c) {
  Operand x = c.operand(0);
  const i64 rank = c.rank(x), axis = c.axis(c.integer("axis", 0), rank);
  const bool keeps = c.integer("keepdims", 1) != 0;
  c.require(!c.ok() || rank > 0, "works along an axis of a tensor without axes", "0", "1", "onnx.operand.axis");
  c.require(c.integer("select_last_index", 0) == 0, "asks for the last of equal elements", "1", "0", "onnx.arg.last");
  if (!c.ok()) return;
  Shape shape = c.shape(x);
  if (keeps) shape[axis] = 1;
  else shape.erase(shape.begin() + axis);
  const char* target = c.op() == "ArgMax" ? "aten.argmax.default" : "aten.argmin.default";
  c.result(c.torch_as(target, {{"self", x}, {"dim", axis}, {"keepdim", keeps}}, DType::s64, shape));
}

static void import_running_sum(Call& c) {
  const Operand x = c.operand(0);
  const i64 rank = c.rank(x), axis = c.axis(static_cast<i64>(std::clamp(c.number_of(1, "axis", 0), -1e6, 1e6)), rank);
  const bool backward = c.integer("reverse", 0) != 0, exclusive = c.integer("exclusive", 0) != 0;
  if (!c.ok()) return;
  const auto flipped = [&](const Operand& v, const char* suffix) {
    return c.torch("aten.flip.default", {{"self", v}, {"dims", std::vector<i64>{axis}}}, suffix);
  };
  const Operand in = backward ? flipped(x, "flipped") : x;
  Operand y = c.torch_as("aten.cumsum.default", {{"self", in}, {"dim", axis}}, c.dtype(x), c.shape(x), backward || exclusive ? "sums" : "");
  if (exclusive) y = c.torch("aten.sub.Tensor", {{"self", y}, {"other", in}}, backward ? "others" : "");
  c.result(backward ? flipped(y, "") : y);
}

static constexpr ImportRow kReductionsRows[] = {
    {"ArgMax", import_position},
    {"ArgMin", import_position},
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
