// SPDX-License-Identifier: Apache-2.0
#include "compile/calibrate/float_executor.h"

#include <fmt/format.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <mutex>

#include "base/tensor/elements.h"
#include "compile/calibrate/arena_plan.h"
#include "ops/common/dnn.h"
#include "ops/families.h"

namespace deuteron {

// Values that are the same numbers as their operand, and so need no memory of their own.
static bool is_alias(const Op& op) { return facts_of(op).values == Values::same; }

struct FreeMemory {
  void operator()(float* p) const { std::free(p); }
};
using Block = std::unique_ptr<float[], FreeMemory>;

// How one value is reached while a sample runs.
struct FloatPlace {
  enum class Kind : u8 { unused, constant, input, arena } kind = Kind::unused;
  const float* data = nullptr;  // constant; null until something reads all of it
  i64 at = 0;                   // input: its index; arena: offset in floats
};

struct FloatExecutor::State {
  const Graph* graph = nullptr;
  std::vector<FloatPlace> places;  // by value
  std::vector<std::vector<float>>
      computed;  // by value: constants that are not float32 in the graph, results of constant nodes
  std::vector<std::unique_ptr<PreparedLayer>> layers;  // by node; null: runs through execute()
  std::vector<NodeId> schedule;                        // nodes that are not constant
  i64 arena_floats = 0, scratch_at = 0;
  mutable std::mutex mutex;
  mutable std::vector<Block> blocks;  // of runs that have ended

  std::vector<ValueId> owner;   // by value: whose memory a constant value lies in
  std::vector<i64> reads_left;  // by owner: uses that still need that memory

  void prepare();
  bool is_constant(ValueId v);
  const float* whole(ValueId v);
  LayerWeight weight_of(ValueId v);
  void release(ValueId v);
  void evaluate(const Node& node);
  bool prepare_layer(NodeId n);
  void plan();

