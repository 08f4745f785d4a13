// SPDX-License-Identifier: Apache-2.0
#include "compile/measured_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "base/watch.h"
#include "compile/cost/cpu_cost.h"
#include "compile/cost/loop_work.h"
#include "targets/target.h"

namespace deuteron {
namespace {

constexpr const char* kNameTheCore = "--target names this core, or a chip that has it";

// A byte of steps: the mean of four, as values of networks lie about their middle. What
// exponentials take depends on it.
uint8_t bell_shaped(std::mt19937& bits) {
  const auto four = static_cast<uint32_t>(bits());
  return static_cast<uint8_t>(
      ((four & 0xff) + (four >> 8 & 0xff) + (four >> 16 & 0xff) + (four >> 24)) / 4 - 128);
}

std::vector<std::vector<std::vector<uint8_t>>> made_up_samples(const Graph& graph) {
  std::mt19937 bits(11);
  std::vector<std::vector<std::vector<uint8_t>>> samples(2);
  for (auto& sample : samples)
    for (const Port& port : graph.inputs) {
      std::vector<uint8_t>& bytes = sample.emplace_back(graph.type(port.value).bytes());
      if (graph.type(port.value).dtype == DType::f32)
        for (size_t k = 0; k + 4 <= bytes.size(); k += 4) {
          const float v = made_up_number(bits);
          std::copy_n(reinterpret_cast<const uint8_t*>(&v), 4, bytes.begin() + k);
        }
      else
        for (uint8_t& b : bytes) b = bell_shaped(bits);
    }
  return samples;
}

bool is_about_room(const Diagnostic& d) {
  return d.rule == "gdb.memory" || d.rule == "board.memory";
}

// "Cortex-M4 r0p1" for cortex-m4. An emulated board has no name, and is what its target says.
bool is_core(const std::string& found, const std::string& on, const Target& target,
             Diagnostics& diagnostics) {
  std::string name = found.substr(0, found.find(' '));
  std::ranges::transform(name, name.begin(), [](char c) {
    return static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  });
  if (found.empty() || name == target.cpu) return true;
  diagnostics.error(on,
                    fmt::format("the processor is a {}, the target has a {}", found, target.cpu),
                    "gdb.core", kNameTheCore);
  return false;
}

void take_calls(const Graph& graph, const std::vector<double>& timed, Isa isa, Measurement& m) {
  size_t k = 0;
  for (const Node& node : graph.nodes) {
    if (!std::holds_alternative<KernelCall>(node.op)) continue;
    const double cycles = timed.at(k++);
    const CpuWork work = cpu_work(graph, node);
    m.calls.push_back({cost_lines(graph, node, work), work, cycles});
    const std::optional<LoopWork> loops = loop_work(graph, node, isa);
    m.loops.push_back(loops ? std::optional(MeasuredCall{{loops->kernel}, loops->work, cycles})
                            : std::nullopt);
    m.shapes.push_back("[" + to_text(graph.type(node.outputs[0]).shape) + "]");
  }
}

}  // namespace

bool measure_calls(const std::string& on, const Target& target, const TimeCalls& time_calls,
                   Measurement& m, Diagnostics& diagnostics) {
  const std::vector<CalibrationNetwork> networks = calibration_networks();
  int64_t done = 0;
  for (const CalibrationNetwork& network : networks) {
    if (!is_for(network, target)) continue;
    const std::optional<Compilation> c = compile_network(network, target, diagnostics);
    if (!c) return false;
    note_progress("measuring calls", done++, static_cast<int64_t>(networks.size()));
    const TimedCalls there = time_calls(*c, made_up_samples(c->graph));
    if (there.error && is_about_room(*there.error)) {
      m.left_out.push_back(*there.error);
      continue;
    }
    if (there.error) {
      Diagnostic why = *there.error;
      if (why.rule == "gdb.core") why.fix = kNameTheCore;  // the program is none of the user's
      return diagnostics.add(std::move(why)), false;
    }
    if (!is_core(there.core, on, target, diagnostics)) return false;
    m.core = there.core, m.clock = there.clock;
    take_calls(c->graph, there.cycles, target.isa, m);
  }
  if (m.calls.empty()) {
    diagnostics.add(m.left_out.at(0));
    return false;
  }
  if (std::ranges::none_of(m.calls, [](const MeasuredCall& call) { return call.cycles > 0; })) {
    diagnostics.error(on, "nothing counts cycles there", "profile.clock",
                      "a Cortex-M0 has its counter with --flash alone");
    return false;
  }
  return true;
}

std::vector<MeasuredCall> all_calls(const Measurement& m) {
  std::vector<MeasuredCall> all = m.calls;
  for (const std::optional<MeasuredCall>& call : m.loops)
    if (call) all.push_back(*call);
  return all;
}

}  // namespace deuteron
