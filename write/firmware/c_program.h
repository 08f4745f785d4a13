// SPDX-License-Identifier: Apache-2.0
// A program as calls of kernels with constant arguments: what the C output prints. Made by the
// checks that the loader runs, asked for another core (kernels/common/record_call.h); no operator
// is known here.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/common/record_call.h"
#include "runtime/deuteron.h"

namespace deuteron {

// Where a pointer of a call points.
struct CPlace {
  enum Kind : uint8_t { null, arena, constants, input } kind = null;
  uint64_t offset = 0;  // from the beginning of the arena, of CProgram::constants, of the input
  size_t index = 0;     // of the input
};

struct CTensor {
  CPlace place;
  ScalarType type;
  std::vector<int32_t> sizes;
  std::vector<uint8_t> order;
  int32_t elements;
  bool constant = false;
};

// A part that the NPU runs: what deuteron_npu_call of write/firmware/c_npu says.
struct CNpuCall {
  CPlace payload, workspace;
  uint32_t payload_bytes = 0;
  std::vector<CTensor> arguments;
  std::string scratch;  // digits; empty: the workspace is it
  bool is_open_model = false;
  uint64_t state_bytes = 0;
};

// A call of a kernel that keeps arguments of its own: they are made ready at each run, as
// deuteron_call of write/firmware/c_call says.
struct CKeptCall {
  struct Value {
    Kind kind = Kind::none;
    int64_t number = 0;            // its bits where it is real
    std::vector<int64_t> numbers;  // the items of a list; their bits
    std::vector<std::optional<CTensor>> tensors;
    std::string text;
  };
  std::vector<Value> arguments;
  Isa isa = Isa::scalar;
  uint32_t memory_bytes = 0;
};

// One call of a kernel. The bytes are those of this machine; `places` are their pointers, in the
// order in which they are met.
struct CCall {
  std::string op;          // "cortex_m::quantized_add.out"
  size_t instruction = 0;  // of the program's; it may be several calls
  std::string kernel;      // "add_s8_mve"
  std::span<const FieldShape> parameters;
  std::vector<std::vector<std::byte>> arguments;
  std::vector<CPlace> places;
  std::optional<CNpuCall> npu;    // then nothing of the above but `op` is
  std::optional<CKeptCall> kept;  // likewise
  // of its own, while it runs
  uint64_t memory_bytes() const { return npu ? npu->state_bytes : kept ? kept->memory_bytes : 0; }
};

struct CPort {
  ScalarType type = ScalarType::f32;
  std::vector<int32_t> sizes;
  std::vector<uint8_t> order;  // order[k]: the axis at storage position k
  uint64_t bytes = 0;
  CPlace place;                // of kind `input`: it is read where the caller has it
  std::optional<float> scale;  // of a step; unknown where the program file does not say
  int32_t zero = 0;
};

// A value that lives from one run to the next, in the arena.
struct CState {
  uint64_t offset = 0, bytes = 0;  // in the arena
  uint64_t initial = 0;            // from the beginning of CProgram::constants
  bool is_zero = false;            // then nothing lies there: the first run reads zeros
};

struct CProgram {
  std::string name;          // of its files and functions: a C identifier
  std::string from;          // the file, for comments
  std::string isa;           // "mve"; empty: of a computer
  uint64_t arena_bytes = 0;  // the planned memory, then that of one call that wants some
  uint64_t state_offset = 0;
  std::vector<CPort> inputs, outputs;
  std::vector<CState> states;
  std::vector<std::byte> constants;  // each constant at a multiple of 16
  bool in_file = false;  // there are none: offsets are from the beginning of the program's file
  std::vector<CCall> calls;
  std::vector<std::optional<CTensor>> made;  // by each instruction of the program, where it is one
};

uint64_t state_bytes_of(const CProgram& program);

// A C identifier that names no header of the standard library and nothing of ours; made of any
// text.
std::string c_name(std::string_view text);
bool is_c_name(std::string_view text);

// How a part of another program reads what is not in the arena: constants where the part's file has
// them; an input where the caller has it, at a multiple of 8, if its axes lie there as in the
// part.
struct CPart {
  std::vector<bool> outside;  // by input
};

// Loads the file on this machine, whatever core it is for. Nothing, with a status: a file that
// cannot be loaded.
std::optional<CProgram> read_c_program(File file, const KernelTable& kernels, Isa isa,
                                       uint32_t features, Status& status,
                                       const CPart* part = nullptr);

// What the compiler of a core may use, of its flags as boards.txt has them: bits of Feature. `isa`:
// "mve"; empty: a computer.
uint32_t features_of(std::string_view isa, std::string_view flags);

}  // namespace deuteron
