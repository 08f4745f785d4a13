// SPDX-License-Identifier: Apache-2.0
// deuteron calibrate-target: times a fixed set of small calls on the user's chip, and writes a
// target file whose cycles are measured there. docs/cpu-cost.md, "Of your chip"
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/files/write_file.h"
#include "boards/board.h"
#include "cli/options.h"
#include "cli/output_paths.h"
#include "cli/run_on_board.h"
#include "compile/compilation.h"
#include "compile/compile.h"
#include "compile/cost/cpu_cost.h"
#include "compile/cost/fit_cost.h"
#include "compile/measured_calls.h"
#include "targets/show_target.h"
#include "targets/target.h"

namespace deuteron {
namespace {

constexpr double kNotExplained = 0.15;  // an error of a call that is told
constexpr size_t kMostTold = 8;

struct CalibrateOptions {
  std::string target, output, json;
  Where where;
  double timeout = 0;
};

TimedCalls time_on_board(const Compilation& c, const CalibrateOptions& o,
                         std::span<const Sample> samples) {
  Diagnostics diagnostics;
  const std::optional<ProgramFile> file =
      ProgramFile::read(o.target, std::as_bytes(std::span(c.pte)), diagnostics);
  if (!file) return {.cycles = {}, .core = "", .clock = "", .error = diagnostics.list().at(0)};
  EmulateOptions options;
  options.timeout_seconds = o.timeout;
  options.by_step = true;
  const BoardRun there = run_stored(*file, o.where, options, samples);
  TimedCalls timed{.cycles = {}, .core = there.core, .clock = there.clock, .error = {}};
  if (!there.run.ok) timed.error = there.run.error;
  else
    for (const StepCount& step : there.run.steps.at(1))  // caches are as after the first
      timed.cycles.push_back(static_cast<double>(step.instructions));
  return timed;
}

// An emulated board has the core of its target; others say theirs once they are asked.
bool is_board_of(const Where& where, const Target& target, Diagnostics& diagnostics) {
  const Board* board = where.is_emulated() ? find_board(emulated_boards(), where.board()) : nullptr;
  if (!board) return true;
  Diagnostics none;
  const std::optional<Target> its = find_target(std::string(board->target), none);
  if (!its || (its->cpu == target.cpu && its->isa == target.isa)) return true;
  diagnostics.error(where.on,
                    fmt::format("the board is a {}, the target has a {}", its->name, target.cpu),
                    "gdb.core", "--target names this core, or a chip that has it");
  return false;
}

std::string table_of(const CostFit& fit) {
  std::string text =
      fmt::format("{:<38} {:>5}  {:>7}  {:>7}\n", "kernel", "calls", "typical", "largest");
  for (const CostFit::Line& l : fit.lines)
    text +=
        fmt::format("{:<38} {:>5}  {:>5.1f} %  {:>5.1f} %{}\n", l.kernel, l.calls, 100 * l.typical,
                    100 * l.largest, l.is_fitted ? "" : "  (few calls: its old line, scaled)");
  return text;
}

// The calls that the fit does not explain, the worst first; all calls go to the list.
std::string not_explained(const Measurement& m, const Target& fitted, Json& list) {
  std::vector<std::pair<double, size_t>> errors;
  for (size_t k = 0; k < m.calls.size(); k++) {
    const MeasuredCall& call = m.calls[k];
    const std::optional<i64> by_loops =
        m.loops[k] ? cpu_cycles(m.loops[k]->lines, m.loops[k]->work, fitted) : std::nullopt;
    const i64 cycles = by_loops ? *by_loops : cpu_cycles(call.lines, call.work, fitted).value_or(0);
    const double error = call.cycles > 0 ? static_cast<double>(cycles) / call.cycles - 1 : 0;
    if (std::abs(error) > kNotExplained) errors.emplace_back(error, k);
    const CpuWork& w = by_loops ? m.loops[k]->work : call.work;
    list.push_back({{"kernel", call.lines[0]},
                    {"line", by_loops ? m.loops[k]->lines[0] : call.lines[0]},
                    {"result", m.shapes[k]},
                    {"macs", w.macs},
                    {"results", w.results},
                    {"operands", w.operands},
                    {"taps", w.taps},
                    {"constants", w.constants},
                    {"windows", w.windows},
                    {"lines", w.lines},
                    {"cycles", static_cast<i64>(call.cycles)},
                    {"predicted", cycles}});
  }
  std::ranges::sort(errors, {}, [](const auto& e) { return -std::abs(e.first); });
  std::string text;
  for (const auto& [error, k] : std::span(errors).first(std::min(errors.size(), kMostTold)))
    text += fmt::format("not explained: {} to {}: {:.0f} cycles, predicted {:+.0f} %\n",
                        m.calls[k].lines[0], m.shapes[k], m.calls[k].cycles, 100 * error);
  if (errors.size() > kMostTold)
    text += fmt::format("not explained: {} more\n", errors.size() - kMostTold);
  return text;
}

int calibrate_target(const CalibrateOptions& o) {
  Diagnostics diagnostics;
  std::vector<NamedPath> read;
  const std::vector<NamedPath> written = {{"-o", o.output}, {"--json", o.json}};
  if (o.target.ends_with(".toml")) read.push_back({"--target", o.target});
  if (!check_outputs(read, written, diagnostics)) return finish("", diagnostics, {}, "");
  if (o.where.is_host())
    return refuse_usage("the host has no cycles of a chip: --on gdb:HOST:PORT, serial:DEVICE");
  if (const std::string problem = check_where(o.where); !problem.empty())
    return refuse_usage(problem);
  const auto fail = [&] { return finish(o.json, diagnostics, {}, ""); };
  std::optional<Target> target = find_target(o.target, diagnostics);
  if (!target) return fail();
  if (target->npu || target->cpu_cost.empty()) {
    diagnostics.error(o.target, "only a processor without an NPU is calibrated", "chip.target",
                      "name its core, as cortex-m33");
    return fail();
  }
  if (!is_board_of(o.where, *target, diagnostics) || !may_write(o.output, diagnostics))
    return fail();
  Measurement m;
  const auto time_calls = [&](const Compilation& c, std::span<const Sample> samples) {
    return time_on_board(c, o, samples);
  };
  if (!measure_calls(o.where.on, *target, time_calls, m, diagnostics)) return fail();
  const CostFit fit = fit_cost(all_calls(m), *target);
  target->cpu_cost = fit.cost, target->cpu_cycles = fit.cycles;
  target->name = std::filesystem::path(o.output).stem().string();
  target->measured = fmt::format("{}, code and weights in {}",
                                 m.core.empty() ? o.where.on : m.core + ", " + m.clock,
                                 o.where.writes_flash ? "flash" : "RAM");
  const std::string toml = target_as_toml(*target, pass_names());
  if (!write_file(o.output, std::span(reinterpret_cast<const uint8_t*>(toml.data()), toml.size()),
                  diagnostics))
    return fail();
  Json kernels = Json::array(), calls = Json::array();
  for (const CostFit::Line& l : fit.lines)
    kernels.push_back({{"kernel", l.kernel},
                       {"calls", l.calls},
                       {"typical_error", l.typical},
                       {"largest_error", l.largest},
                       {"fitted", l.is_fitted}});
  std::string text = table_of(fit) + not_explained(m, *target, calls);
  if (!m.left_out.empty())
    text += fmt::format("left out: {}, for want of memory\n",
                        counted(static_cast<long long>(m.left_out.size()), "network"));
  text += fmt::format("{} on {} in {:.0f} s\nwrote {}\n",
                      counted(static_cast<long long>(m.calls.size()), "call"), target->measured,
                      seconds_of_process(), o.output);
  return finish(o.json, diagnostics,
                {{"target", o.target},
                 {"measured", target->measured},
                 {"networks_left_out", m.left_out.size()},
                 {"kernels", std::move(kernels)},
                 {"calls", std::move(calls)},
                 {"output", o.output}},
                text);
}

}  // namespace

void add_calibrate_target(CommandLine& line) {
  CalibrateOptions* o = nullptr;
  Verb verb = add_verb<CalibrateOptions>(
      line, "calibrate-target",
      "measure kernels on your chip, and write a target file with their costs",
      "deuteron calibrate-target --target stm32f446 --on gdb:localhost:3333 --memory stm32f446 -o "
      "mychip.toml\n  deuteron compile model.pt2 --calibrate samples/ --target mychip.toml -o "
      "model.pte",
      calibrate_target, o);
  verb.option("--target", o->target, "the chip or core to start from").value("T").required();
  add_where(verb, o->where);
  add_timeout(verb, o->timeout);
  verb.option("-o,--output", o->output, "the target file to write").value("FILE").required();
  add_json(verb, o->json);
}

}  // namespace deuteron
