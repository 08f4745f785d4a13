#include "inspect/layers.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>

#include "calibrate/each_sample.h"
#include "calibrate/float_executor.h"
#include "ir/elements.h"
#include "ir/source_names.h"
#include "memory/homes.h"
#include "ops/kernel_call/host_call.h"
#include "passes/compilation.h"

namespace deuteron {
namespace {

// Values are found by their names, which the passes hand on from the float graph. A name that occurs twice says nothing.
std::map<std::string, ValueId> values_by_name(const Graph& g, bool of_calls) {
  std::map<std::string, ValueId> values;
  std::vector<std::string> twice;
  for (const Node& node : g.nodes)
    for (const ValueId v : node.outputs)
      if (std::holds_alternative<KernelCall>(node.op) >= of_calls && !values.emplace(g.values[v].name, v).second)
        twice.push_back(g.values[v].name);
  for (const std::string& name : twice) values.erase(name);
  return values;
}

struct Pair {
  NodeId call;
  ValueId value, reference;
};

std::vector<Pair> pairs_of(const Compilation& c) {
  const auto references = values_by_name(c.equalized, false), values = values_by_name(c.graph, true);
  std::vector<Pair> pairs;
  for (size_t n = 0; n < c.graph.nodes.size(); ++n) {
    const Node& node = c.graph.nodes[n];
    if (!std::holds_alternative<KernelCall>(node.op)) continue;
    const ValueId v = node.outputs[0];
    const Type& type = c.graph.type(v);
    const auto reference = references.find(c.graph.values[v].name);
    const bool is_number = type.dtype == DType::f32 || (type.dtype == DType::s8 && !type.quant.empty() && !type.quant.per_channel());
    if (reference == references.end() || !values.contains(c.graph.values[v].name) || !is_number) continue;
    if (c.equalized.type(reference->second).elements() != type.elements()) continue;
    pairs.push_back({static_cast<NodeId>(n), v, reference->second});
  }
  return pairs;
}

// The program's own arithmetic on one sample, every value in memory of its own.
class Stepper {
 public:
  explicit Stepper(const Graph& g) : g_(g), bytes_(g.values.size()) {}

  void set_input(const Port& port, std::span<const float> user) {
    const Type& type = g_.type(port.value);
    bytes_[port.value] = elements_of(to_storage(port, type.shape, user), type);
  }

  void run() {
    for (const Node& node : g_.nodes) {
      if (const auto* call = std::get_if<KernelCall>(&node.op)) run(node, *call);
      else if (const auto* slice = std::get_if<Slice>(&node.op)) {
        const Type& x = g_.type(node.inputs[0]);
        std::vector<std::byte>& to = room(node.outputs[0]);
        std::memcpy(to.data(), static_cast<const std::byte*>(data(node.inputs[0])) + first_element(*slice, x.shape) * bytes_of(x.dtype),
                    to.size());
      } else {  // a view, or parts that lie one behind the other
        std::byte* to = room(node.outputs[0]).data();
        for (const ValueId v : node.inputs) std::memcpy(to, data(v), static_cast<size_t>(g_.type(v).bytes())), to += g_.type(v).bytes();
      }
    }
  }

  // The value as real numbers.
  std::vector<float> real(ValueId v) { return numbers_of(data(v), g_.type(v)); }

 private:
  std::vector<std::byte>& room(ValueId v) {
    bytes_[v].resize(static_cast<size_t>(g_.type(v).bytes()));
    return bytes_[v];
  }
  void* data(ValueId v) {
    if (g_.is_constant(v)) return const_cast<std::byte*>(g_.values[v].constant->bytes.data());
    return bytes_[v].data();
  }
  void run(const Node& node, const KernelCall& call) {
    std::vector<const Type*> in, out;
    std::vector<void*> in_data, out_data;
    std::vector<bool> constant;
    for (const ValueId v : node.inputs) in_data.push_back(data(v)), constant.push_back(g_.is_constant(v));
    for (const ValueId v : node.outputs) out_data.push_back(room(v).data());
    run_call(call, g_.types(node.inputs, in), g_.types(node.outputs, out), in_data, out_data, constant);
  }

