// What the NPU takes becomes delegates: as few and as large parts as there can be without a cycle.
//
// Every path through the graph is a row of stretches on the NPU and on the CPU in turn. The level of a node is the number of changes from
// the CPU to the NPU up to it, on the path that has most. All nodes of the NPU on one level form one partition: a path that leaves it comes
// back on a higher level, so there is no cycle; and a path with n changes needs n partitions, so fewer there cannot be.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "passes/npu_support.h"
#include "passes/pass.h"

namespace deuteron {
namespace {

class Partitioner {
 public:
  explicit Partitioner(PassContext& pass) : pass_(pass), g_(pass.graph), uses_(g_) {}

  void run() {
    find_supported();
    do { find_levels(); } while (undo_what_does_not_pay());
    outline();
  }

 private:
  bool is_int8(ValueId v) const { return g_.type(v).dtype == DType::s8 && !g_.type(v).quant.empty(); }

  // And tells what was left to the CPU, with its reason: later passes rewrite these nodes.
  void find_supported() {
    on_npu_.assign(g_.nodes.size(), false);
    for (size_t n = 0; n < g_.nodes.size(); ++n) {
      const Node& node = g_.nodes[n];
      // The edges are the CPU's in any case: they are no reason.
      if (std::holds_alternative<Quantize>(node.op) || std::holds_alternative<Dequantize>(node.op)) continue;
      std::vector<NpuCheck> checks = npu_checks(g_, node, pass_.target, pass_.options.npu);
      if (passed(checks)) on_npu_[n] = std::all_of(node.outputs.begin(), node.outputs.end(), [&](ValueId v) { return is_int8(v); });
      else keep_on_cpu(static_cast<NodeId>(n), std::move(checks.back()));
    }
  }

  void find_levels() {
    level_.assign(g_.nodes.size(), 0);
    for (size_t n = 0; n < g_.nodes.size(); ++n) {
      for (const ValueId v : g_.nodes[n].inputs) {
        const NodeId above = uses_.producer[v];
        if (above >= 0) level_[n] = std::max(level_[n], level_[above] + (on_npu_[n] && !on_npu_[above] ? 1 : 0));
      }
      if (on_npu_[n]) level_[n] = std::max(level_[n], 1);
    }
  }

  // Takes no time on the CPU either.
  static bool computes_nothing(const Op& op) { return std::holds_alternative<Reshape>(op); }

  // Connected parts of each partition, by a node of theirs.
  std::vector<NodeId> find_parts() {
    std::vector<NodeId> part(g_.nodes.size());
    std::iota(part.begin(), part.end(), 0);
    const auto root = [&](NodeId n) {
      while (part[n] != n) n = part[n] = part[part[n]];
      return n;
    };
    for (size_t n = 0; n < g_.nodes.size(); ++n)
      for (const ValueId v : g_.nodes[n].inputs)
        if (const NodeId above = uses_.producer[v]; above >= 0 && on_npu_[n] && on_npu_[above] && level_[above] == level_[n])
          part[root(static_cast<NodeId>(n))] = root(above);
    for (size_t n = 0; n < g_.nodes.size(); ++n) part[n] = root(static_cast<NodeId>(n));
    return part;
  }

  void keep_on_cpu(NodeId n, NpuCheck why) {
    on_npu_[n] = false;
    pass_.result.kept_on_cpu.push_back({g_.nodes[n].origin, std::move(why)});
  }

  bool undo_what_does_not_pay() {
    const std::vector<NodeId> part = find_parts();
    std::map<NodeId, i64> macs;
    std::map<NodeId, bool> computes;
    for (size_t n = 0; n < g_.nodes.size(); ++n) {
      if (!on_npu_[n]) continue;
      macs[part[n]] += macs_of(g_, g_.nodes[n]);
      computes[part[n]] = computes[part[n]] || !computes_nothing(g_.nodes[n].op);
    }
    bool undone = false;
    const i64 least = pass_.options.npu.min_macs;
    for (size_t n = 0; n < g_.nodes.size(); ++n) {
      if (!on_npu_[n] || (computes[part[n]] && macs[part[n]] >= least)) continue;
      undone = true;
      if (!computes[part[n]]) keep_on_cpu(static_cast<NodeId>(n), {"neutron.partition.empty", "its part computes nothing", "", "", false});
      else
        keep_on_cpu(static_cast<NodeId>(n), {"neutron.partition.macs", "multiply-adds of its part (--delegate-min-macs)",
                                             std::to_string(macs[part[n]]), fmt::format("at least {}", least), false});
    }
    return undone || undo_excess_ports();
  }

