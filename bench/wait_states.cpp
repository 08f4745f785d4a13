// SPDX-License-Identifier: Apache-2.0
// calibrate-target on a machine whose costs are known: an emulated board where each instruction
// takes a cycle and memories wait (boards/cycles/block_counts.c). The calibration networks are
// timed and fitted as by the verb, and the calls of other models, as `deuteron compile` has them,
// are predicted. docs/cpu-cost.md, "Of your chip"
//
//   wait_states TARGET BOARD MODEL.pt2...
//
// MODEL is quantized. A line for each kind of memory: what constants wait, and tensors, in cycles
// for a line of so many bytes; how much of the models' time that is; the errors of different calls.
// Then what the models wait for tensors alone, and what the compiler says of it.
#include <fmt/format.h>

#include <random>
#include <set>

#include "base/tensor/elements.h"
#include "boards/emulate.h"
#include "compile/compile.h"
#include "compile/cost/cpu_cost.h"
#include "compile/cost/program_cost.h"
#include "compile/measured_calls.h"
#include "compile/options.h"
#include "frontends/read_graph.h"
#include "targets/target.h"

using namespace deuteron;

static EmulatedRun run_with(const MemoryWaits& waits, const char* board, const Compilation& c,
                            std::span<const Sample> samples) {
  EmulateOptions options;
  options.by_step = options.count_blocks = true;
  options.waits = waits;
  return run_emulated(board, c.pte, samples, options);
}

static std::vector<Sample> made_up_samples(const Graph& graph) {
  std::mt19937 bits(7);
  std::vector<Sample> samples(2);
  for (Sample& sample : samples)
    for (const Port& port : graph.inputs) {
      const Type& type = graph.type(port.value);
      std::vector<float> values(static_cast<size_t>(type.elements()));
      for (float& v : values) v = static_cast<float>(bits() >> 8) * 0x1p-23f - 1.0f;
      const std::vector<std::byte> bytes = elements_of(values, type);
      const auto* data = reinterpret_cast<const uint8_t*>(bytes.data());
      sample.emplace_back(data, data + bytes.size());
    }
  return samples;
}

struct Errors {
  std::set<std::pair<std::string, i64>> seen;  // calls that are predicted differently
  std::vector<double> errors;
  double cycles = 0, at_once = 0;
};

static std::optional<Compilation> compiled(const std::string& model, const Target& target) {
  Diagnostics diagnostics;
  std::optional<Graph> graph = read_graph(model, diagnostics);
  CompileOptions options;
  options.packed_weights = true;
  std::optional<Compilation> c;
  if (graph) c = compile(std::move(*graph), target, {}, options, diagnostics);
  if (!c) fmt::print(stderr, "{}: left out\n", model);
  return c;
}

static void add_model(const std::string& model, const Target& target, const char* board,
                      const MemoryWaits& waits, Errors& e) {
  const std::optional<Compilation> c = compiled(model, target);
  if (!c) return;
  const std::vector<Sample> samples = made_up_samples(c->graph);
  const EmulatedRun run = run_with(waits, board, *c, samples),
                    at_once = run_with({}, board, *c, samples);
  if (!run.ok || !at_once.ok) return fmt::print(stderr, "{}: left out\n", model);
  size_t k = 0;
  for (const Node& node : c->graph.nodes) {
    if (!std::holds_alternative<KernelCall>(node.op)) continue;
    const double cycles = static_cast<double>(run.steps.at(1).at(k).instructions);
    e.cycles += cycles;
    e.at_once += static_cast<double>(at_once.steps.at(1).at(k++).instructions);
    const std::optional<i64> predicted = cpu_cycles(c->graph, node, target);
    const std::string line = cost_lines(c->graph, node, cpu_work(c->graph, node))[0];
    if (!predicted || cycles == 0 || !e.seen.insert({line, *predicted}).second) continue;
    e.errors.push_back(static_cast<double>(*predicted) / cycles - 1);
    if (std::abs(e.errors.back()) > 0.15)
      fmt::print(stderr, "{} {}: {:.0f} cycles, predicted {:+.0f} %\n", model, line, cycles,
                 100 * e.errors.back());
  }
}

