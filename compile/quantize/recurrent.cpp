// SPDX-License-Identifier: Apache-2.0
#include "compile/quantize/recurrent.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "compile/calibrate/each_sample.h"
#include "compile/calibrate/float_executor.h"
#include "ops/families.h"

namespace deuteron {

i64 state_results(const Op& op) {
  const RecurrentForm* form = recurrent_form(op);
  return !form ? 0 : form->sequence ? 2 : 1;
}

// slice(y), the step that a layer of one direction does last   becomes   reshape(h_n)
static std::optional<Patch> last_step_to_state(const Slice& slice, const Graph& g, const Uses& uses,
                                               NodeId root) {
  const NodeId layer = uses.producer[g.nodes[root].inputs[0]];
  if (layer < 0) return std::nullopt;
  const RecurrentForm* form = recurrent_form(g.nodes[layer].op);
  const ValueId y = g.nodes[root].inputs[0];
  if (!form || !form->sequence || form->bidirectional || y != g.nodes[layer].outputs[0])
    return std::nullopt;
  const i64 axis = form->batch_first ? 1 : 0, last = form->reverse ? 0 : g.type(y).shape[axis] - 1;
  const ValueId state = g.nodes[layer].outputs[1];
  if (slice.axis != axis || slice.count != 1 || slice.start != last ||
      g.type(state).quant != g.type(y).quant)
    return std::nullopt;
  PatchBuilder b(g, root, "the last step of a recurrent layer is its final state");
  return b.replace_root(Reshape{g.type(g.nodes[root].outputs[0]).shape}, {state});
}

// A layer whose sequence nobody reads   becomes   one without that result.
static std::optional<Patch> drop_sequence(const Graph& g, const Uses& uses, NodeId root) {
  const Node& node = g.nodes[root];
  Op op = node.op;
  RecurrentForm* form = recurrent_form(op);
  if (!form || !form->sequence || !uses.readers[node.outputs[0]].empty() ||
      uses.output_uses[node.outputs[0]] != 0)
    return std::nullopt;
  form->sequence = false;
  std::vector<Quant> quants;
  std::vector<std::string> names;
  for (size_t k = 1; k < node.outputs.size(); ++k) {
    quants.push_back(g.type(node.outputs[k]).quant);
    names.push_back(g.values[node.outputs[k]].name);
  }
  PatchBuilder b(g, root, "");
  const ValueId first = b.add_results(std::move(op), node.inputs, quants, names);
  for (size_t k = 1; k < node.outputs.size(); ++k)
    if (!uses.readers[node.outputs[k]].empty() || uses.output_uses[node.outputs[k]] != 0)
      b.replace(node.outputs[k], first + static_cast<ValueId>(k) - 1);
  return b.done();
}

std::span<const Rule> recurrent_rules() {
  static constexpr Rule kRules[] = {kRule<last_step_to_state>, drop_sequence};
  return kRules;
}

namespace {

// The operands of one LSTM, kept until all of them are there.
struct Watched {
  NodeId node;
  std::map<ValueId, std::vector<float>> computed;  // operands that are not constant
};

float largest_of(const Graph& g, Watched& w) {
  const Node& node = g.nodes[w.node];
  std::vector<HostTensor> in;
  for (const ValueId v : node.inputs) {
    const auto computed = w.computed.find(v);
    const float* data = computed != w.computed.end() ? computed->second.data()
                                                     : g.values[v].constant->as<float>().data();
    in.push_back({&g.type(v), const_cast<float*>(data)});
  }
  return largest_cell(std::get<Lstm>(node.op), in);
}

}  // namespace

void measure_cells(const Graph& g, const Samples& samples, int threads, Graph& quantized) {
  std::vector<Watched> layers;
  for (NodeId n = 0; n < static_cast<NodeId>(g.nodes.size()); ++n)
    if (std::holds_alternative<Lstm>(g.nodes[n].op)) {
      Watched w{n, {}};
      for (const ValueId v : g.nodes[n].inputs)
        if (!g.is_constant(v)) w.computed[v] = {};
      layers.push_back(std::move(w));
    }
  if (layers.empty()) return;
  std::vector<float> most(layers.size(), -1.0f);
  std::mutex mutex;
  {
    const FloatExecutor executor(g);
    for_each_sample(samples.size(), threads, [&](size_t s, int) {
      std::vector<std::vector<float>> inputs;
      for (size_t i = 0; i < g.inputs.size(); ++i)
        inputs.push_back(to_storage(g.inputs[i], g.type(g.inputs[i].value).shape, samples[s][i]));
      std::vector<Watched> mine = layers;
      executor.run(inputs, [&](ValueId v, std::span<const float> data) {
        for (Watched& w : mine)
          if (const auto operand = w.computed.find(v); operand != w.computed.end())
            operand->second.assign(data.begin(), data.end());
      });
      for (size_t k = 0; k < mine.size(); ++k) {
        bool complete = true;
        for (const auto& [v, data] : mine[k].computed) complete = complete && !data.empty();
        if (!complete) continue;
        const float largest = largest_of(g, mine[k]);
        const std::lock_guard lock(mutex);
        most[k] = std::max(most[k], largest);
      }
    });
  }
  size_t k = 0;
  for (Node& node : quantized.nodes)
    if (Lstm* lstm = std::get_if<Lstm>(&node.op)) {
      DEUTERON_CHECK(k < most.size(), std::to_string(k));
      if (most[k] >= 0) lstm->cell_range = std::max(most[k], 0x1p-15f);
      ++k;
    }
}

}  // namespace deuteron
