// SPDX-License-Identifier: Apache-2.0
// Walks the nodes of the model in their order and asks the import table for each. A refused node
// gets a stand-in of the declared type, so that everything after it is still looked at; the graph
// is given back only when nothing was refused.
#include "frontends/pt2/import.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "base/tensor/elements.h"
#include "frontends/pt2/advice.h"
#include "frontends/pt2/call/import_state.h"
#include "frontends/pt2/changed_buffers.h"
#include "frontends/pt2/claimed_sizes.h"
#include "frontends/pt2/cut.h"
#include "frontends/pt2/dynamic_quantization.h"
#include "frontends/pt2/file/archive.h"
#include "frontends/pt2/file/program.h"
#include "frontends/pt2/file/source_names.h"
#include "frontends/pt2/file/storage_order.h"
#include "frontends/pt2/fixed_sizes.h"
#include "frontends/pt2/found_sizes.h"
#include "frontends/pt2/in_place.h"
#include "frontends/pt2/number_types.h"
#include "frontends/pt2/operators/import_table.h"
#include "frontends/pt2/operators/leftovers.h"
#include "frontends/pt2/operators/step_ports.h"
#include "ir/minus_infinity.h"
#include "ir/states.h"
#include "ir/unusable_scales.h"

namespace deuteron {
namespace pt2 {
namespace {

constexpr size_t kNamedUses = 4;  // of an operator that is not known; the rest are counted

size_t count_errors(const Diagnostics& diagnostics) {
  return static_cast<size_t>(
      std::count_if(diagnostics.list().begin(), diagnostics.list().end(),
                    [](const Diagnostic& d) { return d.severity == Severity::error; }));
}

class Walk {
 public:
  Walk(const Archive& archive, Program& program, OpenSizes& sizes,
       const std::set<std::string>& states, Graph& graph, Diagnostics& diagnostics)
      : program_(program),
        sizes_(sizes),
        graph_(graph),
        diagnostics_(diagnostics),
        state_(archive, program, graph, diagnostics) {
    state_.sizes = &sizes;
    graph.name = archive.name;
    changed_ = find_changed_buffers(program_);
    for (const std::string& name : states) changed_.try_emplace(name);
  }

  bool run() {
    const size_t errors = count_errors(diagnostics_);
    add_sources();
    report_dynamic_sizes();
    const bool is_static = program_.dynamic.empty();
    declare_inputs();
    for (size_t i = 0; i < program_.nodes.size(); ++i)
      visit(program_.nodes[i], static_cast<i32>(i), is_static);
    report_unknown();
    if (is_static) add_outputs(), add_states();
    return count_errors(diagnostics_) == errors;
  }
  const std::vector<std::string>& found_states() const { return state_.found_states; }

 private:
  // Ids of source operators are the positions of the model's nodes.
  void add_sources() {
    for (const ProgramNode& node : program_.nodes)
      graph_.sources.push_back({node.name, node.target, node.module, node.stack});
    // A quantized graph has lost the modules of its operators, but not the names of their
    // parameters: "stem.conv.bias".
    ByName<std::string> modules;
    for (const ProgramInput& in : program_.inputs)
      if (const size_t dot = in.key.rfind('.');
          in.kind == ProgramInput::Kind::parameter && dot != std::string::npos)
        modules[in.name] = in.key.substr(0, dot);
    for (size_t i = 0; i < program_.nodes.size(); ++i)
      for (const auto& [name, argument] : program_.nodes[i].arguments) {
        if (!graph_.sources[i].module.empty() || argument.kind != Argument::Kind::tensor) continue;
        if (const auto it = modules.find(argument.text); it != modules.end())
          graph_.sources[i].module = it->second;
      }
  }

  void report_dynamic_sizes() {
    for (const DynamicSize& d : program_.dynamic)
      diagnostics_.add(
          {Severity::error, graph_.name,
           fmt::format("axis {} of `{}` has a dynamic size, `{}`", d.axis, d.tensor, d.symbol),
           d.range.empty() ? "" : d.range, d.range.empty() ? "" : "one fixed size",
           "pt2.shape.dynamic",
           "give the input's sizes: --input-shape NAME=1,3,96,96; or export without "
           "dynamic_shapes"});
  }

  Meaning& define(const std::string& name) {
    const auto [it, is_new] = state_.meanings.try_emplace(name);
    if (!is_new)
      diagnostics_.error(graph_.name, fmt::format("`{}` is defined twice", name),
                         "pt2.graph.duplicate");
    it->second = {};
    it->second.memory = state_.new_memory();
    return it->second;
  }

