// SPDX-License-Identifier: Apache-2.0
// The runtime's public interface: load a `.pte` in place, set inputs, run, read outputs.
// C++17, no heap, no exceptions, no RTTI, nothing runs before main. Not thread-safe; one Program is
// one thread's.
//
//   alignas(16) static uint8_t tables[8192], planned[50176];
//   deuteron::Program program;
//   deuteron::Status s = program.load({model, model_bytes}, deuteron::kAllKernels, {tables, sizeof
//   tables}, {planned, sizeof planned}); if (!s.ok()) ...                                  // after
//   this only a wrong set_input and a delegate can fail s = program.set_input(0, image, sizeof
//   image);    // bytes in the input's storage order s = program.run(); const deuteron::Tensor& y =
//   program.output(0);
#pragma once
#include "runtime/backend.h"
#include "runtime/isa.h"
#include "runtime/kernel.h"
#include "runtime/status.h"

namespace deuteron {

struct Plan;

// A value that lives from one run to the next.
struct StateTensor {
  Tensor tensor;
  const void* initial;  // in the file
};

struct Memory {
  void* data = nullptr;
  size_t bytes = 0;
};
struct File {
  const void* data = nullptr;  // 16-aligned; must outlive the Program (names, sizes and constants
                               // are used in place)
  size_t bytes = 0;
  const char* method = nullptr;  // which of the program's methods is meant; null: `forward`
};

// What a program needs, read without memory of the caller's (but 4 KB of stack). When ok, load()
// can only refuse overlaps.
struct Needs {
  uint32_t planned_bytes = 0;  // the one planned buffer, 16-aligned
  // upper bound for values, tensors and prepared calls on this machine, 16-aligned
  uint32_t tables_bytes = 0;
  int32_t inputs = 0, outputs = 0, instructions = 0;
};
Status measure(File file, const KernelTable& kernels, Needs* needs);

// A program may have planned buffers for several memories (docs/runtime.md): what load() wants in
// each, in the order of the file. The last has all that is left. `needs`: of measure().
struct MemoryNeeds {
  uint32_t bytes[4] = {};
  int32_t count = 0;
};
Status measure_memories(File file, const Needs& needs, MemoryNeeds* memories);

// Before the first program with delegates is loaded, and after the last has been unloaded: whatever
// the backends' libraries want once (neutronInit, neutronDeinit). On failure the ones that had
// started are stopped again. Without backends there is nothing to start.
[[nodiscard]] Status start_backends(const KernelTable& kernels);
void stop_backends(const KernelTable& kernels);

// Of a call, in the file.
struct CallName {
  const char* op;        // "cortex_m::quantized_add" or "NeutronBackend"
  const char* overload;  // "out"; null where there is none
};

class Program {
 public:
  // Checks every offset, size, shape and argument of the method once. On failure the Program is
  // empty. Begins with unload().
  Status load(File file, const KernelTable& kernels, Memory tables, Memory planned);
  // The same with a memory for each planned buffer, apart from one another; the last takes all
  // buffers that follow. With one memory all lie in it, one after the other. Constants that the
  // file wants copied into a buffer are copied, and nobody else may write there.
  Status load(File file, const KernelTable& kernels, Memory tables, const Memory* planned,
              int32_t memories);
  // Gives back what delegates hold in their libraries. For a program with delegates, before the
  // memory of its tables is used for anything else: a Program has no destructor, so that one that
  // is static costs nothing before main. The Program is then empty.
  void unload();

  int32_t input_count() const { return input_count_; }
  int32_t output_count() const { return output_count_; }
  const Tensor& input(int32_t i) const { return *inputs_[i]; }
  // one that is none has no elements
  const Tensor& output(int32_t i) const { return *outputs_[i]; }
  // Inputs must be set before each run: a program may reuse their memory.
  // Copies `bytes` bytes in the storage order of input(i); bad_input unless they are exactly as
  // many as the tensor has.
  Status set_input(int32_t i, const void* data, size_t bytes);
  // Values that live from one run to the next ("mutable buffers"), in the planned memory: nobody
  // else may write there between two runs. load() gives them their initial values; reset_state()
  // does so again, where a new sequence begins.
  int32_t state_count() const { return state_count_; }
  const Tensor& state(int32_t i) const { return states_[i].tensor; }
  void reset_state() const;
  // bad_input while the Program is empty. Kernels cannot fail. A delegate can: the outputs are then
  // undefined, and the next run may be tried all the same.
  [[nodiscard]] Status run() const;

  // For tools that look inside: call k of instruction_count(), its kernel's or backend's name and
  // its arguments.
  int32_t instruction_count() const { return instruction_count_; }
  [[nodiscard]] Status run_one(int32_t k) const {
    const Prepared& call = calls_[k];
    if (!call.run) return run_delegate(k);
    call.run(call.args);
    return Status{};
  }
  // The arguments are decoded into the program's own memory and live until the next step(): copy
  // what you keep.
  struct Step {
    const char* op;  // "cortex_m::quantized_add" or "NeutronBackend", in the file
    const Value* const* args;
    int32_t count;
    const PreparedDelegate* delegate;  // null for the call of a kernel
    // Its last argument; null where that is not a tensor.
    const Tensor* made() const {
      return count > 0 && args[count - 1]->kind == Kind::tensor ? args[count - 1]->tensor : nullptr;
    }
  };
  Step step(int32_t k) const;
  // Null for the call of a kernel.
  const PreparedDelegate* delegate(int32_t k) const {
    return calls_[k].run ? nullptr : static_cast<const PreparedDelegate*>(calls_[k].args);
  }
  CallName name_of_call(int32_t k) const;

 private:
  Status run_delegate(int32_t k) const;

  const Tensor* const* inputs_ = nullptr;
  const Tensor* const* outputs_ = nullptr;
  const StateTensor* states_ = nullptr;
  const Prepared* calls_ = nullptr;
  Plan* plan_ = nullptr;  // the file's table of contents, and room to decode one call: for step()
  const Value** room_args_ = nullptr;
  Value* room_values_ = nullptr;
  Tensor* room_tensors_ = nullptr;
  const Value** room_items_ = nullptr;
  int32_t input_count_ = 0, output_count_ = 0, state_count_ = 0, instruction_count_ = 0,
          delegate_calls_ = 0;
  friend struct Loader;
};

}  // namespace deuteron