// What the CPU waits where each 4 bytes of RAM take a cycle more, and what program_cost() says.
static void compare_ram(const std::string& model, Target target, const char* board) {
  const std::optional<Compilation> c = compiled(model, target);
  if (!c) return;
  const std::vector<Sample> samples = made_up_samples(c->graph);
  const EmulatedRun run = run_with({{}, {1, 4}}, board, *c, samples),
                    at_once = run_with({}, board, *c, samples);
  if (!run.ok || !at_once.ok) return fmt::print(stderr, "{}: left out\n", model);
  i64 waited = 0;
  for (size_t k = 0; k < run.steps.at(1).size(); k++)
    waited += static_cast<i64>(run.steps[1][k].instructions - at_once.steps.at(1)[k].instructions);
  MemoryRegion ram{.name = "ram", .holds = {"activations"}, .reach = {"cpu"}};
  ram.bytes_per_cycle_q8 = ram.write_bytes_per_cycle_q8 = 4 * 256;
  target.memories = {ram};
  fmt::print("{} | {} | {}\n", model, waited, program_cost(c->graph, 0, target).tensor_wait);
}

int main(int argc, char** argv) {
  if (argc < 4) return fmt::print(stderr, "wait_states TARGET BOARD MODEL...\n"), 2;
  static constexpr MemoryWaits kMemories[] = {
      {}, {{5, 8}, {}}, {{8, 16}, {}}, {{3, 4}, {1, 4}}, {{12, 32}, {4, 32}}};
  fmt::print(
      "constants, tensors: cycles/bytes | waits | calls | half within | all within | over 15 %\n");
  for (const MemoryWaits& waits : kMemories) {
    Diagnostics diagnostics;
    std::optional<Target> target = find_target(argv[1], diagnostics);
    if (!target) return fmt::print(stderr, "{}: no target\n", argv[1]), 1;
    Measurement m;
    const auto time_calls = [&](const Compilation& c, std::span<const Sample> samples) {
      const EmulatedRun run = run_with(waits, argv[2], c, samples);
      TimedCalls timed;
      if (!run.ok) return timed.error = run.error, timed;
      for (const StepCount& step : run.steps.at(1))
        timed.cycles.push_back(static_cast<double>(step.instructions));
      return timed;
    };
    if (!measure_calls(argv[2], *target, time_calls, m, diagnostics))
      return fmt::print(stderr, "{}\n", format_diagnostic(diagnostics.list().at(0))), 1;
    const CostFit fit = fit_cost(all_calls(m), *target);
    target->cpu_cost = fit.cost, target->cpu_cycles = fit.cycles, target->measured = argv[2];
    Errors e;
    for (int k = 3; k < argc; k++) add_model(argv[k], *target, argv[2], waits, e);
    if (e.errors.empty()) return 1;
    std::ranges::sort(e.errors, {}, [](double v) { return std::abs(v); });
    const auto over = std::ranges::count_if(e.errors, [](double v) { return std::abs(v) > 0.15; });
    fmt::print("{}/{}, {}/{} | {:.0f} % | {} | {:.1f} % | {:.0f} % | {}\n", waits.constants.cycles,
               waits.constants.line_bytes, waits.variables.cycles, waits.variables.line_bytes,
               100 * (1 - e.at_once / e.cycles), e.errors.size(),
               100 * std::abs(e.errors[e.errors.size() / 2]), 100 * std::abs(e.errors.back()),
               over);
    std::fflush(stdout);
  }
  Diagnostics diagnostics;
  const std::optional<Target> target = find_target(argv[1], diagnostics);
  fmt::print("\nmodel | waited for tensors, a cycle for 4 bytes | predicted\n");
  for (int k = 3; k < argc; k++) compare_ram(argv[k], *target, argv[2]);
}
