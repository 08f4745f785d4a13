// SPDX-License-Identifier: Apache-2.0
// What [cpu.cost] and [cpu.cycles] are fitted to and judged by: a line for each kernel call of each
// model, with the instructions that it took on an emulated board, the cycles that they are
// estimated to take on the target's core (0: no model of it), and what the target's cost model
// predicts of both. docs/cpu-cost.md
//
//   cpu_cost [--packed|--least|--compiled] TARGET BOARD MODEL.pt2... > calls.csv
//
// --packed: with packed weights, and all scratch that calls use. --least: as they are at the peak,
// for models of one layer. --compiled: as `deuteron compile` has them, of a quantized model. Of a
// target file that `calibrate-target` wrote on that board `predicted` is what it says. Float models
// get seeded random data for their ranges and for the run; what cannot be compiled or run is told
// on standard error and left out.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <random>

#include "base/tensor/elements.h"
#include "boards/board.h"
#include "boards/cycles/estimate_cycles.h"
#include "boards/emulate.h"
#include "compile/compilation.h"
#include "compile/compile.h"
#include "compile/cost/cpu_cost.h"
#include "compile/cost/loop_work.h"
#include "compile/options.h"
#include "frontends/read_graph.h"
#include "targets/target.h"

using namespace deuteron;

// Elements between -1 and 1; integers are 0, an index of any table.
static std::vector<float> made_up(const Type& type, std::mt19937& bits) {
  std::vector<float> values(static_cast<size_t>(type.elements()));
  for (float& v : values)
    v = type.dtype == DType::f32 ? static_cast<float>(bits() >> 8) * 0x1p-23f - 1.0f : 0.0f;
  return values;
}

static void complain(const std::string& model, const Diagnostics& diagnostics) {
  for (const Diagnostic& d : diagnostics.list())
    if (d.severity == Severity::error)
      return fmt::print(stderr, "{}: left out: {}\n", model, format_diagnostic(d));
}

// "1x8x8x16 16x3x3x1 > 1x8x8x16", as far as they are no scratch.
static std::string shapes_of(const Graph& g, const Node& node) {
  std::string text;
  const auto add = [&](ValueId v) {
    if (g.type(v).dtype != DType::u8) text += fmt::format("{} ", fmt::join(g.type(v).shape, "x"));
  };
  for (const ValueId v : node.inputs) add(v);
  text += "> ";
  for (const ValueId v : node.outputs) add(v);
  return text.substr(0, text.size() - 1);
}

enum class Calls { plain, packed, least, compiled };

static CompileOptions options_of(Calls calls) {
  CompileOptions options;
  options.packed_weights = calls != Calls::plain;
  if (calls == Calls::compiled) return options;
  options.packed_growth_percent = 1000;  // the shape is what counts, not the room for it
  if (calls == Calls::packed) options.skip_passes = {"fit-scratch"};
  if (calls == Calls::least) options.scratch_growth_percent = 0, options.ports = PortTypes::steps;
  return options;
}

static void measure(const std::string& model, const Target& target, const char* board,
                    Calls calls) {
  Diagnostics diagnostics;
  std::optional<Graph> graph = read_graph(model, diagnostics);
  if (!graph) return complain(model, diagnostics);
  std::mt19937 bits(7);
  Samples samples(calls == Calls::compiled ? 0 : 4);
  for (auto& sample : samples)
    for (const Port& port : graph->inputs) sample.push_back(made_up(graph->type(port.value), bits));
  std::optional<Compilation> c =
      compile(std::move(*graph), target, samples, options_of(calls), diagnostics);
  if (!c) return complain(model, diagnostics);
  Sample stored;
  for (const Port& port : c->graph.inputs) {
    const Type& type = c->graph.type(port.value);
    const std::vector<std::byte> bytes = elements_of(made_up(type, bits), type);
    const auto* data = reinterpret_cast<const uint8_t*>(bytes.data());
    stored.emplace_back(data, data + bytes.size());
  }
  const CoreModel* const core = find_core(target.cpu);
  const EmulatedRun run =
      run_emulated(board, c->pte, {&stored, 1}, {.by_step = true, .count_blocks = core != nullptr});
  if (!run.ok) return fmt::print(stderr, "{}: left out: {}\n", model, format_diagnostic(run.error));
  if (run.steps.empty()) return;  // nothing is called
  std::optional<CycleEstimate> cycles;
  if (core)
    cycles = estimate_cycles(*core, find_board(emulated_boards(), board)->image, run, diagnostics);
  if (core && !cycles) return complain(model, diagnostics);
  size_t k = 0;
  for (const Node& node : c->graph.nodes) {
    if (!std::holds_alternative<KernelCall>(node.op)) continue;
    const CpuWork w = cpu_work(c->graph, node);
    const std::vector<std::string> lines = cost_lines(c->graph, node, w);
    const auto text = [](std::optional<i64> v) { return v ? std::to_string(*v) : std::string(); };
    const std::optional<LoopWork> loops = loop_work(c->graph, node, target.isa);
    fmt::print("{},{},{},{},{},{},{},{},{},{},{:.0f},{},{},{}\n", model, lines[0], w.macs,
               w.results, w.operands, w.taps, w.constants, w.windows,
               run.steps.at(0).at(k).instructions,
               text(target.measured.empty() ? cpu_instructions(lines, w, target)
                                            : cpu_cycles(c->graph, node, target)),
               cycles ? cycles->calls.at(k).cycles : 0.0, text(cpu_cycles(c->graph, node, target)),
               loops ? loops->kernel : "", shapes_of(c->graph, node));
    ++k;
  }
}

int main(int argc, char** argv) {
  const std::string_view option = argc > 1 ? argv[1] : "";
  const Calls calls = option == "--packed"     ? Calls::packed
                      : option == "--least"    ? Calls::least
                      : option == "--compiled" ? Calls::compiled
                                               : Calls::plain;
  if (calls != Calls::plain) ++argv, --argc;
  if (argc < 4)
    return fmt::print(stderr, "cpu_cost [--packed|--least|--compiled] TARGET BOARD MODEL...\n"), 2;
  Diagnostics diagnostics;
  const std::optional<Target> target = find_target(argv[1], diagnostics);
  if (!target) return complain(argv[1], diagnostics), 1;
  fmt::print(
      "model,line,macs,results,operands,taps,constants,windows,instructions,predicted,cycles,"
      "predicted_cycles,loops,shapes\n");
  for (int k = 3; k < argc; ++k) measure(argv[k], *target, argv[2], calls);
}
