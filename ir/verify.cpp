// SPDX-License-Identifier: Apache-2.0
// Each function returns the first fault it finds, or nothing; nothing here trusts an index before
// it is checked.
#include "ir/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/tensor/limits.h"
#include "ir/states.h"
#include "ops/families.h"
#include "ops/int16.h"

namespace deuteron {

using Fault = std::optional<std::string>;

// far above any model, far below what bytes() can overflow
static constexpr i64 kMaxElements = i64{1} << 40;

static std::pair<i64, i64> zero_point_range(DType d) {
  switch (d) {
    case DType::s8:
      return {-128, 127};
    case DType::u8:
      return {0, 255};
    case DType::s16:
      return {-32768, 32767};
    default:
      return {INT32_MIN, INT32_MAX};
  }
}

static Fault quant_fault(const Type& type) {
  const Quant& q = type.quant;
  if (q.empty()) return q.zero_point.empty() ? Fault{} : Fault{"zero points without scales"};
  const DType d = type.dtype;
  // A bias beside int16 may be of int64.
  if (d != DType::s8 && d != DType::u8 && d != DType::s16 && d != DType::s32 && d != DType::s64)
    return fmt::format("{} has quantization parameters", name_of(type.dtype));
  if (q.scale.size() != q.zero_point.size())
    return fmt::format("{} scales, {} zero points", q.scale.size(), q.zero_point.size());
  if (q.axis < -1 || q.axis >= type.rank())
    return fmt::format("quantization axis {} of rank {}", q.axis, type.rank());
  const i64 expected = q.per_channel() ? type.shape[q.axis] : 1;
  if (static_cast<i64>(q.scale.size()) != expected)
    return fmt::format("{} scales for extent {}", q.scale.size(), expected);
  for (const float scale : q.scale)
    if (!(scale > 0) || !std::isfinite(scale))
      return fmt::format("scale {} is not finite and positive", scale);
  const auto [lowest, highest] = zero_point_range(type.dtype);
  for (const i32 zero : q.zero_point)
    if (zero < lowest || zero > highest)
      return fmt::format("zero point {} is not within {}..{}", zero, lowest, highest);
  if (q.low > q.high) return fmt::format("quantized range {}..{} is empty", q.low, q.high);
  return {};
}

Fault find_fault(const Type& type) {
  if (static_cast<int>(type.dtype) > static_cast<int>(DType::f64))
    return fmt::format("dtype {}", static_cast<int>(type.dtype));
  if (type.rank() > kMostAxes) return fmt::format("rank {}, limit {}", type.rank(), kMostAxes);
  i64 elements = 1;
  for (const i64 extent : type.shape) {
    if (extent < 0) return fmt::format("extent {}", extent);
    if (extent > kMaxElements / elements)
      return fmt::format("more than 2^40 elements in [{}]", to_text(type.shape));
    elements *= std::max<i64>(extent, 1);
  }
  return quant_fault(type);
}

static bool is_permutation_of_axes(const Axes& axes, size_t rank) {
  std::vector<bool> used(rank);
  for (const i64 axis : axes) {
    if (axis < 0 || axis >= static_cast<i64>(rank) || used[axis]) return false;
    used[axis] = true;
  }
  return axes.size() == rank;
}

static Fault value_fault(const GraphValue& value) {
  if (Fault fault = find_fault(value.type)) return fault;
  if (!value.constant) return {};
  const auto bytes = static_cast<i64>(value.constant->bytes.size());
  if (bytes != value.type.bytes())
    return fmt::format("constant of {} bytes, its type {} has {}", bytes, to_text(value.type),
                       value.type.bytes());
  if (reinterpret_cast<uintptr_t>(value.constant->bytes.data()) %
          static_cast<uintptr_t>(bytes_of(value.type.dtype)) !=
      0)
    return fmt::format("constant is not aligned for {}", name_of(value.type.dtype));
  return {};
}

static Fault port_fault(const Graph& g, const Port& port) {
  if (port.value < 0 || port.value >= static_cast<ValueId>(g.values.size()))
    return fmt::format("value {} of {}", port.value, g.values.size());
  const Shape& shape = g.type(port.value).shape;
  if (!is_permutation_of_axes(port.order, shape.size()))
    return fmt::format("order {} is not a permutation for [{}]", to_text(port.order),
                       to_text(shape));
  return {};
}

static Fault origin_fault(const Graph& g, const Origin& origin) {
  if (origin.empty()) return "no origin";
  for (size_t k = 0; k < origin.size(); ++k) {
    if (origin[k] < 0 || origin[k] >= static_cast<i32>(g.sources.size()))
      return fmt::format("source id {} of {}", origin[k], g.sources.size());
    if (k > 0 && origin[k] <= origin[k - 1])
      return fmt::format("origin {} is not sorted", fmt::join(origin, ","));
  }
  return {};
}

static Fault face_fault(const Graph& g, const KernelArg& arg, const std::vector<ValueId>& ids,
                        std::string_view kind) {
  if (arg.integer < 0 || arg.integer >= static_cast<i64>(ids.size()))
    return fmt::format("{} {} of {}", kind, arg.integer, ids.size());
  const Type& type = g.type(ids[arg.integer]);
  const Face& face = arg.face;
  if (!is_permutation_of_axes(face.order, face.sizes.size()))
    return fmt::format("{} {} is seen as [{}] in order {}", kind, arg.integer, to_text(face.sizes),
                       to_text(face.order));
  if (const Fault fault = find_fault(Type{type.dtype, face.sizes, {}})) return fault;
  if (numel(face.sizes) != type.elements())
    return fmt::format("{} {} of [{}] is seen as [{}]", kind, arg.integer, to_text(type.shape),
                       to_text(face.sizes));
  return {};
}

static Fault call_fault(const Graph& g, const Node& node, const KernelCall& call) {
  if (call.name.empty()) return "a kernel call without a name";
  std::vector<int> read(node.inputs.size()), written(node.outputs.size());
  for (const KernelArg& arg : call.args) {
    const bool input = arg.kind == KernelArg::Kind::input;
    if (arg.kind == KernelArg::Kind::inputs) {
      for (const i64 operand : arg.integers) {
        if (operand == -1) continue;
        if (operand < 0 || operand >= static_cast<i64>(read.size()))
          return fmt::format("input {} of {}", operand, read.size());
        ++read[operand];
      }
    }
    if (!input && arg.kind != KernelArg::Kind::output) continue;
    if (Fault fault =
            face_fault(g, arg, input ? node.inputs : node.outputs, input ? "input" : "output"))
      return fault;
    ++(input ? read : written)[arg.integer];
  }
  for (size_t k = 0; k < read.size(); ++k)
    if (read[k] == 0) return fmt::format("input {} is not an argument", k);
  for (size_t k = 0; k < written.size(); ++k)
    if (written[k] != 1) return fmt::format("output {} is an argument {} times", k, written[k]);
  for (const auto& [output, input] : call.in_place) {
    if (output < 0 || output >= static_cast<i64>(node.outputs.size()) || input < 0 ||
        input >= static_cast<i64>(node.inputs.size()))
      return fmt::format("in-place pair {}:{} of {} outputs, {} inputs", output, input,
                         node.outputs.size(), node.inputs.size());
    const i64 out_bytes = g.type(node.outputs[output]).bytes(),
              in_bytes = g.type(node.inputs[input]).bytes();
    if (out_bytes > in_bytes)
      return fmt::format("output {} of {} bytes in place of input {} of {}", output, out_bytes,
                         input, in_bytes);
  }
  if (call.writes_state && (call.in_place.size() != 1 || call.in_place[0].first != 0))
    return "writes a state without one in-place pair of output 0";
  if (call.own_scratch.size() > node.outputs.size())
    return fmt::format("own scratch of {} outputs of {}", call.own_scratch.size(),
                       node.outputs.size());
  for (size_t k = 0; k < call.own_scratch.size(); ++k) {
    const OwnScratch& own = call.own_scratch[k];
    const i64 bytes =
        g.type(node.outputs[node.outputs.size() - call.own_scratch.size() + k]).bytes();
    if (own.least < 0 || own.most < own.least || own.most > bytes)
      return fmt::format("own scratch of {} to {} bytes in {}", own.least, own.most, bytes);
  }
  if (call.macs < 0) return fmt::format("{} multiply-adds", call.macs);
  return {};
}

static Fault delegate_fault(const Graph& g, const Node& node, const Delegate& delegate) {
  if (!delegate.body) return "a delegate without a body";
  const Graph& body = *delegate.body;
  if (body.inputs.size() != node.inputs.size() || body.outputs.size() != node.outputs.size())
    return fmt::format("{} operands and {} results, its body has {} and {}", node.inputs.size(),
                       node.outputs.size(), body.inputs.size(), body.outputs.size());
  for (size_t k = 0; k < node.inputs.size(); ++k)
    if (g.type(node.inputs[k]) != body.type(body.inputs[k].value))
      return fmt::format("operand {} is not what its body takes", k);
  for (size_t k = 0; k < node.outputs.size(); ++k)
    if (g.type(node.outputs[k]) != body.type(body.outputs[k].value))
      return fmt::format("result {} is not what its body makes", k);
  if (body.sources.size() != g.sources.size()) return "its body has other sources";
  return find_fault(body);
}

static Fault inference_fault(const Graph& g, const Node& node) {
  std::vector<const Type*> in;
  const Result<std::vector<Type>> inferred = infer(node.op, g.types(node.inputs, in));
  if (!inferred) {
    const Refusal& why = inferred.why;
    return why.measured.empty() && why.limit.empty()
               ? why.what
               : fmt::format("{}: {}, limit {}", why.what, why.measured, why.limit);
  }
  if (inferred->size() != node.outputs.size())
    return fmt::format("{} results, inferred {}", node.outputs.size(), inferred->size());
  for (size_t k = 0; k < inferred->size(); ++k) {
    const Type& type = g.type(node.outputs[k]);
    const Quant& given = (*inferred)[k].quant;
    if (type.same_data((*inferred)[k]) && !given.empty() && type.quant != given)
      return fmt::format("the result is {}, which is not what the operator says", to_text(type));
    if (may_be_int16_result(node.op, (*inferred)[k], type)) continue;
    if (!type.same_data((*inferred)[k]))
      return fmt::format("result {} is {}, inferred {}", k, to_text(type), to_text((*inferred)[k]));
  }
  return {};
}

static Fault node_fault(const Graph& g, const Node& node, std::vector<bool>& made) {
  const auto count = static_cast<ValueId>(g.values.size());
  for (const ValueId v : node.inputs) {
    if (v < 0 || v >= count) return fmt::format("reads value {} of {}", v, count);
    if (!made[v]) return fmt::format("reads `{}` before it is made", g.values[v].name);
  }
  if (node.outputs.empty()) return "makes nothing";
  for (const ValueId v : node.outputs) {
    if (v < 0 || v >= count) return fmt::format("makes value {} of {}", v, count);
    if (made[v]) return fmt::format("makes `{}`, which is made already", g.values[v].name);
    made[v] = true;
  }
  if (Fault fault = origin_fault(g, node.origin)) return fault;
  if (const auto* call = call_of(node.op)) return call_fault(g, node, *call);
  if (const auto* delegate = delegate_of(node.op)) return delegate_fault(g, node, *delegate);
  return inference_fault(g, node);
}

Fault find_fault(const Graph& g) {
  if (g.states.size() > std::min(g.inputs.size(), g.outputs.size()))
    return fmt::format("{} states of {} inputs and {} outputs", g.states.size(), g.inputs.size(),
                       g.outputs.size());
  std::vector<bool> made(g.values.size());
  for (size_t v = 0; v < g.values.size(); ++v) {
    if (const Fault fault = value_fault(g.values[v]))
      return fmt::format("value `{}`: {}", g.values[v].name, *fault);
    made[v] = g.values[v].constant.has_value();
  }
  for (const Port& port : g.inputs) {
    if (const Fault fault = port_fault(g, port))
      return fmt::format("input `{}`: {}", port.name, *fault);
    if (made[port.value])
      return fmt::format("input `{}`: value `{}` is a constant or another input", port.name,
                         g.values[port.value].name);
    made[port.value] = true;
  }
  for (const Node& node : g.nodes)
    if (const Fault fault = node_fault(g, node, made))
      return fmt::format("{}: {}", describe(g, node), *fault);
  for (const Port& port : g.outputs) {
    if (const Fault fault = port_fault(g, port))
      return fmt::format("output `{}`: {}", port.name, *fault);
    if (!made[port.value])
      return fmt::format("output `{}`: value `{}` is never made", port.name,
                         g.values[port.value].name);
  }
  if (Fault fault = find_state_fault(g)) return fault;
  for (const Folded& folded : g.folded)
    if (const Fault fault = origin_fault(g, folded.origin))
      return fmt::format("folded \"{}\": {}", folded.reason, *fault);
  return {};
}

Origin lost_sources(const Graph& g) {
  std::vector<bool> known(g.sources.size());
  const auto note = [&](const Origin& origin) {
    for (const i32 id : origin)
      if (id >= 0 && id < static_cast<i32>(known.size())) known[id] = true;
  };
  for (const Node& node : g.nodes) note(node.origin);
  for (const Folded& folded : g.folded) note(folded.origin);
  for (const State& state : g.states)
    if (state.source >= 0) note({state.source});
  Origin lost;
  for (size_t id = 0; id < known.size(); ++id)
    if (!known[id]) lost.push_back(static_cast<i32>(id));
  return lost;
}

}  // namespace deuteron
