// SPDX-License-Identifier: Apache-2.0
// A load plan: the calls of a program with their arguments decoded, which the compiler writes behind the segments of a `.pte` file
// (emit/load_plan.h). Loading from it reads no FlatBuffer. Format and guarantees: docs/formats-pte.md.
//
// All numbers are little-endian; the plan begins at a multiple of 16 and ends with the file, or where its signature begins:
//   LoadPlanHeader
//   kernels   LoadPlanKernel, then "op\0" and, where there is one, "overload\0", padded to 4: for tools, the id is what finds it
//   tensors   LoadPlanTensor, sizes[most_rank], order[most_rank] (bytes) padded to 4; zeros behind the rank
//   ports     inputs, then outputs: index of the tensor, 16 bits each, padded to 4
//   details   what is longer than an argument's word, equal ones once
//   calls     a word, kernel | arguments << 16, then the arguments, each a word, kind | number << 4; or, of kernels that have ready calls
//             (ReadyForm), kernel | operands << 8 | kReadyCall | words << 16, then LoadPlanOperand for each operand, then the form's words
//   LoadPlanEnd
// The number of `small` is the integer, that of `tensor` its index, that of the kinds behind them the word of the details where there stand
//   wide, real   two words
//   integers     their count, then two words for each
//   tensors      their count, then their indexes
#pragma once
#include "runtime/plan.h"

namespace deuteron {

constexpr uint32_t kLoadPlanMagic = 0x334e4c50;  // "PLN3": another layout gets another number

struct LoadPlanHeader {
  uint32_t magic;
  uint32_t hash;   // of all words of the plan behind this one
  uint32_t bytes;  // of the plan
  uint32_t file_bytes;
  uint32_t planned_bytes;
  uint32_t constants_begin, constants_end;  // in the file: where constants may lie
  uint32_t isa;
  uint16_t kernels, tensors, calls, inputs, outputs;
  uint16_t most_args, most_values, most_tensors, most_items;        // of one call: CallSize
  uint16_t most_rank;                                               // of all tensors
  uint32_t kernels_at, tensors_at, ports_at, details_at, calls_at;  // in bytes from the header, in this order
};
struct LoadPlanKernel {
  uint32_t id;          // Kernel::id
  uint16_t index;       // in the complete table of kernels: where to look first
  uint8_t words;        // with this one
  uint8_t overload_at;  // in bytes from the name; 0: none
};
struct LoadPlanTensor {
  uint32_t offset;  // in the planned memory or in the file; nowhere: 0
  uint32_t elements;
  uint8_t rank, type, constant, place;  // as in Tensor, and Place
};
struct LoadPlanOperand {
  uint32_t offset;  // as above; plus 2^31: a constant
  uint32_t bytes;
};
constexpr uint32_t kReadyCall = 1u << 15, kConstantOperand = 1u << 31;
constexpr uint32_t kOperandWords = sizeof(LoadPlanOperand) / 4;
struct LoadPlanEnd {
  uint32_t bytes, magic;
};
enum class LoadPlanKind : uint8_t { none, yes, no, tensor, small, wide, real, integers, tensors };  // small: the number, signed

// What stands for a tensor takes so many words.
constexpr uint32_t load_plan_tensor_words(uint32_t most_rank) {
  return static_cast<uint32_t>(sizeof(LoadPlanTensor) / 4) + most_rank + (most_rank + 3) / 4;
}

constexpr uint32_t kMostPlannedKernels = 48, kMostPlannedTensors = 32;  // of a program, of one call
constexpr uint32_t kMostOperands = 8;                                   // of a ready call

// A polynomial whose coefficients are the words: a multiply-add for each. The factor is odd, so one changed word always changes it.
// `words`: at a multiple of 8.
inline uint32_t load_plan_hash(const uint32_t* words, uint32_t count) {
  uint32_t factor = 0x9e3779b1u;  // the prime next to 2^32 / golden ratio
#if defined(__ARM_ARCH_ISA_THUMB) && __ARM_ARCH_ISA_THUMB == 1
  __asm__("" : "+r"(factor));  // of a known factor gcc makes thirteen shifts and additions for each word
#endif
  struct alignas(8) Pair {  // one instruction loads it
    uint32_t first, second;
  };
  uint32_t hash = 1;
  const auto add = [&](uint32_t at) __attribute__((always_inline)) {
    Pair pair;
    __builtin_memcpy(&pair, __builtin_assume_aligned(words + at, 8), sizeof pair);
    hash = hash * factor + pair.first;
    hash = hash * factor + pair.second;
  };
  const uint32_t* const eights = words + (count & ~7u);
  for (; words < eights; words += 8) add(0), add(2), add(4), add(6);  // spelled out: compilers leave it a loop
  for (uint32_t i = 0; i < count % 8; ++i) hash = hash * factor + words[i];
  return hash;
}

inline constexpr uint8_t kElementBytes[] = {1, 1, 2, 4, 8, 2, 4, 8, 0, 0, 0, 1};  // by ScalarType
constexpr bool has_all_types() {
  for (int type = 0; type < 128; ++type)
    if (element_bytes(static_cast<ScalarType>(type)) != (type < static_cast<int>(sizeof kElementBytes) ? kElementBytes[type] : 0))
      return false;
  return true;
}
static_assert(has_all_types());

// The plan at the end of the file; null where there is none, or none for this file and this build. Proves that its parts lie in it.
const LoadPlanHeader* find_load_plan(File file);
// Fills `plan` as open_plan() does; its vectors are then the parts of the load plan.
void open_load_plan(File file, const LoadPlanHeader& header, Plan* plan);
// The kernels of all calls; false where one is not in the table.
bool find_planned_kernels(Plan& plan, const KernelTable& table, const Kernel** kernels);
// Each is a shape (rank, order, number of elements) and lies inside its memory.
bool check_planned_tensors(const Plan& plan);

// What the calls of a plan refer to, once its memory is known.
struct PlannedParts {
  const uint32_t* tensors;
  uint32_t tensor_count, tensor_words, order_at;  // of one tensor, in words
  const uint32_t* details;
  uint32_t detail_words;
  uint8_t* bases[3];  // by Place
  explicit PlannedParts(const Plan& plan);
  [[gnu::always_inline]] void place(uint32_t index, Tensor* t) const {
    const uint32_t* words = tensors + size_t{tensor_words} * index;
    const LoadPlanTensor& record = *reinterpret_cast<const LoadPlanTensor*>(words);
    t->data = bases[record.place] + record.offset;
    t->sizes = reinterpret_cast<const int32_t*>(words + sizeof record / 4);
    t->dim_order = reinterpret_cast<const uint8_t*>(words + order_at);
    t->numel = static_cast<int32_t>(record.elements);
    t->rank = record.rank;
    t->type = static_cast<ScalarType>(record.type);
    t->constant = record.constant != 0;
  }
};
// The tensor of a port: inputs, then outputs. False where there is none, or an input is a constant.
bool planned_port(const Plan& plan, const PlannedParts& parts, uint32_t port, Tensor* tensor);

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

// Decodes one call after the other into the same room.
struct PlannedCalls {
  // What a call reads or writes of the planned memory.
  struct Range {
    uintptr_t begin, end;
    int32_t numel;
    uint32_t use;  // kinds_of() its letter; of a list's tensor the list's
  };
  PlannedParts parts;
  const CallRoom room;
  Value* const values_end;
  Tensor* const tensors_end;
  const Value** const items_end;
  const uint32_t most_args, most_operands;  // of a ready call: so that there is room for what a tool asks of it
  const uint32_t *at, *const end;           // the calls that are left
  struct OperandMemory {
    uint32_t begin, bytes;
    uint8_t* data;
  };
  const OperandMemory memories[2];  // planned memory; constants
  const uint32_t* arguments = nullptr;
  uint32_t kernel = 0;  // of this call
  int32_t count = 0;    // of its arguments, or its words where it is ready
  uint32_t ready = 0;   // kReadyCall and its operands, or 0
  uint32_t steps_left;  // for FlatReader::charge
  // While it is decoded.
  uint32_t steps = 0;
  Tensor* tensor = nullptr;
  const Value** item = nullptr;
  Value* items_begin = nullptr;
  Range* range = nullptr;
  Range ranges[kMostPlannedTensors];
  Operand operands[kMostOperands];
  WrittenRanges written;

