// SPDX-License-Identifier: Apache-2.0
// The lines of [cpu.cost] that price calls by their kernels' loops (compile/cost/loop_work.h), and
// those of kernels without: the calibration networks run on an emulated board, and each line is
// fitted to the cycles that the target's core is estimated to take, or to instructions where the
// target has no [cpu.cycles]. docs/cpu-cost.md,
// "Where the numbers come from"
//
//   loop_costs TARGET BOARD > lines.toml
#include <fmt/format.h>

#include <set>
#include <sstream>

#include "boards/board.h"
#include "boards/cycles/estimate_cycles.h"
#include "boards/emulate.h"
#include "compile/measured_calls.h"
#include "targets/show_target.h"
#include "targets/target.h"

using namespace deuteron;

static bool has_loops(const std::string& line) { return line.find('@') != line.npos; }

int main(int argc, char** argv) {
  if (argc != 3) return fmt::print(stderr, "loop_costs TARGET BOARD\n"), 2;
  Diagnostics diagnostics;
  const auto fail = [&] {
    for (const Diagnostic& d : diagnostics.list()) fmt::print(stderr, "{}\n", format_diagnostic(d));
    return 1;
  };
  const std::optional<Target> target = find_target(argv[1], diagnostics);
  const Board* board = find_board(emulated_boards(), argv[2]);
  if (!target || !board) return fail();
  const CoreModel* const core = target->cpu_cycles.empty() ? nullptr : find_core(target->cpu);
  Measurement m;
  const auto time_calls = [&](const Compilation& c, std::span<const Sample> samples) {
    EmulateOptions options;
    options.by_step = true, options.count_blocks = core != nullptr;
    const EmulatedRun run = run_emulated(argv[2], c.pte, samples.first(1), options);
    TimedCalls timed;
    if (!run.ok) return timed.error = run.error, timed;
    if (!core) {
      for (const StepCount& step : run.steps.at(0))
        timed.cycles.push_back(static_cast<double>(step.instructions));
      return timed;
    }
    const std::optional<CycleEstimate> estimate =
        estimate_cycles(*core, board->image, run, diagnostics);
    if (!estimate) return timed.error = diagnostics.list().at(0), timed;
    for (const auto& call : estimate->calls)
      timed.cycles.push_back(static_cast<double>(call.cycles));
    return timed;
  };
  if (!measure_calls(argv[2], *target, time_calls, m, diagnostics)) return fail();
  const CostFit fit = fit_cost(all_calls(m), *target);
  const auto name_of = [](const std::string& line) { return line.substr(0, line.find('/')); };
  std::set<std::string> with_loops, wanted;
  for (size_t k = 0; k < m.calls.size(); k++)
    if (m.loops[k]) with_loops.insert(name_of(m.calls[k].lines.at(0)));
  for (const CostFit::Line& l : fit.lines) {
    if (!l.is_fitted || with_loops.contains(name_of(l.kernel))) continue;
    wanted.insert(l.kernel);
    fmt::print(stderr, "{:<48} {:>5}  {:>5.1f} %  {:>5.1f} %\n", l.kernel, l.calls, 100 * l.typical,
               100 * l.largest);
  }
  const auto is_unwanted = [&](const auto& line) { return !wanted.contains(line.kernel); };
  Target fitted = *target;
  fitted.cpu_cost = fit.cost, fitted.cpu_cycles = fit.cycles;
  std::erase_if(fitted.cpu_cost, is_unwanted), std::erase_if(fitted.cpu_cycles, is_unwanted);
  std::erase_if(fitted.cpu_cycles,
                [&](const auto& line) { return !core || has_loops(line.kernel); });
  std::istringstream text(target_as_toml(fitted, {}));
  for (std::string line; std::getline(text, line);)
    if (line.starts_with('"') || line.starts_with("[cpu.c")) fmt::print("{}\n", line);
}