  void run_node(const Node& node, const PreparedLayer* layer, std::span<float* const> data,
                float* scratch) const {
    if (layer) return layer->run(data[node.inputs[0]], data[node.outputs[0]], scratch);
    std::vector<HostTensor> in, out;
    for (const ValueId v : node.inputs) in.push_back({&graph->type(v), data[v]});
    for (const ValueId v : node.outputs) out.push_back({&graph->type(v), data[v]});
    execute(node.op, in, out);
  }
};

bool FloatExecutor::State::is_constant(ValueId v) {
  if (places[v].kind == FloatPlace::Kind::constant) return true;
  const GraphValue& value = graph->values[v];
  if (!value.constant) return false;
  places[v] = {FloatPlace::Kind::constant,
               value.type.dtype == DType::f32 ? value.constant->as<float>().data() : nullptr, 0};
  return true;
}

const float* FloatExecutor::State::whole(ValueId v) {
  const GraphValue& value = graph->values[owner[v]];
  if (places[v].data || !value.constant) return places[v].data;
  std::vector<float>& numbers = computed[owner[v]];
  if (numbers.empty()) numbers = numbers_of(value.constant->bytes.data(), value.type);
  return places[v].data = numbers.data();
}

// Of an int8 constant that nothing has read as a whole, rows as they are packed: the layer's form
// of it is as large again.
LayerWeight FloatExecutor::State::weight_of(ValueId v) {
  const GraphValue& constant = graph->values[owner[v]];
  if (places[v].data || constant.type.shape != graph->type(v).shape) return whole(v);
  return LayerWeight::Rows([&value = constant](i64 first, i64 count) {
    Type rows = value.type;
    rows.shape[0] = count;
    if (Quant& q = rows.quant; q.axis == 0 && q.per_channel()) {
      q.scale.assign(value.type.quant.scale.begin() + first,
                     value.type.quant.scale.begin() + first + count);
      q.zero_point.assign(value.type.quant.zero_point.begin() + first,
                          value.type.quant.zero_point.begin() + first + count);
    }
    const i64 row_bytes = numel(std::span(rows.shape).subspan(1)) * bytes_of(rows.dtype);
    return numbers_of(value.constant->bytes.data() + first * row_bytes, rows);
  });
}

void FloatExecutor::State::release(ValueId v) {
  if (--reads_left[owner[v]] == 0)
    computed[owner[v]] = std::vector<float>();  // = {} would keep the memory
}

// A node whose operands are all constant (a weight that is dequantized or permuted) runs once,
// here.
void FloatExecutor::State::evaluate(const Node& node) {
  if (is_alias(node.op)) {
    const ValueId from = node.inputs[0], to = node.outputs[0];
    places[to] = places[from];
    owner[to] = owner[from];
    reads_left[owner[from]] += reads_left[to];
    return release(from);
  }
  for (const ValueId v : node.inputs) whole(v);
  std::vector<float*> data(graph->values.size());
  for (const ValueId v : node.inputs) data[v] = const_cast<float*>(places[v].data);
  for (const ValueId v : node.outputs) {
    computed[v].resize(static_cast<size_t>(graph->type(v).elements()));
    data[v] = computed[v].data();
    places[v] = {FloatPlace::Kind::constant, data[v], 0};
  }
  run_node(node, nullptr, data, nullptr);
  for (const ValueId v : node.inputs) release(v);
}

bool FloatExecutor::State::prepare_layer(NodeId n) {
  const Node& node = graph->nodes[n];
  const bool convolution = std::holds_alternative<Conv2d>(node.op);
  if (!convolution && !std::holds_alternative<Linear>(node.op)) return false;
  for (size_t k = 1; k < node.inputs.size(); ++k)
    if (places[node.inputs[k]].kind != FloatPlace::Kind::constant) return false;
  const Shape &x = graph->type(node.inputs[0]).shape, &w = graph->type(node.inputs[1]).shape,
              &y = graph->type(node.outputs[0]).shape;
  const LayerWeight weight = weight_of(node.inputs[1]);
  const float* bias = node.inputs.size() > 2 ? whole(node.inputs[2]) : nullptr;
  layers[n] =
      convolution
          ? std::make_unique<PreparedLayer>(std::get<Conv2d>(node.op), x, w, y, weight, bias)
          : std::make_unique<PreparedLayer>(std::get<Linear>(node.op), x, w, weight, bias);
  return true;
}

// One weight at a time: what a packed layer was made of is let go before the next one is made.
void FloatExecutor::State::prepare() {
  const Graph& g = *graph;
  owner.resize(g.values.size());
  for (size_t v = 0; v < owner.size(); ++v) owner[v] = static_cast<ValueId>(v);
  reads_left.assign(g.values.size(), 0);
  for (const Node& node : g.nodes)
    for (const ValueId v : node.inputs) ++reads_left[v];
  for (const Port& port : g.outputs) ++reads_left[port.value];
  for (NodeId n = 0; n < static_cast<NodeId>(g.nodes.size()); ++n) {
    const Node& node = g.nodes[n];
    bool constant = true;
    for (const ValueId v : node.inputs) constant = is_constant(v) && constant;
    if (constant) {
      evaluate(node);
      continue;
    }
    schedule.push_back(n);
    if (prepare_layer(n))
      for (size_t k = 1; k < node.inputs.size(); ++k) release(node.inputs[k]);
    else
      for (const ValueId v : node.inputs)
        if (places[v].kind == FloatPlace::Kind::constant) whole(v);
  }
  for (const Port& port : g.outputs)
    if (is_constant(port.value)) whole(port.value);
}

// Places every value that is made while running; a value's memory is free again after its last
// reader, aliases counted.
void FloatExecutor::State::plan() {
  const Graph& g = *graph;
  std::vector<ValueId> root(g.values.size());
  for (size_t v = 0; v < root.size(); ++v) root[v] = static_cast<ValueId>(v);
  std::vector<size_t> last(g.values.size(), 0);
  for (size_t i = 0; i < schedule.size(); ++i) {
    const Node& node = g.nodes[schedule[i]];
    if (is_alias(node.op)) root[node.outputs[0]] = root[node.inputs[0]];
    for (const ValueId v : node.inputs) last[root[v]] = i;
    for (const ValueId v : node.outputs) last[root[v]] = std::max(last[root[v]], i);
  }
  for (const Port& port : g.outputs) last[root[port.value]] = schedule.size();
  for (size_t i = 0; i < g.inputs.size(); ++i)
    places[g.inputs[i].value] = {FloatPlace::Kind::input, nullptr, static_cast<i64>(i)};

  ArenaPlan arena;
  for (size_t i = 0; i < schedule.size(); ++i) {
    const Node& node = g.nodes[schedule[i]];
    if (is_alias(node.op)) {
      places[node.outputs[0]] = places[node.inputs[0]];
    } else {
      for (const ValueId v : node.outputs)
        places[v] = {FloatPlace::Kind::arena, nullptr, arena.take(g.type(v).elements())};
    }
    std::vector<ValueId> touched(node.inputs);
    touched.insert(touched.end(), node.outputs.begin(), node.outputs.end());
    for (ValueId& v : touched) v = root[v];
    std::ranges::sort(touched);
    touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
    for (const ValueId v : touched)
      if (last[v] == i && places[v].kind == FloatPlace::Kind::arena)
        arena.give_back(places[v].at, g.type(v).elements());
  }
  size_t scratch_bytes = 0;
  for (const auto& layer : layers)
    if (layer) scratch_bytes = std::max(scratch_bytes, layer->scratch_bytes());
  scratch_at = (arena.size() + 15) / 16 * 16;
  arena_floats = scratch_at + static_cast<i64>((scratch_bytes + 63) / 64 * 16);
}

FloatExecutor::FloatExecutor(const Graph& graph) : state_(new State) {
  state_->graph = &graph;
  state_->places.resize(graph.values.size());
  state_->computed.resize(graph.values.size());
  state_->layers.resize(graph.nodes.size());
  state_->prepare();
  state_->plan();
}

FloatExecutor::~FloatExecutor() {
  delete state_;
#if defined(__GLIBC__) && !defined(DEUTERON_SANITIZED)  // AddressSanitizer has a heap of its own;
                                                        // glibc's is not even initialized
  malloc_trim(0);  // large blocks that were freed would stay with the process, and the next
                   // executor's seldom fit into them
#endif
}

std::vector<std::vector<float>> FloatExecutor::run(std::span<const std::vector<float>> inputs,
                                                   const Observe& observe) const {
  const State& s = *state_;
  const Graph& g = *s.graph;
  DEUTERON_CHECK(inputs.size() == g.inputs.size(),
                 fmt::format("{} inputs, graph has {}", inputs.size(), g.inputs.size()));
  use_one_thread_for_each_layer();
  Block block;
  {
    const std::lock_guard lock(s.mutex);
    if (!s.blocks.empty()) {
      block = std::move(s.blocks.back());
      s.blocks.pop_back();
    }
  }
  if (!block)
    block.reset(static_cast<float*>(
        std::aligned_alloc(64, static_cast<size_t>(s.arena_floats + 16) * sizeof(float))));
  if (!block) throw std::bad_alloc();

  std::vector<float*> data(g.values.size());
  for (size_t v = 0; v < data.size(); ++v) {
    const FloatPlace& place = s.places[v];
    if (place.kind == FloatPlace::Kind::constant) data[v] = const_cast<float*>(place.data);
    if (place.kind == FloatPlace::Kind::input)
      data[v] = const_cast<float*>(inputs[place.at].data());
    if (place.kind == FloatPlace::Kind::arena) data[v] = block.get() + place.at;
  }
  const auto view = [&](ValueId v) {
    return std::span<const float>(data[v], static_cast<size_t>(g.type(v).elements()));
  };
  for (size_t i = 0; i < g.inputs.size(); ++i) {
    const ValueId v = g.inputs[i].value;
    DEUTERON_CHECK(static_cast<i64>(inputs[i].size()) == g.type(v).elements(),
                   fmt::format("{}: {} values, type {}", g.inputs[i].name, inputs[i].size(),
                               to_text(g.type(v))));
    if (observe) observe(v, view(v));
  }
  for (const NodeId n : s.schedule) {
    const Node& node = g.nodes[n];
    if (!is_alias(node.op)) s.run_node(node, s.layers[n].get(), data, block.get() + s.scratch_at);
    if (observe)
      for (const ValueId v : node.outputs) observe(v, view(v));
  }
  std::vector<std::vector<float>> outputs;
  for (const Port& port : g.outputs)
    outputs.emplace_back(view(port.value).begin(), view(port.value).end());
  const std::lock_guard lock(s.mutex);
  s.blocks.push_back(std::move(block));
  return outputs;
}

}  // namespace deuteron
