// SPDX-License-Identifier: Apache-2.0
// Prints the machine's cycles by kernel for MobileNetV1 1.0 at 224, next to the published
// measurement, and how long the model takes on this host. The table of docs/neutron-machine.md.
// With an argument N: N bytes a cycle * 256 that constants are fetched with.
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <map>
#include <vector>

#include "npu/neutron/machine/cycles.h"
#include "npu/neutron/machine/kernel_table.h"
#include "npu/neutron/machine/memory.h"
#include "npu/neutron/machine/test_machine.h"
#include "npu/neutron/machine/test_mobilenet_v1.h"

using namespace deuteron::neutron;

namespace {

constexpr double kMeasuredMs = 53.376;  // docs/neutron-machine.md

double share(int64_t part, int64_t whole) {
  return 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

// Seconds for all kernels, on random bytes.
double seconds_on_host(const MobileNetV1& net) {
  std::vector<int8_t> input(224 * 224 * 3, 3), output(1001), scratch(MobileNetV1::kScratchBytes),
      weights(static_cast<size_t>(net.weight_bytes), 5), sram(2 * (1048576 + 12288));
  const void* inputs[] = {input.data()};
  void* outputs[] = {output.data()};
  const Memory memory = {inputs,      outputs, scratch.data(), weights.data(),
                         sram.data(), nullptr, nullptr};
  const auto start = std::chrono::steady_clock::now();
  for (const NamedCall& call : net.calls)
    neutron_kernel_table[static_cast<int32_t>(call.kind)](call.words.data(), &memory);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

int64_t cycles_of(const Machine& machine, bool fetches) {
  int64_t total = 0;
  for (const NamedCall& call : mobilenet_v1_calls(machine).calls)
    if (fetches || call.kind != Kind::kMemCpy)
      total += cost_of(machine, call.kind, call.words.data()).total();
  return total;
}

// What each assumption does to the sum, and how fast fetches would have to be for the measured time
// to come out all the same.
void print_sensitivity() {
  struct Change {
    const char* name;
    int32_t Machine::*member;
    int32_t value;
  };
  const Change changes[] = {
      {"as it is", nullptr, 0},
      {"accumulators 4", &Machine::accumulators, 4},
      {"accumulators 8", &Machine::accumulators, 8},
      {"accumulators 64", &Machine::accumulators, 64},
      {"SRAM 8 bytes a cycle", &Machine::sram_bytes_q8, 8 * 256},
      {"SRAM 32 bytes a cycle", &Machine::sram_bytes_q8, 32 * 256},
      {"set-up 500 cycles", &Machine::setup_cycles, 500},
      {"set-up 10000 cycles", &Machine::setup_cycles, 10000},
      {"tile 0 cycles", &Machine::tile_cycles, 0},
      {"tile 32 cycles", &Machine::tile_cycles, 32},
      {"depthwise 3 lanes", &Machine::depthwise_lanes, 3},
      {"depthwise 8 lanes", &Machine::depthwise_lanes, 8},
  };
  fmt::print("\n{:<24} {:>10} {:>9} {:>18}\n", "assumption", "ms", "", "fetch to fit, MB/s");
  for (const Change& change : changes) {
    Machine machine = n3_64();
    if (change.member != nullptr) machine.*change.member = change.value;
    const double clock = machine.clock_hz,
                 ms = 1e3 * static_cast<double>(cycles_of(machine, true)) / clock;
    const double left = kMeasuredMs * 1e-3 - static_cast<double>(cycles_of(machine, false)) / clock;
    const auto bytes = static_cast<double>(mobilenet_v1_calls(machine).weight_bytes);
    fmt::print("{:<24} {:>10.3f} {:>+8.1f}% {:>18.0f}\n", change.name, ms,
               100 * (ms / kMeasuredMs - 1), left > 0 ? bytes / left / 1e6 : INFINITY);
  }
}

}  // namespace

int main() {
  const Machine machine = n3_64();
  const MobileNetV1 net = mobilenet_v1_calls(machine);
  fmt::print("{:<14} {:<22} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>6}  {}\n", "layer", "kernel",
             "compute", "weights", "activ.", "setup", "fetch", "total", "MACs %", "held by");
  Cost sum;
  int64_t total = 0;
  std::map<std::string, int64_t> by_kind;
  Cost fetch;
  for (const NamedCall& call : net.calls) {
    Cost cost = cost_of(machine, call.kind, call.words.data());
    total += cost.total();
    by_kind[name_of(call.kind)] += cost.total();
    sum.macs += cost.macs;
    if (call.kind == Kind::kMemCpy) {  // shown with the kernel that it is for
      fetch = cost;
      continue;
    }
    cost.fetch += fetch.fetch;
    cost.setup += fetch.setup;
    fetch = {};
    fmt::print("{:<14} {:<22} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>6.1f}  {}\n", call.layer,
               name_of(call.kind), cost.compute, cost.weights, cost.activations, cost.setup,
               cost.fetch, cost.total(), share(cost.macs, 64 * cost.total()),
               name_of(cost.bound()));
  }
  for (const auto& [name, cycles] : by_kind)
    fmt::print("{:<22} {:>9} cycles {:>5.1f} %\n", name, cycles, share(cycles, total));
  const double ms = 1e3 * static_cast<double>(total) / machine.clock_hz;
  fmt::print(
      "{} cycles, {:.3f} ms at {} MHz (measured: {} ms, {:+.1f} %); {:.1f} M multiply-adds, {:.1f} "
      "% of 64 a cycle\n",
      total, ms, machine.clock_hz / 1000000, kMeasuredMs, 100 * (ms / kMeasuredMs - 1),
      static_cast<double>(sum.macs) / 1e6, share(sum.macs, 64 * total));
  const int64_t compute = total - by_kind["MemCpy"];
  fmt::print(
      "without fetches: {} cycles, {:.3f} ms, {:.1f} % of 64 a cycle; SRAM weight scratch {} bytes "
      "(the vendor's converter: 1082368)\n",
      compute, 1e3 * static_cast<double>(compute) / machine.clock_hz, share(sum.macs, 64 * compute),
      net.sram_bytes);
  print_sensitivity();
  fmt::print("\ncomputed on this host in {:.3f} s\n", seconds_on_host(net));
}
