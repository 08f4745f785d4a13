// SPDX-License-Identifier: Apache-2.0
// What the NPU takes becomes delegates: as few and as large parts as there can be without a cycle.
//
// Every path through the graph is a row of stretches on the NPU and on the CPU in turn. The level
// of a node is the number of changes from the CPU to the NPU up to it, on the path that has most.
// All nodes of the NPU on one level form one partition: a path that leaves it comes back on a
// higher level, so there is no cycle; and a path with n changes needs n partitions, so fewer there
// cannot be.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "compile/compilation.h"
#include "compile/cost/worth.h"
#include "compile/options.h"
#include "compile/pass.h"
#include "compile/place/choose_forms.h"
#include "compile/place/choose_sides.h"
#include "compile/place/mean_bias.h"
#include "compile/place/npu_support.h"
#include "compile/place/side_costs.h"
#include "compile/place/subgraph.h"
#include "compile/trial.h"
#include "ir/rewrite/view_rules.h"
#include "ops/families.h"
#include "ops/int16.h"
#include "ops/reduce/rounding.h"
#include "targets/target.h"

namespace deuteron {
namespace {

// A part that takes the CPU as long as so many calls of the NPU cost is a small one.
constexpr i64 kCallsOfSmallPart = 8;

class Partitioner {
 public:
  explicit Partitioner(PassContext& pass)
      : pass_(pass), decided_(pass.result.partition), g_(pass.graph), uses_(g_) {}

  void run() {
    decided_.graph = g_;
    decided_.nodes.resize(g_.nodes.size());
    find_supported();
    weigh();
    if (pass_.options.npu.prefer == "fastest") choose();
    settle();
    for (size_t n = 0; n < g_.nodes.size(); ++n) decided_.nodes[n].on_npu = on_npu_[n];
    outline();
  }

  // With these nodes on the NPU, without asking anybody.
  void run(const std::vector<bool>& on_npu) {
    decided_.nodes.resize(g_.nodes.size());
    on_npu_ = on_npu;
    settle();
    outline();
  }

 private:
  void settle() {
    do { find_levels(); } while (undo_what_does_not_pay());
  }

  bool makes_int8(const Node& node) const {
    const auto is_int8 = [&](ValueId v) {
      return g_.type(v).dtype == DType::s8 && !g_.type(v).quant.empty();
    };
    return std::all_of(node.outputs.begin(), node.outputs.end(), is_int8);
  }

  // And tells what was left to the CPU, with its reason: later passes rewrite these nodes.
  void find_supported() {
    on_npu_.assign(g_.nodes.size(), false);
    for (size_t n = 0; n < g_.nodes.size(); ++n) {
      const Node& node = g_.nodes[n];
      // The edges are the CPU's in any case: they are no reason.
      if (is_quantize_or_dequantize(node.op)) continue;
      std::vector<NpuCheck>& checks = decided_.nodes[n].checks;
      checks = npu_checks(g_, node, pass_.target, pass_.options.npu);
      if (is_table(pass_.result.forms, node)) keep_on_cpu(static_cast<NodeId>(n), exact_form());
      else if (passed(checks) && has_coarse_sums(node))
        keep_on_cpu(static_cast<NodeId>(n), coarse_sums(node));
      else if (passed(checks)) on_npu_[n] = makes_int8(node);
      else if (keeps_exact_form(pass_.rules(), node))
        keep_on_cpu(static_cast<NodeId>(n), exact_form());
      else keep_on_cpu(static_cast<NodeId>(n), checks.back());
    }
  }

  // What the NPU's rounding may add to the noise of a sum, in dB: 1 dB at the outputs if three
  // quarters of their noise are the sum's. The CPU rounds once.
  static constexpr double kMostNoiseOfSums = 1.25;
  bool has_coarse_sums(const Node& node) const {
    const bool has_choice =
        pass_.target.has_backend("cortex_m") && pass_.options.npu.prefer == "auto";
    return has_choice && !pass_.result.quantization.model_was_quantized &&
           noise_of_sums(node) > kMostNoiseOfSums;
  }
  double noise_of_sums(const Node& node) const {
    const bool has_both = node.inputs.size() == 1 && node.outputs.size() == 1;
    return has_both ? noise_of_excess_db(node.op, g_.type(node.inputs[0]), g_.type(node.outputs[0]))
                    : 0;
  }
  NpuCheck coarse_sums(const Node& node) const {
    return {"neutron.partition.sums",
            "dB that the NPU's rounding adds to the noise of its sums (--prefer npu takes it)",
            fmt::format("{:.2f}", noise_of_sums(node)), fmt::format("{}", kMostNoiseOfSums), false};
  }

