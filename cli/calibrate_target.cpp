// SPDX-License-Identifier: Apache-2.0
// deuteron calibrate-target: times a fixed set of small calls on the user's chip, and writes a
// target file whose cycles are measured there. docs/cpu-cost.md, "Of your chip"
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <random>

#include "base/files/write_file.h"
#include "boards/emulate.h"
#include "cli/calibration_networks.h"
#include "cli/options.h"
#include "cli/output_paths.h"
#include "cli/run_on_board.h"
#include "compile/compilation.h"
#include "compile/compile.h"
#include "compile/cost/cpu_cost.h"
#include "compile/cost/fit_cost.h"
#include "compile/cost/loop_work.h"
#include "compile/options.h"
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

struct Measurement {
  std::vector<MeasuredCall> calls;
  std::vector<std::optional<MeasuredCall>> loops;  // the same as loop_work()
  std::vector<std::string> shapes;                 // of the calls: "[1,6,5,24]"
  std::string core, clock;
  std::vector<Diagnostic> left_out;  // networks that the chip has no room for
};

// From -1 to 1.
float made_up(std::mt19937& bits) { return static_cast<float>(bits() >> 8) * 0x1p-23f - 1.0f; }

// Null: with a diagnostic.
std::optional<Compilation> compile_network(const CalibrationNetwork& network, const Target& target,
                                           Diagnostics& diagnostics) {
  std::optional<Graph> graph = graph_of(network, diagnostics);
  if (!graph) return std::nullopt;
  std::mt19937 bits(7);
  Samples samples(2);
  for (auto& sample : samples)
    for (const Port& port : graph->inputs)
      for (float& v : sample.emplace_back(graph->type(port.value).elements())) v = made_up(bits);
  CompileOptions options;
  options.packed_weights = !network.is_plain && !target.options.is_for_stock();
  options.packed_growth_percent = 1000;  // the calls are what counts
  for (size_t k = 0; network.is_float && k < network.layers.size(); k++)
    options.layers.push_back({fmt::format("y{}", k), NamedPrecision::in_float});
  if (network.has_scratch) options.skip_passes = {"fit-scratch"};
  options.quantize.observer = Observer::min_max;
  if (!network.has_floats) options.ports = PortTypes::steps;
  return compile(std::move(*graph), target, samples, options, diagnostics);
}

// The second inference is taken, call by call: caches are as after the first.
std::optional<BoardRun> time_calls(const Compilation& c, const CalibrateOptions& o,
                                   Diagnostics& diagnostics) {
  const std::optional<ProgramFile> file =
      ProgramFile::read(o.target, std::as_bytes(std::span(c.pte)), diagnostics);
  if (!file) return std::nullopt;
  std::mt19937 bits(11);
  std::vector<Sample> samples(2);
  for (Sample& sample : samples)
    for (const Port& port : c.graph.inputs) {
      std::vector<uint8_t>& bytes = sample.emplace_back(c.graph.type(port.value).bytes());
      if (c.graph.type(port.value).dtype == DType::f32)
        for (size_t k = 0; k + 4 <= bytes.size(); k += 4) {
          const float v = made_up(bits);
          std::copy_n(reinterpret_cast<const uint8_t*>(&v), 4, bytes.begin() + k);
        }
      else
        for (uint8_t& b : bytes) b = static_cast<uint8_t>(bits() >> 24);
    }
  EmulateOptions options;
  options.timeout_seconds = o.timeout;
  options.by_step = true;
  return run_stored(*file, o.where, options, samples);
}

bool is_about_room(const Diagnostic& d) {
  return d.rule == "gdb.memory" || d.rule == "board.memory";
}

// "Cortex-M4 r0p1" for cortex-m4. An emulated board has no name, and is what its target says.
bool is_core(const std::string& found, const CalibrateOptions& o, const Target& target,
             Diagnostics& diagnostics) {
  std::string name = found.substr(0, found.find(' '));
  std::ranges::transform(name, name.begin(), [](char c) {
    return static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  });
  if (found.empty() || name == target.cpu) return true;
  diagnostics.error(o.where.on,
                    fmt::format("the processor is a {}, the target has a {}", found, target.cpu),
                    "gdb.core", "--target names this core, or a chip that has it");
  return false;
}

// False: with a diagnostic.
bool measure(const CalibrateOptions& o, const Target& target, Measurement& m,
             Diagnostics& diagnostics) {
  const std::vector<CalibrationNetwork> networks = calibration_networks();
  Progress progress("calls", static_cast<long long>(networks.size()));
  long long done = 0;
  for (const CalibrationNetwork& network : networks) {
    progress.at(done++);
    const std::optional<Compilation> c = compile_network(network, target, diagnostics);
    if (!c) return false;
    const std::optional<BoardRun> there = time_calls(*c, o, diagnostics);
    if (!there) return false;
    if (!there->run.ok) {
      if (!is_about_room(there->run.error)) return diagnostics.add(there->run.error), false;
      m.left_out.push_back(there->run.error);
      continue;
    }
    if (!is_core(there->core, o, target, diagnostics)) return false;
    m.core = there->core, m.clock = there->clock;
    size_t k = 0;
    for (const Node& node : c->graph.nodes) {
      if (!std::holds_alternative<KernelCall>(node.op)) continue;
      const double cycles = static_cast<double>(there->run.steps.at(1).at(k++).instructions);
      const CpuWork work = cpu_work(c->graph, node);
      m.calls.push_back({cost_lines(c->graph, node, work), work, cycles});
      const std::optional<LoopWork> loops = loop_work(c->graph, node, target.isa);
      m.loops.push_back(loops ? std::optional(MeasuredCall{{loops->kernel}, loops->work, cycles})
                              : std::nullopt);
      m.shapes.push_back("[" + to_text(c->graph.type(node.outputs[0]).shape) + "]");
    }
  }
  if (m.calls.empty()) {
    diagnostics.add(m.left_out.at(0));
    return false;
  }
  if (std::ranges::none_of(m.calls, [](const MeasuredCall& call) { return call.cycles > 0; })) {
    diagnostics.error(o.where.on, "nothing counts cycles there", "profile.clock",
                      "a Cortex-M0 has its counter with --flash alone");
    return false;
  }
  return true;
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
    const CpuWork& w = call.work;
    list.push_back({{"kernel", call.lines[0]},
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
  Measurement m;
  if (!measure(o, *target, m, diagnostics)) return fail();
  std::vector<MeasuredCall> all = m.calls;
  for (const std::optional<MeasuredCall>& call : m.loops)
    if (call) all.push_back(*call);
  const CostFit fit = fit_cost(all, *target);
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
      "measure what kernels cost on your chip, and write a target file that predicts with it",
      "deuteron calibrate-target --target stm32f446 --on gdb:localhost:3333 --memory stm32f446 -o "
      "mychip.toml\n  deuteron compile model.pt2 --calibrate samples/ --target mychip.toml -o "
      "model.pte",
      calibrate_target, o);
  verb.option("--target", o->target, "the chip or its core: what mychip.toml begins as")
      .value("T")
      .required();
  add_where(verb, o->where);
  add_timeout(verb, o->timeout);
  verb.option("-o,--output", o->output, "the target file to write").value("FILE").required();
  add_json(verb, o->json);
}

}  // namespace deuteron