  void declare_state(const ProgramInput& in, ChangedBuffer& changed) {
    Meaning& m = define(in.name);
    m.home = Meaning::Home::state;
    const auto index = static_cast<i32>(state_.parameters.size());
    state_.parameters.push_back({&in, std::nullopt, false, {}});
    const Weight* weight = state_.load(index);
    const DType dtype = weight ? weight->type.dtype : DType::f32;
    const bool is_known =
        dtype == DType::f32 || dtype == DType::s32 || dtype == DType::s64 || dtype == DType::b8;
    if (!is_known)
      diagnostics_.error(
          graph_.name,
          fmt::format(
              "state `{}` has dtype {}; float32, int32, int64 and bool states are supported",
              in.key, name_of(dtype)),
          "pt2.state.dtype", "register the buffer as float32");
    m.stored = state_.add_value(in.name, weight ? weight->type : Type{}, std::nullopt,
                                !weight || !is_known);
    if (!weight) return;  // reported
    m.order = weight->order;
    changed.input = Port{m.stored, in.key, m.order};
    changed.state = {weight->type, weight->data, -1};
  }

  void declare_inputs() {
    using K = ProgramInput::Kind;
    for (const ProgramInput& in : program_.inputs) {
      if (in.kind == K::user) {
        declare_user_input(in);
      } else if (in.kind == K::literal) {
        diagnostics_.add({Severity::note, graph_.name,
                          fmt::format("argument `{}` is a value that the export fixed, not a "
                                      "tensor; it is not an input of the program",
                                      in.name),
                          "", "", "pt2.input.literal", ""});
      } else if (in.kind == K::other) {
        diagnostics_.error(
            graph_.name,
            fmt::format("input `{}` is {}, only tensors are supported", in.name, in.key),
            "pt2.input.kind");
      } else if (const auto changed = changed_.find(in.name); changed != changed_.end()) {
        declare_state(in, changed->second);
      } else {
        Meaning& m = define(in.name);
        m.parameter = static_cast<i32>(state_.parameters.size());
        m.home = Meaning::Home::state;
        state_.parameters.push_back({&in, std::nullopt, false, {}});
      }
    }
  }

  void declare_user_input(const ProgramInput& in) {
    Meaning& m = define(in.name);
    m.home = Meaning::Home::input;
    const auto it = program_.tensors.find(in.name);
    if (it == program_.tensors.end()) {
      m.unavailable = "an input without a shape";
      return diagnostics_.error(graph_.name,
                                fmt::format("input `{}` has no shape in the model", in.name),
                                "pt2.graph.shape");
    }
    const TensorMeta& meta = it->second;
    const DType dtype = meta.dtype.value_or(DType::u8);
    const std::optional<StepInput> steps =
        dtype == DType::s8 ? step_input(program_, in.name) : std::nullopt;
    const bool is_known = dtype == DType::f32 || dtype == DType::s64 || dtype == DType::s32 ||
                          dtype == DType::b8 || steps;
    if (!is_known)
      diagnostics_.error(
          graph_.name,
          fmt::format(
              "input `{}` has dtype {}; floats, integers up to int64 and bool inputs are supported",
              in.name, name_of_code(meta.dtype_code)),
          "pt2.input.dtype",
          "give the model float32 inputs; --io int8 makes the program's own inputs int8");
    if (numel(meta.sizes) == 0)
      diagnostics_.error(
          graph_.name,
          fmt::format("input `{}` has no elements: shape {}", in.name, to_text(meta.sizes)),
          "pt2.input.empty");
    m.order = storage_order(meta.sizes, meta.strides);
    if (!is_dense(meta.sizes, meta.strides, m.order))
      diagnostics_.warning(graph_.name,
                           fmt::format("the example for input `{}` has gaps or repeated elements "
                                       "in memory (strides {}); the program takes it without",
                                       in.name, to_text(meta.strides)),
                           "pt2.input.strides");
    const DType own = steps ? DType::f32 : dtype;
    m.stored = state_.add_value(in.name, {own, permuted(meta.sizes, m.order), {}}, std::nullopt,
                                !is_known);
    graph_.inputs.push_back({m.stored, in.name, m.order});
    if (!steps) return;
    m.stored = add_quantize(state_, m.stored, steps->quant, in.name, {steps->reader});
    graph_.inputs.back().steps = graph_.type(m.stored);
  }

  bool touches_complex(const ProgramNode& node) {
    Call call(state_, node, 0, node.target, false);
    return call.touches_complex();
  }

