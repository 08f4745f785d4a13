// SPDX-License-Identifier: Apache-2.0
// Walks the nodes of the model in their order and asks the import table for each. What a refused
// node makes is broken: nothing more is said of what reads it.
#include "frontends/onnx/import.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <numeric>

#include "base/files/mapped_file.h"
#include "frontends/onnx/call/fold.h"
#include "frontends/onnx/cut.h"
#include "frontends/onnx/file/open.h"
#include "frontends/onnx/inputs.h"
#include "frontends/onnx/operators/import_table.h"
#include "frontends/onnx/operators/steps.h"
#include "frontends/onnx/scope.h"
#include "ir/minus_infinity.h"
#include "ir/unusable_scales.h"

namespace deuteron {
namespace onnx {
namespace {

constexpr size_t kNamedUses = 4;  // of an operator that is not known; the rest are counted
constexpr int kDeepestCall = 16;  // of functions in functions
constexpr const char* kNoProduct =
    "reads steps or a scale of DynamicQuantizeLinear, which has a meaning in products of integers "
    "only";
// operators whose weights ONNX Runtime has reordered
constexpr std::string_view kBlocked = "com.microsoft.nchwc.";
constexpr i64 kMostNodes = 20'000;  // after functions are written out, with their calls; in 0.2 s

constexpr i64 kMostSteps = 4096;             // of one loop, which are written out
constexpr std::ptrdiff_t kLoopOperands = 2;  // in front of what it carries: most steps, condition

Attribute integer_attribute(std::string name, i64 value) {
  Attribute a;
  a.name = std::move(name), a.kind = Attribute::Kind::integer, a.integer = value;
  return a;
}

// Operators that have graphs in them.
struct Control {
  const ModelNode& node;
  const Scope& outer;
  i32 source;
  int depth;
};
bool is_control(const ModelNode& node) {
  return node.domain.empty() && (node.op == "If" || node.op == "Loop" || node.op == "Scan");
}

class Walk {
 public:
  Walk(const Model& model, const InputShapes& shapes, deuteron::Graph& graph,
       Diagnostics& diagnostics)
      : model_(model), state_(model, graph, diagnostics), shapes_(shapes) {}

  bool run() {
    Scope scope;
    for (const ModelTensor& t : model_.graph.initializers) add_constant(t, t.name);
    declare_inputs(state_, model_.graph, shapes_);
    visit_all(model_.graph.nodes, scope, 0);
    report_unknown();
    if (errors()) return false;
    add_outputs();
    return !errors();
  }

 private:
  deuteron::Graph& graph() { return state_.graph; }
  bool errors() const { return state_.diagnostics.has_errors(); }
  void error(std::string what, const char* rule, std::string fix = {}) {
    state_.diagnostics.error(graph().name, std::move(what), rule, std::move(fix));
  }

  // A tensor that the file holds. What is wrong with it is said where it is read.
  void add_constant(const ModelTensor& t, const std::string& name) {
    if (name.empty()) return;
    if (state_.knows(name))
      return error(fmt::format("tensor `{}` is there twice", name), "onnx.graph.duplicate");
    Refusal why;
    state_.note_width(name, t.type);
    if (auto elements = elements_of(t, why))
      state_.define(
          name, state_.torch.add_value(name, std::move(elements->type), std::move(elements->data)));
    else state_.unavailable[name] = std::move(why);
  }

  void visit_all(const std::vector<ModelNode>& nodes, Scope& scope, int depth) {
    for (const ModelNode& node : nodes) {
      if (stopped_) return;
      if (static_cast<i64>(graph().sources.size()) + calls_ >= kMostNodes) return stop();
      visit(scope.renamed(node), scope, depth);
    }
  }

  void stop() {
    if (!stopped_)
      state_.diagnostics.add({Severity::error,
                              graph().name,
                              "has too many nodes after its functions and loops are written out",
                              "more",
                              std::to_string(kMostNodes),
                              "onnx.graph.nodes",
                              {}});
    stopped_ = true;
  }

