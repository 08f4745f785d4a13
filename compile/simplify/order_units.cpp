// SPDX-License-Identifier: Apache-2.0
// Between fully connected layers stand units whose order is nobody's business:
//
//   x -> linear, relu -> [a b c d] -> linear      becomes      x -> linear, relu -> [c a d b] ->
//   linear
//
// with the rows of the first weight and the columns of the second one likewise. A relu makes zeros,
// and what a kernel finds to be zero at the end of a row it leaves out, weights and all
// (kernels/linear/kernel.h). So units that are most often zero on the samples come last.
#include "compile/simplify/order_units.h"

#include <algorithm>
#include <mutex>
#include <numeric>
#include <optional>
#include <utility>

#include "compile/calibrate/each_sample.h"
#include "compile/calibrate/float_executor.h"
#include "compile/calibrate/samples.h"
#include "compile/compilation.h"
#include "compile/options.h"
#include "compile/pass.h"
#include "compile/simplify/picked_channels.h"
#include "ops/families.h"
#include "targets/target.h"

namespace deuteron {

namespace {

constexpr i64 kKernelStep = 8;       // elements of a row that a kernel leaves out together
constexpr size_t kMostSamples = 64;  // on which units are looked at
constexpr double kLeastShare = 0.03;

// A constant that one operator reads, where it stands among that one's operands: of the layer, or
// of a dequantize that the layer alone reads. Those of tied layers are left alone: they would be in
// the file twice.
struct Parameter {
  NodeId node;
  size_t operand;
};

// A value that a fully connected layer makes with zeros in it, and that others alone read.
struct Hidden {
  ValueId value;  // as they read it
  i64 units;
  std::vector<Parameter> rows = {}, columns = {};
  std::vector<NodeId> readers = {};
  ActiveUnits seen = {};
};

class HiddenValues {
 public:
  explicit HiddenValues(const Graph& g) : g_(g), uses_(g) {}

  std::vector<Hidden> find() const {
    std::vector<Hidden> found;
    for (size_t n = 0; n < g_.nodes.size(); ++n)
      if (std::optional<Hidden> hidden = behind(static_cast<NodeId>(n)))
        found.push_back(std::move(*hidden));
    return found;
  }

 private:
  // What the layer n makes, where it is such a value: as it is, or int8 between quantize and
  // dequantize.
  std::optional<Hidden> behind(NodeId n) const {
    if (!is_fully_connected(n)) return std::nullopt;
    const ValueId y = g_.nodes[n].outputs[0];
    const i64 units = g_.type(y).shape.back();
    Hidden hidden{y, units};
    for (size_t k = 1; k < g_.nodes[n].inputs.size(); ++k)
      if (!add(n, k, hidden.rows)) return std::nullopt;
    if (units < 2 * kKernelStep || uses_.output_uses[y] > 0 || uses_.readers[y].empty())
      return std::nullopt;
    const Node& reader = g_.nodes[uses_.readers[y][0]];
    const ValueId steps = is_quantize(reader.op) ? reader.outputs[0] : -1;
    const auto begins_at_zero = [](const Quant& q) { return q.zero_point[0] == q.low; };
    if (bounds_of(g_.nodes[n].op)->low != 0 && (steps < 0 || !begins_at_zero(g_.type(steps).quant)))
      return std::nullopt;
    if (steps < 0) return add_readers(y, hidden) ? std::optional(std::move(hidden)) : std::nullopt;
    if (!uses_.has_single_reader(y) || uses_.output_uses[steps] > 0 || uses_.readers[steps].empty())
      return std::nullopt;
    for (const NodeId d : uses_.readers[steps]) {
      hidden.value = g_.nodes[d].outputs[0];
      if (!is_dequantize(g_.nodes[d].op) || uses_.output_uses[hidden.value] > 0 ||
          !add_readers(hidden.value, hidden))
        return std::nullopt;
    }
    return hidden;
  }

  bool add_readers(ValueId v, Hidden& hidden) const {
    for (const NodeId r : uses_.readers[v]) {
      const Node& node = g_.nodes[r];
      if (!is_fully_connected(r) || node.inputs[0] != v || !add(r, 1, hidden.columns)) return false;
      hidden.readers.push_back(r);
    }
    return true;
  }

  bool is_fully_connected(NodeId n) const {
    return is_layer(g_.nodes[n].op) && g_.type(g_.nodes[n].inputs[1]).rank() == 2 &&
           bounds_of(g_.nodes[n].op);
  }
  bool is_own_constant(ValueId v) const { return g_.is_constant(v) && uses_.has_single_reader(v); }
  bool add(NodeId n, size_t operand, std::vector<Parameter>& parameters) const {
    const ValueId v = g_.nodes[n].inputs[operand];
    const NodeId maker = uses_.producer[v];
    if (is_own_constant(v)) parameters.push_back({n, operand});
    else if (maker >= 0 && is_dequantize(g_.nodes[maker].op) && uses_.has_single_reader(v) &&
             is_own_constant(g_.nodes[maker].inputs[0]))
      parameters.push_back({maker, 0});
    else return false;
    return true;
  }