  PlannedCalls(const Plan& plan, const CallRoom& room_, const CallSize& size);
  // On to the next call; false where there is none, or it runs past the end.
  bool next() {
    if (at >= end) return false;
    const uint32_t head = *at++;
    kernel = head & 0xff, ready = head & 0xff00, count = static_cast<int32_t>(head >> 16), arguments = at;
    if (count > end - at) return false;
    at += count;
    return true;
  }
  // Its arguments, all that Kernel promises to prepare() proved (runtime/kernel.h), and that what it reads is in `written`; adds what it
  // writes.
  bool decode(const Kernel& called);
  // The same of a ready call.
  bool decode_ready(const Kernel& called, ReadyCall* call);
  bool decode_known();  // for what decode() has passed: without a kernel; of a ready call the operands alone

 private:
  template <bool known>
  bool decode_arguments(const char* schema);
  template <bool known>
  bool add_tensor(uint32_t index, Value* v, uint32_t use);
  template <bool known>
  Kind add_rare(uint32_t word, Value* v, const Value* args_end, uint32_t use);
  bool may_overlap(const Range& a, const Range& b, bool in_place) const;
  bool check_ranges(bool in_place);
  bool add_operand(const LoadPlanOperand& from, Operand* to, uint32_t use);
  bool decode_known_ready();
};
// For what was loaded.
const Value* const* known_planned_call(const Plan& plan, uint32_t k, const CallRoom& room, int32_t* count, bool* ready);
CallSize planned_call_size(const Plan& plan);  // of the largest call
CallName planned_call_name(const Plan& plan, uint32_t k);

}  // namespace deuteron
