// SPDX-License-Identifier: Apache-2.0
#include "frontends/read_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "ir/text.h"
#include "ir/verify.h"
#include "tests/paths.h"

namespace deuteron {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class ReadGraph : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / fmt_name();
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  static std::string fmt_name() {
    return std::string("read_graph_") +
           testing::UnitTest::GetInstance()->current_test_info()->name() + "_" +
           std::to_string(getpid());
  }
  std::string write(const std::string& name, std::string_view content) {
    const std::string path = (folder_ / name).string();
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }
  std::string refusal(const std::string& path) {
    Diagnostics diagnostics;
    EXPECT_FALSE(read_graph(path, diagnostics));
    EXPECT_TRUE(diagnostics.has_errors());
    return diagnostics.list().empty() ? "" : format_diagnostic(diagnostics.list()[0]);
  }
  fs::path folder_;
};

TEST_F(ReadGraph, ReadsText) {
  Diagnostics diagnostics;
  const std::string good =
      write("net.TXT", "input x : f32[3]\ny = clamp(x) bounds=0,6\noutput y\n");
  const auto g = read_graph(good, diagnostics);
  ASSERT_TRUE(g);
  EXPECT_EQ(g->nodes.size(), 1u);
  EXPECT_EQ(g->name, good);
  const std::string path = write("bad.txt", "input x\n");
  EXPECT_THAT(
      refusal(write(
          "lowered.txt",
          "input x : f32[3]\ny = call k::f.out(x) args(in0[3], out0[3]) : f32[3]\noutput y\n")),
      HasSubstr("holds k::f `y` (source op 0): a graph after lowering is not a model"));
  EXPECT_THAT(refusal(path), HasSubstr(path + ":1:8: error: expected `:`, found end of line"));
}

TEST_F(ReadGraph, RefusesOtherFilesByWhatTheyAre) {
  EXPECT_THAT(refusal((folder_ / "none.pt2").string()),
              HasSubstr("none.pt2: error: there is no such file"));
  EXPECT_THAT(refusal(folder_.string()), HasSubstr("is a folder, not a model  [model.file]"));
  EXPECT_THAT(refusal("/dev/zero"), HasSubstr("is not a regular file"));
  EXPECT_THAT(refusal(write("model", std::string_view("\x1c\0\0\0TFL3....", 12))),
              HasSubstr("a TFLite model"));
  EXPECT_THAT(refusal(write("model.bin", std::string_view("\x1c\0\0\0ET12....", 12))),
              HasSubstr("a compiled program, not a model"));
  EXPECT_THAT(refusal(write("model.onnx", "\x08\x08")),
              HasSubstr("holds no graph  [onnx.file.graph]"));
  EXPECT_THAT(refusal(write("model.pth", "PK\x03\x04....")),
              HasSubstr("export the model with torch.export"));
  EXPECT_THAT(refusal(write("model.dat", "")), HasSubstr("an empty file"));
  EXPECT_THAT(refusal(write("model.dat", "what?")),
              HasSubstr("not a model in a known format  [model.format]\n    give a .pt2 archive"));
  EXPECT_NE(refusal(write("cut.pt2", "PK\x03\x04")), "");
}

TEST_F(ReadGraph, KnowsAnArchiveByItsContent) {
  const fs::path model = fs::path(shared_path("fixtures/models/digits_cnn/float.pt2"));
  if (!fs::exists(model))
    GTEST_SKIP() << "left out: the model " << model.string() << " is not here";
  fs::copy_file(model, folder_ / "renamed.model");
  Diagnostics diagnostics;
  const auto g = read_graph((folder_ / "renamed.model").string(), diagnostics);
  for (const Diagnostic& d : diagnostics.list()) ADD_FAILURE() << format_diagnostic(d);
  ASSERT_TRUE(g);
  EXPECT_EQ(find_fault(*g), std::nullopt);
  EXPECT_GT(g->nodes.size(), 5u);
}

// Real models: the text form gives the same text again, and every operator of the user has a node
// or a reason.
TEST_F(ReadGraph, KeepsRealModelsThroughTheTextForm) {
  const fs::path models = fs::path(shared_path("fixtures/models"));
  if (!fs::exists(models))
    GTEST_SKIP() << "left out: the models in " << models.string() << " are not here";
  int read = 0;
  for (const char* name :
       {"resnet8", "dscnn_kws", "mobilenet_v1_025_vww", "autoencoder_ad", "cifarnet", "digits_cnn"})
    for (const char* kind : {"float.pt2", "qdq.pt2"}) {
      const fs::path model = models / name / kind;
      if (!fs::exists(model)) continue;
      Diagnostics diagnostics;
      const auto g = read_graph(model.string(), diagnostics);
      ASSERT_TRUE(g) << model;
      EXPECT_TRUE(lost_sources(*g).empty()) << model;
      const std::string text = print(*g, {.all_constants = true});
      const auto again = read_graph(write("model.txt", text), diagnostics);
      ASSERT_TRUE(again) << model << ": " << format_diagnostic(diagnostics.list().back());
      EXPECT_TRUE(print(*again, {.all_constants = true}) == text) << model;
      ++read;
    }
  EXPECT_GE(read, 6);
}

}  // namespace
}  // namespace deuteron