  const Graph& g_;
  std::vector<std::vector<std::byte>> bytes_;
};

struct Sums {
  double signal = 0, noise = 0, max_abs = 0;
  i64 clipped = 0, elements = 0;
  float low = std::numeric_limits<float>::infinity(), high = -std::numeric_limits<float>::infinity();

  void add(std::span<const float> reference, std::span<const float> found, float lowest, float highest) {
    for (size_t k = 0; k < found.size(); ++k) {
      const double x = reference[k], e = x - found[k];
      signal += x * x, noise += e * e;
      max_abs = std::max(max_abs, std::fabs(e));
      clipped += (found[k] <= lowest && reference[k] < lowest) || (found[k] >= highest && reference[k] > highest);
      low = std::min(low, found[k]), high = std::max(high, found[k]);
    }
    elements += static_cast<i64>(found.size());
  }
};

}  // namespace

std::vector<LayerError> compare_layers(const Compilation& c, const Samples& samples, int threads) {
  const std::vector<Pair> pairs = pairs_of(c);
  std::vector<LayerError> layers(pairs.size());
  for (size_t p = 0; p < pairs.size(); ++p) {
    const Node& call = c.graph.nodes[pairs[p].call];
    const Type& type = c.graph.type(pairs[p].value);
    layers[p].name = user_names(c.graph, call.origin);
    layers[p].op = std::get<KernelCall>(call.op).name;
    if (type.quant.empty()) continue;
    layers[p].low = static_cast<float>(type.quant.low - type.quant.zero_point[0]) * type.quant.scale[0];
    layers[p].high = static_cast<float>(type.quant.high - type.quant.zero_point[0]) * type.quant.scale[0];
  }
  const FloatExecutor executor(c.equalized);
  std::map<ValueId, size_t> pair_of_reference;
  for (size_t p = 0; p < pairs.size(); ++p) pair_of_reference[pairs[p].reference] = p;
  std::vector<std::vector<Sums>> by_sample(samples.size(), std::vector<Sums>(pairs.size()));
  for_each_sample(samples.size(), threads, [&](size_t s, int) {
    Stepper program(c.graph);
    std::vector<std::vector<float>> stored;
    for (size_t i = 0; i < c.graph.inputs.size(); ++i) {
      program.set_input(c.graph.inputs[i], samples[s][i]);
      const Port& port = c.equalized.inputs[i];
      stored.push_back(to_storage(port, c.equalized.type(port.value).shape, samples[s][i]));
    }
    program.run();
    executor.run(stored, [&](ValueId v, std::span<const float> reference) {
      const auto pair = pair_of_reference.find(v);
      if (pair == pair_of_reference.end()) return;
      const LayerError& layer = layers[pair->second];
      const bool is_float = layer.low == layer.high;
      const float infinity = std::numeric_limits<float>::infinity();
      by_sample[s][pair->second].add(reference, program.real(pairs[pair->second].value), is_float ? -infinity : layer.low,
                                     is_float ? infinity : layer.high);
    });
  });
  for (size_t p = 0; p < pairs.size(); ++p) {
    Sums all;
    for (const std::vector<Sums>& one : by_sample) {
      all.signal += one[p].signal, all.noise += one[p].noise, all.max_abs = std::max(all.max_abs, one[p].max_abs);
      all.clipped += one[p].clipped, all.elements += one[p].elements;
      all.low = std::min(all.low, one[p].low), all.high = std::max(all.high, one[p].high);
    }
    LayerError& layer = layers[p];
    layer.sqnr_db = all.noise == 0 ? std::numeric_limits<double>::infinity() : 10 * std::log10(all.signal / all.noise);
    layer.max_abs = all.max_abs;
    layer.clipped = all.elements ? static_cast<double>(all.clipped) / static_cast<double>(all.elements) : 0;
    layer.used = layer.high > layer.low ? static_cast<double>(all.high - all.low) / static_cast<double>(layer.high - layer.low) : 1;
  }
  return layers;
}

}  // namespace deuteron