  const Graph& g_;
  const Uses uses_;
};

// Where samples do not fit the inputs, quantization says so.
bool fit(const Graph& g, const Samples& samples) {
  return std::ranges::all_of(samples, [&](const auto& sample) {
    if (sample.size() != g.inputs.size()) return false;
    for (size_t i = 0; i < sample.size(); ++i)
      if (static_cast<i64>(sample[i].size()) != g.type(g.inputs[i].value).elements()) return false;
    return true;
  });
}

void look_at(const Graph& g, const Samples& samples, int threads, std::vector<Hidden>& hidden) {
  std::vector<Hidden*> by_value(g.values.size(), nullptr);
  for (Hidden& h : hidden) by_value[h.value] = &h;
  const size_t count = std::min(samples.size(), kMostSamples);
  for (Hidden& h : hidden) {
    h.seen.units = h.units;
    h.seen.rows.resize(count * static_cast<size_t>(g.type(h.value).elements()));
    h.seen.most.resize(static_cast<size_t>(h.seen.units));
  }
  const FloatExecutor executor(g);
  std::mutex mutex;
  for_each_sample(count, threads, [&](size_t s, int) {
    executor.run(stored_inputs(g, samples[s * samples.size() / count]),
                 [&](ValueId v, std::span<const float> data) {
                   if (!by_value[v]) return;
                   ActiveUnits& seen = by_value[v]->seen;
                   for (size_t i = 0; i < data.size(); ++i)
                     seen.rows[s * data.size() + i] = data[i] != 0;
                   const std::lock_guard lock(mutex);
                   for (size_t i = 0; i < data.size(); ++i)
                     seen.most[i % seen.most.size()] =
                         std::max(seen.most[i % seen.most.size()], data[i]);
                 });
  });
}

enum class Along { first, last };  // axis of a constant

void reorder(Graph& g, const Parameter& parameter, const std::vector<i64>& order, Along along) {
  ValueId& v = g.nodes[parameter.node].inputs[parameter.operand];
  auto [type, data] =
      picked_channels(g.values[v], along == Along::first ? 0 : g.type(v).rank() - 1, order);
  v = g.add_value(g.values[v].name, std::move(type), std::move(data));
}

void apply(Graph& g, const Hidden& h, const std::vector<i32>& units) {
  const std::vector<i64> order(units.begin(), units.end());
  for (const Parameter& p : h.rows) reorder(g, p, order, Along::first);
  for (const Parameter& p : h.columns) reorder(g, p, order, Along::last);
}

}  // namespace

std::vector<i32> by_activity(const ActiveUnits& seen, i64 first, i64 step) {
  std::vector<i64> active(static_cast<size_t>(seen.units));
  for (i64 row = first; row < seen.count(); row += step)
    for (i64 u = 0; u < seen.units; ++u) active[u] += seen.rows[row * seen.units + u];
  std::vector<i32> order(active.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](i32 a, i32 b) {
    return active[a] != active[b] ? active[a] > active[b] : seen.most[a] > seen.most[b];
  });
  return order;
}

double share_left_out(const ActiveUnits& seen, i64 kernel_step) {
  i64 left_out = 0;
  for (const i64 half : {0, 1}) {
    const std::vector<i32> order = by_activity(seen, half, 2);
    for (i64 row = 1 - half; row < seen.count(); row += 2) {
      i64 length = seen.units;
      while (length > 0 && seen.rows[row * seen.units + order[length - 1]] == 0) --length;
      left_out += seen.units -
                  std::min(seen.units, std::max<i64>((length + kernel_step - 1) / kernel_step, 1) *
                                           kernel_step);
    }
  }
  return seen.count() < 2
             ? 0
             : static_cast<double>(left_out) / static_cast<double>(seen.count() * seen.units);
}

void order_units(PassContext& pass) {
  Graph& g = pass.graph;
  const bool leaves_out = (pass.target.isa == Isa::dsp ||
                           (pass.target.isa == Isa::mve && pass.options.packed_weights)) &&
                          !pass.target.npu;
  if (!leaves_out || !g.states.empty() || pass.samples.size() < 2 || !fit(g, pass.samples)) return;
  std::vector<Hidden> hidden = HiddenValues(g).find();
  if (hidden.empty()) return;
  look_at(g, pass.samples, pass.options.threads, hidden);
  UnitOrder& decision = pass.result.unit_order;
  for (const Hidden& h : hidden) {
    const double share = share_left_out(h.seen, kKernelStep);
    if (share < kLeastShare) continue;
    apply(g, h, by_activity(h.seen));
    ++decision.values;
    for (const NodeId r : h.readers) {
      decision.readers = merge(decision.readers, g.nodes[r].origin);
      decision.macs += macs_of(g, g.nodes[r]);
      decision.macs_left_out +=
          static_cast<i64>(share * static_cast<double>(macs_of(g, g.nodes[r])));
    }
  }
  drop_unreferenced_values(g);
}

}  // namespace deuteron
