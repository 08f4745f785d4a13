// SPDX-License-Identifier: Apache-2.0
// Delegates over the driver that is linked in, the open machine model.
#include <gtest/gtest.h>

#include <random>

#include "npu/neutron/delegate/calls.h"
#include "npu/neutron/delegate/test_network.h"
#include "tests/fuzz/load_and_run.h"

namespace deuteron {
namespace {
using namespace test;

TEST(NeutronOnTheModel, ComputesInBothVersionsAndPlacesOfScratch) {
  ASSERT_TRUE(start_backends(kAllKernels).ok());
  for (const bool argument : {false, true})
    for (const int version : {0, 1}) {
      NeutronNetwork n(argument, version);
      Loaded l(n.p.bytes(), kAllKernels);
      ASSERT_TRUE(l.status.ok()) << l.status.detail << " argument " << l.status.argument << " step "
                                 << (l.status.step ? l.status.step : "") << " error " << std::hex
                                 << l.status.error;
      for (int round = 0; round < 3; ++round) {
        std::vector<int8_t> x(24), y, z;
        for (size_t i = 0; i < 24; ++i)
          x[i] = static_cast<int8_t>(37 * i + 11 * static_cast<size_t>(round));
        NeutronNetwork::expected(x, &y, &z);
        ASSERT_TRUE(l.program.set_input(0, x.data(), 24).ok());
        const Status s = l.program.run();
        ASSERT_TRUE(s.ok()) << s.detail;
        EXPECT_EQ(std::memcmp(l.program.output(0).data, y.data(), 24), 0);
        EXPECT_EQ(std::memcmp(l.program.output(1).data, z.data(), 24), 0);
      }
      const PreparedDelegate& d = *l.program.step(0).delegate;
      const NeutronBuffers buffers = neutron_buffers(d);
      EXPECT_EQ(buffers.profile_bytes, version == 1 ? 80u : 0u);
      if (version == 1) {
        EXPECT_EQ(buffers.profile[16 * 3 + 2], static_cast<uint8_t>(neutron::Kind::kAdd));
      }
      EXPECT_GT(estimate_cycles(neutron_payload(d)), 256);
      NeutronCalls calls(neutron_payload(d));
      int count = 0;
      for (NeutronKernelCall call; calls.next(&call);) ++count;
      EXPECT_EQ(count, 4);
    }
  stop_backends(kAllKernels);
}

// The driver's own refusal, told with its step and number.
TEST(NeutronOnTheModel, AVendorsMicrocodeIsRefusedByTheDriver) {
  PayloadParts parts;
  parts.output_flags = {0}, parts.output_map = {0};
  TestProgram p;
  p.outputs = {p.planned(ScalarType::s8, {8}, 0)};
  p.call_delegate(p.delegate(kNeutronBackendId, make_payload(parts)), {p.outputs[0]});
  Loaded l(p.bytes(), kAllKernels);
  EXPECT_EQ(l.status.code, Code::delegate_failed);
  EXPECT_STREQ(l.status.step, "prepare");
  EXPECT_EQ(fault_of(l.status.error).category, kNeutronBadMicrocode);
  EXPECT_EQ(l.program.instruction_count(), 0);
}

TEST(NeutronOnTheModel, DamagedFiles) {
  for (const bool argument : {false, true}) {
    NeutronNetwork n(argument);
    const std::vector<uint8_t> whole = n.p.bytes();
    int tried = 0, ran = 0;
    const auto add = [&](const std::vector<uint8_t>& b) {
      ++tried;
      ran += load_and_run(Block(b).file(), kAllKernels) == Outcome::ran;
    };
    for (size_t k = 0; k < whole.size(); k += 7)
      add({whole.begin(), whole.begin() + static_cast<long>(k)});
    for (size_t at = 0; at < whole.size(); ++at)
      for (const int value : {0, 1, 0x7F, 0xFF, whole[at] ^ 4}) {
        std::vector<uint8_t> b = whole;
        b[at] = static_cast<uint8_t>(value);
        add(b);
      }
    std::mt19937 random(7);
    for (int k = 0; k < 3000; ++k) {
      std::vector<uint8_t> b = whole;
      for (int c = 0; c < 2; ++c) {
        const uint32_t word =
            random() % 3 ? static_cast<uint32_t>(random() % 300) : static_cast<uint32_t>(random());
        std::memcpy(&b[random() % (b.size() - 3) & ~size_t{3}], &word, 4);
      }
      add(b);
    }
    EXPECT_GT(ran, 500);
    std::printf("%d damaged files, %d loaded and ran\n", tried, ran);
  }
}

}  // namespace
}  // namespace deuteron