  void visit(const ModelNode& node, Scope& scope, int depth) {
    if (const Function* f = function_of(node)) return write_out(*f, node, depth);
    const i32 source = static_cast<i32>(graph().sources.size());
    graph().sources.push_back(
        {name_of(node), node.domain.empty() ? node.op : node.domain + "." + node.op, "", ""});
    const ImportRow* row = find_import(node.op, node.domain);
    if (is_broken(node) && (row || is_control(node))) return break_results(node);
    if (is_control(node)) return write_out_control(node, scope, source, depth);
    if (!row) {
      unknown_[graph().sources[source].target].push_back(source);
      return break_results(node);
    }
    import(*row, node, source);
  }

  void import(const ImportRow& row, const ModelNode& node, i32 source) {
    Call call(state_, node, source, row.moves_elements);
    for (const std::string& name : node.outputs)
      if (!name.empty() && state_.knows(name))
        call.refuse({fmt::format("makes `{}`, which is there already", name), "", "",
                     "onnx.graph.duplicate"});
    for (const std::string& name : node.inputs)
      if (const auto it = state_.unavailable.find(name);
          it != state_.unavailable.end() && call.ok()) {
        Refusal why = it->second;
        why.what = fmt::format("reads `{}`, which {}", name, why.what);
        call.refuse(std::move(why));
      }
    for (const std::string& name : node.inputs)
      if (call.ok()) quantize_input(name, source, call);
    const StandIn read = check_stand_ins(row, node, call);
    const size_t nodes = graph().nodes.size();
    if (call.ok() && !fold_integers(call) && call.ok()) row.import(call);
    for (const std::string& name : node.outputs)
      if (call.ok() && !name.empty() && !state_.knows(name))
        call.refuse({fmt::format("its result `{}` is not supported", name), "", "",
                     "onnx.operator.results"});
    if (!call.ok()) return break_results(node);
    for (size_t k = 0; row.moves_elements && read != StandIn::none && k < node.outputs.size(); ++k)
      call.stands_in(k, read);
    if (graph().nodes.size() == nodes) graph().folded.push_back({{source}, "identity"});
  }

  // An input of steps becomes these in front of what reads it first.
  void quantize_input(const std::string& name, i32 source, Call& call) {
    const auto it = state_.input_steps.find(name);
    if (it == state_.input_steps.end()) return;
    const StepsReader reader = it->second;
    state_.input_steps.erase(it);
    Call as_reader(state_, *reader.node, source, false);
    const Steps steps = read_steps(as_reader, reader.scale, reader.scale + 1);
    const Operand q =
        quantized(as_reader, as_reader.ok() ? Operand{name} : Operand{}, steps, 0, "steps");
    if (as_reader.ok()) return state_.define(name, state_.value_of(q.name));
    state_.broken.insert(name);
    call.give_up();
  }

  StandIn check_stand_ins(const ImportRow& row, const ModelNode& node, Call& call) const {
    StandIn read = StandIn::none;
    for (const std::string& name : node.inputs) {
      const auto it = state_.stand_ins.find(name);
      if (it == state_.stand_ins.end()) continue;
      read = it->second;
      call.require(row.moves_elements || row.takes == read, kNoProduct, "", "",
                   "onnx.quantize.dynamic");
    }
    return read;
  }

  static std::string name_of(const ModelNode& node) {
    if (!node.name.empty()) return node.name;
    const auto named = std::find_if(node.outputs.begin(), node.outputs.end(),
                                    [](const std::string& o) { return !o.empty(); });
    return named == node.outputs.end() ? "" : *named;
  }
  bool is_broken(const ModelNode& node) const {
    return std::any_of(node.inputs.begin(), node.inputs.end(),
                       [&](const std::string& i) { return state_.broken.contains(i); });
  }
  void break_results(const ModelNode& node) {
    for (const std::string& name : node.outputs) state_.broken.insert(name);
    state_.broken.erase("");
  }

  const Function* function_of(const ModelNode& node) const {
    const auto it = std::find_if(
        model_.functions.begin(), model_.functions.end(),
        [&](const Function& f) { return f.name == node.op && f.domain == node.domain; });
    return it == model_.functions.end() ? nullptr : &*it;
  }

