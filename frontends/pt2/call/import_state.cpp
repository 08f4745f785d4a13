// SPDX-License-Identifier: Apache-2.0
#include "frontends/pt2/call/import_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "base/tensor/elements.h"
#include "frontends/pt2/file/source_names.h"
#include "ops/all.h"

namespace deuteron::pt2 {

// The elements of a float32 weight with the user's axes in their order.
static std::vector<float> in_users_order(const Weight& w) {
  const std::span<const float> stored = w.data.as<float>();
  std::vector<i64> stride(w.order.size());  // of each of the user's axes, in the storage
  Shape sizes(w.order.size());
  i64 step = 1;
  for (size_t k = w.order.size(); k-- > 0;) {
    stride[w.order[k]] = step, sizes[w.order[k]] = w.type.shape[k];
    step *= w.type.shape[k];
  }
  std::vector<float> numbers(stored.size());
  for (size_t at = 0; at < numbers.size(); ++at) {
    i64 rest = static_cast<i64>(at), from = 0;
    for (size_t k = sizes.size(); k-- > 0;) from += rest % sizes[k] * stride[k], rest /= sizes[k];
    numbers[at] = stored[from];
  }
  return numbers;
}

ValueId ImportState::add_value(std::string name, Type type, std::optional<Constant> constant,
                               bool is_broken) {
  const bool is_constant = constant.has_value();
  const ValueId v = graph.add_value(std::move(name), std::move(type), std::move(constant));
  derived_from_constants.resize(v + 1, false);
  broken.resize(v + 1, false);
  derived_from_constants[v] = is_constant;
  broken[v] = is_broken;
  return v;
}

static bool is_other_float(DType d) {
  return d == DType::f16 || d == DType::bf16 || d == DType::f64;
}

// Every float type is float32 from here on.
const Weight* ImportState::load(i32 index) {
  Parameter& p = parameters[index];
  if (p.weight || p.is_broken) return p.weight ? &*p.weight : nullptr;
  const ByName<WeightEntry>& entries = p.input->in_constants ? program.constants : program.weights;
  const auto it = entries.find(p.input->key);
  if (it == entries.end())
    diagnostics.error(fmt::format("{}: parameter `{}`", archive.name, p.input->key),
                      "has no entry in the table of weights", "pt2.weights.missing");
  else if (const auto meta = program.tensors.find(p.input->name);
           meta == program.tensors.end() || meta->second.dtype_code != it->second.meta.dtype_code ||
           meta->second.sizes != it->second.meta.sizes)
    diagnostics.error(
        fmt::format("{}: parameter `{}`", archive.name, p.input->key),
        "has another shape or dtype in the table of weights than in the graph: the file is damaged",
        "pt2.weights.shape");
  else p.weight = read_weight(archive, it->second, p.input->key, diagnostics);
  if (p.weight && is_other_float(p.weight->type.dtype)) {
    const auto data = as_float(p.weight->data, p.weight->type.dtype);
    if (data) p.weight->data = *data, p.weight->type.dtype = DType::f32;
    else
      diagnostics.error(fmt::format("{}: parameter `{}`", archive.name, p.input->key),
                        fmt::format("holds {} values that are not finite float32 numbers",
                                    name_of(p.weight->type.dtype)),
                        "pt2.weights.finite", "look for a training step that diverged"),
          p.weight.reset();
  }
  p.is_broken = !p.weight;
  return p.weight ? &*p.weight : nullptr;
}

bool ImportState::load_complex(i32 index, ValueId* real, ValueId* imaginary) {
  const Parameter& p = parameters[index];
  const ByName<WeightEntry>& entries = p.input->in_constants ? program.constants : program.weights;
  const auto it = entries.find(p.input->key);
  if (it == entries.end() || it->second.meta.dtype_code != kComplex64) {
    diagnostics.error(fmt::format("{}: parameter `{}`", archive.name, p.input->key),
                      "is not in the table of weights as complex64", "pt2.weights.missing");
    return false;
  }
  // Pairs of float32: a tensor with one more axis.
  WeightEntry pairs = it->second;
  TensorMeta& m = pairs.meta;
  m.dtype = DType::f32;
  for (i64& stride : m.strides) stride *= 2;
  m.sizes.push_back(2), m.strides.push_back(1), m.offset *= 2;
  const auto weight = read_weight(archive, pairs, p.input->key, diagnostics);
  if (!weight) return false;
  const Shape sizes(m.sizes.begin(), m.sizes.end() - 1);
  const std::vector<float> numbers = in_users_order(*weight);
  std::vector<float> parts[2];
  for (size_t k = 0; k < numbers.size(); ++k) parts[k % 2].push_back(numbers[k]);
  *real = add_value(p.input->name, {DType::f32, sizes, {}}, constant_of(std::move(parts[0])));
  *imaginary = add_value(p.input->name + ".imaginary", {DType::f32, sizes, {}},
                         constant_of(std::move(parts[1])));
  return true;
}

ValueId ImportState::parameter_value(i32 index, Type type, const Constant& data) {
  Parameter& p = parameters[index];
  for (const auto& [known, value] : p.values)
    if (known == type) return value;
  const ValueId v = add_value(p.input->name, type, data);
  p.values.emplace_back(std::move(type), v);
  return v;
}

// Nodes stand in the order of the graph: what the value needs is found from the last to the first,
// and computed from the first to the last.
std::vector<float> ImportState::numbers_of_known(ValueId v) const {
  std::vector<bool> needed(graph.values.size(), false);
  needed[v] = true;
  std::vector<const Node*> order;
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    const auto is_needed = [&](ValueId y) { return needed[y]; };
    if (std::none_of(node->outputs.begin(), node->outputs.end(), is_needed)) continue;
    order.push_back(&*node);
    for (const ValueId x : node->inputs) needed[x] = true;
  }
  std::unordered_map<ValueId, std::vector<float>> numbers;
  const auto take = [&](ValueId x) {
    const GraphValue& value = graph.values[x];
    const bool is_new = !numbers.contains(x);
    if (is_new && value.constant) numbers[x] = numbers_of(value.constant->bytes.data(), value.type);
    DEUTERON_CHECK(numbers.contains(x), value.name);
    return numbers[x];
  };
  for (auto node = order.rbegin(); node != order.rend(); ++node) {
    std::vector<std::vector<float>> data;
    for (const ValueId x : (*node)->inputs) data.push_back(take(x));
    std::vector<const Type*> types;
    graph.types((*node)->outputs, types);
    std::vector<std::vector<float>> results = computed((*node)->op, (*node)->inputs, data, types);
    for (size_t k = 0; k < results.size(); ++k)
      numbers[(*node)->outputs[k]] = std::move(results[k]);
  }
  return take(v);
}

