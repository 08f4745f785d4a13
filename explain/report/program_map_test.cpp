// SPDX-License-Identifier: Apache-2.0
// What a map says of a program, key by key; explain/report/program_map_cases_test.cpp has the cases
// that are easy to get wrong.
#include "explain/report/program_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "explain/report/test_map.h"

namespace deuteron {
namespace {

using nlohmann::json;
using test::map_of;
using test::to_text;

TEST(ProgramMap, KeysOfOneConvolution) {
  const std::string text =
      "input x : f32[1,6,7,3] order=0,2,3,1\n"
      "w = const f32[5,3,3,3] random(1)\n"
      "b = const f32[5] random(2)\n"
      "conv = conv2d(x, w, b) pad_before=1,1 pad_after=1,1\n"
      "relu = clamp(conv) bounds=0,inf\n"
      "output relu order=0,2,3,1\n";
  const json map = map_of(text, "imxrt700cm");
  EXPECT_EQ(map["format"], 1);
  EXPECT_EQ(map["model"], "test");
  EXPECT_EQ(map["target"], "imxrt700cm");
  EXPECT_EQ(map["program_id"].get<std::string>().size(), 16u);
  ASSERT_EQ(map["operators"].size(), 2u);
  const json& conv = map["operators"][0];
  EXPECT_EQ(conv["name"], "conv");
  EXPECT_EQ(conv["placement"], "npu");
  EXPECT_EQ(conv["macs"], 6 * 7 * 5 * 27);
  EXPECT_EQ(conv["shape"], json({1, 6, 7, 5}));
  EXPECT_EQ(conv["dtype"], "f32");
  EXPECT_EQ(map["operators"][1]["inputs"], json::array({0}));
  EXPECT_EQ(to_text(map),
            "0 quantize_per_tensor: conv +\n"
            "1 NeutronBackend: conv,relu\n"
            "  Conv2DStandardV2: conv,relu\n"
            "2 dequantize_per_tensor: relu +\n");
  const json& kernel = map["calls"][1]["npu_kernels"].back();
  EXPECT_EQ(kernel["bytes"], 6 * 7 * 3 + 6 * 7 * 5 + 8 * 3 * 16 + 9 * 5);
  EXPECT_EQ(map["calls"][1]["macs"], 6 * 7 * 5 * 27);
  EXPECT_GT(kernel["predicted_cycles"], 0);
  const json& memory = map["memory"][0];
  EXPECT_GE(memory["used"], memory["lower_bound"]);
  for (const json& t : memory["tensors"]) {
    EXPECT_LE(t["offset"].get<i64>() + t["bytes"].get<i64>(), memory["used"].get<i64>());
    EXPECT_LE(t["first"], t["last"]);
    EXPECT_LT(t["last"], map["calls"].size());
  }
}

// Of the published test values of FNV-1a with 64 bits.
TEST(ProgramMap, TheIdIsFnv1a) {
  EXPECT_EQ(program_id({}), 0xcbf29ce484222325u);
  const uint8_t a[] = {'a'}, foobar[] = {'f', 'o', 'o', 'b', 'a', 'r'};
  EXPECT_EQ(program_id(a), 0xaf63dc4c8601ec8cu);
  EXPECT_EQ(program_id_text(foobar), "85944171f73967e8");
}

}  // namespace
}  // namespace deuteron
