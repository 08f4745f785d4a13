// SPDX-License-Identifier: Apache-2.0
// The vendor's Neutron converter, played by shell scripts: whatever it does, one message that names
// the step, and no file left behind.
#include "npu/neutron/vendor/external_converter.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/tflite/writer.h"
#include "cli/watched_tool.h"
#include "npu/neutron/converter/converter.h"
#include "npu/neutron/machine/test_machine.h"

namespace deuteron::neutron {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

std::vector<u8> small_model() {
  tflite::Writer w;
  const i32 x = w.tensor({1, 4, 5, 8}, 0.05f, 3);
  return w.finish({x}, {w.op(tflite::BuiltinOperator::LOGISTIC, {x},
                             w.tensor({1, 4, 5, 8}, 1.0f / 256, -128))});
}

class ExternalNeutronConverter : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "deuteron-test-XXXXXX").string();
    ASSERT_TRUE(mkdtemp(pattern.data()));
    folder_ = pattern;
    fs::create_directory(folder_ / "tmp");
    const char* tmp = std::getenv("TMPDIR");
    if (tmp) saved_ = tmp;
    setenv("TMPDIR", (folder_ / "tmp").c_str(), 1);
    Diagnostics d;
    const auto c = convert(small_model(), {n3_64()}, d);
    ASSERT_TRUE(c);
    write(folder_ / "good.tflite", c->model);
  }
  void TearDown() override {
    EXPECT_TRUE(fs::is_empty(folder_ / "tmp")) << "a temporary file is left";
    if (saved_.empty()) unsetenv("TMPDIR");
    else setenv("TMPDIR", saved_.c_str(), 1);
    fs::remove_all(folder_);
  }
  static void write(const fs::path& p, const std::vector<u8>& bytes) {
    std::ofstream(p, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  }

  // A converter whose script sees the input as $2, the output as $4, the target as $6. It does not
  // know its version.
  std::string script(const std::string& body, bool executable = true) {
    const fs::path p = folder_ / "converter";
    std::ofstream(p) << "#!/bin/sh\n[ $1 = --version ] && exit 1\n" << body << "\n";
    if (executable) fs::permissions(p, fs::perms::owner_all);
    return p.string();
  }
  std::string good() const { return (folder_ / "good.tflite").string(); }

  static ExternalConverter at(const std::string& path) {
    ExternalConverter tool;
    tool.path = path;
    return tool;
  }
  std::optional<ExternallyConverted> run(ExternalConverter tool) {
    messages_.clear();
    Diagnostics d;
    auto r = convert_externally(small_model(), tool, watched_tool(), text_file_, d);
    EXPECT_NE(r.has_value(), d.has_errors());
    for (const Diagnostic& x : d.list()) messages_ += format_diagnostic(x) + "\n";
    return r;
  }
  void refuses(ExternalConverter tool, const std::string& rule, const std::string& text) {
    EXPECT_FALSE(run(tool));
    EXPECT_THAT(messages_, HasSubstr("[" + rule + "]"));
    EXPECT_THAT(messages_, HasSubstr(text));
  }

  fs::path folder_;
  std::string saved_, messages_, text_file_;
};

TEST_F(ExternalNeutronConverter, ItsResultIsTaken) {
  const auto r = run(at(script(fmt::format("echo hello; echo target $6; cp {} $4", good()))));
  ASSERT_TRUE(r) << messages_;
  EXPECT_THAT(r->log, testing::ElementsAre("hello", "target imxrt700"));
  EXPECT_EQ(r->extracted.version, 0);
  EXPECT_EQ(r->extracted.input_map, std::vector<u8>{0});
}

TEST_F(ExternalNeutronConverter, ItsTextIsKeptAlsoWhereItFails) {
  text_file_ = (folder_ / "console.txt").string();
  EXPECT_FALSE(run(at(script("echo one; echo two; exit 3"))));
  std::ifstream kept(text_file_);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(kept), {}), "one\ntwo\n");
  text_file_ = (folder_ / "no/such/folder").string();
  refuses(at(script(fmt::format("cp {} $4", good()))), "neutron.external.folder",
          "keeping its text");
}

TEST_F(ExternalNeutronConverter, ItGetsTheModelAndItsOptions) {
  ExternalConverter tool;
  tool.path = script(fmt::format(
      "out=$4; head -c 8 $2 | tail -c 4; echo; shift 6; echo \"$@\"; cp {} $out", good()));
  tool.fetch_constants_to_sram = true;
  tool.options = {{"minNumOpsPerGraph", "3"}, {"use-sequencer", "true"}};
  const auto r = run(tool);
  ASSERT_TRUE(r) << messages_;
  EXPECT_THAT(
      r->log,
      testing::ElementsAre(
          "TFL3", testing::AllOf(HasSubstr("--min-num-ops-per-graph 3"), HasSubstr("--verbose"),
                                 HasSubstr("--fetch-constants-to-sram"),
                                 HasSubstr("--use-sequencer"), Not(HasSubstr("--use-profiling")))));
}

TEST_F(ExternalNeutronConverter, ItsOwnVersion) {
  const std::string old = script("exit 0");
  std::ofstream(old) << "#!/bin/sh\necho eIQ neutron-converter version 2.0.2+0X0cebb80a\n";
  refuses(at(old), "neutron.external.version", "2.0.2, limit 3.1.2 or newer");
}

