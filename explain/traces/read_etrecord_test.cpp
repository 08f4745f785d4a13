// SPDX-License-Identifier: Apache-2.0
#include "explain/traces/read_etrecord.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zip.h>

#include <unistd.h>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>

#include "base/test_diagnostics.h"

namespace deuteron {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class Etrecord : public testing::Test {
 protected:
  Etrecord()
      : path_(testing::TempDir() + "deuteron_etrecord_" + std::to_string(::getpid()) + "_" +
              testing::UnitTest::GetInstance()->current_test_info()->name()) {}
  ~Etrecord() override { std::filesystem::remove(path_); }

  void write(const std::map<std::string, std::string>& entries, bool deflate = false) {
    std::filesystem::remove(path_);
    int error = 0;
    zip_t* zip = zip_open(path_.c_str(), ZIP_CREATE | ZIP_TRUNCATE, &error);
    ASSERT_TRUE(zip);
    for (const auto& [name, text] : entries) {
      const zip_int64_t i =
          zip_file_add(zip, name.c_str(), zip_source_buffer(zip, text.data(), text.size(), 0), 0);
      ASSERT_GE(i, 0);
      zip_set_file_compression(zip, static_cast<zip_uint64_t>(i),
                               deflate ? ZIP_CM_DEFLATE : ZIP_CM_STORE, 0);
    }
    ASSERT_EQ(zip_close(zip), 0);
  }
  void refused(const std::string& what) {
    Diagnostics d;
    EXPECT_FALSE(read_etrecord(path_, d));
    EXPECT_THAT(said(d), HasSubstr(what));
  }

  std::string path_;
};

json ours() {
  return {{"forward", json::object()},
          {"deuteron",
           {{"format", 1},
            {"program_id", "00000000000000cc"},
            {"operators", {{{"name", "a"}, {"target", "aten.relu.default"}}}},
            {"calls", {{{"instruction", 0}, {"kernel", "aten::relu.out"}, {"operators", {0}}}}}}}};
}

// As the stock package writes it, in small: two nodes of one handle, a delegate with two ids.
std::map<std::string, std::string> stock() {
  const auto node = [](const char* name, const char* target, const char* handle, const char* module,
                       json inputs) {
    return json{{"name", name},
                {"target", target},
                {"inputs", inputs},
                {"outputs", {{{"as_tensor", {{"name", name}}}}}},
                {"metadata", {{"debug_handle", handle}, {"nn_module_stack", module}}}};
  };
  const json nodes = {node("permute", "executorch.exir.dialects.edge.ops.aten.permute_copy.default",
                           "1", "m,,Net;m.a,a,Linear(in=2, out=3)", json::array()),
                      node("addmm", "executorch.exir.dialects.edge.ops.aten.addmm.default", "1",
                           "m,,Net;m.a,a,Linear(in=2, out=3)",
                           {{{"name", "x"}, {"arg", {{"as_tensor", {{"name", "permute"}}}}}}}),
                      node("relu", "executorch.exir.dialects.edge.ops.aten.relu.default", "2",
                           "m,,Net", json::array())};
  const json graph = {{"graph_module", {{"graph", {{"nodes", nodes}}}}}};
  return {
      {"ETRECORD_V0", ""},
      {"debug_handle_map", R"({"forward":{"0":1,"1":[1,2]}})"},
      {"delegate_map",
       R"({"forward":{"2":{"name":"XnnpackBackend",)"
       R"("delegate_map":{"1000":[2],"1001":[1,2],"name":[1]}}}})"},
      {"edge_dialect_exported_program/forward", graph.dump()}};
}

TEST_F(Etrecord, OursCarriesTheMap) {
  write({{"ETRECORD_V0", ""}, {"delegate_map", ours().dump()}});
  Diagnostics d;
  const auto map = read_etrecord(path_, d);
  ASSERT_TRUE(map) << said(d);
  EXPECT_EQ(map->program_id, "00000000000000cc");
  EXPECT_FALSE(map->is_stock);
  ASSERT_NE(map->call(0), nullptr);
  EXPECT_EQ(map->call(0)->kernel, "aten::relu.out");
  EXPECT_EQ(map->call(1), nullptr);
}

TEST_F(Etrecord, StockRecordsGiveOperatorsByHandle) {
  for (const bool deflate : {false, true}) {
    write(stock(), deflate);
    Diagnostics d;
    const auto map = read_etrecord(path_, d);
    ASSERT_TRUE(map) << said(d);
    EXPECT_TRUE(map->is_stock);
    ASSERT_EQ(map->operators.size(), 3u);
    EXPECT_EQ(map->operators[1].target, "aten.addmm.default");
    EXPECT_EQ(map->operators[1].module, "a");
    EXPECT_EQ(map->json["operators"][1]["inputs"], json::array({0}));
    EXPECT_EQ(map->call(0)->operators, (std::vector<i64>{0, 1}));
    EXPECT_EQ(map->call(1)->operators, (std::vector<i64>{0, 1, 2}));
    EXPECT_EQ(map->call(2)->kernel, "XnnpackBackend");
    ASSERT_NE(find_kernel(*map->call(2), 1001), nullptr);
    EXPECT_EQ(find_kernel(*map->call(2), 1000)->operators, (std::vector<i64>{2}));
  }
}

TEST_F(Etrecord, WhatIsMissingIsSaid) {
  write({{"some", "thing"}});
  refused("the entry ETRECORD_V0 is missing");
  for (const char* name : {"debug_handle_map", "edge_dialect_exported_program/forward"}) {
    auto entries = stock();
    entries.erase(name);
    write(entries);
    refused(name[0] == 'd' ? "`debug_handle_map` is missing" : "no graph for the method");
  }
  std::ofstream(path_) << "no zip at all, but some text";
  refused("cannot be opened as a zip file");
}

TEST_F(Etrecord, WhatIsNoJsonIsSaid) {
  for (const char* name :
       {"delegate_map", "debug_handle_map", "edge_dialect_exported_program/forward"}) {
    auto entries = stock();
    entries[name] = "{\"forward\": ";
    write(entries);
    refused("is not valid JSON");
    entries[name] = std::string(100000, '[');
    write(entries);
    refused("is not valid JSON");
  }
}

TEST_F(Etrecord, OddShapesAreHarmless) {
  for (const char* text : {"[]", "3", "null", R"({"forward":[]})",
                           R"({"forward":{"x":1,"0":"y","1":[null,{}],"99999999999999999999":1}})",
                           R"({"forward":{"0":3}})"})
    for (const char* name :
         {"delegate_map", "debug_handle_map", "edge_dialect_exported_program/forward"}) {
      auto entries = stock();
      entries[name] = text;
      write(entries);
      Diagnostics d;
      const bool ok = read_etrecord(path_, d).has_value();
      EXPECT_NE(ok, d.has_errors()) << name << text;
    }
}

TEST_F(Etrecord, WildBytesAreHarmless) {
  write(stock(), true);
  std::ifstream in(path_, std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(in), {}};
  std::mt19937 random(11);
  for (int i = 0; i < 600; ++i) {
    std::string bytes = whole;
    if (i % 3 == 0) bytes.resize(random() % bytes.size());
    else
      for (int k = 0; k < 3; ++k) bytes[random() % bytes.size()] = static_cast<char>(random());
    std::ofstream(path_, std::ios::binary) << bytes;
    Diagnostics d;
    const bool ok = read_etrecord(path_, d).has_value();
    EXPECT_NE(ok, d.has_errors());
  }
}

}  // namespace
}  // namespace deuteron
