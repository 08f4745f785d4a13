// What a target is: data read from a `.toml` file, built in or the user's own.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "backends/neutron_model/microcode.h"
#include "ir/diagnostic.h"
#include "ops/npu.h"
#include "runtime/deuteron.h"

namespace deuteron {

struct MemoryRegion {
  std::string name;
  int64_t bytes = 0;
  std::vector<std::string> holds;  // "activations", "constants"
};

// The NPU, where a target has one.
struct Npu {
  std::string family;  // "neutron-n3"
  NpuLimits limits;
  neutron::Machine machine;  // clock_hz is that of the CPU: they share it
};

struct Target {
  std::string name;  // "cortex-m55"
  std::string description;
  std::vector<std::string> backends;  // in order of preference: "neutron", "cortex_m"
  std::string cpu;                    // "cortex-m55"
  Isa isa = Isa::scalar;
  int64_t clock_hz = 0;
  std::vector<MemoryRegion> memories;  // empty: not limited
  std::optional<Npu> npu;              // exactly when "neutron" is among the backends
  std::string file;                    // where it was read from

  bool has_backend(std::string_view backend) const;
};

// `name` is a built-in target (a suffix `+int8` is accepted and ignored) or a path that ends in `.toml`. Unknown names offer the nearest.
std::optional<Target> find_target(const std::string& name, Diagnostics& diagnostics);
std::vector<Target> builtin_targets();
std::optional<Target> parse_target(std::string_view toml, const std::string& file, Diagnostics& diagnostics);

}  // namespace deuteron
