// SPDX-License-Identifier: Apache-2.0
// The header, the I/O table and the machine's parameters.
#include <cstring>
#include <initializer_list>

#include "npu/neutron/machine/check.h"
#include "npu/neutron/machine/machine_ranges.h"

namespace deuteron::neutron {
namespace {

// The payload's header counts them in bytes; indices of operands fit their place.
constexpr uint32_t kMostTensors = 1 << 16;

bool is_a_machine(const Machine& m) {
  for (const MachineRange& range : kMachineRanges)
    if (m.*range.field < range.low || m.*range.field > range.high) return false;
  return true;
}

// A block of `bytes` at `offset` within the microcode, behind the header.
bool lies_within(uint32_t offset, int64_t bytes, int64_t microcode_bytes) {
  return offset % 4 == 0 && offset >= 4 * kHeaderWords && offset + bytes <= microcode_bytes;
}

}  // namespace

NeutronError read_layout(const void* microcode, Layout* layout) {
  const auto* words = static_cast<const uint32_t*>(microcode);
  const auto bad = [](Reason reason) { return error(kNeutronBadMicrocode, reason); };
  if (words[kMagicWord] != kMagic) return bad(Reason::kMagic);
  if (words[kTagWord] != kFormatTag) return bad(Reason::kTag);
  const uint32_t version = words[kPayloadVersionWord];
  if (version > 1) return bad(Reason::kPayloadVersion);
  const uint32_t bytes = words[kMicrocodeBytesWord];
  if (bytes > INT32_MAX || bytes % 4 != 0 || bytes < 4 * kHeaderWords)
    return bad(Reason::kMicrocodeBytes);
  if (words[kKernelsBytesWord] != 0) return error(kNeutronUnsupported, Reason::kKernelsBytes);

  const bool profiles = version == 1;
  const auto word = [&](int v1, int v0) { return words[profiles ? v1 : v0]; };
  const uint32_t sram = word(kSramBytesWordV1, kSramBytesWordV0);
  const uint32_t profile = profiles ? words[kProfileBytesWordV1] & kProfileBytesMask : 0,
                 debug = profiles ? words[kDebugBytesWordV1] : 0;
  for (const uint32_t size : {words[kWeightsBytesWord], words[kScratchBytesWord], sram, debug})
    if (size > INT32_MAX) return bad(Reason::kSectionBytes);

  const uint32_t inputs = word(kInputsWordV1, kInputsWordV0);
  const uint32_t outputs = word(kOutputsWordV1, kOutputsWordV0);
  if (inputs > kMostTensors || outputs > kMostTensors) return bad(Reason::kIoTable);
  if (!lies_within(words[kIoOffsetWord], int64_t{4} * (inputs + outputs), bytes))
    return bad(Reason::kIoTable);
  const auto* base = static_cast<const char*>(microcode);
  *layout = {};
  layout->io_bytes = reinterpret_cast<const int32_t*>(base + words[kIoOffsetWord]);
  for (uint32_t i = 0; i < inputs + outputs; ++i)
    if (layout->io_bytes[i] < 0) return bad(Reason::kIoTable);

  if (!lies_within(words[kMachineOffsetWord], sizeof(Machine), bytes)) return bad(Reason::kMachine);
  std::memcpy(&layout->machine, base + words[kMachineOffsetWord], sizeof(Machine));
  if (layout->machine.units != 8 || layout->machine.lanes != 8)
    return error(kNeutronUnknownArchitecture, Reason::kMachine);
  if (!is_a_machine(layout->machine)) return bad(Reason::kMachine);

  const uint32_t calls = words[kCallsWord];
  if (!lies_within(words[kCallsOffsetWord], 0, bytes) || calls > bytes / sizeof(CallHead))
    return bad(Reason::kCallWords);
  if (profiles && profile != 0 && profile != kProfileRecordBytes * (calls + 1))
    return bad(Reason::kProfileBytes);
  if (debug != 0 && debug != static_cast<uint32_t>(debug_bytes_of(static_cast<int32_t>(calls))))
    return bad(Reason::kDebugBytes);

  layout->words = static_cast<const int32_t*>(microcode);
  layout->payload_version = static_cast<int32_t>(version);
  layout->calls = static_cast<int32_t>(calls);
  layout->inputs = static_cast<int32_t>(inputs);
  layout->outputs = static_cast<int32_t>(outputs);
  layout->first_call = reinterpret_cast<const int32_t*>(base + words[kCallsOffsetWord]);
  layout->microcode_bytes = static_cast<int32_t>(bytes);
  layout->weights_bytes = static_cast<int32_t>(words[kWeightsBytesWord]);
  layout->scratch_bytes = static_cast<int32_t>(words[kScratchBytesWord]);
  layout->sram_bytes = static_cast<int32_t>(sram);
  layout->profile_bytes = static_cast<int32_t>(profile);
  layout->debug_bytes = static_cast<int32_t>(debug);
  return kNeutronOk;
}

const char* text_of(Reason reason) {
  switch (reason) {
    case Reason::kNone:
      return "no reason";
    case Reason::kMagic:
      return "the microcode has a wrong magic number";
    case Reason::kTag:
      return "the microcode is not for the open machine model, or of another version of it";
    case Reason::kPayloadVersion:
      return "the payload version is neither 0 nor 1";
    case Reason::kMicrocodeBytes:
      return "the size of the microcode is wrong";
    case Reason::kKernelsBytes:
      return "the payload has a kernels section, which the open machine cannot run";
    case Reason::kSectionBytes:
      return "a section or buffer is larger than 2 GB";
    case Reason::kIoTable:
      return "the table of inputs and outputs is wrong or lies outside the microcode";
    case Reason::kMachine:
      return "the machine's parameters are outside their ranges, or of another machine";
    case Reason::kCallWords:
      return "the calls do not fill the microcode";
    case Reason::kCallKind:
      return "a call names a kernel that does not exist";
    case Reason::kKernelNotLinked:
      return "a call needs a kernel that this program was linked without";
    case Reason::kOperandRegion:
      return "an operand lies in a memory where it cannot lie";
    case Reason::kOperandRange:
      return "an operand reaches past the end of its memory";
    case Reason::kExtent:
      return "an extent, stride or pitch is outside its range";
    case Reason::kWindow:
      return "a kernel, stride, dilation or padding is outside its range";
    case Reason::kQuantization:
      return "a zero point, bound, multiplier or shift is outside its range";
    case Reason::kSum:
      return "a sum may leave 32 bits";
    case Reason::kOverlap:
      return "a result overlaps an operand";
    case Reason::kProfileBytes:
      return "the profile buffer has not 16 bytes for each call and the dump";
    case Reason::kDebugBytes:
      return "the debug buffer has a wrong size";
    case Reason::kNullPointer:
      return "a pointer is null";
    case Reason::kMisaligned:
      return "a section is not aligned to 16 bytes";
  }
  return "an unknown reason";
}

}  // namespace deuteron::neutron