  // Why an operator is whole that the NPU could compute in parts.
  NpuCheck exact_form() const {
    const FormDecision& forms = pass_.result.forms;
    return {"neutron.partition.accuracy",
            "signal to noise with its form on the NPU (dB; --prefer npu takes it)",
            fmt::format("{:.1f}", *forms.npu_db),
            fmt::format("{:.1f} with the CPU's", *forms.exact_db), false};
  }

  // Both sides' cycles of each node alone, of those too that the user keeps off the NPU.
  void weigh() {
    costs_.assign(g_.nodes.size(), {});
    const bool has_choice = pass_.target.has_backend("cortex_m");
    for (size_t n = 0; n < g_.nodes.size(); ++n) {
      if (is_quantize_or_dequantize(g_.nodes[n].op)) continue;
      if (has_choice)
        costs_[n] = side_costs(pass_, g_.nodes[n],
                               on_npu_[n] || (makes_int8(g_.nodes[n]) &&
                                              npu_takes(g_, g_.nodes[n], pass_.target, {})));
      decided_.nodes[n].npu_cycles = costs_[n].npu;
      decided_.nodes[n].cpu_cycles = costs_[n].cpu;
    }
  }

  void choose() {
    const std::vector<bool> supported = on_npu_;
    const std::optional<SideChoice> choice =
        choose_sides(g_, supported, costs_, pass_.target.npu->crossing,
                     [&](const std::vector<bool>& on_npu) { return whole_cost(on_npu); });
    if (!choice) return;
    Preference& report = decided_.preference;
    report.evaluated = choice->evaluated;
    report.chosen = choice->chosen.total();
    if (choice->all_npu) report.all_npu = choice->all_npu->total();
    report.all_cpu = choice->all_cpu ? choice->all_cpu->total()
                                     : report.all_npu;  // nothing for the NPU: they are one
    for (size_t n = 0; n < g_.nodes.size(); ++n)
      if (supported[n] && !choice->on_npu[n])
        keep_on_cpu(
            static_cast<NodeId>(n),
            {"neutron.partition.cost",
             "cycles on the NPU, without its share of crossings (--prefer fastest)",
             std::to_string(costs_[n].npu), fmt::format("{} on the CPU", costs_[n].cpu), false});
  }

  // The rest of the compiler on a copy.
  std::optional<ProgramCost> whole_cost(const std::vector<bool>& on_npu) {
    Trial trial(pass_, g_);
    trial.result.quantization.model_was_quantized = pass_.result.quantization.model_was_quantized;
    trial.options.npu.converter.path.clear();  // the vendor's says nothing of cycles
    PassContext context = trial.context();
    Partitioner(context).run(on_npu);
    if (!trial.run("choose-kernels", "fit-scratch")) return std::nullopt;
    return program_cost(trial.graph, trial.result.npu.cycles(), pass_.target);
  }

  void find_levels() {
    level_.assign(g_.nodes.size(), 0);
    for (size_t n = 0; n < g_.nodes.size(); ++n) {
      for (const ValueId v : g_.nodes[n].inputs) {
        const NodeId above = uses_.producer[v];
        if (above >= 0)
          level_[n] = std::max(level_[n], level_[above] + (on_npu_[n] && !on_npu_[above] ? 1 : 0));
      }
      if (on_npu_[n]) level_[n] = std::max(level_[n], 1);
    }
  }

  // Takes no time on the CPU either, or less than crossing to the NPU and back: a transpose alone.
  bool computes_nothing(const Op& op) const {
    return is_same_storage(op) || (is_view(op) && pass_.target.has_backend("cortex_m"));
  }

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
        if (const NodeId above = uses_.producer[v];
            above >= 0 && on_npu_[n] && on_npu_[above] && level_[above] == level_[n])
          part[root(static_cast<NodeId>(n))] = root(above);
    for (size_t n = 0; n < g_.nodes.size(); ++n) part[n] = root(static_cast<NodeId>(n));
    return part;
  }

