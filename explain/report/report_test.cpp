// SPDX-License-Identifier: Apache-2.0
#include "explain/report/report.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <tuple>

#include "compile/compilation.h"
#include "compile/plan/hand_made_graph.h"
#include "explain/report/numbers.h"
#include "targets/target.h"

namespace deuteron {
namespace {

using Json = nlohmann::ordered_json;

Compilation small() {
  HandMadeGraph h;
  const ValueId x = h.input("image", DType::s8, {2, 5, 7, 3}, Axes{0, 2, 3, 1});
  h.graph.values[x].type.quant = per_tensor(0.25f, -3);
  const ValueId y = h.call("quantized_add", {x, x}, {s8({2, 5, 7, 3}), {DType::u8, {100}, {}}});
  h.output(y);
  Compilation c;
  c.graph = h.graph;
  c.plan = plan_memory(c.graph);
  c.pte = write_pte(c.graph, c.plan, Isa::dsp, &c.parts);
  c.quantization.values = {{"image", -1.f, 2.f, {0.25f, -3, Observer::histogram, 1e-5}, true}};
  return c;
}

ProgramReport small_program() {
  ProgramReport r;
  r.operators = {{"body.add", "cortex_m::quantized_add", "add_1 (aten.add.Tensor)", "",
                  Placement::cortex_m, 0},
                 {"body.sin", "portable::sin", "sin (aten.sin.default)",
                  "cortex_m has no kernel for it", Placement::portable, 12}};
  r.folded = {{"body.bn", "aten.batch_norm.default", "folded into conv2d"}};
  r.macs = 1234567;
  return r;
}

TEST(Report, JsonHasTheKeysThatScriptsRelyOn) {
  const Compilation c = small();
  Target target;
  target.name = "cortex-m4";
  const Json j = Json::parse(
      report_json(c, small_program(), {"net.pt2", &target, Accuracy{31.5, 0.02, 32}, 0.125}));
  EXPECT_EQ(j.at("model"), "net.pt2");
  EXPECT_EQ(j.at("target"), "cortex-m4");
  ASSERT_EQ(j.at("operators").size(), 2u);
  EXPECT_EQ(j["operators"][0].at("name"), "body.add");
  EXPECT_EQ(j["operators"][0].at("op"), "cortex_m::quantized_add");
  EXPECT_EQ(j["operators"][0].at("source"), "add_1 (aten.add.Tensor)");
  EXPECT_EQ(j["operators"][0].at("placement"), "cortex_m");
  EXPECT_EQ(j["operators"][1].at("placement"), "portable");
  EXPECT_EQ(j["operators"][1].at("reason"), "cortex_m has no kernel for it");
  EXPECT_EQ(j.at("counts"), Json({{"npu", 0}, {"cortex_m", 1}, {"portable", 1}}));
  EXPECT_EQ(j.at("ram_bytes"), 2 * 224 + 112);
  EXPECT_EQ(j.at("ram_lower_bound_bytes"), 2 * 224 + 112);
  EXPECT_EQ(j.at("scratch_bytes"), 112);
  EXPECT_EQ(j.at("constants_bytes"), 0);
  EXPECT_EQ(j.at("file_bytes"), c.pte.size());
  EXPECT_EQ(j.at("macs"), 1234567);
  EXPECT_EQ(j.at("sqnr_db"), 31.5);
  EXPECT_EQ(j.at("seconds"), 0.125);
  EXPECT_EQ(j.at("inputs")[0].at("shape"), Json({2, 3, 5, 7})) << "the user's axes";
  EXPECT_EQ(j.at("inputs")[0].at("storage_order"), Json({0, 2, 3, 1}));
  EXPECT_EQ(j.at("inputs")[0].at("scale"), 0.25);
  EXPECT_EQ(j.at("peak").at("tensors").size(), 3u);
  EXPECT_EQ(j.at("peak").at("tensors")[0].at("bytes"), 210);
  EXPECT_EQ(j.at("folded")[0].at("reason"), "folded into conv2d");
  EXPECT_EQ(j.at("quantization")[0].at("observer"), "histogram");
}

TEST(Report, ErrorMayBeUnknownOrNone) {
  const Compilation c = small();
  const Json unknown =
      Json::parse(report_json(c, small_program(), {"net.pt2", nullptr, std::nullopt, 0}));
  EXPECT_TRUE(unknown.at("sqnr_db").is_null());
  EXPECT_FALSE(unknown.contains("exact"));
  const Json exact = Json::parse(report_json(
      c, small_program(),
      {"net.pt2", nullptr, Accuracy{std::numeric_limits<double>::infinity(), 0, 4}, 0}));
  EXPECT_TRUE(exact.at("sqnr_db").is_null());
  EXPECT_EQ(exact.at("exact"), true);
  EXPECT_NE(report_summary(
                c, small_program(),
                {"net.pt2", nullptr, Accuracy{std::numeric_limits<double>::infinity(), 0, 4}, 0})
                .find("equal to the float model"),
            std::string::npos);
}

TEST(Report, OtherDataHaveAnErrorOrNone) {
  Compilation c = small();
  const auto summary = [&] {
    return report_summary(c, small_program(), {"net.pt2", nullptr, Accuracy{40, 0.5, 4}, 0});
  };
  c.quantization.held_out = HeldOut{kNoNoise, kNoNoise, kNoNoise};
  EXPECT_THAT(summary(), testing::HasSubstr("expected on new data: no error either"));
  c.quantization.held_out = HeldOut{150, 30, kNoNoise};  // some halves have none
  EXPECT_THAT(summary(), testing::HasSubstr("expected on new data: 150.0 dB (30.0 to 200.0"));
}

TEST(Report, NamesOfAnyBytesStayJson) {
  ProgramReport r = small_program();
  r.operators[0].name = "bad \xff\xfe \"name\"\n";
  EXPECT_NO_THROW(std::ignore =
                      Json::parse(report_json(small(), r, {"\x80.pt2", nullptr, std::nullopt, 0})));
}

TEST(Report, SummaryIsForPeople) {
  Target target;
  target.name = "cortex-m4";
  EXPECT_EQ(
      report_summary(small(), small_program(),
                     {"net.pt2", &target, Accuracy{31.54, 0.02, 32}, 0.126}),
      "net.pt2 for cortex-m4\n"
      "  RAM            560 bytes for tensors (optimal), of which 112 scratch\n"
      "  flash          " +
          grouped(static_cast<i64>(small().pte.size())) + " bytes: constants 0, program " +
          grouped(static_cast<i64>(small().pte.size())) +
          ", padding 0\n"
          "  accuracy       31.5 dB SQNR against the float model on 32 calibration samples; "
          "largest error 0.02\n"
          "  operators      1 on the CPU in int8, 1 on portable kernels; 1 folded away\n"
          "                 portable: portable::sin `body.sin`: cortex_m has no kernel for it\n"
          "  runs on        Deuteron's runtime or stock ExecuTorch\n"
          "  compiled       in 0.13 s\n");
}

TEST(Report, TheLongSummaryHasWhatIsSeldomNeeded) {
  const std::string text =
      report_summary(small(), small_program(), {"net.pt2", nullptr, std::nullopt, 0, true});
  EXPECT_THAT(
      text,
      testing::HasSubstr(
          "                 at the peak, cortex_m::quantized_add `body.quantized_add` (source op "
          "0): `image` 210, `quantized_add` 210, `quantized_add.1` 100\n"));
  EXPECT_THAT(text, testing::HasSubstr("  multiply-adds  1234.6 k\n"));
}

TEST(Report, SaysWhatTheTargetHas) {
  Target target;
  target.memories = {{.name = "sram", .bytes = 4096, .holds = {"activations"}, .reach = {"cpu"}},
                     {.name = "flash",
                      .bytes = 65536,
                      .holds = {"constants"},
                      .reach = {"cpu"},
                      .is_flash = true}};
  const auto summary = [&] {
    return report_summary(small(), small_program(), {"net.pt2", &target, std::nullopt, 0});
  };
  EXPECT_THAT(summary(), testing::HasSubstr("560 bytes of 4 096 for tensors"));
  EXPECT_THAT(summary(), testing::HasSubstr(" bytes of 65 536: constants 0"));
  target.memories[0].bytes = 0;  // as large as need be
  EXPECT_THAT(summary(), testing::HasSubstr("560 bytes for tensors"));
}

TEST(Report, NumbersAreGrouped) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1 000");
  EXPECT_EQ(grouped(-1234567), "-1 234 567");
}

}  // namespace
}  // namespace deuteron