  // The nodes of a function in the place of its call, with names of their own.
  void write_out(const Function& f, const ModelNode& call, int depth) {
    if (depth >= kDeepestCall || call.inputs.size() > f.inputs.size() ||
        call.outputs.size() > f.outputs.size()) {
      error(fmt::format("`{}` calls the function {} from too deep, or with too many operands",
                        name_of(call), f.name),
            "onnx.function.call");
      stopped_ =
          depth >=
          kDeepestCall;  // one that calls itself twice would say it as often as there are ways down
      return break_results(call);
    }
    Scope scope(call, f, fmt::format("{}.{}", name_of(call), calls_++));
    visit_all(f.nodes, scope, depth + 1);
    if (stopped_) return break_results(call);
    for (size_t k = 0; k < call.outputs.size(); ++k)
      hand_on(scope.name(f.outputs[k]), call.outputs[k]);
  }

  // What stands under one name stands under another, too.
  void hand_on(const std::string& from, const std::string& to) {
    if (to.empty() || state_.knows(to)) return;
    if (const auto it = state_.stand_ins.find(from); it != state_.stand_ins.end())
      state_.stand_ins[to] = it->second;
    if (state_.knows(from)) state_.define(to, state_.value_of(from));
    else if (!state_.broken.contains(from))
      error(fmt::format("`{}` is made by no operator", to), "onnx.graph.undefined");
    if (!state_.knows(to)) state_.broken.insert(to);
  }

  void write_out_control(const ModelNode& node, const Scope& outer, i32 source, int depth) {
    Call call(state_, node, source, false);
    const size_t nodes = graph().nodes.size();
    call.require(depth < kDeepestCall, "lies too deep in other branches and loops",
                 std::to_string(depth), std::to_string(kDeepestCall - 1), "onnx.control.depth");
    const Control at{node, outer, source, depth};
    if (!call.ok()) {
    } else if (node.op == "If") choose_branch(at, call);
    else if (node.op == "Loop") write_out_loop(at, call);
    else write_out_scan(at, call);
    if (!call.ok() || stopped_) break_results(node);
    const auto is_own = [&](const Node& n) { return std::ranges::count(n.origin, source) > 0; };
    if (std::none_of(graph().nodes.begin() + static_cast<std::ptrdiff_t>(nodes),
                     graph().nodes.end(), is_own))
      graph().folded.push_back({{source}, node.op == "If" ? "its branch is known" : "written out"});
  }

  // A branch or a step of a loop that is written out: the names of its results.
  std::vector<std::string> write_out_graph(const Control& at, Call& call, const ModelGraph& g,
                                           const std::vector<std::string>& inputs) {
    call.require(g.inputs.size() == inputs.size(), "has a graph with another number of inputs",
                 std::to_string(g.inputs.size()), std::to_string(inputs.size()),
                 "onnx.control.inputs");
    if (!call.ok() || stopped_) return {};
    Scope scope(at.outer, g, fmt::format("{}.{}", name_of(at.node), calls_++));
    for (const ModelTensor& t : g.initializers) add_constant(t, scope.name(t.name));
    for (size_t k = 0; k < inputs.size(); ++k) hand_on(inputs[k], scope.name(g.inputs[k].name));
    if (calls_ >= kMostNodes) stop();
    visit_all(g.nodes, scope, at.depth + 1);
    std::vector<std::string> results;
    for (const ModelPort& p : g.outputs) results.push_back(scope.name(p.name));
    return results;
  }

  const ModelGraph* graph_of(const Control& at, Call& call, std::string_view name, size_t results) {
    const Attribute* a = call.attribute(name);
    call.require(a && a->graph && a->graph->outputs.size() >= results,
                 "has no such graph, or one with fewer results", std::string(name), "",
                 "onnx.control.graph");
    const size_t made = call.ok() ? a->graph->outputs.size() - (at.node.op == "Loop") : 0;
    call.require(at.node.outputs.size() <= made, "has more results than its graph",
                 std::to_string(at.node.outputs.size()), std::to_string(made),
                 "onnx.control.results");
    return call.ok() ? a->graph.get() : nullptr;
  }

  // A node that the file does not have, under the loop's source: the name of what it makes.
  std::string made(const Control& at, std::string_view op, std::vector<std::string> inputs,
                   std::vector<Attribute> attributes = {}) {
    const std::string name = fmt::format("{}.{}/{}", name_of(at.node), state_.made_names++, op);
    const ModelNode node{std::string(op),   "",     name,
                         std::move(inputs), {name}, std::move(attributes)};
    if (is_broken(node)) break_results(node);
    else import(*find_import(op, ""), node, at.source);
    return name;
  }

