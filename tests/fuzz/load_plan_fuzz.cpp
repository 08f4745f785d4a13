// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: a `.pte` whose load plan says anything, with a right hash. What loads is run.
#include "tests/fuzz/run_load_plan.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::vector<uint8_t> file(data, data + size);
  if (deuteron::test::sign_load_plan(file)) deuteron::test::load_and_run_plan(file, deuteron::kAllKernels);
  return 0;
}
