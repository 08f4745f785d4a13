// SPDX-License-Identifier: Apache-2.0
// The bytes that the Neutron delegate gets: a header, then microcode, weights and kernels, each
// padded to 16 bytes. Facts: ExecuTorch's backends/nxp/runtime/NeutronBackend.cpp and
// nxp_backend.py, version 1.5.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "base/tensor/type.h"

namespace deuteron::neutron {

struct PayloadHeader {
  std::vector<u8> input_flags, output_flags;  // 1: channels-last in the NPU's tensor, to be
                                              // permuted from a contiguous one; 0: as it is
  std::vector<u8> input_map;   // by NeutronGraph input: index of the delegate's input argument
  std::vector<u8> output_map;  // by NeutronGraph output: index among the delegate's outputs
  u8 arguments = 0;            // input arguments of the delegate, unused ones too
  u8 version = 0;              // 1: with profile and debug buffers
  bool operator==(const PayloadHeader&) const = default;
};

struct Sections {
  std::vector<u8> microcode, weights, kernels;
};

// What the microcode says about itself, in the words that the vendor's runtime reads.
struct MicrocodeFacts {
  i64 microcode_bytes = 0, weights_bytes = 0, kernels_bytes = 0, scratch_bytes = 0,
      profile_bytes = 0, debug_bytes = 0, sram_bytes = 0;
  i64 inputs = 0, outputs = 0;
};
// Empty: too short, wrong magic. `version` as in the payload.
std::optional<MicrocodeFacts> read_facts(std::span<const u8> microcode, u8 version,
                                         const std::string& where, Diagnostics& diagnostics);

// Whether the three sections agree with what the microcode says. `inputs`, `outputs`: of the
// NeutronGraph.
bool check_sections(const Sections& s, u8 version, i64 inputs, i64 outputs,
                    const std::string& where, Diagnostics& diagnostics);

// Empty: a diagnostic says what does not fit, or for what the runtime would refuse the payload
// (npu/neutron/delegate/payload.h reads it, on the host too).
std::optional<std::vector<u8>> make_payload(const PayloadHeader& header, const Sections& sections,
                                            const std::string& where, Diagnostics& diagnostics);

}  // namespace deuteron::neutron
