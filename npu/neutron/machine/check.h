// SPDX-License-Identifier: Apache-2.0
// Reads the header of a microcode and checks every word of it, so that a run can trust it.
#pragma once
#include <cstdint>

#include "npu/neutron/machine/driver.h"
#include "npu/neutron/machine/microcode.h"

namespace deuteron::neutron {

// Why a microcode was refused: bits 8-15 of the error. Bits 16-30 hold the number of the call from
// 1 on, or 0.
enum class Reason : int32_t {
  kNone,
  kMagic,
  kTag,
  kPayloadVersion,
  kMicrocodeBytes,
  kKernelsBytes,
  kSectionBytes,
  kIoTable,
  kMachine,
  kCallWords,
  kCallKind,
  kKernelNotLinked,
  kOperandRegion,
  kOperandRange,
  kExtent,
  kWindow,
  kQuantization,
  kSum,
  kOverlap,
  kProfileBytes,
  kDebugBytes,
  kNullPointer,
  kMisaligned,
};
const char* text_of(Reason reason);

constexpr NeutronError error(int32_t category, Reason reason = Reason::kNone, int32_t call = 0) {
  return kNeutronComponentDriver | category << 3 | static_cast<int32_t>(reason) << 8 |
         (call < 0x7FFF ? call : 0x7FFF) << 16;
}
constexpr int32_t category_of(NeutronError e) { return e >> 3 & 0x1F; }
constexpr Reason reason_of(NeutronError e) { return static_cast<Reason>(e >> 8 & 0xFF); }
constexpr int32_t call_of(NeutronError e) { return e >> 16 & 0x7FFF; }  // from 1 on; 0: none

// What the header says.
struct Layout {
  const int32_t* words;  // the microcode
  Machine machine;
  int32_t payload_version, calls, inputs, outputs;
  const int32_t *io_bytes, *first_call;
  int32_t microcode_bytes, weights_bytes, scratch_bytes, sram_bytes, profile_bytes, debug_bytes;
};

// `microcode` has at least the bytes that its word 6 says: a prepared payload proves that. 0, or
// why not.
NeutronError read_layout(const void* microcode, Layout* layout);

// Every call: kinds, operands within their regions, extents, limits, sums within int32.
NeutronError check_calls(const Layout& layout);

// One structure; `words` behind the head. kNone: right.
Reason check_call(const Layout& layout, Kind kind, const void* call);

}  // namespace deuteron::neutron
