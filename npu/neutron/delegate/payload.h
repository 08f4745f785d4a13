// SPDX-License-Identifier: Apache-2.0
// The payload of a Neutron delegate: a small header, then microcode, weights and kernels, each
// beginning at a multiple of 16. Layout as the stock `NeutronBackend` of ExecuTorch 1.5 has it
// (backends/nxp/runtime/NeutronBackend.cpp); header bytes:
//   nI  nO  nArgs  flags of nI inputs  flags of nO outputs  map of nI inputs  map of nO outputs
//   version  zeros to a multiple of 16
// nArgs: arguments of the delegate before the outputs; some may go unused. flag 1: the machine
// wants or gives dimension 1 last (channels last), 0: the order of the logical sizes. input map:
// which argument. output map: which of the outputs that follow the nArgs. The size of every part is
// checked here, which the stock runtime leaves out; then nothing outside the payload is ever read.
#pragma once
#include <cstdint>

#include "runtime/status.h"

namespace deuteron {

inline constexpr const char* kNeutronBackendId = "NeutronBackend";

// Compile option: the decimal index of an argument that no input of the payload maps to (so the
// stock runtime leaves it alone), a u8 or s8 tensor, 16-aligned, of at least workspace_bytes():
// what runs of the delegate need beside their inputs and outputs. Planned by the compiler together
// with all tensors. Without the option the runtime adds that much behind the file's planned
// buffers.
inline constexpr const char* kNeutronScratchOption = "deuteron_scratch";

struct NeutronPayload {
  int32_t inputs = 0, outputs = 0, arguments = 0;  // nI, nO, nArgs
  const uint8_t *input_flags = nullptr, *output_flags = nullptr, *input_map = nullptr,
                *output_map = nullptr;
  int32_t version = 0;
  const uint8_t *microcode = nullptr, *weights = nullptr, *kernels = nullptr;
  uint32_t microcode_bytes = 0, weights_bytes = 0;
  uint32_t kernels_bytes = 0;  // the rest of the payload, so with its padding
  uint32_t scratch_bytes = 0, profile_bytes = 0, debug_bytes = 0, sram_bytes = 0;
  // Only of microcode for the open machine model: the number of kernel calls and the bytes of input
  // or output i (outputs behind the inputs).
  bool is_open_model = false;
  uint32_t kernel_calls = 0;
  const uint8_t* io_bytes = nullptr;
  uint32_t bytes_of_port(int32_t i) const;
};

// `bytes`: at a multiple of 16.
Status read_payload(const uint8_t* bytes, uint32_t count, NeutronPayload* payload);

constexpr uint64_t round_up_16(uint64_t bytes) { return (bytes + 15) / 16 * 16; }

// Scratch, profile, debug and fetched weights, one behind the other, then the copies of the inputs
// and outputs that the CPU has to transpose (their bytes, each rounded up to 16): none where
// dimension orders fit the flags.
constexpr uint64_t workspace_bytes(const NeutronPayload& p, uint64_t transposed_bytes) {
  return round_up_16(p.scratch_bytes) + round_up_16(p.profile_bytes) + round_up_16(p.debug_bytes) +
         round_up_16(p.sram_bytes) + transposed_bytes;
}

}  // namespace deuteron
