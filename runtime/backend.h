// SPDX-License-Identifier: Apache-2.0
// What a backend is to the runtime: the name that delegates of a file have, a check of their
// payloads, and functions that drive the library behind it. Shared by the loader and by every
// backends/<name>_delegate/.
#pragma once
#include "runtime/kernel.h"

namespace deuteron {

// One call of a delegate while a program is being loaded, by our loader or by the adapter to
// another runtime. Before a backend sees it it is proved: payload and options lie in the file and
// every argument is a tensor. Payload, sizes and dim_order live as long as the program.
struct DelegateCall {
  const char* id = nullptr;
  const uint8_t* payload = nullptr;
  uint32_t payload_bytes = 0;
  int32_t count = 0;              // arguments: the inputs, then the outputs
  const void* context = nullptr;  // Backend::context
  Arena* arena = nullptr;         // prepare() only: for what lives as long as the program
  void* workspace = nullptr;      // prepare() only: the bytes that check() asked for, 16-aligned,
                                  // shared with other delegates

  // In check() and use() its data are null; while measuring they are an address that nobody
  // follows.
  Tensor tensor(int32_t i) const { return tensor_of(*this, i); }
  // The bytes of the compile option `key`; null if the delegate has none.
  const uint8_t* option(const char* key, uint32_t* bytes) const {
    return option_of(*this, key, bytes);
  }

  // Where these come from: for whoever loads the program.
  Tensor (*tensor_of)(const DelegateCall&, int32_t i) = nullptr;
  const uint8_t* (*option_of)(const DelegateCall&, const char* key, uint32_t* bytes) = nullptr;
  const void* origin = nullptr;
  uint32_t delegate = 0, args_at = 0;
};

enum class Use : uint8_t {
  none,
  read,
  write,
  scratch
};  // scratch: overwritten, and nobody may read what is left there

// In the order in which they are called. A Status is completed with the instruction and the id by
// the runtime.
struct Backend {
  const char* id;
  const void* context;  // for the functions below, e.g. the driver's table of functions
  // Once for a process. May be null, as stop().
  Status (*start)(const void* context);
  // Everything that can be checked without the memory. `workspace_bytes`: memory that run() needs
  // beside its arguments, free for others between two runs.
  Status (*check)(const DelegateCall& call, uint32_t* workspace_bytes);
  // What run() does with an argument; after check() has passed.
  Use (*use)(const DelegateCall& call, int32_t argument);
  // Fills a state in the arena's memory without touching the library or the bytes of tensors:
  // measure() calls it too. Takes all its memory before it answers out_of_memory().
  Status (*prepare)(DelegateCall& call, void** state);
  // The first thing that reaches the library. On failure nothing of it is left.
  Status (*open)(void* state);
  Status (*run)(void* state);
  void (*close)(void* state);
  void (*stop)(const void* context);
};

// A delegate's call in a loaded program.
struct PreparedDelegate {
  const Backend* backend;
  void* state;
};

}  // namespace deuteron
