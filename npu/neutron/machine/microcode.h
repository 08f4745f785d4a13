// SPDX-License-Identifier: Apache-2.0
// The microcode of the open machine model: what the converter writes and the driver reads.
// Little-endian 32-bit words; every structure here is plain int32_t, so that encoding and decoding
// are memcpy. Words 0 and 6 to 14 lie where the vendor's runtime reads them; the rest is ours.
#pragma once
#include <cstddef>
#include <cstdint>

#include "npu/neutron/machine/machine.h"

namespace deuteron::neutron {

inline constexpr uint32_t kMagic = 0x64434D6E;  // "nMCd", as in the vendor's microcode
// "DNM" and the version of this format in the top byte: it tells our microcode from the vendor's,
// whose word 1 differs.
inline constexpr uint32_t kFormatTag = 0x014D4E44, kFormatTagName = 0x00FFFFFF;

// Words of the header. The header has kHeaderWords words for both payload versions; those that a
// version does not use are 0.
inline constexpr int kHeaderWords = 16;
enum HeaderWord : int {
  kMagicWord = 0,
  kTagWord = 1,             // kFormatTag
  kPayloadVersionWord = 2,  // 0, or 1 with profiling
  kCallsWord = 3,           // number of kernel calls
  kMachineOffsetWord = 4,   // byte offset of the Machine block, from the start of the microcode; as
                            // the two below a multiple of 4
  kCallsOffsetWord = 5,  // byte offset of the first call; the calls follow each other without gaps
                         // up to the end of the microcode
  kMicrocodeBytesWord = 6,  // with the header, a multiple of 4
  kWeightsBytesWord = 7,
  kKernelsBytesWord = 8,  // 0: the open machine has no code of its own
  kScratchBytesWord = 9,
  kIoOffsetWord = 15,  // byte offset of the I/O table: the bytes of every input, then of every
                       // output, a word each
};
// Version 0.
enum HeaderWordV0 : int { kSramBytesWordV0 = 10, kInputsWordV0 = 11, kOutputsWordV0 = 12 };
// Version 1. The top bit of the profile size has a meaning of its own in newer vendor software: it
// is masked out.
enum HeaderWordV1 : int {
  kProfileBytesWordV1 = 10,
  kDebugBytesWordV1 = 11,
  kSramBytesWordV1 = 12,
  kInputsWordV1 = 13,
  kOutputsWordV1 = 14
};
inline constexpr uint32_t kProfileBytesMask = 0x7FFFFFFF;
// for each call, and one more for the dump: profile bytes = 16 * (calls + 1)
inline constexpr int kProfileRecordBytes = 16;
// The debug buffer is filled with a copy of the header and the cycles of each call (low word, high
// word): 4 * (16 + 2 * calls) bytes.
inline constexpr int32_t debug_bytes_of(int32_t calls) { return 4 * (kHeaderWords + 2 * calls); }

// Where an operand lies.
enum class Region : int32_t {
  kNone = 0,  // the operand is absent
  kInput,     // input `index`; only read
  kOutput,    // output `index`
  kScratch,
  kWeights,  // the payload's weights section; only read, and by MemCpy alone when the model has an
             // SRAM weight scratch
  kSramWeights,  // the SRAM weight scratch; written by MemCpy only
};
struct Operand {
  int32_t place = 0;   // Region | index << 8
  int32_t offset = 0;  // bytes from the start of the region
};
constexpr Operand operand(Region region, int32_t offset = 0, int32_t index = 0) {
  return {static_cast<int32_t>(region) | index << 8, offset};
}
constexpr Region region_of(const Operand& o) { return static_cast<Region>(o.place & 0xFF); }
constexpr int32_t index_of(const Operand& o) { return o.place >> 8; }

enum class Kind : int32_t {
  kProfileDump = 0,
#define NEUTRON_KIND(value, name, call, folder) k##name = value,
#include "npu/neutron/machine/kinds.inc"
};
// One more than the largest value: the rows are in order and leave out none (kernel_table.cpp
// checks that).
inline constexpr int32_t kKinds = 1
#define NEUTRON_KIND(value, name, call, folder) +1
#include "npu/neutron/machine/kinds.inc"
    ;

// Null for a value that is no kind.
constexpr const char* name_of(Kind kind) {
  switch (kind) {
    case Kind::kProfileDump:
      return "ProfileDump";
#define NEUTRON_KIND(value, name, call, folder) \
  case Kind::k##name:                           \
    return #name;
#include "npu/neutron/machine/kinds.inc"
  }
  return nullptr;
}

// Before every call: `words` counts this head and the structure behind it.
struct CallHead {
  int32_t kind, words;
};

// smaller ranks have leading axes of extent 1 (and any stride: 0 by convention)
inline constexpr int kMaxRank = 6;

// rq(v) below is requantize(v, multiplier, shift) of kernels/integer/requantize.h; multiplier in
// Q0.31, shift in -31..30, left if positive. Zero points and bounds are in -128..127, and y_min <=
// y_max. Every sum wraps at 2^32. Tensors have no gaps unless strides or pitches say so; strides
// and pitches are in elements = bytes. All strides are >= 0.

// Of every output channel of a convolution or a fully connected layer: int32 bias, int32
// multiplier, int8 shift; not aligned.
inline constexpr int32_t kParamBytes = 9;

constexpr int64_t round_up_to(int64_t v, int64_t step) { return (v + step - 1) / step * step; }

}  // namespace deuteron::neutron