  void keep_on_cpu(NodeId n, NpuCheck why) {
    on_npu_[n] = false;
    decided_.kept_on_cpu.push_back({g_.nodes[n].origin, std::move(why)});
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
      if (!computes[part[n]])
        keep_on_cpu(static_cast<NodeId>(n),
                    {"neutron.partition.empty", "its part computes nothing", "", "", false});
      else
        keep_on_cpu(static_cast<NodeId>(n),
                    {"neutron.partition.macs",
                     "multiply-adds of its part (delegate_min_macs of the target)",
                     std::to_string(macs[part[n]]), fmt::format("at least {}", least), false});
    }
    return undone || undo_small_parts(part) || undo_excess_ports();
  }

  // Neither an edge nor on the NPU: something that the CPU must compute.
  bool is_work_of_cpu(NodeId n) const {
    if (n < 0 || on_npu_[n]) return false;
    const Node& node = g_.nodes[n];
    if (is_quantize(node.op)) return uses_.producer[node.inputs[0]] >= 0;
    return !is_dequantize(node.op) || !uses_.readers[node.outputs[0]].empty();
  }
  bool is_beside_cpu(NodeId n) const {
    const auto is_work = [&](NodeId k) { return is_work_of_cpu(k); };
    return std::ranges::any_of(g_.nodes[n].inputs, is_work,
                               [&](ValueId v) { return uses_.producer[v]; }) ||
           std::ranges::any_of(g_.nodes[n].outputs, [&](ValueId v) {
             return std::ranges::any_of(uses_.readers[v], is_work);
           });
  }

  // --prefer auto: a small part beside what the CPU computes stays there, too, where its call costs
  // more than it saves, or less of the time than the machine's tiles add to the constants. A large
  // part is not asked: there an estimate that is a little off would cost more than it could gain.
  bool undo_small_parts(const std::vector<NodeId>& part) {
    if (pass_.options.npu.prefer != "auto" || pass_.target.cpu_cost.empty() ||
        !pass_.target.has_backend("cortex_m"))
      return false;
    const i64 call = pass_.target.npu->crossing.call_cycles, most = kCallsOfSmallPart * call;
    std::map<NodeId, std::vector<NodeId>> parts;
    std::map<i32, i64> on_level;  // parts, which share a call
    for (size_t n = 0; n < g_.nodes.size(); ++n)
      if (on_npu_[n]) parts[part[n]].push_back(static_cast<NodeId>(n));
    for (const auto& [root, nodes] : parts) ++on_level[level_[root]];
    const Whole all = whole();
    bool undone = false;
    for (const auto& [root, nodes] : parts) {
      i64 alone = 0;
      for (const NodeId n : nodes) alone += std::max<i64>(costs_[n].cpu, 0);
      if (alone > most || std::ranges::none_of(nodes, [&](NodeId n) { return is_beside_cpu(n); }))
        continue;
      const PartCosts cost = part_costs(pass_, uses_, nodes);
      const i64 cpu = cost.sides.cpu;
      const i64 npu = cost.sides.npu + cost.crossing + call / on_level[level_[root]];
      if (cost.sides.npu < 0 || cpu < 0 || cpu > most) continue;
      const i64 growth = cost.npu_bytes - cost.cpu_bytes;
      if (cpu > npu && is_worth(growth, cpu - npu, all)) continue;
      undone = true;
      const NpuCheck slow{
          "neutron.partition.small",
          "cycles of its part on the NPU, call included (--prefer npu moves it anyway)",
          std::to_string(npu), fmt::format("{} on the CPU", cpu), false};
      const NpuCheck large{"neutron.partition.bytes",
                           "bytes that its part takes on the NPU, for too little time saved "
                           "(--prefer npu moves it anyway)",
                           std::to_string(cost.npu_bytes),
                           fmt::format("{} on the CPU", cost.cpu_bytes), false};
      for (const NodeId n : nodes) keep_on_cpu(n, cpu > npu ? large : slow);
    }
    return undone;
  }

  // Whether a part may take so many bytes more than its constants do on the CPU, where calls and
  // kernels take bytes too: as packed weights may (lower/pack_weights.cpp).
  static bool is_worth(i64 growth, i64 cycles_saved, const Whole& all) {
    constexpr i64 kCallsAndKernels = 2048;
    return growth <= kCallsAndKernels || saves_its_share(growth, cycles_saved, all);
  }

