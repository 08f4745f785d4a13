// SPDX-License-Identifier: Apache-2.0
// The converter of the open machine: Neutron IR (an int8 TFLite model) to a TFLite model with the
// one custom operator `NeutronGraph`, which carries microcode, weights and kernels. The vendor's
// converter has the same border; external_converter.h runs that one.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "npu/neutron/converter/operation.h"
#include "npu/neutron/machine/cycles.h"
#include "npu/neutron/machine/microcode.h"

namespace deuteron::neutron {

struct ConvertOptions {
  Machine machine;
  bool fetch_constants_to_sram = false;
  bool profile = false;  // payload version 1
  // false: every operator a call of its own, nothing shares memory; for comparison
  bool fuse = true;
};

// Kernels that the open machine is assumed to have, and of which the vendor's public texts do not
// speak: docs/neutron-machine.md.
constexpr bool is_assumed(Kind kind) {
  return kind == Kind::kConv2DStandardV1Pool || kind == Kind::kConv2DStandardV2Pool ||
         kind == Kind::kConv2DPointwisePool || kind == Kind::kConv2DAdd;
}

struct KernelUse {
  Kind kind{};
  std::vector<i32>
      ops;    // TFLite operators that it computes, or (MemCpy) whose constants it fetches
  Cost cost;  // cost.macs: its multiply-adds
  i64 apart_cycles = 0;  // EncodedCall::apart_cycles
};

struct Converted {
  std::vector<u8> model;              // TFLite, with the NeutronGraph
  std::vector<KernelUse> kernels;     // in the order of execution: the kernel index of a profile
  std::vector<Vanished> vanished;     // operators that need no kernel, or none of their own
  std::vector<std::string> op_names;  // by TFLite operator
  i64 microcode_bytes = 0, weights_bytes = 0, scratch_bytes = 0, sram_bytes = 0;
};

// `neutron_ir` must be aligned to 8 bytes.
std::optional<Converted> convert(std::span<const u8> neutron_ir, const ConvertOptions& options,
                                 Diagnostics& diagnostics);

inline constexpr const char* kNeutronGraph = "NeutronGraph";  // the custom code

}  // namespace deuteron::neutron
