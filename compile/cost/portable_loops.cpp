// SPDX-License-Identifier: Apache-2.0
// Portable kernels of integers, which serve any memory order and read elements one by one: families
// share their loops (kernels/portable/). Each kernel of floats has a line of its own.
#include <cmath>

#include "compile/cost/loops.h"

namespace deuteron {
namespace {

bool is_of(const std::string& name, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, name.substr(std::string_view("aten::").size())) != names.end();
}

bool has_floats(const Graph& g, const Node& node) {
  const auto is_float = [&](ValueId v) {
    return g.type(v).dtype == DType::f32 || g.type(v).dtype == DType::f64;
  };
  return std::ranges::any_of(node.inputs, is_float) || std::ranges::any_of(node.outputs, is_float);
}

// result: elements; mac: those of 8 bytes that are read or written; tap: dimensions that are walked
// where an operand is repeated or a number; line: rows of that walk.
CpuWork elementwise_work(const Graph& g, const Node& node, size_t operands) {
  const Type& y = g.type(node.outputs[0]);
  CpuWork w;
  w.results = y.elements();
  bool is_walked = node.inputs.size() < operands;
  for (const ValueId v : node.inputs) {
    is_walked = is_walked || g.type(v).elements() != w.results;
    w.macs += g.type(v).dtype == DType::s64 ? w.results : 0;
  }
  w.macs += y.dtype == DType::s64 ? w.results : 0;
  if (is_walked)
    w.taps = w.results, w.lines = y.rank() == 0 ? 1 : w.results / std::max<i64>(1, y.shape.back());
  return w;
}

// Elements that may be chosen by a heap of `count` of a line of `size`: mac: comparisons with its
// root; tap: steps in the heap, of elements in no order.
LoopWork heap_work(i64 lines, i64 size, i64 count) {
  CpuWork w;
  const auto n = static_cast<double>(size), k = static_cast<double>(count);
  const double sinks = count == 0 ? 0 : k * std::log(n / k) + 1.5 * k;
  w.lines = lines;
  w.results = lines * count;
  w.macs = lines * (size - count);
  w.taps = static_cast<i64>(static_cast<double>(lines) * sinks * std::log2(k + 1));
  return {"heap", w};
}

// Picked or placed one by one, by indexes that are data. result: those; tap: their dimensions;
// operand: elements of a tensor whose rest is kept.
LoopWork indexed_work(const Graph& g, const Node& node, bool places) {
  const Type& indexes = g.type(node.inputs[1]);
  CpuWork w;
  w.results = indexes.elements();
  w.taps = w.results * static_cast<i64>(indexes.rank());
  if (places) w.operands = g.type(node.outputs[0]).elements();
  return {"indexes", w};
}

// The largest of each window, and where it lies. result: windows; tap: their elements; line: rows.
std::optional<LoopWork> positions_work(const Graph& g, const Node& node) {
  const auto& args = call_of(node.op)->args;
  const auto kernel = std::ranges::find(args, KernelArg::Kind::integers, &KernelArg::kind);
  if (kernel == args.end() || kernel->integers.size() != 2) return std::nullopt;
  CpuWork w;
  w.results = g.type(node.outputs[0]).elements();
  w.lines = w.results * kernel->integers[0];
  w.taps = w.lines * kernel->integers[1];
  return LoopWork{"positions", w};
}

}  // namespace

std::optional<LoopWork> portable_work(const Graph& g, const Node& node) {
  const std::string& name = call_of(node.op)->name;
  if (!name.starts_with("aten::") || has_floats(g, node) || node.inputs.empty())
    return std::nullopt;
  const bool has_number = call_of(node.op)->overload.starts_with("Scalar");
  if (!has_number && is_of(name, {"add", "sub", "mul"}))
    return LoopWork{"binary", elementwise_work(g, node, 2)};
  if (is_of(name, {"eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_or", "logical_xor",
                   "logical_not", "bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not", "add",
                   "sub", "mul"}))
    return LoopWork{"pairs", elementwise_work(g, node, 2)};
  if (is_of(name, {"where"})) return LoopWork{"elements", elementwise_work(g, node, 3)};
  if (is_of(name, {"_to_copy"})) return LoopWork{"elements", elementwise_work(g, node, 1)};
  if (is_of(name, {"gather", "scatter"}) && node.inputs.size() > 1)
    return indexed_work(g, node, name == "aten::scatter");
  if (is_of(name, {"max_pool2d_with_indices"})) return positions_work(g, node);
  if (!is_of(name, {"topk"})) return std::nullopt;
  const i64 elements = g.type(node.inputs[0]).elements(),
            chosen = g.type(node.outputs[0]).elements();
  const auto count =
      std::ranges::find(call_of(node.op)->args, KernelArg::Kind::integer, &KernelArg::kind);
  if (count == call_of(node.op)->args.end() || count->integer < 1 || chosen == 0)
    return std::nullopt;
  const i64 lines = chosen / count->integer;
  return heap_work(lines, elements / std::max<i64>(1, lines), count->integer);
}

}  // namespace deuteron
