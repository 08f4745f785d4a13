// SPDX-License-Identifier: Apache-2.0
#include "explain/inspect/tap_values.h"

#include <algorithm>
#include <limits>
#include <memory>

#include "compile/compilation.h"
#include "compile/pipeline.h"
#include "compile/plan/homes.h"
#include "compile/plan/plan_memory.h"
#include "ops/families.h"
#include "targets/target.h"
#include "write/pte/pte.h"

namespace deuteron {
namespace {

// Only what computes numbers of its own can lose any.
bool computes(const Graph& g, const Node& node) {
  const OpFacts facts = facts_of(node.op);
  return facts.family != Family::border && facts.family != Family::lowered &&
         (facts.values == Values::computed || facts.values == Values::interpolated) &&
         g.type(node.outputs[0]).dtype == DType::s8;
}

Port plain_port(const Graph& g, ValueId v) {
  Axes order(static_cast<size_t>(g.type(v).rank()));
  for (size_t k = 0; k < order.size(); ++k) order[k] = static_cast<i64>(k);
  return {v, g.values[v].name, order};
}

bool is_new_state(const Graph& g, ValueId v) {
  return std::ranges::any_of(g.outputs.end() - static_cast<std::ptrdiff_t>(g.states.size()),
                             g.outputs.end(), [&](const Port& port) { return port.value == v; });
}

// What makes floats of its steps is no dequantize, but has a factor for each channel: they mean
// nothing alone.
bool is_scaled_behind(const Graph& g, ValueId v) {
  return std::ranges::any_of(g.nodes, [&](const Node& node) {
    if (node.inputs.empty() || node.outputs.empty() || node.inputs[0] != v) return false;
    if (takes_no_time(node.op)) return is_scaled_behind(g, node.outputs[0]);
    return g.type(node.outputs[0]).dtype == DType::f32 && !is_quantize_or_dequantize(node.op);
  });
}

class Tapper {
 public:
  Tapper(Graph& graph, size_t first, size_t most) : g_(graph), first_(first), most_(most) {}

  std::vector<Tap> tap() {
    for (size_t n = 0; n < g_.nodes.size(); ++n) {
      if (delegate_of(g_.nodes[n].op)) tap_inside(g_.nodes[n]);
      else if (computes(g_, g_.nodes[n]) && is_wanted()) add(g_.nodes[n], g_.nodes[n].outputs[0]);
    }
    return std::move(taps_);
  }

 private:
  bool is_wanted() {
    const size_t number = seen_++;
    return number >= first_ && number - first_ < most_;
  }

  void add(const Node& node, ValueId outer) {
    if (is_new_state(g_, outer) || is_scaled_behind(g_, outer)) return;
    g_.outputs.insert(g_.outputs.end() - static_cast<std::ptrdiff_t>(g_.states.size()),
                      plain_port(g_, outer));  // states come last
    taps_.push_back({node.origin, std::string(name_of(node.op)), g_.type(outer)});
  }

  // A value inside becomes an output of the part.
  void tap_inside(Node& part) {
    auto& delegate = std::get<Delegate>(part.op);
    const auto body = std::make_shared<Graph>(*delegate.body);
    for (const Node& node : body->nodes) {
      if (!computes(*body, node) || !is_wanted()) continue;
      const ValueId inner = node.outputs[0];
      const auto port =
          std::ranges::find_if(body->outputs, [&](const Port& p) { return p.value == inner; });
      const auto index = static_cast<size_t>(port - body->outputs.begin());
      if (port == body->outputs.end()) {
        body->outputs.push_back(plain_port(*body, inner));
        part.outputs.push_back(g_.add_value(body->values[inner].name + ".tap", body->type(inner)));
      }
      add(node, part.outputs[index]);
    }
    delegate.body = body;
  }

  Graph& g_;
  const size_t first_, most_;
  size_t seen_ = 0;
  std::vector<Tap> taps_;
};

}  // namespace

std::optional<TappedProgram> tap_values(const Compilation& before, const Target& target,
                                        const CompileOptions& given, size_t first, size_t most,
                                        Diagnostics& diagnostics) {
  TappedProgram program;
  Graph graph = before.graph;
  program.taps = Tapper(graph, first, most).tap();
  if (program.taps.empty()) return program;
  Compilation c;
  c.graph = std::move(graph);
  c.partition = before.partition,
  c.quantization = before.quantization;  // how sums are rounded depends on them
  CompileOptions options = given;
  options.stop_after.clear();
  options.intermediates.clear();
  options.skip_passes.push_back("split-rows");  // this program is for no board
  options.npu.converter.path.clear();           // but runs here
  const Samples none;
  i64 rewrites = std::numeric_limits<i64>::max();
  PassContext context{c.graph, target, none, options, c, diagnostics, &rewrites};
  if (!run_passes(context, "lower-delegates")) return std::nullopt;
  c.plan = plan_memory(c.graph);
  program.pte = write_pte(c.graph, c.plan, target.isa, &c.parts);
  return program;
}

}  // namespace deuteron