  Whole whole() const {
    Whole all{bytes_of_constants(g_), 0};
    for (size_t n = 0; n < g_.nodes.size(); ++n)
      all.cycles += std::max<i64>(on_npu_[n] ? costs_[n].npu : costs_[n].cpu, 0);
    return all;
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
        if (uses_.output_uses[v] > 0 ||
            std::any_of(readers.begin(), readers.end(), [&](NodeId r) { return !inside(r); }))
          note(ports.out, v);
      }
    }
    return ports;
  }

  // A partition with more ports than the payload can count loses its last node until it fits. One
  // place among the inputs is its scratch's.
  bool undo_excess_ports() {
    const i64 limit = pass_.target.npu->limits.ports;
    for (i32 level = 1; level <= levels(); ++level) {
      const Ports ports = ports_of(level);
      const auto in = static_cast<i64>(ports.in.size()) + 1,
                 out = static_cast<i64>(ports.out.size());
      if (std::max(in, out) <= limit) continue;
      const char* what =
          in > limit ? "inputs of its partition, and its scratch" : "outputs of its partition";
      for (size_t n = g_.nodes.size(); n-- > 0;)
        if (on_npu_[n] && level_[n] == level) {
          keep_on_cpu(static_cast<NodeId>(n),
                      {"neutron.partition.ports", what, std::to_string(in > limit ? in : out),
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
    Subgraph body(g_, fmt::format("{}.neutron{}", g_.name, level));
    for (const ValueId v : ports.in) body.add_input(v);
    for (size_t n = 0; n < g_.nodes.size(); ++n)
      if (on_npu_[n] && level_[n] == level) body.add(g_.nodes[n]);
    for (const ValueId v : ports.out) body.add_output(v);
    return body.take();
  }

  // The delegate of a level runs when the CPU has done all of the levels below; before that the CPU
  // does what it can.
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
  PartitionDecisions& decided_;
  Graph& g_;
  const Uses uses_;
  std::vector<bool> on_npu_;      // by node
  std::vector<i32> level_;        // by node
  std::vector<SideCosts> costs_;  // by node
};

}  // namespace

// Without an NPU there is nothing to choose, only to remember.
static void note_nodes(PassContext& pass) {
  PartitionDecisions& decided = pass.result.partition;
  decided.graph = pass.graph;
  decided.nodes.resize(pass.graph.nodes.size());
  for (size_t n = 0; n < pass.graph.nodes.size(); ++n)
    if (!is_quantize_or_dequantize(pass.graph.nodes[n].op))
      decided.nodes[n].cpu_cycles = side_costs(pass, pass.graph.nodes[n], false).cpu;
}

void partition(PassContext& pass) {
  if (!pass.target.npu) return note_nodes(pass);
  const bool has_choice = pass.target.has_backend("cortex_m");
  if (pass.options.npu.prefer == "fastest" && !(has_choice && !pass.target.cpu_cost.empty())) {
    pass.diagnostics.error(
        pass.graph.name,
        has_choice ? fmt::format("--prefer fastest needs the costs of the CPU, and {} has none",
                                 pass.target.name)
                   : fmt::format("--prefer fastest needs two sides, and {} has the NPU alone",
                                 pass.target.name),
        "target.cost",
        has_choice ? "add a table [cpu.cost], or extend a base that has one"
                   : "compile for imxrt700cm");
    return;
  }
  if (has_choice) pass.result.partition.preference.prefer = pass.options.npu.prefer;
  check_exclusions(pass.graph, pass.options.npu, pass.diagnostics);
  if (pass.diagnostics.has_errors()) return;
  Partitioner(pass).run();
  if (pass.result.quantization.model_was_quantized) return;  // it keeps its numbers
  for (Node& node : pass.graph.nodes)
    if (const Delegate* delegate = delegate_of(node.op)) {
      Graph body = *delegate->body;
      if (correct_biases_behind_means(body) == 0) continue;
      Delegate corrected = *delegate;
      corrected.body = std::make_shared<const Graph>(std::move(body));
      node.op = std::move(corrected);
    }
}

}  // namespace deuteron