  struct Ports {
    std::vector<ValueId> in, out;
  };
  // What a partition reads and makes, in order of first use.
  Ports ports_of(i32 level) const {
    Ports ports;
    const auto note = [](std::vector<ValueId>& list, ValueId v) {
      if (std::find(list.begin(), list.end(), v) == list.end()) list.push_back(v);
    };
    const auto inside = [&](NodeId n) { return n >= 0 && on_npu_[n] && level_[n] == level; };
    for (size_t n = 0; n < g_.nodes.size(); ++n) {
      if (!inside(static_cast<NodeId>(n))) continue;
      for (const ValueId v : g_.nodes[n].inputs)
        if (!g_.is_constant(v) && !inside(uses_.producer[v])) note(ports.in, v);
      for (const ValueId v : g_.nodes[n].outputs) {
        const auto& readers = uses_.readers[v];
        if (uses_.output_uses[v] > 0 || std::any_of(readers.begin(), readers.end(), [&](NodeId r) { return !inside(r); }))
          note(ports.out, v);
      }
    }
    return ports;
  }

  // A partition with more ports than the payload can count loses its last node until it fits.
  bool undo_excess_ports() {
    const i64 limit = pass_.target.npu->limits.ports;
    for (i32 level = 1; level <= levels(); ++level) {
      const Ports ports = ports_of(level);
      const auto most = static_cast<i64>(std::max(ports.in.size(), ports.out.size()));
      if (most <= limit) continue;
      for (size_t n = g_.nodes.size(); n-- > 0;)
        if (on_npu_[n] && level_[n] == level) {
          keep_on_cpu(static_cast<NodeId>(n), {"neutron.partition.ports", "inputs or outputs of its partition", std::to_string(most),
                                               std::to_string(limit), false});
          return true;
        }
    }
    return false;
  }

  i32 levels() const {
    i32 most = 0;
    for (size_t n = 0; n < g_.nodes.size(); ++n)
      if (on_npu_[n]) most = std::max(most, level_[n]);
    return most;
  }

  // A partition as a graph of its own.
  Graph body_of(i32 level, const Ports& ports) const {
    Graph body;
    body.name = fmt::format("{}.neutron{}", g_.name, level);
    body.sources = g_.sources;
    std::map<ValueId, ValueId> inner;
    const auto copy = [&](ValueId v) {
      const auto [at, added] = inner.emplace(v, static_cast<ValueId>(body.values.size()));
      if (added) body.values.push_back(g_.values[v]);
      return at->second;
    };
    const auto port = [&](ValueId v) {
      Axes order(g_.type(v).shape.size());
      std::iota(order.begin(), order.end(), 0);
      return Port{copy(v), g_.values[v].name, std::move(order)};
    };
    for (const ValueId v : ports.in) body.inputs.push_back(port(v));
    for (size_t n = 0; n < g_.nodes.size(); ++n) {
      if (!on_npu_[n] || level_[n] != level) continue;
      Node node = g_.nodes[n];
      for (ValueId& v : node.inputs) v = copy(v);
      for (ValueId& v : node.outputs) v = copy(v);
      body.nodes.push_back(std::move(node));
    }
    for (const ValueId v : ports.out) body.outputs.push_back(port(v));
    return body;
  }

  // The delegate of a level runs when the CPU has done all of the levels below; before that the CPU does what it can.
  void outline() {
    std::vector<Node> schedule;
    const i32 most = levels();
    for (i32 level = 0; level <= most; ++level) {
      if (level > 0) {
        const Ports ports = ports_of(level);
        if (ports.out.empty()) continue;
        Graph body = body_of(level, ports);
        Node node{Delegate{"neutron", nullptr}, ports.in, ports.out, {}};
        for (const Node& inner : body.nodes) node.origin = merge(node.origin, inner.origin);
        std::get<Delegate>(node.op).body = std::make_shared<const Graph>(std::move(body));
        schedule.push_back(std::move(node));
      }
      for (size_t n = 0; n < g_.nodes.size(); ++n)
        if (!on_npu_[n] && level_[n] == level) schedule.push_back(g_.nodes[n]);
    }
    g_.nodes = std::move(schedule);
    drop_unreferenced_values(g_);
  }

  PassContext& pass_;
  Graph& g_;
  const Uses uses_;
  std::vector<bool> on_npu_;  // by node
  std::vector<i32> level_;    // by node
};

}  // namespace

void partition(PassContext& pass) {
  if (!pass.target.npu) return;
  check_exclusions(pass.graph, pass.options.npu, pass.diagnostics);
  if (pass.diagnostics.has_errors()) return;
  Partitioner(pass).run();
}

}  // namespace deuteron