std::vector<std::vector<float>> ImportState::computed(const Op& op,
                                                      const std::vector<ValueId>& inputs,
                                                      std::vector<std::vector<float>>& data,
                                                      const std::vector<const Type*>& types) const {
  std::vector<std::vector<float>> results;
  std::vector<HostTensor> in, out;
  for (size_t k = 0; k < inputs.size(); ++k) in.push_back({&graph.type(inputs[k]), data[k].data()});
  for (const Type* type : types) results.emplace_back(static_cast<size_t>(type->elements()));
  for (size_t k = 0; k < types.size(); ++k) out.push_back({types[k], results[k].data()});
  execute(op, in, out);
  return results;
}

std::optional<Refusal> fault_of_size(const Shape& shape, i64 least) {
  if (static_cast<i64>(shape.size()) > kMostAxes)
    return Refusal{"the result has too many axes", std::to_string(shape.size()),
                   std::to_string(kMostAxes), "result.rank"};
  i64 elements = 1;
  for (const i64 extent : shape) {
    if (extent < least || extent > kMostElements || elements * extent > kMostElements)
      return Refusal{"the result has no elements, or too many", to_text(shape),
                     fmt::format("{}..{}", least, kMostElements), "result.size"};
    elements *= extent;
  }
  return std::nullopt;
}

std::string describe_source(const Graph& graph, i32 id) {
  const SourceOp& s = graph.sources[id];
  std::string text = fmt::format("{}: {} `{}` (source op {}", graph.name, s.target, s.name, id);
  if (!s.module.empty()) text += fmt::format(", module {}", s.module);
  if (const std::string_view line = users_line(s.stack); !line.empty())
    text += fmt::format(", {}", line);
  return text + ")";
}

}  // namespace deuteron::pt2
