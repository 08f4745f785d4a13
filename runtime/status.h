// SPDX-License-Identifier: Apache-2.0
// What the runtime says when it cannot load a program, or when the library behind a delegate fails
// while it runs. Kernels cannot fail.
#pragma once
#include <cstdint>

namespace deuteron {

enum class Code : uint8_t {
  ok,
  not_a_program,  // no `ET12` identifier, or shorter than any program
  unsupported,    // valid, but uses a feature that this runtime does not have (the detail names it)
  corrupt,        // an offset, size, index or type that no writer would write
  missing_kernel,  // no kernel of this name is linked in
  bad_argument,    // an argument's type, shape, dtype or range is not what the kernel takes
  overlap,         // a value is overwritten before its last reader
  wrong_isa,       // made by Deuteron for another instruction set
  out_of_memory,   // the caller's arena or planned buffer is too small: see bytes_needed
  bad_input,  // set_input: index or size; load: a file or planned buffer that is not 16-aligned
  missing_backend,  // no backend of the delegate's name is linked in
  delegate_failed,  // the library behind a delegate answered with an error: see step and error
};

// `detail` is a string literal; `op` points into the program file. Both may be null.
struct Status {
  Code code = Code::ok;
  int16_t argument = -1;     // position in the kernel's argument list, -1: none
  int32_t instruction = -1;  // position in the chain, -1: none
  const char* op = nullptr;  // kernel name without overload, e.g. "cortex_m::quantized_add", or the
                             // delegate's backend
  const char* detail = nullptr;
  uint32_t bytes_needed = 0;   // where something was too small
  const char* step = nullptr;  // delegate_failed: what was tried, e.g. "prepare", "run"
  int32_t error = 0;           // delegate_failed: the library's own number
  bool ok() const { return code == Code::ok; }
};

const char* name_of(Code);  // "corrupt", ...

}  // namespace deuteron