  // Of a condition that depends on the inputs both branches are computed.
  void choose_branch(const Control& at, Call& call) {
    const size_t results = at.node.outputs.size();
    const ModelGraph *yes = graph_of(at, call, "then_branch", results),
                     *no = graph_of(at, call, "else_branch", results);
    const Operand condition = call.operand(0);
    if (!call.ok()) return;
    if (call.is_known(condition)) {
      const std::vector<i64> known = call.integers_of(0, "condition");
      call.require(known.size() == 1, "has no condition of one element", "", "", "onnx.if.branch");
      if (!call.ok()) return;
      return hand_on_all(write_out_graph(at, call, known[0] ? *yes : *no, {}), at.node, 0);
    }
    const std::vector<std::string> a = write_out_graph(at, call, *yes, {}),
                                   b = write_out_graph(at, call, *no, {});
    std::vector<std::string> chosen;
    for (size_t k = 0; k < results && call.ok() && !stopped_; ++k)
      chosen.push_back(chosen_of(at, call, at.node.inputs[0], a[k], b[k]));
    if (call.ok()) hand_on_all(chosen, at.node, 0);
  }

  std::string chosen_of(const Control& at, Call& call, const std::string& condition,
                        const std::string& yes, const std::string& no) {
    const Shape one = call.shape({yes}), other = call.shape({no});
    call.require(one == other || state_.broken.contains(yes) || state_.broken.contains(no),
                 "chooses by the inputs between results of different shape", to_text(one),
                 to_text(other), "onnx.control.shape");
    return call.ok() ? made(at, "Where", {condition, yes, no}) : std::string();
  }

  void hand_on_all(const std::vector<std::string>& from, const ModelNode& to, size_t first) {
    for (size_t k = 0; k < from.size() && first + k < to.outputs.size(); ++k)
      hand_on(from[k], to.outputs[first + k]);
  }

  // Results of all steps, one behind the other along a new axis, become the loop's result.
  void hand_on_stacked(const Control& at, Call& loop, const std::vector<std::string>& parts,
                       i64 axis, size_t result) {
    loop.require(!parts.empty(), "runs no step, and stacks the results of its steps", "0", "1",
                 "onnx.loop.steps");
    if (!loop.ok()) return;
    const std::string name = fmt::format("{}.{}/all", name_of(at.node), state_.made_names++);
    const ModelNode node{"Stack", "", name, parts, {name}, {}};
    if (is_broken(node)) return loop.give_up();
    Call call(state_, node, at.source, true);
    const std::vector<Operand> all = call.all_operands();
    call.result(call.torch("aten.stack.default", {{"tensors", all}, {"dim", axis}}));
    if (!call.ok()) break_results(node);
    hand_on_all({name}, at.node, result);
  }

  // One whose number of steps is known, or the most of it: what it carries stays as it is in steps
  // behind the last one.
  void write_out_loop(const Control& at, Call& call) {
    std::vector<std::string> carried = at.node.inputs;
    carried.erase(carried.begin(),
                  carried.begin() + std::min<std::ptrdiff_t>(std::ssize(carried), kLoopOperands));
    const ModelGraph* body = graph_of(at, call, "body", 1 + carried.size());
    const std::vector<i64> trips =
        call.has(0) ? call.integers_of(0, "number of steps") : std::vector<i64>{kMostSteps + 1};
    const Type truth{DType::b8, {}, {}};
    std::string going = call.has(1) ? at.node.inputs[1] : call.known("going", truth, {1}).name;
    call.require(trips.size() == 1, "has no number of steps", "", "", "onnx.loop.steps");
    if (!call.ok()) return;
    std::vector<std::vector<std::string>> rows(body->outputs.size() - 1 - carried.size());
    for (i64 k = 0; k < trips[0] && call.ok(); ++k) {
      const auto known = call.known_integers({going});
      if (known && !known->empty() && !(*known)[0]) break;
      call.require(k < kMostSteps, "has too many steps, or none that is known to be the last",
                   "more", std::to_string(kMostSteps), "onnx.loop.steps");
      call.require(known || rows.empty(), "has results whose length depends on the inputs", "", "",
                   "onnx.loop.rows");
      const Operand step = call.known("step", {DType::s64, {}, {}}, {k});
      std::vector<std::string> inputs{step.name, going};
      inputs.insert(inputs.end(), carried.begin(), carried.end());
      const std::vector<std::string> results = write_out_graph(at, call, *body, inputs);
      if (!call.ok() || stopped_) return;
      for (size_t n = 0; n < carried.size(); ++n)
        carried[n] =
            known ? results[1 + n] : chosen_of(at, call, going, results[1 + n], carried[n]);
      for (size_t n = 0; n < rows.size(); ++n) rows[n].push_back(results[1 + carried.size() + n]);
      going = known ? results[0] : made(at, "And", {going, results[0]});
      if (state_.broken.contains(going)) call.give_up();
    }
    hand_on_all(carried, at.node, 0);
    for (size_t n = 0; n < rows.size() && call.ok(); ++n)
      hand_on_stacked(at, call, rows[n], 0, carried.size() + n);
  }

