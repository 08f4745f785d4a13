// SPDX-License-Identifier: Apache-2.0
#include "explain/inspect/pte.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "explain/inspect/stock_view.h"
#include "npu/neutron/delegate/test_network.h"
#include "runtime/test_program.h"
#include "tests/paths.h"

namespace deuteron {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<uint8_t> bytes_of_file(const std::string& path) {
  std::ifstream f(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(f), {}};
}

TEST(InspectPte, TellsWhatIsInAStockFile) {
  const std::string path = shared_path("fixtures/stock/resnet8.cortex-m55.pte");
  if (!std::filesystem::exists(path))
    GTEST_SKIP() << "left out: a stock program, because " << path << " is not there";
  const test::Block block(bytes_of_file(path));
  Status status;
  const std::optional<PteSummary> s = summarize_pte(block.file(), &status);
  ASSERT_TRUE(s) << status.detail;
  // Counts and bytes as measured in the stock flow.
  EXPECT_EQ(s->isa, "");
  EXPECT_EQ(s->file_bytes, 102536);
  EXPECT_EQ(s->planned_bytes, 50192);
  ASSERT_EQ(s->inputs.size(), 1u);
  EXPECT_EQ(to_text(s->inputs[0].type, s->inputs[0].sizes, s->inputs[0].order),
            "f32[1,3,32,32] order 0,2,3,1");
  EXPECT_THAT(s->outputs.at(0).sizes, ElementsAre(1, 10));
  const auto count = [&](const char* op) {
    return std::count_if(s->calls.begin(), s->calls.end(),
                         [&](const PteCall& c) { return c.op == op; });
  };
  EXPECT_EQ(count("cortex_m::quantized_conv2d.out"), 9);
  EXPECT_EQ(count("cortex_m::quantized_add.out"), 3);
  EXPECT_EQ(count("cortex_m::quantized_linear.out"), 1);
  EXPECT_THAT(s->calls[0].op, HasSubstr("quantize_per_tensor"));
  EXPECT_THAT(s->calls[0].args[0], HasSubstr("f32[1,3,32,32]"));
}

TEST(InspectPte, TellsWhatADelegateHas) {
  test::NeutronNetwork n(true);
  n.p.delegate("OtherBackend", {1, 2, 3}, {{"key", std::string("\1\2", 2)}}, true);
  n.p.delegate(kNeutronBackendId, {1, 2, 3});
  const test::Block block(n.p.bytes());
  Status status;
  const std::optional<PteSummary> s = summarize_pte(block.file(), &status);
  ASSERT_TRUE(s) << status.detail;
  ASSERT_EQ(s->delegates.size(), 3u);
  const PteDelegate& d = s->delegates[0];
  EXPECT_EQ(d.id, "NeutronBackend");
  EXPECT_FALSE(d.is_inline);
  EXPECT_THAT(d.options, ElementsAre(testing::Pair("deuteron_scratch", "1")));
  ASSERT_TRUE(d.neutron);
  EXPECT_EQ(d.neutron->arguments, 3);
  EXPECT_EQ(d.neutron->sram_bytes, 256u);
  EXPECT_THAT(d.kernels, ElementsAre("MemCpy", "Table", "Slice", "Add"));
  EXPECT_EQ(s->calls[0].op, "NeutronBackend");
  EXPECT_EQ(s->calls[0].args.size(), 5u);
  EXPECT_TRUE(s->delegates[1].is_inline);
  EXPECT_FALSE(s->delegates[1].neutron);
  EXPECT_EQ(s->delegates[1].payload_bytes, 3);
  EXPECT_EQ(s->delegates[1].options[0].second, "0x0102");
  EXPECT_THAT(s->delegates[2].fault, HasSubstr("shorter than its header"));
}

// Every cut, and every byte of the table part overwritten: a summary or a status, never more.
TEST(InspectPte, DamagedFilesAreRefusedOrRead) {
  const std::string path = shared_path("fixtures/stock/hello_sine.cortex-m4.pte");
  if (!std::filesystem::exists(path))
    GTEST_SKIP() << "left out: a stock program, because " << path << " is not there";
  const std::vector<uint8_t> whole = bytes_of_file(path);
  for (size_t n = 0; n < whole.size(); n += 3) {
    const test::Block cut(
        std::vector<uint8_t>(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(n)));
    Status status;
    EXPECT_FALSE(summarize_pte(cut.file(), &status)) << n;
    EXPECT_NE(status.code, Code::ok) << n;
  }
  for (size_t at = 0; at < whole.size(); ++at)
    for (const uint8_t with : {uint8_t{0}, uint8_t{0xff}, static_cast<uint8_t>(whole[at] ^ 4)}) {
      std::vector<uint8_t> changed = whole;
      changed[at] = with;
      const test::Block block(changed);
      Status status;
      const std::optional<PteSummary> s = summarize_pte(block.file(), &status);
      EXPECT_NE(s.has_value(), !status.ok()) << at;
      EXPECT_FALSE(s && stock_view(*s, block.file()).empty()) << at;
    }
}

}  // namespace
}  // namespace deuteron
