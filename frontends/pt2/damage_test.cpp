// SPDX-License-Identifier: Apache-2.0
// Files that are damaged in every way that is cheap to enumerate: an answer each time, never a
// crash. tests/fuzz/pt2_fuzz.cpp looks for more.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <random>

#include "frontends/pt2/test_archive.h"
#include "ir/verify.h"
#include "tests/paths.h"

namespace deuteron::pt2 {
namespace {

using ::testing::HasSubstr;

// Gives a graph that verifies, or says why not.
bool imports(const std::string& bytes, std::string* rule = nullptr) {
  Diagnostics diagnostics;
  const auto graph = import_bytes(bytes, diagnostics);
  EXPECT_EQ(graph.has_value(), !diagnostics.has_errors());
  EXPECT_EQ(graph ? find_fault(*graph) : std::nullopt, std::nullopt);
  if (rule) rule->clear();
  for (const Diagnostic& d : diagnostics.list()) {
    EXPECT_FALSE(d.what.empty());
    EXPECT_TRUE(d.rule.starts_with("pt2.")) << d.rule;
    EXPECT_EQ(d.measured.empty(), d.limit.empty()) << format_diagnostic(d);
    if (rule && rule->empty() && d.severity == Severity::error) *rule = d.rule;
  }
  return graph.has_value();
}

std::string demo_model() {
  std::ifstream file(source_path("models/digits_cnn/qat_qdq.pt2"), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// One operator of most kinds.
TestModel rich_model() {
  TestModel m;
  m.input("x", {1, 3, 6, 6}, {108, 1, 18, 3});
  m.parameter("c.weight", {4, 3, 3, 3}, std::vector<float>(108, 0.5f));
  m.parameter("f.weight", {2, 4}, std::vector<int8_t>{1, 2, 3, 4, 5, 6, 7, 8}, kS8);
  m.parameter("s", {2}, std::vector<float>{0.5f, 0.25f});
  m.parameter("z", {2}, std::vector<i64>{0, 0}, kS64);
  m.parameter("m", {4}, std::vector<float>{1, 2, 3, 4});
  m.node("aten.conv2d.default", {{"conv", {1, 4, 6, 6}}},
         {{"input", as_tensor("x")},
          {"weight", as_tensor("p_c.weight")},
          {"bias", as_none()},
          {"stride", as_ints({1, 1})},
          {"padding", as_ints({1, 1})}});
  m.node("aten.batch_norm.default", {{"bn", {1, 4, 6, 6}}},
         {{"input", as_tensor("conv")},
          {"weight", as_tensor("p_m")},
          {"bias", as_none()},
          {"running_mean", as_tensor("p_m")},
          {"running_var", as_tensor("p_m")},
          {"training", as_bool(false)},
          {"momentum", as_float(0.1)},
          {"eps", as_float(1e-5)},
          {"cudnn_enabled", as_bool(false)}});
  m.node("aten.relu_.default", {{"relu_", {1, 4, 6, 6}}}, {{"self", as_tensor("bn")}});
  m.node("aten.max_pool2d.default", {{"pool", {1, 4, 3, 3}}},
         {{"self", as_tensor("relu_")}, {"kernel_size", as_ints({2, 2})}});
  m.node("aten.mean.dim", {{"mean", {1, 4}}},
         {{"self", as_tensor("pool")}, {"dim", as_ints({-1, -2})}});
  const std::vector<std::pair<std::string, json>> grid = {{"scale", as_float(0.5)},
                                                          {"zero_point", as_int(3)},
                                                          {"quant_min", as_int(-128)},
                                                          {"quant_max", as_int(127)},
                                                          {"dtype", as_dtype(kS8)}};
  auto arguments = grid;
  arguments.insert(arguments.begin(), {"input", as_tensor("mean")});
  m.node("quantized_decomposed.quantize_per_tensor.default", {{"q", {1, 4}, kS8}}, arguments);
  arguments[0].second = as_tensor("q");
  m.node("quantized_decomposed.dequantize_per_tensor.default", {{"d", {1, 4}}}, arguments);
  m.node("quantized_decomposed.dequantize_per_channel.default", {{"w", {2, 4}}},
         {{"input", as_tensor("p_f.weight")},
          {"scales", as_tensor("p_s")},
          {"zero_points", as_tensor("p_z")},
          {"axis", as_int(0)},
          {"quant_min", as_int(-127)},
          {"quant_max", as_int(127)},
          {"dtype", as_dtype(kS8)}});
  m.node("aten.linear.default", {{"linear", {1, 2}}},
         {{"input", as_tensor("d")}, {"weight", as_tensor("w")}});
  m.node("aten.add.Tensor", {{"add", {1, 2}}},
         {{"self", as_tensor("linear")}, {"other", as_float(1.5)}, {"alpha", as_int(2)}});
  m.node("aten.pad.default", {{"pad", {1, 4}}},
         {{"self", as_tensor("add")}, {"pad", as_ints({1, 1})}});
  m.node("aten.view.default", {{"view", {4, 1}}},
         {{"self", as_tensor("pad")}, {"size", as_ints({-1, 1})}});
  m.node("aten.softmax.int", {{"softmax", {4, 1}}},
         {{"self", as_tensor("view")}, {"dim", as_int(-2)}});
  m.output("softmax");
  return m;
}

TEST(Damage, TheModelsAreFineBefore) {
  EXPECT_TRUE(imports(rich_model().bytes()));
  EXPECT_TRUE(imports(demo_model()));
}

TEST(Damage, EveryTruncation) {
  const std::string bytes = rich_model().bytes(), demo = demo_model();
  for (size_t length = 0; length < bytes.size(); ++length)
    EXPECT_FALSE(imports(bytes.substr(0, length))) << length;
  for (size_t length = 0; length < demo.size(); length += 1009)
    EXPECT_FALSE(imports(demo.substr(0, length))) << length;
}

TEST(Damage, BytesOfTheDirectory) {
  const std::string bytes = rich_model().bytes();
  std::mt19937 random(20261121);
  for (size_t at = bytes.find("PK\1\2"); at < bytes.size(); ++at)
    for (const unsigned flip : {0xffu, 0x01u, static_cast<unsigned>(1 + random() % 254)}) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ static_cast<char>(flip));
      imports(damaged);
    }
}

TEST(Damage, BytesOfAWholeFile) {
  const std::string demo = demo_model();
  std::mt19937 random(4711);
  for (int i = 0; i < 300; ++i) {
    std::string damaged = demo;
    for (int k = 0; k < 1 + i % 4; ++k)
      damaged[random() % damaged.size()] = static_cast<char>(random());
    imports(damaged);
  }
}

// The checksum is made right again, so that the text itself is read.
TEST(Damage, BytesOfTheProgram) {
  TestModel m = rich_model();
  ZipEntries entries = m.entries();
  std::mt19937 random(99);
  for (auto& [name, data] : entries) {
    if (!name.ends_with(".json")) continue;
    const std::string whole = data;
    for (int i = 0; i < 500; ++i) {
      data = whole;
      const size_t at = random() % data.size();
      switch (i % 4) {
        case 0:
          data[at] = static_cast<char>(random());
          break;
        case 1:
          data[at] = "0123456789-[]{},:\"etn"[random() % 21];
          break;
        case 2:
          data.erase(at, 1 + random() % 20);
          break;
        default:
          data.insert(at, data.substr(random() % data.size(), 1 + random() % 30));
      }
      imports(stored_zip(entries));
    }
    data = whole;
  }
}

// Every value of the program replaced by values of every kind, and every member left out.
void spoil_all(TestModel& m, json& document, std::vector<json>& replacements, int& rejected,
               int& tried) {
  const json flat = document.flatten();
  for (const auto& leaf : flat.items()) {
    json::json_pointer pointer(leaf.key());
    while (!pointer.empty()) {
      json& place = document[pointer];
      const json original = place;
      for (const json& replacement : replacements) {
        document[pointer] = replacement;
        rejected += !imports(m.bytes());
        ++tried;
      }
      document[pointer] = original;
      const json parent = document[pointer.parent_pointer()];
      if (parent.is_object()) {
        document[pointer.parent_pointer()].erase(pointer.back());
        rejected += !imports(m.bytes());
        ++tried;
        document[pointer.parent_pointer()] = parent;
      }
      if (pointer.back() != "0") break;  // containers once, with their first element
      pointer = pointer.parent_pointer();
    }
  }
}

TEST(Damage, FieldsOfTheProgram) {
  TestModel m = rich_model();
  std::vector<json> replacements = {nullptr, -1,    INT64_MAX,     INT64_MIN,
                                    "x",     1e300, json::array(), json::object()};
  int rejected = 0, tried = 0;
  spoil_all(m, m.model, replacements, rejected, tried);
  spoil_all(m, m.weights, replacements, rejected, tried);
  EXPECT_GT(tried, 3000);
  EXPECT_GT(rejected, tried / 2);
  EXPECT_TRUE(imports(m.bytes()));
}

TEST(Damage, MissingEntries) {
  const TestModel m = rich_model();
  for (size_t i = 0; i < m.entries().size(); ++i) {
    ZipEntries entries = m.entries();
    entries.erase(entries.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_FALSE(imports(stored_zip(entries))) << m.entries()[i].first;
  }
}

TEST(Damage, VersionsAndStamps) {
  const auto rule_with = [](const std::string& entry, const std::string& content) {
    ZipEntries entries = rich_model().entries();
    for (auto& [name, data] : entries)
      if (name == "net/" + entry) data = content;
    std::string rule;
    imports(stored_zip(entries), &rule);
    return rule;
  };
  EXPECT_EQ(rule_with("archive_version", "1"), "pt2.version.archive");
  EXPECT_EQ(rule_with("archive_version", "0\n"), "");
  EXPECT_EQ(rule_with("byteorder", "big"), "pt2.version.archive");
  EXPECT_EQ(rule_with("archive_format", "pt3"), "pt2.version.archive");
  EXPECT_EQ(rule_with("models/model.json", ""), "pt2.model.json");
  EXPECT_EQ(rule_with("models/model.json", "[]"), "pt2.model.field");
  EXPECT_EQ(rule_with("models/model.json", std::string(100000, '[')), "pt2.model.json");
  EXPECT_EQ(rule_with("models/model.json",
                      "{\"a\": " + std::string(70, '[') + std::string(70, ']') + "}"),
            "pt2.model.json");
  EXPECT_EQ(rule_with("data/weights/weight_0", std::string(107 * 4, 0)), "pt2.weights.size");
  EXPECT_EQ(rule_with("data/weights/weight_0", std::string(108 * 4 + 1, 0)), "pt2.weights.size");
  TestModel m = rich_model();
  m.model["schema_version"]["major"] = 9;
  std::string rule;
  imports(m.bytes(), &rule);
  EXPECT_EQ(rule, "pt2.version.schema");
}

TEST(Damage, SizesThatWouldOverflowOrFillTheMemory) {
  const i64 big = i64{1} << 31;
  std::string rule;
  for (const Shape& shape :
       {Shape{big, big, big, big}, Shape{big + 1}, Shape{i64{1} << 62, 4}, Shape(200, 1)}) {
    TestModel m;
    m.input("x", {1});
    m.graph()["tensor_values"]["x"] = TestModel::meta(shape, kF32, Shape(shape.size(), 1));
    m.output("x");
    EXPECT_FALSE(imports(m.bytes(), &rule));
    EXPECT_EQ(rule, shape.size() > 100 ? "pt2.tensor.rank" : "pt2.tensor.size");
  }
  // Four bytes that claim to be gigabytes; a result as large, and one that the file says is small.
  for (const auto& [result, expected] : {std::pair(Shape{1024, 1024, 1024}, "pt2.tensor.size"),
                                         {{1024, 1024}, "pt2.weights.expanded"}}) {
    TestModel m;
    m.input("x", {1});
    m.parameter("w", {1024, 1024, 1024}, std::vector<float>{1}, kF32, {0, 0, 0});
    m.node("aten.add.Tensor", {{"y", result}},
           {{"self", as_tensor("x")}, {"other", as_tensor("p_w")}});
    m.output("y");
    EXPECT_FALSE(imports(m.bytes(), &rule));
    EXPECT_EQ(rule, expected);
  }
}

}  // namespace
}  // namespace deuteron::pt2