  void visit(ProgramNode& node, i32 source, bool is_static) {
    const SizesOf sizes =
        is_static ? take_found_sizes(state_, node, source, has_refused_) : SizesOf::known;
    if (sizes == SizesOf::computed) return graph_.folded.push_back({{source}, "computes a size"});
    if (sizes == SizesOf::refused) return stand_in(node);
    if (is_static && makes_nothing(node)) return make_nothing(node, source);
    const FoundRow found = find_import(node.target, touches_complex(node));
    if (!is_static && node.has_other_results)
      return;  // computes with a dynamic size, which has been said
    if (!found.row) {
      unknown_[node.target].push_back(source);
      return stand_in(node);
    }
    if (!is_static) return;
    refresh_operands(state_, node);
    Call call(state_, node, source, found.row->target, found.in_place);
    const size_t nodes = graph_.nodes.size();
    call.check_arguments();
    if (call.ok())
      (computes_integers(node) && is_leftover(found.row->target) ? import_leftover
                                                                 : found.row->import)(call);
    if (call.ok() && !node.outputs.empty() && call.outcome().value < 0)
      call.refuse({"has a result that is not expected", "", "", "pt2.graph.result"});
    if (call.ok() && node.has_other_results && !sizes_.is_done(node))
      call.refuse({"has a result that is not a tensor", "", "", "pt2.graph.result"});
    if (call.ok() && found.in_place) change_in_place(state_, changed_, call);
    if (!call.ok()) return stand_in(node);
    if (graph_.nodes.size() == nodes) graph_.folded.push_back({{source}, "identity"});
    name_results(node, call);
  }

  // Whatever the operator is: results of no elements need no computing.
  bool makes_nothing(const ProgramNode& node) const {
    const auto is_empty = [&](const std::string& name) {
      const auto it = program_.tensors.find(name);
      return it != program_.tensors.end() && it->second.dtype && !it->second.dynamic &&
             numel(it->second.sizes) == 0;
    };
    return !node.outputs.empty() && std::all_of(node.outputs.begin(), node.outputs.end(), is_empty);
  }
  void make_nothing(const ProgramNode& node, i32 source) {
    for (const std::string& name : node.outputs) {
      const TensorMeta& meta = program_.tensors.find(name)->second;
      define(name).value = state_.add_value(name, {*meta.dtype, meta.sizes, {}}, Constant{});
    }
    graph_.folded.push_back({{source}, "has no elements"});
  }

  // Integers that the model computes from its inputs: portable kernels compute them exactly, which
  // float32 would not.
  bool computes_integers(const ProgramNode& node) const {
    const auto result =
        node.outputs.empty() ? program_.tensors.end() : program_.tensors.find(node.outputs[0]);
    if (result == program_.tensors.end() ||
        (result->second.dtype != DType::s64 && result->second.dtype != DType::s32))
      return false;
    return std::any_of(node.arguments.begin(), node.arguments.end(), [&](const auto& argument) {
      const auto it = state_.meanings.find(
          argument.second.kind == Argument::Kind::tensor ? argument.second.text : "");
      if (it == state_.meanings.end() || it->second.parameter >= 0) return false;
      return !state_.is_derived_from_constants(it->second.value >= 0 ? it->second.value
                                                                     : it->second.stored);
    });
  }

  void name_results(const ProgramNode& node, const Call& call) {
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      Meaning& m = define(node.outputs[i]);
      if (call.outcome(i).value < 0 && i > 0) {
        m.unavailable = fmt::format("result {} of {}, which is not supported", i, node.target);
        continue;
      }
      const i32 own = m.memory;
      m = call.outcome(i);
      if (m.memory < 0) m.memory = own;
    }
  }

  void stand_in(const ProgramNode& node) {
    has_refused_ = true;
    for (const std::string& name : node.outputs) {
      Meaning& m = define(name);
      const auto it = program_.tensors.find(name);
      const bool known = it != program_.tensors.end();
      m.value = state_.add_value(name,
                                 {known ? it->second.dtype.value_or(DType::u8) : DType::f32,
                                  known ? it->second.sizes : Shape{},
                                  {}},
                                 std::nullopt, true);
    }
  }

  void report_unknown() {
    for (const auto& [target, sources] : unknown_) {
      std::vector<std::string> uses;
      for (size_t i = 0; i < std::min(sources.size(), kNamedUses); ++i)
        uses.push_back(describe_use(sources[i]));
      if (sources.size() > kNamedUses)
        uses.push_back(fmt::format("and {} more", sources.size() - kNamedUses));
      diagnostics_.error(
          graph_.name,
          fmt::format("operator {} is not supported, used {} time{}: {}", target, sources.size(),
                      sources.size() == 1 ? "" : "s", fmt::join(uses, "; ")),
          "pt2.operator.unknown", advice_for(target));
    }
  }

