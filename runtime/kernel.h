// SPDX-License-Identifier: Apache-2.0
// What a kernel is to the runtime: a name, an argument list, a check at load and a function that
// cannot fail. Shared by the loader, by each bind.cpp of kernels/ and by the adapter that registers
// our kernels in another runtime.
#pragma once
#include <cstddef>
#include <cstdint>

#include "runtime/isa.h"
#include "runtime/status.h"

namespace deuteron {

// Codes of the program format (ExecuTorch schema/scalar_type.fbs).
enum class ScalarType : int8_t {
  u8 = 0,
  s8 = 1,
  s16 = 2,
  s32 = 3,
  s64 = 4,
  f16 = 5,
  f32 = 6,
  f64 = 7,
  b8 = 11
};

inline constexpr int kMaxRank = 16;

constexpr uint32_t element_bytes(ScalarType type) {
  switch (type) {
    case ScalarType::u8:
    case ScalarType::s8:
    case ScalarType::b8:
      return 1;
    case ScalarType::s16:
    case ScalarType::f16:
      return 2;
    case ScalarType::s32:
    case ScalarType::f32:
      return 4;
    case ScalarType::s64:
    case ScalarType::f64:
      return 8;
  }
  return 0;  // not a type that the runtime knows
}

struct Tensor {
  void* data;            // null only for a tensor of no bytes
  const int32_t* sizes;  // logical sizes, `rank` of them; not necessarily aligned better than 4
  const uint8_t*
      dim_order;  // dimensions from outermost to innermost in memory; a permutation of 0..rank-1
  int32_t numel;  // product of sizes, proved to fit; bytes too
  uint8_t rank;
  ScalarType type;
  bool constant;  // lies in the file: never an out argument
};

enum class Kind : uint8_t {
  none,
  integer,
  real,
  boolean,
  string,
  tensor,
  int_list,
  real_list,
  bool_list,
  tensor_list
};

struct Value;
struct List {
  const Value* const* items;  // tensor_list: the boxed elements
  const void* data;  // int_list: int64_t, real_list: doubles, unaligned both; bool_list: bytes
  int32_t count;
  int64_t integer(int k) const {
    int64_t v;
    __builtin_memcpy(&v, static_cast<const uint8_t*>(data) + k * 8, sizeof v);
    return v;
  }
};
struct Value {
  Kind kind = Kind::none;
  union {
    int64_t integer;
    double real;
    bool boolean;
    const Tensor* tensor;
    const char* string;  // zero-terminated
    List list;
  };
  Value() : integer(0) {}
};

// A bump allocator over the caller's memory; what it gives lives as long as the program.
struct Arena {
  uint8_t* base = nullptr;
  size_t bytes = 0;
  size_t used = 0;    // goes on counting past `bytes`, so that a failed load can say what it needs
  size_t shared = 0;  // at the end of the memory; counts on too
  void* take(size_t size, size_t align);  // null when it does not fit
  void* share(size_t size);  // memory that calls use one after the other, each for itself;
                             // 16-aligned; null when it does not fit
  bool fits() const { return used <= bytes && shared <= bytes - used; }
  template <class T>
  T* make(size_t count = 1) {
    return static_cast<T*>(take(sizeof(T) * count, alignof(T)));
  }
};

struct Prepared {
  void (*run)(const void* args) = nullptr;
  const void* args = nullptr;
};

// One call in a program while it is being loaded. Before prepare() sees it the loader has proved:
// the count and every kind match Kernel::schema, outs are not constants, the return value repeats
// the (last) out, each tensor's bytes lie inside their memory. `args` and every Value, Tensor and
// List behind them live only until prepare() returns: copy what run needs. What they point to
// (data, sizes, dim_order, strings) lives as long as the program. prepare() neither reads nor
// writes the bytes of a tensor that is not constant: measure() calls it with addresses where there
// is no memory.
struct CallRecorder;  // kernels/common/record_call.h
struct Call {
  const Value* const* args;
  int32_t count;        // without the repeated return value
  Arena* arena;         // for the struct that Prepared::args points to
  Isa isa = kBuildIsa;  // the program's: on a host it may be any
#if !defined(DEUTERON_MICROCONTROLLER)
  const CallRecorder* recorder = nullptr;  // on a host: gets the call instead of the arena
#endif

  const Tensor& tensor(int i) const { return *args[i]->tensor; }
  const Tensor* optional_tensor(int i) const {
    return args[i]->kind == Kind::tensor ? args[i]->tensor : nullptr;
  }
  int64_t integer(int i) const { return args[i]->integer; }
  bool boolean(int i) const { return args[i]->boolean; }
  double real(int i) const {
    const Value& v = *args[i];
    return v.kind == Kind::integer   ? static_cast<double>(v.integer)
           : v.kind == Kind::boolean ? v.boolean
                                     : v.real;
  }
  const List& list(int i) const { return args[i]->list; }
  int64_t list_integer(int i, int k) const { return args[i]->list.integer(k); }
};

// Out of line: a prepare() has a dozen of them, and a Status is eight words.
Status bad_argument(int argument, const char* detail);
Status out_of_memory();

// `schema` has one letter for each argument, the outs last (but for the one out of a kernel that
// ends otherwise):
//   T tensor   t tensor or none   I int   i int or none   F number (int, double or bool)   f number
//   or none   B bool L int list   l int list or none   V tensor list   S string or none   O tensor
//   that the kernel writes X scratch: written too, but what it holds after the call means nothing,
//   so that no call may read it W list of tensors that the kernel writes   d list of doubles or
//   none   v tensor list whose items may be none
// prepare() answers out_of_memory() when the arena gives null. It takes at most 256 bytes, and 256
// more for each argument or list item, beside what it shares. The loader refuses a call whose outs
// (scratch included) overlap one another or an input, except, for a kernel that says `in_place`, an
// out that begins where an input begins, with as many elements that are not wider (element i is
// read before it is written).
struct Kernel {
  const char* name;  // with overload: "cortex_m::quantized_add.out"
  const char* schema;
  Status (*prepare)(Call& call, Prepared* prepared);
  bool in_place = false;
};

struct Backend;  // runtime/backend.h

// The kernels and the backends that are linked in. A firmware has a generated table with only those
// that its models call.
struct KernelTable {
  const Kernel* const* kernels;
  int32_t count;
  const Backend* const* backends = nullptr;
  int32_t backend_count = 0;
};
extern const KernelTable kAllKernels;  // npu/all_kernels.cpp

}  // namespace deuteron
