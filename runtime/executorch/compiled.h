// SPDX-License-Identifier: Apache-2.0
// `DeuteronBackend` for parts that the firmware has as C (`deuteron firmware --as executorch,c`):
// their calls are compiled, so that there is no loader and there are no tables; constants are read
// where the program has them. A part that the firmware does not have is refused by a sum of its
// contents, which protects from mistakes, not from forgers.
#pragma once
#include <executorch/runtime/core/error.h>

#include "runtime/deuteron.h"

namespace deuteron {

inline constexpr uint32_t kOutside = ~uint32_t{0};

struct CompiledPort {
  uint32_t offset;  // in the arena; of a constant, in the part; kOutside: an input that is read
                    // where the caller has it
  Tensor shape;     // without data
};

struct CompiledPart {
  uint64_t contents;  // fnv1a() of all its bytes
  uint32_t bytes, arena_bytes;
  int32_t inputs, outputs;
  const CompiledPort* ports;  // inputs first
  const CompiledPort* made;   // by each instruction; numel -1: not a tensor; null: no tracer
  const uint8_t** at;         // where its calls find it: set before each run
  // 0: done. `inputs`: those outside. `events`: null, nobody is told of instructions
  int (*run)(void* arena, const uint8_t* const* inputs, void* events);
  void (*reset_state)(void* arena);  // null: it keeps none
};

// Once, before the first load_method. `parts` stay where they are. `scratch`, at a multiple of 16:
// planned memory of all parts that fit in there and keep no state. One part runs at a time then.
[[nodiscard]] executorch::runtime::Error register_compiled_parts(const CompiledPart* parts,
                                                                 int32_t count, Memory scratch);

}  // namespace deuteron