  std::string describe_use(i32 id) const {
    const SourceOp& s = graph_.sources[id];
    std::string text = fmt::format("`{}` (source op {}", s.name, id);
    if (!s.module.empty()) text += ", module " + s.module;
    if (const auto line = users_line(s.stack); !line.empty()) text += fmt::format(", {}", line);
    return text + ")";
  }

  void add_outputs() {
    using K = ProgramOutput::Kind;
    for (const ProgramOutput& out : program_.outputs) {
      if (out.kind == K::tensor) add_output(out.name);
      else if (out.kind == K::none)
        diagnostics_.add({Severity::note, graph_.name,
                          "an output is None; it is not an output of the program", "", "",
                          "pt2.output.none", ""});
      else if (out.kind == K::literal)
        diagnostics_.add(
            {Severity::note, graph_.name,
             "an output is a constant that is not a tensor; it is not an output of the program", "",
             "", "pt2.output.literal", ""});
      else if (out.kind == K::buffer_mutation) check_changed_buffer(out);
      else if (out.kind == K::input_mutation)
        diagnostics_.warning(
            graph_.name,
            fmt::format(
                "changes its input `{}` in place; the program leaves its inputs as they are",
                out.key),
            "pt2.in_place.input");
      else
        diagnostics_.error(graph_.name,
                           fmt::format("an output is {}, only tensors are supported", out.name),
                           "pt2.output.kind");
    }
    if (graph_.outputs.empty())
      diagnostics_.error(graph_.name, "has no output that is a tensor", "pt2.output.missing");
  }

  void check_changed_buffer(const ProgramOutput& out) {
    const bool known = std::any_of(program_.inputs.begin(), program_.inputs.end(),
                                   [&](const ProgramInput& in) { return in.key == out.key; });
    if (!known)
      diagnostics_.error(
          graph_.name,
          fmt::format("changes its buffer `{}`, which is none of the model's", out.key),
          "pt2.output.mutation");
  }

  // The states in the order of the model's inputs, behind the inputs and outputs of the user's.
  void add_states() {
    for (const ProgramInput& in : program_.inputs)
      if (const auto it = changed_.find(in.name);
          it != changed_.end() && it->second.input.value >= 0)
        add_state(in, it->second);
  }

  void add_state(const ProgramInput& in, ChangedBuffer& changed) {
    const std::string& made = changed.output.empty() ? in.name : changed.output;
    const ProgramNode node{"buffer_mutation", in.key, {}, {}, false, {}, {}};
    changed.state.source = static_cast<i32>(graph_.sources.size());
    graph_.sources.push_back({in.key, "buffer_mutation", "", ""});
    refresh(state_, made);
    Call call(state_, node, changed.state.source, "buffer_mutation", false);
    ValueId v = call.value_of(made);
    const Type& type = changed.state.type;
    if (v >= 0 && graph_.type(v).dtype != type.dtype) v = call.converted(v, type.dtype);
    if (v >= 0 && call.ok() && !is_identity(changed.input.order))
      v = call.permute(v, changed.input.order);
    if (v < 0 || !call.ok() || state_.is_broken(v)) return;  // reported
    if (graph_.type(v).shape != type.shape)
      return diagnostics_.add(
          {Severity::error, graph_.name,
           fmt::format("the new value of the buffer `{}` has another shape", in.key),
           to_text(graph_.type(v).shape), to_text(type.shape), "pt2.state.shape", ""});
    graph_.inputs.push_back(changed.input);
    graph_.outputs.push_back({v, changed.input.name, changed.input.order});
    graph_.states.push_back(std::move(changed.state));
  }

