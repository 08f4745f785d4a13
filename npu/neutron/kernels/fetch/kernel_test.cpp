// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "npu/neutron/kernels/fetch/call.h"
#include "npu/neutron/kernels/table/call.h"
#include "npu/neutron/machine/test_tensors.h"

namespace deuteron::neutron {
namespace {

using namespace test;

int fetches = 0, waits = 0;

TEST(NeutronFetch, ConstantsAreFetchedThroughTheCallbacks) {
  for (const bool callbacks : {false, true}) {
    fetches = waits = 0;
    NeutronConfig config = {nullptr, nullptr};
    if (callbacks)
      config = {[](void* to, void* from, uint32_t size, uint32_t channel) {
                  fetches += static_cast<int>(channel);
                  std::memcpy(to, from, size);
                },
                [](uint32_t channel) { waits += static_cast<int>(channel); }};
    ASSERT_EQ(neutronSetConfig(&config), kNeutronOk);
    Model model;
    const Bytes table = Random(9).bytes(256), x = Random(10).bytes(50);
    model.sram_bytes = 288;
    const Operand at = operand(Region::kSramWeights, 32);
    model.call(Kind::kMemCpy, MemCpyCall{model.constant(table), at, 256, 5});
    model.call(Kind::kMemCpy,
               MemCpyCall{model.constant(table), at, 0, 7});  // nobody is asked to copy nothing
    model.call(Kind::kTable, TableCall{model.input(50), model.output(50), at, 50});
    Bytes want;
    for (const int8_t v : x) want.push_back(table[z(v + 128)]);
    test::expect_same(test::result_of(model, {x}), want);
    EXPECT_EQ(fetches, callbacks ? 5 : 0);
    EXPECT_EQ(waits, callbacks ? 5 : 0);
  }
  ASSERT_EQ(neutronDeinit(), kNeutronOk);
}

}  // namespace
}  // namespace deuteron::neutron