  void write_out_scan(const Control& at, Call& call) {
    const i64 sequences = call.integer("num_scan_inputs", 0), operands = std::ssize(at.node.inputs);
    call.require(sequences >= 1 && sequences <= operands, "has no sequences, or too many",
                 std::to_string(sequences), std::to_string(operands), "onnx.scan.inputs");
    if (!call.ok()) return;
    const auto states = static_cast<size_t>(operands - sequences);
    const ModelGraph* body = graph_of(at, call, "body", states);
    if (!body) return;
    const auto ways = [&](const char* axes, size_t k) {
      const std::vector<i64> all = call.integers(axes);
      return k < all.size() ? all[k] : 0;
    };
    std::vector<i64> axes;
    i64 steps = -1;
    for (size_t k = 0; k < static_cast<size_t>(sequences); ++k) {
      const Operand x = call.operand(states + k);
      axes.push_back(call.axis(ways("scan_input_axes", k), call.rank(x)));
      if (!call.ok()) return;
      const i64 extent = call.shape(x)[axes[k]];
      call.require(steps < 0 || extent == steps, "has sequences of several lengths",
                   std::to_string(extent), std::to_string(steps), "onnx.scan.steps");
      steps = extent;
    }
    call.require(steps <= kMostSteps, "has too many steps", std::to_string(steps),
                 std::to_string(kMostSteps), "onnx.loop.steps");
    std::vector<std::string> carried(
        at.node.inputs.begin(), at.node.inputs.begin() + std::ssize(at.node.inputs) - sequences);
    std::vector<std::vector<std::string>> rows(body->outputs.size() - states);
    for (i64 t = 0; t < steps && call.ok(); ++t) {
      std::vector<std::string> inputs = carried;
      for (size_t k = 0; k < axes.size(); ++k) {
        const i64 from = ways("scan_input_directions", k) ? steps - 1 - t : t;
        const Operand index = call.known("step", {DType::s64, {}, {}}, {from});
        inputs.push_back(made(at, "Gather", {at.node.inputs[states + k], index.name},
                              {integer_attribute("axis", axes[k])}));
      }
      const std::vector<std::string> results = write_out_graph(at, call, *body, inputs);
      if (!call.ok() || stopped_) return;
      std::copy_n(results.begin(), states, carried.begin());
      for (size_t n = 0; n < rows.size(); ++n) rows[n].push_back(results[states + n]);
    }
    hand_on_all(carried, at.node, 0);
    for (size_t n = 0; n < rows.size() && call.ok(); ++n) {
      if (ways("scan_output_directions", n)) std::reverse(rows[n].begin(), rows[n].end());
      hand_on_stacked(at, call, rows[n], ways("scan_output_axes", n), states + n);
    }
  }

