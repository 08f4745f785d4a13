// SPDX-License-Identifier: Apache-2.0
// The record's archive: what every reader needs is in it, names are unique, and the same map is the
// same bytes. tests/stock/inspector.py has ExecuTorch's own reader.
#include "explain/traces/write_etrecord.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zip.h>

#include "explain/report/test_map.h"

namespace deuteron {
namespace {

using nlohmann::json;

// Entry -> content.
std::map<std::string, std::string> unpack(const std::vector<uint8_t>& bytes) {
  std::map<std::string, std::string> entries;
  zip_error_t error;
  zip_source_t* source = zip_source_buffer_create(bytes.data(), bytes.size(), 0, &error);
  zip_t* zip = zip_open_from_source(source, ZIP_RDONLY, &error);
  if (!zip) return entries;
  for (zip_int64_t k = 0; k < zip_get_num_entries(zip, 0); ++k) {
    zip_stat_t stat;
    zip_stat_index(zip, static_cast<zip_uint64_t>(k), 0, &stat);
    EXPECT_EQ(stat.comp_method, ZIP_CM_STORE) << stat.name;
    std::string content(stat.size, 0);
    zip_file_t* file = zip_fopen_index(zip, static_cast<zip_uint64_t>(k), 0);
    zip_fread(file, content.data(), content.size());
    zip_fclose(file);
    entries[stat.name] = std::move(content);
  }
  zip_close(zip);
  return entries;
}

// Two operators of one name, one that changes its operand, one that nobody knows.
constexpr const char* kNet =
    "source 0 \"conv\" \"aten.conv2d.default\" module=\"a.b\" stack=\"net.py:1\"\n"
    "source 1 \"conv\" \"aten.relu_.default\"\n"
    "source 2 \"odd\" \"mine.odd.default\"\n"
    "input x : f32[1,6,7,5] order=0,2,3,1\n"
    "w = const f32[5,1,1,5] random(1)\n"
    "b = const f32[5] random(2)\n"
    "first = conv2d(x, w, b) : f32[1,6,7,5] from 0\n"
    "relu = clamp(first) bounds=0,inf : f32[1,6,7,5] from 1\n"
    "odd = max_pool2d(relu) kernel=2,2 stride=1,1 : f32[1,5,6,5] from 2\n"
    "output odd order=0,2,3,1\n";

TEST(EtRecord, HasWhatReadersNeed) {
  const json map = test::map_of(kNet, "imxrt700cm");
  const std::vector<uint8_t> bytes = write_etrecord(map);
  EXPECT_EQ(bytes, write_etrecord(map));
  const auto entries = unpack(bytes);
  const std::string edge = "edge_dialect_exported_program/forward";
  for (const std::string& name : {std::string("ETRECORD_V0"), edge + "_state_dict",
                                  edge + "_constants", edge + "_example_inputs"}) {
    ASSERT_TRUE(entries.count(name)) << name;
    EXPECT_TRUE(entries.at(name).empty()) << name;
  }
  EXPECT_EQ(json::parse(entries.at("debug_handle_map")),
            json::parse(R"({"forward": {"0": [1], "1": [1, 2, 3], "2": [3]}})"));
  const json delegates = json::parse(entries.at("delegate_map"));
  EXPECT_EQ(delegates["deuteron"], map);
  EXPECT_EQ(delegates["forward"],
            json::parse(
                R"({"1": {"name": "NeutronBackend", "delegate_map": {"0": [1, 2], "1": [3], "2": [],
                                  "1000": [1, 2], "1001": [3], "1002": []}}})"));
  const json nodes = json::parse(entries.at(edge))["graph_module"]["graph"]["nodes"];
  ASSERT_EQ(nodes.size(), 3u);
  EXPECT_EQ(nodes[0]["name"], "conv");
  EXPECT_EQ(nodes[0]["target"], "executorch.exir.dialects.edge.ops.aten.conv2d.default");
  EXPECT_EQ(nodes[0]["inputs"].size(), 2u) << "input and weight have no default";
  EXPECT_EQ(nodes[0]["metadata"]["debug_handle"], "1");
  EXPECT_EQ(nodes[0]["metadata"]["stack_trace"], "net.py:1");
  EXPECT_EQ(nodes[0]["metadata"]["nn_module_stack"],
            "L__self__,,torch.nn.Module;a,a,torch.nn.Module;a.b,a.b,torch.nn.Module");
  EXPECT_NE(nodes[1]["name"], "conv");
  EXPECT_EQ(nodes[1]["target"], "executorch.exir.dialects.edge.ops.aten.relu.default");
  EXPECT_EQ(nodes[2]["inputs"].size(), 0u);
}

// The Inspector takes the last key that is a part of an id's text: for every kernel under both of
// its ids that must be its own.
TEST(EtRecord, EveryIdEndsAtItsOwnKey) {
  for (const int kernels : {1, 12, 130, 1003}) {
    json map = test::map_of(kNet, "imxrt700cm");
    json& call = map["calls"][1];
    json all = json::array();
    for (int k = 0; k < kernels; ++k) all.push_back({{"id", k}, {"operators", {k % 3}}});
    call["npu_kernels"] = all;
    const auto record =
        nlohmann::ordered_json::parse(unpack(write_etrecord(map)).at("delegate_map"));
    const auto& keys =
        record["forward"][std::to_string(call["instruction"].get<int>())]["delegate_map"];
    for (const int first : {0, 1000})
      for (int k = 0; k <= kernels; ++k) {
        const std::string id = std::to_string(first + k);
        nlohmann::ordered_json taken;
        for (const auto& [key, handles] : keys.items())
          if (id.find(key) != id.npos) taken = handles;
        const bool is_two = kernels > 1000 && first + k >= 1000 && first + k <= kernels &&
                            (first + k) % 3 != (first + k - 1000) % 3;
        const nlohmann::ordered_json own = k == kernels || is_two
                                               ? nlohmann::ordered_json::array()
                                               : nlohmann::ordered_json{k % 3 + 1};
        EXPECT_EQ(taken, own) << id << " of " << kernels;
      }
  }
}

}  // namespace
}  // namespace deuteron
