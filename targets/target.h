// SPDX-License-Identifier: Apache-2.0
// What a target is: a recipe, data read from a `.toml` file, built in or the user's own.
// docs/rt700.md
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"
#include "kernels/common/cmsis_nn.h"
#include "npu/neutron/machine/machine.h"
#include "ops/npu.h"
#include "runtime/deuteron.h"
#include "targets/cpu_cost.h"

namespace deuteron {

struct MemoryRegion {
  std::string name;
  int64_t bytes = 0;               // 0: not limited
  std::vector<std::string> holds;  // "activations", "scratch", "states", "constants"
  std::vector<std::string> reach;  // who can read and write it: "cpu", "npu"
  // what the CPU reads of it in a cycle, in 1/256; 0: it does not wait
  int64_t bytes_per_cycle_q8 = 0;
  // what it writes; the same as it reads, unless the file says otherwise
  int64_t write_bytes_per_cycle_q8 = 0;
  // Instead of a speed: cycles that a line of so many bytes is waited for, and what the caches
  // before the memory hold of constants (-1: whatever one call reads again)
  int64_t wait_states = 0, line_bytes = 0, cache_bytes = -1;
  bool is_flash = false;  // keeps what it holds without power, and no program writes it
  bool does_hold(std::string_view what) const;
  bool is_planned() const;  // tensors may lie in it
  bool is_reached_by(std::string_view processor) const;
  bool operator==(const MemoryRegion&) const = default;
};

// What a call of the NPU costs beside its kernels.
struct NpuCrossing {
  i64 call_cycles = 0, port_cycles = 0;
  i64 line_bytes = 0, line_cycles = 0;  // of the cache
  bool operator==(const NpuCrossing&) const = default;
};

// The NPU, where a target has one.
struct Npu {
  std::string family;  // "neutron-n3"
  std::string sdk;     // "3.2": the version of the vendor's converter that has these limits
  NpuLimits limits;
  neutron::Machine machine;  // clock_hz is that of the CPU: they share it
  NpuCrossing crossing;
};

// What a recipe sets where the command line says nothing.
struct RecipeOptions {
  // [options.neutron]: "npu": wherever possible; "auto": unless its form of an operator costs
  // accuracy, and but for small parts that cost more than they save; "fastest": where the cost
  // models say so
  std::string prefer = "auto";
  i64 min_macs = 0;                  // the same
  bool fetch_constants = false;      // the same
  std::string dialect = "deuteron";  // [options.cortex_m]
  bool operator==(const RecipeOptions&) const = default;
  bool is_for_stock() const { return dialect == "stock"; }
};

struct Target {
  std::string name;  // "cortex-m55"
  std::string description;
  std::vector<std::string> backends;  // in order of preference: "neutron", "cortex_m"
  std::string cpu;                    // "cortex-m55"
  Isa isa = Isa::scalar;
  int64_t clock_hz = 0;
  std::vector<MemoryRegion> memories;       // empty: not limited
  std::optional<Npu> npu;                   // exactly when "neutron" is among the backends
  std::vector<CpuKernelCost> cpu_cost;      // [cpu.cost]; empty: cycles of the CPU are not known
  std::vector<CpuKernelCycles> cpu_cycles;  // [cpu.cycles]; empty: one instruction a cycle
  std::string measured;  // of `deuteron calibrate-target`: on which chip both were; "": estimated
  RecipeOptions options;
  CmsisNn cmsis_nn = CmsisNn::at_dbf45dbf;  // [stock]: of stock firmware that may run the program
  std::string file;                         // where it was read from
  std::vector<std::string> extends;  // every file that it takes from, as named, the nearest first

  bool has_backend(std::string_view backend) const;
};

// `name` is a built-in target (in any case, with `+int8` behind it or the `f` of `cortex-m4f`) or a
// path that ends in `.toml`. Unknown names offer the nearest. `option`: of the command line, where
// the name was given.
std::optional<Target> find_target(const std::string& name, Diagnostics& diagnostics,
                                  std::string_view option = "--target");
std::vector<Target> builtin_targets();
// The bases that they and files of the user extend: file names without `.toml`.
std::vector<std::string> builtin_bases();
std::optional<Target> parse_target(std::string_view toml, const std::string& file,
                                   Diagnostics& diagnostics);

}  // namespace deuteron
