// SPDX-License-Identifier: Apache-2.0
// Networks of the operators' own examples, compiled in every way that must not change their bits.
#include "base/check.h"
#include "tests/fuzz/random_network.h"
#include "tests/fuzz/same_bits.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace deuteron::test;
  Decisions decisions(data, size);
  const uint8_t target = decisions.byte();
  const auto graph = RandomNetwork(decisions).grow();
  if (!graph) return 0;
  const Checked checked = check_same_bits(*graph, target, {});
  DEUTERON_CHECK(!checked.fault, *checked.fault);
  return 0;
}
