// SPDX-License-Identifier: Apache-2.0
// Internal to the loader: a program file opened as a table of contents, and the decoding of one
// value or one call from it. Nothing is copied out of the file; each decoding checks what it
// touches. Functions answer false, or something empty, after a fault, and plan.reader then says
// what it was.
#pragma once
#include "runtime/deuteron.h"
#include "runtime/flatbuffer.h"

namespace deuteron {

// What a load may cost, whatever is in the file (SECURITY.md): in tables read or steps that take as
// long, some 50 instructions each. A program of ours takes about one for each byte of its file
// without constants; the least is for small ones in hundreds of bands of rows, the second step of a
// byte for many tensors alive at once.
constexpr uint32_t max_load_steps(uint32_t file_bytes) { return (3u << 15) + 2 * file_bytes; }
// inputs, and outputs: keeps the search for repeated inputs short
constexpr uint32_t kMostPorts = 1024;

// Union ids of EValue and Instruction in the program schema.
enum class ValueTag : uint8_t {
  none,
  null,
  integer,
  boolean,
  real,
  tensor,
  string,
  int_list,
  real_list,
  bool_list,
  tensor_list,
  optional_tensor_list
};
enum class InstructionTag : uint8_t {
  none,
  kernel_call,
  delegate_call,
  move_call,
  jump_false_call,
  free_call
};

// Firmware whose programs lie in one memory each leaves out what knows of more.
#ifdef DEUTERON_ONE_MEMORY
inline constexpr uint32_t kMostMemories = 1;
#else
inline constexpr uint32_t kMostMemories = 4;
#endif

// Some of the constant segment, which the loader copies into planned memory.
struct ConstantCopy {
  uint32_t at, from, bytes;  // in the planned memory; in the file
};

// Of a program that lies in several memories, or has constants that are read from a copy.
struct SeveralMemories {
  // Where planned memory goes on elsewhere, in this order: from `begin` on it lies at `data`.
  struct Elsewhere {
    uint32_t begin;
    uint8_t* data;
  } elsewhere[kMostMemories];
  uint32_t elsewhere_count = 0;
  ConstantCopy copies[kMostMemories];
  uint32_t copy_count = 0;
  bool are_copied = false;  // constants are read there
};

struct Plan {
  FlatReader reader;
  FlatVector values, inputs, outputs, instructions, operators, delegates, buffer_sizes;
  FlatVector constant_offsets, state_offsets;  // entry 0 is a placeholder
  FlatVector segments, inline_payloads;
  uint64_t segment_base = 0, segment_end = 0;      // from byte 0; where payloads may lie
  uint64_t constants_at = 0, constants_bytes = 0;  // the constant segment, from byte 0
  uint64_t states_at = 0, states_bytes = 0;        // the segment of what states begin with
  uint32_t states = 0;  // planned tensors with initial contents, once the values are checked
  // the file's planned buffers, one after the other, each rounded up to 16
  uint32_t file_planned_bytes = 0;
  uint32_t ports_end = 0;  // with the inputs and outputs for which the file plans no memory
  // and with the workspace that delegates share, which begins at ports_end
  uint32_t planned_bytes = 0;
  uint8_t* planned = nullptr;  // null until memory is given
#ifdef DEUTERON_ONE_MEMORY
  static constexpr SeveralMemories* several = nullptr;
#else
  SeveralMemories* several = nullptr;  // null: it lies in one memory, and no constant is copied
#endif
  Isa isa = kBuildIsa;  // unless the file says another
};

// memories.cpp
uint8_t* planned_address(const Plan& plan, uint32_t offset);
uint32_t buffer_at(
    const Plan& plan,
    uint32_t id);  // where the planned buffer `id` begins: they lie one after the other
// Value `deuteron:copy=BUFFER,AT,FROM,BYTES`: false with a fault.
bool read_copy(Plan& plan, const char* text);
bool is_copy_at(const Plan& plan, uint32_t begin, uint32_t end);
void copy_constants(Plan& plan);
// Whether the file has more than one planned buffer, or copies; once its values are checked.
bool has_several_memories(const Plan& plan);
// What the program goes on needing of plan.several, to its tables: from here on it points there, or
// nowhere.
void keep_several_memories(Arena& arena, Plan& plan);
// Null, or what is wrong with the memories that a caller gives, before anything is read or written
// there.
const char* why_not_memory(File file, Memory tables, const Memory* planned, int32_t memories);
// Gives `plan` its memory, if there is enough of it.
Status take_memories(Plan& plan, const Memory* planned, int32_t count);

// A plan of a file that may have several memories.
struct FilePlan : Plan {
#ifndef DEUTERON_ONE_MEMORY
  FilePlan() { several = &of_file; }
  FilePlan(const FilePlan&) = delete;
  SeveralMemories of_file;
#endif
};

// open.cpp. Finds the program's table and where segments lie.
bool open_program(File file, Plan* plan, FlatTable* program);
inline FlatVector methods_of(FlatReader& r, FlatTable program) { return r.vector(program, 1, 4); }
// And the parts of the method that `file` names; nothing below Plan's members has been looked at
// yet.
bool open_plan(File file, Plan* plan);

// Slots of the tables Tensor, AllocationDetails and ExtraTensorInfo.
enum TensorSlot {
  kScalarType,
  kStorageOffset,
  kSizes,
  kDimOrder,
  kRequiresGrad,
  kDataIndex,
  kAllocation,
  kLayout,
  kDynamism,
  kExtra
};
enum AllocationSlot { kMemoryId, kOffsetLow, kOffsetHigh };
enum ExtraSlot { kMutableIndex, kQualifiedName, kLocation, kDevice };

struct ValueView {
  ValueTag tag = ValueTag::none;
  FlatTable payload;
};
// values.cpp
enum class Place : uint8_t { nowhere, planned, constant };
struct DataPlace {
  Place place = Place::nowhere;
  uint32_t offset = 0;  // in the planned memory, or in the file
};
bool check_values(Plan& plan);
bool check_inputs_and_outputs(Plan& plan);  // and adds memory for those that have none
// decode.cpp: what the values are, once both have passed; without checks.
// The tag in the upper half, the position of the payload in the lower: two registers, where a
// struct would go through memory.
uint64_t known_tag_and_payload(const Plan& plan, uint32_t index);
inline ValueView known_value(const Plan& plan, uint32_t index) {
  const uint64_t known = known_tag_and_payload(plan, index);
  ValueView v;
  v.tag = static_cast<ValueTag>(known >> 32);
  if (v.tag != ValueTag::null) v.payload = plan.reader.known_table_at(static_cast<uint32_t>(known));
  return v;
}
void known_tensor(const Plan& plan, uint32_t index, FlatTable payload, Tensor* tensor);
bool is_state(const Plan& plan, uint32_t index);  // a planned tensor with initial contents
const uint8_t* known_initial(const Plan& plan, FlatTable payload);
uint32_t known_shape(const Plan& plan, FlatTable payload,
                     Tensor* tensor);  // all but where it lies; gives its bytes
// Bytes that an input or output needs behind the planned buffers because the file gives it no
// memory, rounded up to 16; 0 if it has some.
int64_t added_bytes(const Plan& plan, uint32_t index);
DataPlace known_place(const Plan& plan, uint32_t index, FlatTable payload);
// What known_place costs, for FlatReader::charge.
uint32_t placement_steps(const Plan& plan, FlatTable payload);

// Firmware without an NPU calls no delegates: what handles them is not in its image.
#ifdef DEUTERON_NO_DELEGATES
inline constexpr bool kHasDelegates = false;
#else
inline constexpr bool kHasDelegates = true;
#endif

// call.cpp
struct CallView {
  const char* op = nullptr;  // or the delegate's backend
  const char* overload = nullptr;
  uint32_t op_index = 0;  // or the delegate's
#ifdef DEUTERON_NO_DELEGATES
  static constexpr bool delegate = false;
#else
  bool delegate = false;
#endif
  FlatVector args;  // the repeated return value of a kernel included
};
bool check_operators(Plan& plan);
// False with a fault, or with an `unsupported` one for instructions that are calls of neither
// kernels nor delegates.
bool read_call(Plan& plan, uint32_t instruction, CallView* call, Status* where);
// After read_call has passed it; the second without the names.
CallView known_call(const Plan& plan, uint32_t instruction);
CallView known_arguments(const Plan& plan, uint32_t instruction);
// Kinds of all arguments against the kernel's schema. `size` gets what decoding the call takes.
struct CallSize {
  uint32_t args = 0, values = 0, tensors = 0, items = 0, writes = 0;
};
bool check_call(Plan& plan, const CallView& call, const Kernel& kernel, CallSize* size,
                Status* where);
// The same for a delegate: all arguments are tensors, and what its backend says. `where` becomes
// the backend's status when that refuses.
bool check_delegate_call(Plan& plan, const CallView& call, const Backend& backend, CallSize* size,
                         uint32_t* workspace_bytes, Status* where);
// Room for the decoded arguments of any one call. Null pointers where the arena had no room.
struct CallRoom {
  const Value** args;
  Value* values;
  Tensor* tensors;
  const Value** items;
};
CallRoom take_room(Arena& arena, const CallSize& largest);
// The arguments, without the repeated return value; they live until the room is used again.
const Value* const* decode_call(const Plan& plan, const CallView& call, const CallRoom& room,
                                int32_t* count);

// delegate.cpp
bool check_delegates(Plan& plan);
struct Payload {
  const char* id = nullptr;
  const uint8_t* data = nullptr;
  uint32_t bytes = 0;
};
Payload known_payload(const Plan& plan, uint32_t delegate);
DelegateCall known_delegate_call(const Plan& plan, const CallView& call, const Backend& backend);
const Backend* find_backend(const KernelTable& table, const char* id);  // null: none of that name

// overlap.cpp
constexpr uint32_t kNobody = UINT32_MAX;  // the writer of scratch
// Whether every read sees what it should; `calls[k].args` is the Kernel or Backend of call k. The
// arena's contents are only needed meanwhile.
struct TensorUse {
  uint32_t begin, end;  // in the planned memory
  uint32_t value;
  int32_t numel;
  int16_t argument;
  bool write, scratch;  // what scratch holds after the call means nothing
};
struct Segment {
  uint32_t begin, end;  // in the planned memory
  uint32_t writer;      // value, or kNobody
};
struct OverlapRoom {
  uint8_t* written;  // one bit for each value
  Segment* segments;
  TensorUse* uses;
};
OverlapRoom take_overlap_room(Arena& arena, const Plan& plan, uint32_t writes,
                              uint32_t most_tensors);
bool check_overlap(Plan& plan, const Prepared* calls, const OverlapRoom& room, Status* where);

}  // namespace deuteron
