// A load plan: the calls of a program with their arguments decoded, which the compiler writes behind the segments of a `.pte` file
// (emit/load_plan.h). Loading from it reads no FlatBuffer. Format and guarantees: docs/formats-pte.md.
//
// All numbers are little-endian; the plan begins at a multiple of 16 and ends with the file, or where its signature begins:
//   LoadPlanHeader
//   kernels   LoadPlanKernel, then "op\0" and, where there is one, "overload\0", padded to 4: for tools, the id is what finds it
//   shapes    each: rank, elements, sizes[most_rank], order[most_rank] (bytes) padded to 4; zeros behind the rank
//   tensors   LoadPlanTensor
//   ports     inputs, then outputs: index of the tensor, 16 bits each, padded to 4
//   calls     words: kernel | words of arguments << 16, then the arguments, each a word: kind | number << 4
//   LoadPlanEnd
// Behind `wide` and `real` stand two words, behind `integers` two words for each of as many integers as its number says, behind `tensors`
// as many indexes.
#pragma once
#include "runtime/plan.h"

namespace deuteron {

constexpr uint32_t kLoadPlanMagic = 0x324e4c50;  // "PLN2": another layout gets another number

struct LoadPlanHeader {
  uint32_t magic;
  uint32_t hash;   // of all words of the plan behind this one
  uint32_t bytes;  // of the plan
  uint32_t file_bytes;
  uint32_t planned_bytes;
  uint32_t constants_begin, constants_end;  // in the file: where constants may lie
  uint32_t isa;
  uint16_t kernels, shapes, tensors, calls, inputs, outputs;
  uint16_t most_args, most_values, most_tensors, most_items;       // of one call: CallSize
  uint32_t most_rank;                                              // of all shapes
  uint32_t kernels_at, shapes_at, tensors_at, ports_at, calls_at;  // in bytes from the header, in this order
};
struct LoadPlanKernel {
  uint32_t id;          // Kernel::id
  uint16_t index;       // in the complete table of kernels: where to look first
  uint8_t words;        // with this one
  uint8_t overload_at;  // in bytes from the name; 0: none
};
struct LoadPlanTensor {
  uint32_t offset;  // in the planned memory or in the file; nowhere: 0
  uint16_t shape;
  uint8_t type;   // ScalarType
  uint8_t place;  // Place
};
struct LoadPlanEnd {
  uint32_t bytes, magic;
};
enum class LoadPlanKind : uint8_t { none, yes, no, tensor, small, wide, real, integers, tensors };  // small: the number, signed

// A shape takes so many words.
constexpr uint32_t load_plan_shape_words(uint32_t most_rank) { return 2 + most_rank + (most_rank + 3) / 4; }

constexpr uint32_t kMostPlannedKernels = 48, kMostPlannedTensors = 32;  // of a program, of one call

// A polynomial whose coefficients are the words: a multiply-add for each. The factor is odd, so one changed word always changes it.
inline uint32_t load_plan_hash(const uint32_t* words, uint32_t count) {
  constexpr uint32_t kFactor = 0x9e3779b1u;  // the prime next to 2^32 / golden ratio
  uint32_t hash = 1;
  const uint32_t* const eights = words + (count & ~7u);
  for (; words < eights; words += 8) {  // spelled out: compilers leave it a loop
    hash = hash * kFactor + words[0];
    hash = hash * kFactor + words[1];
    hash = hash * kFactor + words[2];
    hash = hash * kFactor + words[3];
    hash = hash * kFactor + words[4];
    hash = hash * kFactor + words[5];
    hash = hash * kFactor + words[6];
    hash = hash * kFactor + words[7];
  }
  for (uint32_t i = 0; i < count % 8; ++i) hash = hash * kFactor + words[i];
  return hash;
}

// The plan at the end of the file; null where there is none, or none for this file and this build. Proves that its parts lie in it.
const LoadPlanHeader* find_load_plan(File file);
// Fills `plan` as open_plan() does; its vectors are then the parts of the load plan.
void open_load_plan(File file, const LoadPlanHeader& header, Plan* plan);
// The kernels of all calls; false where one is not in the table.
bool find_planned_kernels(Plan& plan, const KernelTable& table, const Kernel** kernels);
bool check_planned_shapes(const Plan& plan);
bool check_planned_tensors(const Plan& plan);  // after the shapes: each lies inside its memory

// The tensors of a plan whose memory is known.
struct PlannedTensors {
  const LoadPlanTensor* records;
  uint32_t count;
  const uint32_t* shapes;
  uint32_t shape_words, order_at;  // of one shape, in words
  uint8_t* bases[3];               // by Place
  explicit PlannedTensors(const Plan& plan);
  void place(uint32_t index, Tensor* tensor) const;
};
// The tensor of a port: inputs, then outputs. False where there is none, or an input is a constant.
bool planned_port(const Plan& plan, const PlannedTensors& tensors, uint32_t port, Tensor* tensor);

// One call after the other.
struct PlannedCall {
  uint32_t kernel;
  const uint32_t *at, *end;  // its arguments
};
struct PlannedCalls {
  const uint32_t *at, *end;  // what is left of them
  explicit PlannedCalls(const Plan& plan);
  // False where it runs past the end.
  bool next(PlannedCall* call) {
    if (at >= end) return false;
    const uint32_t head = *at++, words = head >> 16;
    *call = {head & 0xffff, at, at + words};
    at = call->end;
    return words <= static_cast<uint32_t>(end - call->at);
  }
};
// The bytes of the planned memory that inputs and calls have written so far, as addresses: apart from one another and in no order.
struct WrittenRanges {
  static constexpr uint32_t kMost = 24;
  uintptr_t begin[kMost], end[kMost];
  uint32_t count = 0;
  bool cover(uintptr_t from, uintptr_t to) const;
  bool cover(const Tensor& t) const;       // or it has no bytes there
  bool add(uintptr_t from, uintptr_t to);  // false: there are too many
  bool add(const Tensor& t);
};
// Argument i of every call is value i: once for a room, before it is used.
void point_at_values(const CallRoom& room, const CallSize& size);
// The arguments, all that Kernel promises to prepare() proved (runtime/kernel.h), and that what it reads is in `written`; adds
// what it writes. `room` holds what `size` says.
bool decode_planned_call(Plan& plan, const PlannedTensors& tensors, const PlannedCall& call, const Kernel& kernel, const CallRoom& room,
                         const CallSize& size, WrittenRanges& written, int32_t* count);
// For what decode_planned_call has passed: without a kernel.
const Value* const* known_planned_call(const Plan& plan, uint32_t k, const CallRoom& room, int32_t* count);
CallName planned_call_name(const Plan& plan, uint32_t k);

}  // namespace deuteron
