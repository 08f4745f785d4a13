// SPDX-License-Identifier: Apache-2.0
#include "npu/neutron/delegate/payload.h"

#include "npu/neutron/machine/microcode.h"

namespace deuteron {
namespace {
using namespace neutron;

// Words that the runtime reads up to the last: version 0 up to 12, version 1 up to 14.
constexpr uint32_t kLeastMicrocodeBytes[] = {4 * (kOutputsWordV0 + 1), 4 * (kOutputsWordV1 + 1)};

Status corrupt(const char* detail) {
  Status s;
  s.code = Code::corrupt;
  s.detail = detail;
  return s;
}

uint32_t word(const uint8_t* at) {
  uint32_t v;
  __builtin_memcpy(&v, at, 4);
  return v;
}

bool are_flags(const uint8_t* flags, int32_t count) {
  for (int32_t i = 0; i < count; ++i)
    if (flags[i] > 1) return false;
  return true;
}

bool lie_below(const uint8_t* map, int32_t count, int32_t end) {
  for (int32_t i = 0; i < count; ++i)
    if (map[i] >= end) return false;
  return true;
}

bool has_repeats(const uint8_t* map, int32_t count) {
  for (int32_t i = 0; i < count; ++i)
    for (int32_t k = 0; k < i; ++k)
      if (map[i] == map[k]) return true;
  return false;
}

Status read_header(const uint8_t* bytes, uint32_t count, NeutronPayload* p,
                   uint32_t* header_bytes) {
  if (reinterpret_cast<uintptr_t>(bytes) % 16 != 0)
    return corrupt("the payload does not lie at a multiple of 16");
  if (count < 16) return corrupt("the payload is shorter than its header");
  p->inputs = bytes[0];
  p->outputs = bytes[1];
  p->arguments = bytes[2];
  const uint32_t used = 4 + 2 * (bytes[0] + uint32_t{bytes[1]});
  *header_bytes = (used + 15) / 16 * 16;
  if (*header_bytes > count) return corrupt("the payload is shorter than its header");
  p->input_flags = bytes + 3;
  p->output_flags = p->input_flags + p->inputs;
  p->input_map = p->output_flags + p->outputs;
  p->output_map = p->input_map + p->inputs;
  p->version = bytes[used - 1];
  if (p->outputs == 0) return corrupt("the payload has no outputs");
  if (p->version > 1) {
    Status s = corrupt("the payload has a version that this runtime does not know (0 and 1)");
    s.code = Code::unsupported;
    return s;
  }
  if (!are_flags(p->input_flags, p->inputs) || !are_flags(p->output_flags, p->outputs))
    return corrupt("a transposition flag of the payload is neither 0 nor 1");
  if (!lie_below(p->input_map, p->inputs, p->arguments))
    return corrupt("the payload's input map names an argument that does not exist");
  if (!lie_below(p->output_map, p->outputs, p->outputs) || has_repeats(p->output_map, p->outputs))
    return corrupt("the payload's output map is not a permutation of the outputs");
  return Status{};
}

// What only our own microcode says.
Status read_open_model(NeutronPayload* p) {
  if (word(p->microcode + 4 * kTagWord) != kFormatTag) return Status{};
  if (p->microcode_bytes < 4 * kHeaderWords)
    return corrupt("the microcode is shorter than its header");
  const uint32_t table = word(p->microcode + 4 * kIoOffsetWord),
                 table_bytes = 4 * static_cast<uint32_t>(p->inputs + p->outputs);
  if (word(p->microcode + 4 * kPayloadVersionWord) != static_cast<uint32_t>(p->version))
    return corrupt("the microcode is of another version than the payload");
  if (table % 4 != 0 || table > p->microcode_bytes || table_bytes > p->microcode_bytes - table)
    return corrupt("the microcode's table of inputs and outputs lies outside");
  p->is_open_model = true;
  p->kernel_calls = word(p->microcode + 4 * kCallsWord);
  p->io_bytes = p->microcode + table;
  return Status{};
}

}  // namespace

uint32_t NeutronPayload::bytes_of_port(int32_t i) const { return word(io_bytes + 4 * i); }

Status read_payload(const uint8_t* bytes, uint32_t count, NeutronPayload* p) {
  *p = {};
  uint32_t at = 0;
  if (Status s = read_header(bytes, count, p, &at); !s.ok()) return s;
  if (count - at < kLeastMicrocodeBytes[p->version])
    return corrupt("the payload ends within the microcode");
  p->microcode = bytes + at;
  const auto in_microcode = [&](int index) { return word(p->microcode + 4 * index); };
  if (in_microcode(kMagicWord) != kMagic)
    return corrupt("the microcode does not begin with its magic word");
  p->microcode_bytes = in_microcode(kMicrocodeBytesWord);
  p->weights_bytes = in_microcode(kWeightsBytesWord);
  if (p->microcode_bytes < kLeastMicrocodeBytes[p->version])
    return corrupt("the microcode is shorter than its header");
  if (p->microcode_bytes > count - at) return corrupt("the payload ends within the microcode");
  // `at` is a multiple of 16
  const uint64_t weights_at = round_up_16(uint64_t{at} + p->microcode_bytes);
  if (weights_at > count || p->weights_bytes > count - weights_at)
    return corrupt("the payload ends within the weights");
  const uint64_t kernels_at = round_up_16(weights_at + p->weights_bytes);
  p->weights = bytes + weights_at;
  // aligned, also where there are none
  p->kernels = bytes + (kernels_at < count ? kernels_at : weights_at);
  p->kernels_bytes = static_cast<uint32_t>(kernels_at < count ? count - kernels_at : 0);
  p->scratch_bytes = in_microcode(kScratchBytesWord);
  const bool profiles = p->version == 1;
  if (profiles) {
    p->profile_bytes = in_microcode(kProfileBytesWordV1) & kProfileBytesMask;
    p->debug_bytes = in_microcode(kDebugBytesWordV1);
  }
  p->sram_bytes = in_microcode(profiles ? int{kSramBytesWordV1} : int{kSramBytesWordV0});
  if (in_microcode(profiles ? int{kInputsWordV1} : int{kInputsWordV0}) !=
      static_cast<uint32_t>(p->inputs))
    return corrupt("the microcode has another number of inputs than the payload's header");
  if (in_microcode(profiles ? int{kOutputsWordV1} : int{kOutputsWordV0}) !=
      static_cast<uint32_t>(p->outputs))
    return corrupt("the microcode has another number of outputs than the payload's header");
  return read_open_model(p);
}

}  // namespace deuteron
