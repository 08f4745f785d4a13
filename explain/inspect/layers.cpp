// SPDX-License-Identifier: Apache-2.0
#include "explain/inspect/layers.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <map>

#include "base/tensor/elements.h"
#include "compile/calibrate/each_sample.h"
#include "compile/calibrate/float_executor.h"
#include "compile/calibrate/shared_out.h"
#include "compile/calibrate/stream.h"
#include "compile/compilation.h"
#include "compile/plan/homes.h"
#include "ir/source_names.h"
#include "ops/families.h"
#include "ops/kernel_call/host_call.h"

namespace deuteron {
namespace {

struct Pair {
  NodeId call;
  ValueId value, reference;
  const SlimmedValue* slimmed;  // null: the program has all channels of the reference
};

bool makes_int8(const Graph& g, const Node& node) {
  return g.type(node.outputs[0]).dtype == DType::s8;
}

// What makes floats of int8 steps with a factor for each channel: those steps mean nothing alone.
bool scales_channels(const Node& node) {
  return call_of(node.op)->name == "deuteron::dequantize_channels";
}

// Calls with one origin compute the same operators: the last of them that makes int8 has the
// result, or the last where none does, or what scales channels behind it.
std::map<Origin, NodeId> last_calls(const Graph& g) {
  std::map<Origin, NodeId> calls;
  for (size_t n = 0; n < g.nodes.size(); ++n) {
    const Node& node = g.nodes[n];
    if (!call_of(node.op)) continue;
    const auto [at, is_first] = calls.emplace(node.origin, static_cast<NodeId>(n));
    if (!is_first &&
        (makes_int8(g, node) || !makes_int8(g, g.nodes[at->second]) || scales_channels(node)))
      at->second = static_cast<NodeId>(n);
  }
  return calls;
}

// Quantize or dequantize at the edge of what is int8.
bool is_edge(const std::string& kernel) {
  return kernel == "cortex_m::quantize_per_tensor" || kernel == "cortex_m::dequantize_per_tensor";
}

// The last node of the reference that computes nothing but (a part of) these operators: its result
// is theirs. Quantizers, which a model that came quantized has, are compared with quantizers only.
const Node* last_within(const Graph& reference, const Origin& origin, bool quantizers) {
  const Node* last = nullptr;
  for (const Node& node : reference.nodes)
    if (is_quantize_or_dequantize(node.op) == quantizers &&
        std::includes(origin.begin(), origin.end(), node.origin.begin(), node.origin.end()))
      last = &node;
  return last;
}

// A value of the program that has lost channels of what the reference computes; null: it has all,
// or is another value.
const SlimmedValue* slimmed_as(const Compilation& c, const Origin& origin, const Shape& given,
                               const Shape& expected) {
  const SlimmedValue* last = nullptr;
  if (given.empty() || expected.empty()) return last;
  for (const SlimmedValue& s : c.slimming.values)
    if (s.channels == expected.back() && static_cast<i64>(s.kept.size()) == given.back() &&
        s.channels != given.back() && std::ranges::includes(origin, s.origin))
      last = &s;
  return last && numel(given) * expected.back() == numel(expected) * given.back() ? last : nullptr;
}

// What both graphs compute, by the user's operators that their nodes carry, in the order of the
// program.
std::vector<Pair> pairs_of(const Compilation& c) {
  std::vector<Pair> pairs;
  for (const auto& [origin, call] : last_calls(c.graph)) {
    const ValueId v = c.graph.nodes[call].outputs[0];
    const Type& type = c.graph.type(v);
    const bool is_number =
        type.dtype == DType::f32 ||
        (type.dtype == DType::s8 && !type.quant.empty() && !type.quant.per_channel());
    const Node* reference =
        last_within(c.equalized, origin, is_edge(call_of(c.graph.nodes[call].op)->name));
    if (!is_number || !reference) continue;
    const Shape& expected = c.equalized.type(reference->outputs[0]).shape;
    const SlimmedValue* slimmed = slimmed_as(c, origin, type.shape, expected);
    if (!slimmed && numel(expected) != type.elements()) continue;
    pairs.push_back({call, v, reference->outputs[0], slimmed});
  }
  std::sort(pairs.begin(), pairs.end(),
            [](const Pair& a, const Pair& b) { return a.call < b.call; });
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
      if (call_of(node.op)) run_kernel(node);
      else if (const auto* slice = std::get_if<Slice>(&node.op)) {
        const Type& x = g_.type(node.inputs[0]);
        std::vector<std::byte>& to = room(node.outputs[0]);
        std::memcpy(to.data(),
                    static_cast<const std::byte*>(data(node.inputs[0])) +
                        first_element(*slice, x.shape) * bytes_of(x.dtype),
                    to.size());
      } else {  // a view, or parts that lie one behind the other
        std::byte* to = room(node.outputs[0]).data();
        for (const ValueId v : node.inputs)
          std::memcpy(to, data(v), static_cast<size_t>(g_.type(v).bytes())),
              to += g_.type(v).bytes();
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
  void run_kernel(const Node& node) {
    std::vector<const Type*> in, out;
    std::vector<void*> in_data, out_data;
    std::vector<bool> constant;
    for (const ValueId v : node.inputs)
      in_data.push_back(data(v)), constant.push_back(g_.is_constant(v));
    for (const ValueId v : node.outputs) out_data.push_back(room(v).data());
    run_call(*call_of(node.op), g_.types(node.inputs, in), g_.types(node.outputs, out), in_data,
             out_data, constant);
  }

  const Graph& g_;
  std::vector<std::vector<std::byte>> bytes_;
};

struct Sums {
  double signal = 0, noise = 0, max_abs = 0;
  i64 clipped = 0, elements = 0;
  float low = std::numeric_limits<float>::infinity(),
        high = -std::numeric_limits<float>::infinity();

  // seen_from: a softmax's logits lose their steps further down on purpose
  // (compile/calibrate/shared_out.h), and count from there on.
  void add(std::span<const float> reference, std::span<const float> found, float lowest,
           float highest, float seen_from) {
    for (size_t k = 0; k < found.size(); ++k) {
      const float expected = std::max(reference[k], seen_from),
                  given = std::max(found[k], seen_from);
      const double x = expected, e = x - given;
      signal += x * x, noise += e * e;
      max_abs = std::max(max_abs, std::fabs(e));
      clipped += (given <= lowest && expected < lowest) || (given >= highest && expected > highest);
      low = std::min(low, given), high = std::max(high, given);
    }
    elements += static_cast<i64>(found.size());
  }
};

Shape without_ones(Shape shape) {
  std::erase(shape, 1);
  return shape;
}

// A value of the program, and the same value of the float graph.
struct Compared {
  LayerError layer;
  ValueId reference;
  const SlimmedValue* slimmed;  // null: the program has all channels
};

// Those of a value's elements that the program has.
std::vector<float> kept_of(std::span<const float> data, const SlimmedValue& slimmed) {
  std::vector<float> kept;
  for (size_t row = 0; row < data.size(); row += static_cast<size_t>(slimmed.channels))
    for (const i64 c : slimmed.kept) kept.push_back(data[row + static_cast<size_t>(c)]);
  return kept;
}

LayerError layer_of(std::string name, std::string op, const Type& type) {
  LayerError layer;
  layer.name = std::move(name), layer.op = std::move(op);
  if (type.quant.empty()) return layer;
  layer.low = static_cast<float>(type.quant.low - type.quant.zero_point[0]) * type.quant.scale[0];
  layer.high = static_cast<float>(type.quant.high - type.quant.zero_point[0]) * type.quant.scale[0];
  return layer;
}

void sum_up(std::span<const std::vector<Sums>> by_sample, size_t p, LayerError& layer) {
  Sums all;
  for (const std::vector<Sums>& one : by_sample) {
    all.signal += one[p].signal, all.noise += one[p].noise,
        all.max_abs = std::max(all.max_abs, one[p].max_abs);
    all.clipped += one[p].clipped, all.elements += one[p].elements;
    all.low = std::min(all.low, one[p].low), all.high = std::max(all.high, one[p].high);
  }
  layer.sqnr_db = all.noise == 0 ? std::numeric_limits<double>::infinity()
                                 : 10 * std::log10(all.signal / all.noise);
  layer.max_abs = all.max_abs;
  layer.clipped =
      all.elements ? static_cast<double>(all.clipped) / static_cast<double>(all.elements) : 0;
  layer.used = layer.high > layer.low ? static_cast<double>(all.high - all.low) /
                                            static_cast<double>(layer.high - layer.low)
                                      : 1;
}

// `found`: of a sample the values of all that is compared, in storage order.
std::vector<LayerError> errors_of(
    const Graph& reference, std::span<const Compared> compared, const Samples& samples, int threads,
    const std::function<std::vector<std::vector<float>>(size_t sample)>& found) {
  const FloatExecutor executor(reference);
  const RowsSharedOut shared(reference);
  std::multimap<ValueId, size_t> compared_with;  // by value of the reference
  for (size_t p = 0; p < compared.size(); ++p) compared_with.emplace(compared[p].reference, p);
  std::vector<std::vector<Sums>> by_sample(samples.size(), std::vector<Sums>(compared.size()));
  for_each_sample(samples.size(), threads, [&](size_t s, int) {
    std::vector<std::vector<float>> stored;
    for (size_t i = 0; i < reference.inputs.size(); ++i) {
      const Port& port = reference.inputs[i];
      stored.push_back(to_storage(port, reference.type(port.value).shape, samples[s][i]));
    }
    const std::vector<std::vector<float>> values = found(s);
    executor.run(stored, [&](ValueId v, std::span<const float> expected) {
      const auto [first, end] = compared_with.equal_range(v);
      const float lowest = first == end ? 0 : shared.lowest_seen(v, expected);
      for (auto at = first; at != end; ++at) {
        const LayerError& layer = compared[at->second].layer;
        const SlimmedValue* const slimmed = compared[at->second].slimmed;
        const std::vector<float> kept =
            slimmed ? kept_of(expected, *slimmed) : std::vector<float>();
        const bool is_float = layer.low == layer.high;
        const float infinity = std::numeric_limits<float>::infinity();
        by_sample[s][at->second].add(slimmed ? std::span<const float>(kept) : expected,
                                     values[at->second], is_float ? -infinity : layer.low,
                                     is_float ? infinity : layer.high,
                                     std::isfinite(lowest) ? lowest : -infinity);
      }
    });
  });
  std::vector<LayerError> layers;
  for (size_t p = 0; p < compared.size(); ++p) {
    layers.push_back(compared[p].layer);
    sum_up(by_sample, p, layers.back());
  }
  return layers;
}

}  // namespace

std::vector<LayerError> compare_layers(const Compilation& c, const Samples& given, int threads) {
  // every step begins with the float model's state
  const Samples samples = with_states(c.equalized, given);
  const std::vector<Pair> pairs = pairs_of(c);
  std::vector<Compared> compared;
  for (const Pair& pair : pairs) {
    const Node& call = c.graph.nodes[pair.call];
    compared.push_back({layer_of(user_names(c.graph, call.origin), call_of(call.op)->name,
                                 c.graph.type(pair.value)),
                        pair.reference, pair.slimmed});
    compared.back().layer.origin = call.origin;
  }
  return errors_of(c.equalized, compared, samples, threads, [&](size_t s) {
    Stepper program(c.graph);
    for (size_t i = 0; i < c.graph.inputs.size(); ++i)
      program.set_input(c.graph.inputs[i], samples[s][i]);
    program.run();
    std::vector<std::vector<float>> values;
    for (const Pair& pair : pairs) values.push_back(program.real(pair.value));
    return values;
  });
}

std::vector<LayerError> compare_taps(const Compilation& c, std::span<const Tap> taps,
                                     const Samples& given,
                                     std::span<const std::vector<std::vector<std::byte>>> found,
                                     int threads) {
  const Samples samples = with_states(c.equalized, given);
  std::vector<const Node*> references;
  for (const Tap& tap : taps) references.push_back(last_within(c.equalized, tap.origin, false));
  // Several that stand for one operator, or whose origins lie within a later one's, compute it
  // together: the last of them has the result.
  const auto is_on_the_way = [&](size_t t) {
    for (size_t later = t + 1; later < taps.size(); ++later)
      if (references[later] == references[t] ||
          std::ranges::includes(taps[later].origin, taps[t].origin))
        return true;
    return false;
  };
  std::vector<Compared> compared;
  std::vector<size_t> which;
  for (size_t t = 0; t < taps.size(); ++t) {
    const Node* reference = references[t];
    // Another shape is another value with that origin: one that a rewrite put in between. Of a
    // vector axes of extent 1 come and go.
    if (!reference || is_on_the_way(t)) continue;
    const Shape &expected = c.equalized.type(reference->outputs[0]).shape,
                &given = taps[t].type.shape;
    const bool same_vector =
        without_ones(given).size() <= 1 && without_ones(expected) == without_ones(given);
    const SlimmedValue* slimmed = slimmed_as(c, taps[t].origin, given, expected);
    if (expected != given && !same_vector && !slimmed) continue;
    compared.push_back({layer_of(user_names(c.equalized, taps[t].origin), taps[t].op, taps[t].type),
                        reference->outputs[0], slimmed});
    compared.back().layer.origin = taps[t].origin;
    which.push_back(t);
  }
  return errors_of(c.equalized, compared, samples, threads, [&](size_t s) {
    std::vector<std::vector<float>> values;
    for (const size_t t : which) values.push_back(numbers_of(found[s][t].data(), taps[t].type));
    return values;
  });
}

}  // namespace deuteron
