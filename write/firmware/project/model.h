// SPDX-License-Identifier: Apache-2.0
// The models of this firmware: models.cpp and models.S define them.
#pragma once
#include <cstdint>

#include "runtime/deuteron.h"

struct Model {
  const char* name;
  const uint8_t *begin, *end;  // the program, 16-aligned
  deuteron::Memory tables;     // of its own, for as long as it is loaded
  const deuteron::Memory*
      planned;  // all models that lie in one memory share it: one runs at a time
  int32_t memories;
  const deuteron::File* inputs;
  int32_t input_count;
  const uint64_t* expected;  // FNV-1a of each output on the host, for these inputs; null: not known
  int32_t output_count;      // of `expected`
};

extern const Model kModels[];
extern const int32_t kModelCount;
extern const deuteron::KernelTable kFirmwareKernels;  // kernels.cpp
