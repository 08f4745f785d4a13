// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: any bytes as a `.pte`. What loads is run. Seeds: the folder given on the
// command line, or pte_seeds.
#include "tests/fuzz/load_and_run.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const deuteron::test::Block file(std::vector<uint8_t>(data, data + size));
  deuteron::test::load_and_run(file.file(), deuteron::kAllKernels);
  return 0;
}