  // Reading an output is the model's own work: a source of its own, needed only where the user's
  // axes are made for it.
  void add_output(const std::string& name) {
    refresh(state_, name);
    const ProgramNode node{"output", name, {}, {}, false, {}, {}};
    const i32 source = static_cast<i32>(graph_.sources.size());
    graph_.sources.push_back({name, "output", "", ""});
    const size_t nodes = graph_.nodes.size();
    Call call(state_, node, source, "output", false);
    ValueId v = call.value_of(name);
    const bool is_used = graph_.nodes.size() != nodes || (v >= 0 && uses_source(source));
    if (!is_used) graph_.sources.pop_back();
    if (v < 0) return;
    const Type& type = graph_.type(v);
    const bool is_integer =
        (type.dtype == DType::s64 || type.dtype == DType::s32 || type.dtype == DType::b8) &&
        type.quant.empty();
    if (type.elements() == 0 && !state_.is_broken(v))
      return diagnostics_.error(
          graph_.name,
          fmt::format("output `{}` has no elements: shape {}", name, to_text(type.shape)),
          "pt2.output.empty", "leave it out of the model");
    // the model's own dtype: uint8 is int8 from here on
    const auto meta = program_.tensors.find(name);
    const bool is_int8 = meta != program_.tensors.end() && meta->second.dtype == DType::s8;
    const bool has_steps = is_int8 && !type.quant.empty() && !type.quant.per_channel();
    if (type.dtype != DType::f32 && !is_integer && !has_steps && !state_.is_broken(v)) {
      diagnostics_.error(
          graph_.name,
          fmt::format("output `{}` has dtype {}; float32, quantized int8, int32, int64 and bool "
                      "outputs are supported",
                      name,
                      meta == program_.tensors.end() ? name_of(type.dtype)
                                                     : name_of_code(meta->second.dtype_code)),
          "pt2.output.dtype");
      return;
    }
    Axes order(type.shape.size());
    std::iota(order.begin(), order.end(), 0);
    const Type own = type;
    if (has_steps) v = add_dequantize(state_, v, name);
    graph_.outputs.push_back({v, name, std::move(order)});
    if (has_steps) graph_.outputs.back().steps = own;
  }

  bool uses_source(i32 source) const {
    return std::any_of(graph_.nodes.begin(), graph_.nodes.end(), [&](const Node& n) {
      return std::binary_search(n.origin.begin(), n.origin.end(), source);
    });
  }

  Program& program_;  // changes as sizes are found
  OpenSizes& sizes_;
  Graph& graph_;
  Diagnostics& diagnostics_;
  ImportState state_;
  bool has_refused_ = false;                         // a node has a stand-in
  ByName<ChangedBuffer> changed_;                    // by the name of its placeholder
  std::map<std::string, std::vector<i32>> unknown_;  // source ids by target
};

// Which buffers operators in place write shows on the way: then once more, with them as states.
std::optional<Graph> walk(const Archive& archive, Program& program, OpenSizes& sizes,
                          Diagnostics& diagnostics) {
  std::set<std::string> states;
  for (;;) {
    Graph graph;
    Diagnostics said;
    Walk once(archive, program, sizes, states, graph, said);
    const bool done = once.run();
    const size_t known = states.size();
    states.insert(once.found_states().begin(), once.found_states().end());
    if (states.size() > known) continue;
    for (const Diagnostic& d : said.list()) diagnostics.add(d);
    return done ? std::optional(std::move(graph)) : std::nullopt;
  }
}

std::optional<Graph> import_archive(const std::shared_ptr<const Archive>& archive,
                                    const InputShapes& shapes, Diagnostics& diagnostics,
                                    const ModelPart& part = {}) {
  auto program = archive ? read_program(*archive, diagnostics) : std::nullopt;
  return program && cut(*program, part, archive->name, diagnostics)
             ? import_program(archive, *std::move(program), diagnostics, shapes)
             : std::nullopt;
}

}  // namespace

std::optional<Graph> import_program(const std::shared_ptr<const Archive>& archive, Program program,
                                    Diagnostics& diagnostics, const InputShapes& shapes) {
  OpenSizes sizes(program);
  if (!fix_sizes(program, sizes, shapes, archive->name, diagnostics) ||
      !check_claimed_sizes(*archive, program, diagnostics))
    return std::nullopt;
  take_out_dynamic_quantization(program, archive->name, diagnostics);
  fix_number_types(program, archive->name, diagnostics);
  std::optional<Graph> graph = walk(*archive, program, sizes, diagnostics);
  if (!graph) return std::nullopt;
  drop_idle_states(*graph);
  remove_dead(*graph, "result is not used");
  write_minus_infinity(*graph, "pt2.weights.finite", diagnostics);
  refuse_unusable_scales(*graph, diagnostics);
  if (diagnostics.has_errors()) return std::nullopt;
  return graph;
}

}  // namespace pt2

std::optional<Graph> import_pt2(const std::string& path, Diagnostics& diagnostics,
                                const InputShapes& shapes, const ModelPart& part) {
  return pt2::import_archive(pt2::open_archive(path, diagnostics), shapes, diagnostics, part);
}

std::optional<Graph> import_pt2(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                                const std::string& name, Diagnostics& diagnostics,
                                const InputShapes& shapes) {
  return pt2::import_archive(pt2::open_archive(bytes, std::move(owner), name, diagnostics), shapes,
                             diagnostics);
}

}  // namespace deuteron