  // One message for each operator, not one for each use.
  void report_unknown() {
    for (const auto& [name, uses] : unknown_) {
      std::string where;
      for (size_t k = 0; k < std::min(uses.size(), kNamedUses); ++k)
        where += fmt::format("{}`{}` (source op {})", k == 0 ? "" : ", ",
                             graph().sources[uses[k]].name, uses[k]);
      if (uses.size() > kNamedUses) where += fmt::format(" and {} more", uses.size() - kNamedUses);
      const bool foreign = name.find('.') != std::string::npos;
      error(fmt::format("operator {} (opset {}) is not supported: {}", name, model_.opset(), where),
            foreign ? "onnx.operator.domain" : "onnx.operator.unknown",
            name.starts_with(kBlocked)
                ? "save the optimised model again with ORT_ENABLE_EXTENDED: this layout is for the "
                  "processor that it was made on"
            : foreign ? "export the model with the standard's operators only"
                      : "docs/formats.md lists the supported operators");
    }
  }

  void add_outputs() {
    for (const ModelPort& port : model_.graph.outputs) {
      if (!state_.knows(port.name)) {
        error(fmt::format("output `{}` is made by no operator", port.name), "onnx.output.missing");
        continue;
      }
      if (state_.stand_ins.contains(port.name))
        error(fmt::format("output `{}` {}", port.name, kNoProduct), "onnx.quantize.dynamic");
      ValueId v = state_.value_of(port.name);
      const Quant& steps = graph().type(v).quant;
      if (state_.has_steps_by_channel && !steps.empty() && steps.scale[0] == 1)
        error(fmt::format("output `{}` is of steps with a scale for each channel", port.name),
              "onnx.quantize.channels", "put a DequantizeLinear behind them");
      if (!steps.empty()) v = real_output(port, v);
      if (v < 0) continue;
      Axes order(graph().type(v).shape.size());
      std::iota(order.begin(), order.end(), 0);
      graph().outputs.push_back({v, port.name, std::move(order)});
    }
    if (graph().outputs.empty() && !errors()) error("has no outputs", "onnx.output.missing");
  }

  // Outputs are real numbers; --io int8 gives the steps. An output that is an input's steps is the
  // work of who made these.
  ValueId real_output(const ModelPort& port, ValueId v) {
    const Uses uses(graph());
    const ModelNode node{"Identity", "", port.name, {port.name}, {port.name}, {}};
    Call call(state_, node, graph().nodes[uses.producer[v]].origin.back(), true);
    const Operand y = call.operand(0);
    return y ? state_.value_of(y.name) : -1;
  }

  const Model& model_;
  ImportState state_;
  const InputShapes& shapes_;
  int calls_ = 0;
  bool stopped_ = false;
  std::map<std::string, std::vector<i32>> unknown_;
};

std::optional<deuteron::Graph> import_from(std::span<const std::byte> bytes,
                                           const std::string& name, const std::string& folder,
                                           const InputShapes& shapes, Diagnostics& diagnostics,
                                           const ModelPart& part = {}) {
  const std::span<const u8> data{reinterpret_cast<const u8*>(bytes.data()), bytes.size()};
  std::optional<Model> model = open_onnx(data, name, folder, diagnostics);
  if (!model || !cut(*model, part, name, diagnostics)) return std::nullopt;
  deuteron::Graph graph;
  graph.name = name;
  const auto count = [&] {
    return std::count_if(diagnostics.list().begin(), diagnostics.list().end(),
                         [](const Diagnostic& d) { return d.severity == Severity::error; });
  };
  const auto before = count();
  if (!Walk(*model, shapes, graph, diagnostics).run() || count() != before) return std::nullopt;
  remove_dead(graph, "result is not used");
  write_minus_infinity(graph, "onnx.tensor.finite", diagnostics);
  refuse_unusable_scales(graph, diagnostics);
  if (count() != before) return std::nullopt;
  return graph;
}

}  // namespace
}  // namespace onnx

std::optional<Graph> import_onnx(std::span<const std::byte> bytes, const std::string& name,
                                 const InputShapes& shapes, Diagnostics& diagnostics) {
  return onnx::import_from(bytes, name, "", shapes, diagnostics);
}

std::optional<Graph> import_onnx(const std::string& path, const InputShapes& shapes,
                                 Diagnostics& diagnostics, const ModelPart& part) {
  const MappedFile file = map_file(path, diagnostics);
  if (!file.owner) return std::nullopt;
  const std::filesystem::path whole(path);
  const std::string folder = whole.has_parent_path() ? whole.parent_path().string() : ".";
  return onnx::import_from(file.bytes, path, folder, shapes, diagnostics, part);
}

}  // namespace deuteron