TEST_F(ExternalNeutronConverter, AProfileWithoutItsTextIsSaid) {
  ExternalConverter tool = at(script(fmt::format("cp {} $4", good())));
  EXPECT_TRUE(run(tool));
  EXPECT_THAT(messages_, HasSubstr("warning: it printed no graphs"));
  tool.profile = true;
  EXPECT_TRUE(run(tool)) << messages_;  // the payload is whole without its text
  EXPECT_THAT(messages_, HasSubstr("[neutron.dump.missing]"));
}

// It works in a folder of its own, which is gone afterwards; only the file of its kernels is taken
// out of it.
TEST_F(ExternalNeutronConverter, ItsKernelSelection) {
  ExternalConverter tool = at(script(
      fmt::format("cp {} $4; echo kernels > _kernel_selection.c; echo more > other", good())));
  tool.kernel_selection = true;
  const auto r = run(tool);
  ASSERT_TRUE(r) << messages_;
  EXPECT_EQ(r->kernel_selection, "kernels\n");
  EXPECT_FALSE(fs::exists("_kernel_selection.c"));
}

TEST_F(ExternalNeutronConverter, Missing) {
  refuses(at((folder_ / "nothing").string()), "neutron.external.missing", "start");
}
TEST_F(ExternalNeutronConverter, AFolder) {
  refuses(at(folder_.string()), "neutron.external.not_executable", "start");
}
TEST_F(ExternalNeutronConverter, NotExecutable) {
  refuses(at(script("exit 0", false)), "neutron.external.not_executable", "chmod");
}
TEST_F(ExternalNeutronConverter, NoProgram) {
  const fs::path p = folder_ / "converter";
  write(p, {0, 1, 2, 3});
  fs::permissions(p, fs::perms::owner_all);
  EXPECT_FALSE(run(at(p.string())));
  EXPECT_THAT(messages_, HasSubstr("neutron.external."));
}
TEST_F(ExternalNeutronConverter, Fails) {
  refuses(at(script("echo some reason; echo another >&2; exit 3")), "neutron.external.failed",
          "some reason\n      another");
}
TEST_F(ExternalNeutronConverter, FailsAndPrintsNothing) {
  refuses(at(script("exit 3")), "neutron.external.failed", "it printed nothing");
}
TEST_F(ExternalNeutronConverter, IsKilled) {
  refuses(at(script("echo before; kill -SEGV $$")), "neutron.external.crash", "before");
}
TEST_F(ExternalNeutronConverter, Hangs) {
  ExternalConverter tool = at(script("echo working; sleep 100"));
  tool.limit_seconds = 0.3;
  refuses(tool, "neutron.external.timeout", "working");
}
TEST_F(ExternalNeutronConverter, WritesNothing) {
  refuses(at(script("echo done")), "neutron.external.no_result", "done");
}
TEST_F(ExternalNeutronConverter, WritesAnEmptyFile) {
  refuses(at(script(": > $4")), "neutron.external.result_size", "0 bytes");
}
TEST_F(ExternalNeutronConverter, WritesSomethingElse) {
  refuses(at(script("echo this is not a model at all > $4; echo text")), "tflite.file.identifier",
          "text");
}
TEST_F(ExternalNeutronConverter, ConvertsNothing) {
  refuses(at(script("cp $2 $4")), "neutron.extract.none", "LOGISTIC");
}
TEST_F(ExternalNeutronConverter, WritesAPart) {
  refuses(at(script(fmt::format("head -c 700 {} > $4", good()))), "tflite.file.verify",
          "reading its result");
}
TEST_F(ExternalNeutronConverter, ConvertsAnotherModel) {
  tflite::Writer w;
  const i32 x = w.tensor({4}, 0.05f, 3), y = w.tensor({4}, 0.05f, 3);
  const i32 z = w.op(tflite::BuiltinOperator::ADD, {x, y}, w.tensor({4}, 0.05f, 3));
  Diagnostics d;
  const auto c = convert(w.finish({x, y}, {z}), {n3_64()}, d);
  ASSERT_TRUE(c);
  write(folder_ / "other.tflite", c->model);
  refuses(at(script(fmt::format("cp {} $4", (folder_ / "other.tflite").string()))),
          "neutron.external.ports", "2, 1");
}
TEST_F(ExternalNeutronConverter, ConvertsAModelOfTheSamePorts) {
  for (const auto& [scale, zero, text] :
       {std::tuple(0.04f, 3, "scale of input"), std::tuple(0.05f, 4, "zero point of input")}) {
    tflite::Writer w;
    const i32 x = w.tensor({1, 4, 5, 8}, scale, zero);
    Diagnostics d;
    const auto c = convert(w.finish({x}, {w.op(tflite::BuiltinOperator::LOGISTIC, {x},
                                               w.tensor({1, 4, 5, 8}, 1.0f / 256, -128))}),
                           {n3_64()}, d);
    ASSERT_TRUE(c);
    write(folder_ / "other.tflite", c->model);
    refuses(at(script(fmt::format("cp {} $4", (folder_ / "other.tflite").string()))),
            "neutron.external.ports", text);
  }
}
TEST_F(ExternalNeutronConverter, PrintsALot) {
  const auto r = run(at(script(fmt::format(
      "i=0; while [ $i -lt 5000 ]; do echo line $i; i=$((i+1)); done; cp {} $4", good()))));
  ASSERT_TRUE(r) << messages_;
  EXPECT_EQ(r->log.size(), 12u);
  EXPECT_EQ(r->log.back(), "line 4999");
}

}  // namespace
}  // namespace deuteron::neutron
