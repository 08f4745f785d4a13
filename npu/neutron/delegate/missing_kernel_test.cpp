// SPDX-License-Identifier: Apache-2.0
// The name of a kernel that the driver was linked without, from the number of the call in its
// answer.
#include "npu/neutron/delegate/missing_kernel.h"

#include <gtest/gtest.h>

#include "npu/neutron/delegate/test_network.h"
#include "npu/neutron/machine/check.h"

namespace deuteron {
namespace {
using namespace test;
using namespace neutron;

const char* named(const Block& payload, int32_t category, Reason reason, int32_t call) {
  return missing_kernel(payload.data(), static_cast<uint32_t>(payload.size()),
                        error(category, reason, call));
}

TEST(MissingKernel, IsNamedByItsCall) {
  const NeutronNetwork network(true);
  const Block payload(make_payload(network.parts));
  const char* const expected[] = {"MemCpy", "Table", "Slice", "Add"};
  for (int32_t call = 1; call <= 4; ++call)
    EXPECT_EQ(std::string(named(payload, kNeutronUnsupported, Reason::kKernelNotLinked, call)),
              std::string("the NPU kernel ") + expected[call - 1] + " is not linked in");
}

TEST(MissingKernel, NothingIsSaidOfOtherFaultsAndOtherCalls) {
  const NeutronNetwork network(true);
  const Block payload(make_payload(network.parts));
  EXPECT_EQ(named(payload, kNeutronBadMicrocode, Reason::kKernelNotLinked, 1), nullptr);
  EXPECT_EQ(named(payload, kNeutronUnsupported, Reason::kCallKind, 1), nullptr);
  EXPECT_EQ(named(payload, kNeutronUnsupported, Reason::kKernelNotLinked, 0), nullptr);
  EXPECT_EQ(named(payload, kNeutronUnsupported, Reason::kKernelNotLinked, 30000), nullptr);
  EXPECT_EQ(
      missing_kernel(payload.data(), 3, error(kNeutronUnsupported, Reason::kKernelNotLinked, 1)),
      nullptr);
}

}  // namespace
}  // namespace deuteron
