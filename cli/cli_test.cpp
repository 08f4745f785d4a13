// SPDX-License-Identifier: Apache-2.0
// The command line as a user meets it: the built program is run as a process, without a shell.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/data/npy.h"
#include "base/data/storage_order.h"
#include "base/tflite/writer.h"
#include "targets/target.h"
#include "tests/paths.h"

namespace deuteron {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
namespace fs = std::filesystem;

const std::string kModel = source_path("models/digits_cnn/float.pt2");
const std::string kCalibrate = source_path("models/digits_cnn/calibrate.npy");
const std::string kObserver = "--observer",
                  kPlain = "histogram";  // no search of ranges, which most tests have no use for
const std::string kTestInputs = source_path("models/digits_cnn/test_inputs.npy");
const std::string kTestLabels = source_path("models/digits_cnn/test_labels.npy");

struct Ended {
  int code = -1;  // -1: ended by a signal
  std::string out, err;
};

std::string content_of(const std::string& path) {
  std::ifstream f(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(f), std::istreambuf_iterator<char>()};
}

class Cli : public testing::Test {
 protected:
  Cli()
      : folder_(testing::TempDir() + "deuteron_cli_" + std::to_string(::getpid()) + "_" +
                testing::UnitTest::GetInstance()->current_test_info()->name() + "/") {
    fs::create_directories(folder_);
  }
  ~Cli() override { fs::remove_all(folder_); }

  // Ends after two minutes whatever happens. `file_limit`: no file may become larger, as on a full
  // disk.
  Ended run(std::vector<std::string> args, rlim_t file_limit = RLIM_INFINITY,
            const char* standard_output = nullptr) {
    const std::string out = folder_ + ".out", err = folder_ + ".err";
    args.insert(args.begin(), kTool);
    std::vector<char*> argv;
    for (std::string& a : args) argv.push_back(a.data());
    argv.push_back(nullptr);
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(120);
      ::dup2(::open(standard_output ? standard_output : out.c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                    0600),
             1);
      ::dup2(::open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), 2);
      if (file_limit != RLIM_INFINITY) {
        ::signal(SIGXFSZ, SIG_IGN);
        const rlimit limit{file_limit, file_limit};
        ::setrlimit(RLIMIT_FSIZE, &limit);
      }
      ::execv(argv[0], argv.data());
      ::_exit(127);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    Ended ended{WIFEXITED(status) ? WEXITSTATUS(status) : -1, content_of(out), content_of(err)};
    // They end a process with the code of a refusal.
    for (const char* sanitizer : {"Sanitizer", "runtime error: "})
      EXPECT_THAT(ended.err, Not(HasSubstr(sanitizer)));
    return ended;
  }
  void refused(int code, const std::vector<std::string>& args, const std::string& said) {
    const Ended e = run(args);
    EXPECT_EQ(e.code, code) << testing::PrintToString(args) << e.out << e.err;
    EXPECT_THAT(e.out + e.err, HasSubstr(said)) << testing::PrintToString(args);
    if (code == 1) { EXPECT_THAT(e.out, testing::IsEmpty()) << "errors go to standard error"; }
  }

  std::string path(const std::string& name) const { return folder_ + name; }
  std::string put(const std::string& name, std::string_view bytes) {
    std::ofstream(path(name), std::ios::binary)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return path(name);
  }
  template <class T>
  std::string put_npy(const std::string& name, const Shape& shape, const std::vector<T>& data,
                      ElementType type) {
    const std::vector<uint8_t> file = npy_bytes(type, shape, std::as_bytes(std::span(data)));
    return put(name, {reinterpret_cast<const char*>(file.data()), file.size()});
  }
  std::string put_floats(const std::string& name, const Shape& shape, float value = 0.5f) {
    return put_npy(name, shape, std::vector<float>(static_cast<size_t>(numel(shape)), value),
                   {'f', 4});
  }
  json read_json(const std::string& name) { return json::parse(content_of(path(name))); }
  Array read_array(const std::string& name) {
    Diagnostics d;
    const std::optional<Array> a = read_npy(path(name), d);
    EXPECT_TRUE(a) << name;
    return a ? *a : Array{};
  }
  // Compiles the digits model once for each test that needs a program.
  std::string program(const std::string& target = "cortex-m55",
                      const std::vector<std::string>& more = {}) {
    std::vector<std::string> args = {"compile",  kModel,    "--target", target, "--calibrate",
                                     kCalibrate, kObserver, kPlain,     "-o",   path("digits.pte")};
    args.insert(args.end(), more.begin(), more.end());
    const Ended e = run(args);
    EXPECT_EQ(e.code, 0) << e.err;
    return path("digits.pte");
  }
  std::vector<std::string> files() {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_))
      if (!entry.path().filename().string().starts_with('.'))
        names.push_back(entry.path().filename());
    return names;
  }

  std::string folder_;
};

TEST_F(Cli, VersionAndHelp) {
  const Ended version = run({"--version"});
  EXPECT_EQ(version.code, 0);
  EXPECT_EQ(version.out, "deuteron " DEUTERON_VERSION "\n");
  const Ended help = run({"--help"});
  EXPECT_EQ(help.code, 0);
  for (const char* verb :
       {"analyze", "compile", "run", "evaluate", "compare", "inspect", "targets", "ops"}) {
    EXPECT_THAT(help.out, HasSubstr(verb));
    const Ended e = run({verb, "--help"});
    EXPECT_EQ(e.code, 0) << verb;
    EXPECT_THAT(e.out,
                AllOf(HasSubstr(std::string("Example:\n  deuteron ") + verb), HasSubstr("--json")))
        << verb;
  }
}

// Every option that a verb has is in the documentation, and every key that is promised there for a
// verb is tested below.
TEST_F(Cli, EveryOptionIsDocumented) {
  std::string docs;
  for (const auto& page : fs::directory_iterator(source_path("docs")))
    if (page.path().extension() == ".md") docs += content_of(page.path());
  for (const char* verb :
       {"analyze", "compile", "run", "evaluate", "compare", "inspect", "targets", "ops"}) {
    const std::string help = run({verb, "--help"}).out;
    for (size_t at = help.find("--"); at != std::string::npos; at = help.find("--", at + 2)) {
      const std::string option =
          help.substr(at, help.find_first_not_of("abcdefghijklmnopqrstuvwxyz-0123456789", at) - at);
      if (option.starts_with("--image-") && docs.find("--image-...") != std::string::npos) continue;
      EXPECT_THAT(docs, HasSubstr(option)) << verb;
    }
  }
}

TEST_F(Cli, AVerbThatDoesNotExistIsNamed) {
  const Ended near = run({"complie", kModel}), far = run({"frobnicate"});
  EXPECT_EQ(near.code, 2);
  EXPECT_THAT(near.err, AllOf(HasSubstr("there is no verb `complie`"), HasSubstr("did you mean"),
                              HasSubstr("`compile`")));
  EXPECT_EQ(far.code, 2);
  EXPECT_THAT(far.err,
              AllOf(HasSubstr("`frobnicate`"), HasSubstr("analyze"), HasSubstr("inspect")));
}

TEST_F(Cli, WrongUsageIsTwo) {
  refused(2, {"frobnicate"}, "");
  refused(2, {"--frobnicate"}, "");
  refused(2, {"compile"}, "--output, model, --target are required");
  refused(2, {"compile", kModel}, "--output, --target are required");
  refused(2, {"compile", kModel, "--target", "cortex-m55"}, "--output");
  refused(2, {"compile", kModel, "--target"}, "--target");
  refused(2, {"compile", kModel, "--target", "cortex-m55", "-o", path("x"), "--io", "int4"},
          "--io");
  refused(2, {"compile", kModel, "--target", "cortex-m55", "-o", path("x"), "--io", "nchw"},
          "--io");
  refused(2, {"compile", kModel, "--target", "cortex-m55", "-o", path("x"), "--observer", "mean"},
          "--observer");
  refused(2, {"compile", kModel, "--target", "cortex-m55", "-o", path("x"), "--threads", "0"},
          "--threads");
  refused(2, {"compile", kModel, "--target", "cortex-m55", "-o", path("x"), "--threads", "two"},
          "--threads");
  refused(2, {"compile", kModel, "--target", "cortex-m55", "-o", path("x"), "--stop-after", "-1"},
          "--stop-after");
  refused(2, {"compile", kModel, "--target", "cortex-m55", "-o", path("x"), "--skip-pass", "fusee"},
          "did you mean `fuse`");
  refused(2,
          {"compile", kModel, "--target", "cortex-m55", "-o", path("x"), "--stop-after", "nowhere"},
          "passes: ");
  refused(2, {"compile", kModel, "another", "--target", "cortex-m55", "-o", path("x")}, "another");
  refused(2, {"run"}, "program is required");
  refused(2, {"run", "x.pte", "--output-dir", path("d"), "--on", "mars"},
          "neither `host` nor `qemu:BOARD`");
  refused(2, {"run", "x.pte", "--output-dir", path("d"), "--timeout", "-3"}, "--timeout");
  for (const char* bad : {"", "nan", "inf", "0", "1e400", "2000000", "12345678901234567890", "5s"})
    refused(2, {"run", "x.pte", "--output-dir", path("d"), "--timeout", bad},
            "is not a number above 0, at most 1e+06");
  for (const char* bad : {"", "nan", "0", "4294967296", "12345678901234567890", "5x"})
    refused(2, {"run", "x.pte", "--output-dir", path("d"), "--profile-events", bad},
            "--profile-events: `");
  for (const char* bad : {"0", "-0.0", "nan", "1,,2", "1,"})
    refused(2, {"compile", kModel, "--target", "cortex-m55", "-o", path("x"), "--image-std", bad},
            "--image-std: `");
  refused(2, {"compile", kModel, "--target", "", "-o", path("x")}, "--target: the value is empty");
  refused(2, {"compile", kModel, "--target", "cortex-m55", "-o", ""},
          "--output: the value is empty");
  refused(2, {"inspect", "x", "\x1b[31m"}, "\\x1b[31m");
  refused(2, {"evaluate", "x.pte", "--inputs", "x.npy"}, "--labels or --model");
  refused(2, {"compare", "x.pt2"}, "program is required");
  refused(2, {"inspect"}, "file is required");
  refused(2, {"ops", "--frobnicate"}, "");
  refused(2, {"targets", "extra"}, "");
  EXPECT_THAT(files(), testing::IsEmpty());
}

TEST_F(Cli, BadFilesAreOneAndLeaveNothing) {
  const std::string out = path("out.pte");
  const auto compile = [&](const std::string& model, const std::string& said,
                           std::vector<std::string> more = {}) {
    std::vector<std::string> args = {"compile", model, "--target", "cortex-m55", "-o", out};
    args.insert(args.end(), more.begin(), more.end());
    refused(1, args, said);
  };
  compile(path("none.pt2"), "there is no such file");
  compile(folder_, "is a folder");
  compile("/dev/null", "is not a regular file");
  compile(put("empty.pt2", ""), "is empty");
  compile(put("text.pt2", "this is not a model, but it has some length to look at"), "error:");
  compile(put("m.tflite", "xxxxTFL3xxxxxxxxxxxxx"), "the flatbuffer is damaged");
  compile(put("\xff\xfe strange.pt2", "no model"), "strange.pt2");
  compile(kModel, "a float model needs sample data");
  compile(kModel, "there is no such file", {"--calibrate", path("none.npy")});
  compile(kModel, "does not have the shape of input",
          {"--calibrate", put_floats("odd.npy", {3, 1, 8, 7})});
  compile(kModel, "sample 1, index 3 is nan",
          {"--calibrate", put_npy<float>("nan.npy", {2, 1, 8, 8},
                                         [] {
                                           std::vector<float> v(128);
                                           v[67] = NAN;
                                           return v;
                                         }(),
                                         {'f', 4})});
  compile(kModel, "every input needs its data",
          {"--calibrate", kCalibrate, "--calibrate", kCalibrate});
  refused(1, {"compile", kModel, "--target", "cortex-m5", "--calibrate", kCalibrate, "-o", out},
          "did you mean `cortex-m52`, `cortex-m55`");
  refused(1,
          {"compile", kModel, "--target", path("none.toml"), "--calibrate", kCalibrate, "-o", out},
          "there is no such target file");
  refused(1,
          {"compile", kModel, "--target", put("b.toml", "format = 1\nname = 3\n"), "--calibrate",
           kCalibrate, "-o", out},
          "b.toml:2: error: `name` must be a string");
  refused(1, {"run", path("none.pte"), "--output-dir", path("d")}, "there is no such file");
  refused(1, {"run", kModel, "--output-dir", path("d")}, "is a zip archive, not a program");
  refused(1, {"run", put("bad.pte", std::string(200, 'x')), "--output-dir", path("d")},
          "pte.not_a_program");
  refused(1, {"inspect", path("text.pt2")}, "is not a file that can be inspected");
  refused(1, {"inspect", path("m.tflite")}, "the flatbuffer is damaged");
  refused(1, {"inspect", folder_}, "is a folder");
  refused(1, {"evaluate", path("bad.pte"), "--inputs", kTestInputs, "--labels", kTestLabels},
          "pte.not_a_program");
  refused(1, {"compare", kModel, path("bad.pte"), "--inputs", kTestInputs}, "pte.not_a_program");
  refused(1, {"targets", "--show", "esp32"},
          "--show esp32: error: there is no target of this name");
  refused(1, {"ops", "--target", "esp32"},
          "--target esp32: error: there is no target of this name");
  EXPECT_FALSE(fs::exists(out));
  EXPECT_FALSE(fs::exists(path("d")));
}

TEST_F(Cli, TargetsAndOps) {
  const Ended list = run({"targets", "--json", path("t.json")});
  EXPECT_EQ(list.code, 0) << list.err;
  const json targets = read_json("t.json");
  EXPECT_EQ(targets["targets"].size(), builtin_targets().size());
  EXPECT_EQ(targets["exit_code"], 0);
  for (const auto& t : targets["targets"])
    EXPECT_THAT(list.out, HasSubstr(t["name"].get<std::string>()));
  const Ended shown = run({"targets", "--show", "cortex-m33+int8"});
  EXPECT_EQ(shown.code, 0);
  // What is shown can be used.
  const Ended again = run({"targets", "--show", put("mine.toml", shown.out), "--json", "-"});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(json::parse(again.out)["cpu"], "cortex-m33");

  const Ended ops = run({"ops", "--target", "cortex-m4", "--json", path("o.json")});
  EXPECT_EQ(ops.code, 0) << ops.err;
  const json o = read_json("o.json");
  std::map<std::string, std::string> kernels;
  for (const auto& row : o["operators"]) kernels[row["name"]] = row["kernel"];
  EXPECT_EQ(kernels["conv2d"], "cortex_m::quantized_conv2d");
  EXPECT_EQ(kernels["linear"], "cortex_m::quantized_linear");
  EXPECT_EQ(kernels["add"], "cortex_m::quantized_add");
  EXPECT_EQ(kernels["softmax"], "cortex_m::softmax");
  EXPECT_GE(o["kernels"].size(), 10u);
  // What becomes of torch's operators: a small model of each goes the whole way.
  std::map<std::string, json> of_torch;
  for (const auto& row : o["torch"]) of_torch[row["name"]] = row;
  EXPECT_GT(of_torch.size(), 500u);
  for (const auto& [name, row] : of_torch)
    EXPECT_FALSE(row["refused"].get<bool>()) << name << ": " << row["why"];
  EXPECT_EQ(of_torch["aten.matmul.default"]["kernels"].back(), "cortex_m::quantized_batch_matmul");
  EXPECT_EQ(of_torch["aten.matmul.default"]["computes_in"], json({"int8"}));
  EXPECT_THAT(
      ops.out,
      HasSubstr(
          "aten.conv2d.default                            cortex_m::quantized_conv2d in int8\n"));
  const Ended npu = run({"ops", "--target", "imxrt700", "--csv"});
  EXPECT_EQ(npu.code, 0) << npu.err;
  EXPECT_THAT(npu.out,
              HasSubstr("\naten.conv2d.default,imxrt700,int8,,neutron::Conv2DStandardV1,\""));
  EXPECT_THAT(npu.out, HasSubstr("\naten.cumsum.default,imxrt700,refused,,,"));
  const Ended csv = run({"ops", "--csv"});
  EXPECT_EQ(csv.code, 0);
  EXPECT_THAT(csv.out, testing::StartsWith("operator,target,dtype,kernel,builtin,operands,result,"
                                           "constraints,runs,packed_kernel,packed_runs\n"));
}

TEST_F(Cli, ARecipeIsShownInFullAndCanBeExtended) {
  const Ended shown = run({"targets", "--show", "imxrt700cm"});
  EXPECT_EQ(shown.code, 0) << shown.err;
  for (const char* part :
       {"# stages, the same for every recipe: choose-forms > fold-constants > ",
        "# quantizer of neutron: ", "# quantizer of cortex_m: ",
        "backends = [\"neutron\", \"cortex_m\"]", "[options.neutron]", "[npu.limits]",
        "taps = 65535", "[npu.machine]", "[npu.crossing]", "[cpu.cost]",
        "\"cortex_m::quantized_conv2d\" = { call", "reach = [\"cpu\", \"npu\"]"})
    EXPECT_THAT(shown.out, HasSubstr(part));
  const Ended base = run({"targets", "--show", "base-neutron-n3-64"});
  EXPECT_THAT(base.out, AllOf(HasSubstr("base = true"), HasSubstr("Assumed, all four")));
  put("chip.toml",
      "format = 1\nbase = true\nname = \"chip\"\nextends = [\"imxrt700cm\"]\n[npu.limits]\nkernel "
      "= 2\n");
  const std::string mine = put("mine.toml",
                               "format = 1\nname = \"mine\"\nextends = "
                               "[\"chip.toml\"]\n[options.neutron]\nprefer = \"fastest\"\n");
  const Ended json_of_mine = run({"targets", "--show", mine, "--json", "-"});
  ASSERT_EQ(json_of_mine.code, 0) << json_of_mine.err;
  const json j = json::parse(json_of_mine.out);
  EXPECT_EQ(j["npu"]["limits"]["kernel"], 2);
  EXPECT_EQ(j["recipe"][0]["options"]["prefer"], "fastest");
  EXPECT_EQ(j["extends"][0], "chip.toml");
  // Convolutions of 3x3 stay on the CPU there, and the report says why.
  const Ended analyzed = run({"analyze", kModel, "--target", mine, "--calibrate", kCalibrate,
                              kObserver, kPlain, "--json", path("a.json")});
  ASSERT_EQ(analyzed.code, 0) << analyzed.err;
  EXPECT_THAT(analyzed.out,
              HasSubstr("kernel height or width: 3, limit 2 [neutron.conv2d.kernel]"));
  EXPECT_EQ(read_json("a.json")["prefer"]["prefer"], "fastest");
  refused(1,
          {"analyze", kModel, "--target",
           put("bad.toml",
               "format = 1\nname = \"x\"\nextends = [\"imxrt700\"]\nbackends = [\"nuetron\"]\n")},
          "did you mean `neutron`?");
}

TEST_F(Cli, ExplainAndPrefer) {
  const Ended e =
      run({"analyze", kModel, "--target", "imxrt700cm", "--calibrate", kCalibrate, kObserver,
           kPlain, "--explain", "conv2d_1", "--layer", "conv2d_1=cpu", "--json", path("e.json")});
  ASSERT_EQ(e.code, 0) << e.err;
  EXPECT_THAT(
      e.out,
      AllOf(HasSubstr("conv2d_1 (aten.conv2d.default)"),
            HasSubstr("kept off the NPU by --layer conv2d_1=cpu"), HasSubstr("placed        CPU"),
            HasSubstr("(estimated)"), HasSubstr("(across the border)"),
            HasSubstr("became        cortex_m::quantized_depthwise_conv2d"), HasSubstr("scale")));
  const json j = read_json("e.json");
  ASSERT_EQ(j["explain"].size(), 1u);
  EXPECT_EQ(j["explain"][0]["name"], "conv2d_1");
  EXPECT_EQ(j["explain"][0]["as"][0]["on_npu"], false);
  EXPECT_GT(j["explain"][0]["as"][0]["cpu_cycles"], 0);
  EXPECT_GT(j["explain"][0]["as"][0]["npu_cycles"], 2000) << "what it would cost there";
  // Sums of the report.
  i64 npu = 0, cpu = 0;
  for (const auto& o : j["operators"])
    (o["placement"] == "npu" ? npu : cpu) += o["cycles"].get<i64>();
  EXPECT_EQ(j["cycles"]["npu"], npu);
  EXPECT_EQ(j["cycles"]["cpu"], cpu);
  EXPECT_EQ(j["cycles"]["total"], npu + cpu + j["cycles"]["crossing"].get<i64>() +
                                      j["cycles"]["wait_for_constants"].get<i64>());
  EXPECT_EQ(j["npu_delegates"], 2);
  EXPECT_GE(j["crossings"].size(), 4u);
  EXPECT_EQ(j["transposes"], 0);
  i64 most = 0;
  for (const auto& call : j["ram_over_time"]) most = std::max(most, call["bytes"].get<i64>());
  EXPECT_EQ(most, j["ram_lower_bound_bytes"]);
  const json& flash = j["flash"];
  EXPECT_EQ(flash["constants"].get<i64>() + flash["npu"].get<i64>() + flash["program"].get<i64>() +
                flash["padding"].get<i64>(),
            flash["file"]);
  refused(1,
          {"analyze", kModel, "--target", "imxrt700cm", "--calibrate", kCalibrate, kObserver,
           kPlain, "--explain", "conv2d_l"},
          "did you mean `conv2d_1`");
  refused(1,
          {"analyze", kModel, "--target", "imxrt700cm", "--calibrate", kCalibrate, kObserver,
           kPlain, "--explain", "999"},
          "source ops are 0 to");
  refused(1,
          {"analyze", kModel, "--target", "imxrt700cm", "--calibrate", kCalibrate, kObserver,
           kPlain, "--layer", "conv2d_l=cpu"},
          "did you mean `conv2d_1`");
  refused(1,
          {"analyze", kModel, "--target", "imxrt700", "--calibrate", kCalibrate, kObserver, kPlain,
           "--prefer", "fastest"},
          "has the NPU alone");
  const Ended fast = run({"analyze", kModel, "--target", "imxrt700cm", "--calibrate", kCalibrate,
                          kObserver, kPlain, "--prefer", "fastest", "--explain", "0", "-v"});
  ASSERT_EQ(fast.code, 0) << fast.err;
  EXPECT_THAT(fast.out, AllOf(HasSubstr("--prefer fastest: "), HasSubstr("programs compared"),
                              HasSubstr("source op 0")));
}

TEST_F(Cli, CompileRunEvaluateCompareInspect) {
  const Ended compiled =
      run({"compile", kModel, "--target", "cortex-m55", "--calibrate", kCalibrate, kObserver,
           kPlain, "-o", path("a b.pte"), "--json", path("c.json")});
  ASSERT_EQ(compiled.code, 0) << compiled.err;
  EXPECT_EQ(compiled.err, "") << "no warnings";
  EXPECT_THAT(compiled.out, AllOf(HasSubstr("operators"), HasSubstr("RAM"), HasSubstr("wrote")));
  const json c = read_json("c.json");
  for (const char* key :
       {"model", "target", "operators", "counts", "ram_bytes", "ram_lower_bound_bytes",
        "scratch_bytes", "constants_bytes", "file_bytes", "macs", "sqnr_db", "seconds", "program"})
    EXPECT_TRUE(c.contains(key)) << key;
  EXPECT_EQ(c["file_bytes"], fs::file_size(path("a b.pte")));
  EXPECT_GT(c["sqnr_db"].get<double>(), 20.0);
  EXPECT_EQ(c["macs"], 66624) << "as model.json says";
  EXPECT_EQ(c["counts"]["portable"], 0);
  EXPECT_EQ(c["counts"]["cortex_m"], c["operators"].size());
  for (const auto& op : c["operators"]) {
    EXPECT_THAT(op["op"].get<std::string>(), testing::AnyOf(testing::StartsWith("cortex_m::"),
                                                            testing::StartsWith("deuteron::")));
    EXPECT_EQ(op["placement"], "cortex_m");
    EXPECT_FALSE(op["name"].get<std::string>().empty());
    EXPECT_FALSE(op["source"].get<std::string>().empty());
    EXPECT_FALSE(op["reason"].get<std::string>().empty());
  }

  // The same input gives the same bytes, whatever the number of threads; from another folder, under
  // another name.
  ASSERT_EQ(run({"compile", kModel, "--target", "cortex-m55", "--calibrate", kCalibrate, kObserver,
                 kPlain, "-o", path("two.pte"), "--threads", "1"})
                .code,
            0);
  EXPECT_TRUE(content_of(path("a b.pte")) == content_of(path("two.pte")));

  const Ended inspected = run({"inspect", path("a b.pte"), "--json", "-"});
  ASSERT_EQ(inspected.code, 0) << inspected.err;
  const json i = json::parse(inspected.out);
  EXPECT_EQ(i["isa"], "mve");
  EXPECT_EQ(i["calls"].size(), c["operators"].size());
  EXPECT_EQ(i["inputs"][0]["sizes"], json({1, 1, 8, 8}));
  EXPECT_EQ(i["outputs"][0]["sizes"], json({1, 10}));
  EXPECT_EQ(i["planned_bytes"], c["ram_bytes"]);
  EXPECT_EQ(i["loads_on_host"], true);
  EXPECT_THAT(inspected.err, HasSubstr("deuteron::packed_conv2d"))
      << "with `--json -` the text for a person goes to standard error";

  const Ended model = run({"inspect", kModel, "--json", "-"});
  ASSERT_EQ(model.code, 0) << model.err;
  const json m = json::parse(model.out);
  EXPECT_EQ(m["quantized"], false);
  EXPECT_EQ(m["operators"]["aten.conv2d.default"], 7) << "as model.json says";
  EXPECT_EQ(m["inputs"][0]["sizes"], json({1, 1, 8, 8}));
  EXPECT_TRUE(m["not_importable"].empty());

  const Ended ran = run({"run", path("a b.pte"), "--input", kTestInputs, "--output-dir",
                         path("deep/er/out"), "--json", path("r.json")});
  ASSERT_EQ(ran.code, 0) << ran.err;
  const json r = read_json("r.json");
  EXPECT_EQ(r["samples"], 719);
  EXPECT_EQ(r["on"], "host");
  EXPECT_EQ(r["planned_bytes"], c["ram_bytes"]);
  EXPECT_GT(r["seconds"].get<double>(), 0);
  EXPECT_EQ(r["outputs"][0]["shape"], json({719, 1, 10}));
  const Array logits = read_array("deep/er/out/output0.npy");
  EXPECT_EQ(logits.shape, (Shape{719, 1, 10}));

  const Ended evaluated = run({"evaluate", path("a b.pte"), "--inputs", kTestInputs, "--labels",
                               kTestLabels, "--model", kModel, "--json", path("e.json")});
  ASSERT_EQ(evaluated.code, 0) << evaluated.err;
  const json e = read_json("e.json");
  EXPECT_GE(e["program_top1"].get<double>(), 0.975);
  EXPECT_EQ(e["model_right"], 704) << "97.91 % as model.json says";
  EXPECT_GT(e["agreement"].get<double>(), 0.98);
  EXPECT_GT(e["sqnr_db"].get<double>(), 20.0);
  // The same count from the outputs that `run` wrote.
  const Array labels = [] {
    Diagnostics d;
    return *read_npy(kTestLabels, d);
  }();
  int right = 0;
  for (i64 s = 0; s < 719; ++s) {
    i64 best = 0;
    for (i64 k = 1; k < 10; ++k)
      if (element_as_double(logits, s * 10 + k) > element_as_double(logits, s * 10 + best))
        best = k;
    right += static_cast<double>(best) == element_as_double(labels, s);
  }
  EXPECT_EQ(e["program_right"], right);

  const Ended compared =
      run({"compare", kModel, path("a b.pte"), "--inputs", kTestInputs, "--json", path("d.json")});
  ASSERT_EQ(compared.code, 0) << compared.err;
  const json d = read_json("d.json");
  EXPECT_EQ(d["outputs"][0]["sqnr_db"], e["sqnr_db"]);
  EXPECT_EQ(d["outputs"][0]["max_abs_error"], e["max_abs_error"]);
  // The operators can be told only with the data that the program was calibrated with.
  EXPECT_FALSE(d.contains("operators"));
  EXPECT_THAT(compared.out, HasSubstr("operators: not compared"));
  const Ended whole = run({"compare", kModel, path("a b.pte"), "--inputs", kTestInputs,
                           "--calibrate", kCalibrate, kObserver, kPlain, "--json", path("d.json")});
  ASSERT_EQ(whole.code, 0) << whole.err;
  const json operators = read_json("d.json")["operators"];
  ASSERT_EQ(operators.size(), 13u) << whole.out;
  for (size_t k = 1; k < operators.size(); ++k)
    EXPECT_LE(operators[k - 1]["sqnr_db"], operators[k]["sqnr_db"]);
  EXPECT_THAT(whole.out, HasSubstr("adaptive_avg_pool2d (reduce)"));
  EXPECT_GT(operators[0]["sqnr_db"], 18)
      << "channels that were scaled are compared as scaled: " << whole.out;
}

TEST_F(Cli, OneSampleAndSeriesGiveTheSameNumbers) {
  const std::string p = program();
  std::vector<float> image(64);
  std::iota(image.begin(), image.end(), 0.0f);
  for (float& v : image) v /= 64;
  ASSERT_EQ(run({"run", p, "--input", put_npy("one.npy", {1, 1, 8, 8}, image, {'f', 4}),
                 "--output-dir", path("one")})
                .code,
            0);
  ASSERT_EQ(run({"run", p, "--input", put_npy("series.npy", {1, 1, 1, 8, 8}, image, {'f', 4}),
                 "--output-dir", path("series")})
                .code,
            0);
  fs::create_directories(path("folder"));
  put("folder/0.bin", {reinterpret_cast<const char*>(image.data()), 256});
  ASSERT_EQ(run({"run", p, "--input", path("folder"), "--output-dir", path("raw")}).code, 0);
  EXPECT_EQ(read_array("one/output0.npy").shape, (Shape{1, 10}));
  EXPECT_EQ(read_array("series/output0.npy").shape, (Shape{1, 1, 10}));
  EXPECT_EQ(read_array("raw/output0.npy").shape, (Shape{1, 1, 10}));
  EXPECT_EQ(read_array("one/output0.npy").bytes, read_array("series/output0.npy").bytes);
  EXPECT_EQ(read_array("one/output0.npy").bytes, read_array("raw/output0.npy").bytes);
}

TEST_F(Cli, SmallOutputsOfOneSampleArePrinted) {
  const std::string p = program();
  const auto out_of = [&](const std::string& input) {
    return run({"run", p, "--input", input, "--output-dir", path("out")}).out;
  };
  const std::string one = out_of(put_floats("one.npy", {1, 1, 8, 8}));
  const Array scores = read_array("out/output0.npy");
  i64 largest = 0;
  for (i64 i = 1; i < scores.elements(); ++i)
    if (element_as_double(scores, i) > element_as_double(scores, largest)) largest = i;
  EXPECT_THAT(one, AllOf(HasSubstr("output0: "),
                         HasSubstr("; largest at " + std::to_string(largest) + "\n")));
  EXPECT_THAT(out_of(put_floats("two.npy", {2, 1, 8, 8})), Not(HasSubstr("output0: ")));
}

TEST_F(Cli, TheSummaryIsAsLongAsAskedFor) {
  const auto compiled = [&](const std::string& letter) {
    std::vector<std::string> words = {"compile",    kModel,       "--target",    "cortex-m55",
                                      "--observer", "histogram",  "--calibrate", kCalibrate,
                                      "-o",         path("m.pte")};
    if (!letter.empty()) words.push_back(letter);
    return run(words).out;
  };
  EXPECT_EQ(compiled("-q"), "");
  EXPECT_THAT(compiled(""), AllOf(HasSubstr("accuracy"), Not(HasSubstr("at the peak"))));
  EXPECT_THAT(compiled("-v"), AllOf(HasSubstr("accuracy"), HasSubstr("at the peak")));
  refused(2, {"targets", "-v", "-q"}, "opposites");
}

TEST_F(Cli, RunRefusesWrongInputs) {
  const std::string p = program();
  const std::string good = put_floats("good.npy", {1, 1, 8, 8});
  refused(1, {"run", p, "--output-dir", path("d")},
          "every input needs its data, in order: 0, limit 1");
  refused(1, {"run", p, "--input", good, "--input", good, "--output-dir", path("d")}, "2, limit 1");
  refused(1, {"run", p, "--input", put_floats("t.npy", {1, 8, 8, 1}), "--output-dir", path("d")},
          "[1,8,8,1], limit [1,1,8,8]");
  refused(1,
          {"run", p, "--input", put_floats("inf.npy", {1, 1, 8, 8}, INFINITY), "--output-dir",
           path("d")},
          "sample 0, index 0 is inf");
  refused(
      1, {"run", p, "--input", put("short.bin", std::string(255, '\0')), "--output-dir", path("d")},
      "255 bytes, limit a multiple of 256 bytes");
  refused(1, {"run", p, "--input", put("x.npz", "no zip"), "--output-dir", path("d")},
          "not a readable `.npz`");
  refused(1, {"run", p, "--input", good, "--output-dir", path("d"), "--on", "qemu:esp32"},
          "there is no board `esp32`");
  EXPECT_FALSE(fs::exists(path("d")));
  refused(1, {"run", p, "--input", good, "--output-dir", good},
          "is a file where --output-dir wants a folder");
  refused(1, {"run", p, "--input", good, "--output-dir", good + "/d"}, "the folder cannot be made");
  refused(1,
          {"evaluate", p, "--inputs", kTestInputs, "--labels",
           put_npy<uint8_t>("few.npy", {3}, {1, 2, 3}, {'u', 1})},
          "not as many labels as samples: 3, limit 719");
  refused(1,
          {"evaluate", p, "--inputs", good, "--labels",
           put_npy<uint8_t>("far.npy", {1}, {10}, {'u', 1})},
          "10, limit 0 to 9");
  refused(1,
          {"evaluate", p, "--inputs", good, "--labels",
           put_npy<float>("float.npy", {1}, {1}, {'f', 4})},
          "is not a whole number");
  EXPECT_EQ(
      run({"evaluate", p, "--inputs", good, "--labels", put("one.bin", std::string(1, '\3'))}).code,
      0);
}

TEST_F(Cli, Int8InputsAndOutputs) {
  const std::string p = program("cortex-m33", {"--io", "int8", "--json", path("c.json")});
  const json c = read_json("c.json");
  EXPECT_EQ(c["inputs"][0]["dtype"], "s8");
  const double scale = c["inputs"][0]["scale"];
  const int zero = c["inputs"][0]["zero_point"];
  const std::string floats = put_floats("f.npy", {1, 1, 8, 8});
  const int q = std::min(127, std::max(-128, static_cast<int>(std::nearbyint(0.5 / scale)) + zero));
  const std::string quantized = put_npy<int8_t>(
      "q.npy", {1, 1, 8, 8}, std::vector<int8_t>(64, static_cast<int8_t>(q)), {'i', 1});
  ASSERT_EQ(run({"run", p, "--input", quantized, "--output-dir", path("d")}).code, 0);
  const Array steps = read_array("d/output0.npy");
  EXPECT_EQ(steps.type, (ElementType{'i', 1}));
  // Floats become the same steps, and are what the float model is given.
  ASSERT_EQ(run({"run", p, "--input", floats, "--output-dir", path("f")}).code, 0);
  EXPECT_EQ(read_array("f/output0.npy").bytes, steps.bytes);
  const Ended compared =
      run({"compare", kModel, p, "--inputs", kTestInputs, "--json", path("cmp.json")});
  ASSERT_EQ(compared.code, 0) << compared.err;
  EXPECT_GT(read_json("cmp.json")["outputs"][0]["sqnr_db"], 25);
  // The float program on the same image gives the same steps.
  ASSERT_EQ(run({"compile", kModel, "--target", "cortex-m33", "--calibrate", kCalibrate, kObserver,
                 kPlain, "-o", path("float.pte")})
                .code,
            0);
  ASSERT_EQ(run({"run", path("float.pte"), "--input", floats, "--output-dir", path("e")}).code, 0);
  const Array real = read_array("e/output0.npy");
  const double out_scale = c["outputs"][0]["scale"];
  const int out_zero = c["outputs"][0]["zero_point"];
  for (i64 k = 0; k < 10; ++k)
    EXPECT_NEAR(element_as_double(real, k), (element_as_double(steps, k) - out_zero) * out_scale,
                1e-5);
}

// int8 in, float out: each port as the file has it, or as --io says.
TEST_F(Cli, ATfliteFileKeepsItsInputsAndOutputs) {
  tflite::Writer w;
  const i32 x = w.tensor({1, 8}, 0.5f, 3, "x"), h = w.tensor({1, 8}, 1.0f / 256, -128);
  const i32 y = w.add({1, 8}, tflite::TensorType::FLOAT32, {}, 0, 0, 0, "y"),
            z = w.tensor({1, 8}, 0.25f, -128, "z");
  w.op(tflite::BuiltinOperator::LOGISTIC, {x}, h);
  w.op(tflite::BuiltinOperator::DEQUANTIZE, {h}, y);
  w.op(tflite::BuiltinOperator::RELU, {x}, z);
  const std::vector<u8> bytes = w.finish({x}, {y, z});
  const std::string model = put("m.tflite", std::string(bytes.begin(), bytes.end()));
  for (const auto& [io, kinds] : {std::pair{"model", std::array{"s8", "f32", "s8"}},
                                  {"float", {"f32", "f32", "f32"}},
                                  {"int8", {"s8", "s8", "s8"}}}) {
    const std::string p = path(std::string(io) + ".pte");
    const Ended compiled = run(
        {"compile", model, "--target", "cortex-m4", "--io", io, "-o", p, "--json", path("c.json")});
    ASSERT_EQ(compiled.code, 0) << compiled.err;
    const json c = read_json("c.json");
    EXPECT_EQ(c["inputs"][0]["dtype"], kinds[0]) << io;
    EXPECT_EQ(c["outputs"][0]["dtype"], kinds[1]) << io;
    EXPECT_EQ(c["outputs"][1]["dtype"], kinds[2]) << io;
    // The same steps, whatever the ports are.
    const std::string input =
        put_npy<int8_t>("x.npy", {1, 8}, {-128, -4, 0, 3, 4, 9, 20, 127}, {'i', 1});
    const std::string given =
        io == std::string("float")
            ? put_npy<float>("xf.npy", {1, 8}, {-65.5, -3.5, -1.5, 0, .5, 3, 8.5, 62}, {'f', 4})
            : input;
    const Ended compared = run({"compare", model, p, "--inputs", given, "--json", path("d.json")});
    ASSERT_EQ(compared.code, 0) << compared.err;
    EXPECT_LT(read_json("d.json")["outputs"][0]["max_abs_error"], 1e-6) << io;
    EXPECT_LT(read_json("d.json")["outputs"][1]["max_abs_error"], 1e-6) << io;
  }
  EXPECT_EQ(run({"compile", model, "--target", "cortex-m4", "-o", path("default.pte")}).code, 0);
  EXPECT_EQ(content_of(path("default.pte")), content_of(path("model.pte")));
}

TEST_F(Cli, ADamagedProgramIsRefused) {
  const std::string whole = content_of(program());
  const std::string input = put_floats("x.npy", {1, 1, 8, 8});
  for (size_t n = 0; n < whole.size(); n += 997) {
    const Ended e = run({"run", put("cut.pte", std::string_view(whole).substr(0, n)), "--input",
                         input, "--output-dir", path("d")});
    EXPECT_EQ(e.code, 1) << n << e.err;
    EXPECT_THAT(e.err, HasSubstr("cut.pte: error: ")) << n;
  }
  EXPECT_FALSE(fs::exists(path("d")));
}

TEST_F(Cli, WhatCannotBeWrittenIsOneAndLeavesNothing) {
  const std::string p = program();
  const auto compile_to = [&](const std::string& out) {
    return std::vector<std::string>{"compile",  kModel,    "--target", "cortex-m55", "--calibrate",
                                    kCalibrate, kObserver, kPlain,     "-o",         out};
  };
  refused(1, compile_to(path("none/x.pte")), "none/x.pte");
  refused(1, compile_to(folder_), "");
  refused(1, compile_to(p + "/x.pte"), "");
  const size_t before = files().size();
  const Ended full = run(compile_to(path("full.pte")), 4096);
  EXPECT_EQ(full.code, 1) << full.err;
  EXPECT_THAT(full.err, HasSubstr("full.pte"));
  EXPECT_EQ(files().size(), before) << "nothing half-written is left";
  EXPECT_EQ(run({"run", p, "--input", kTestInputs, "--output-dir", path("d")}, 4096).code, 1);
  EXPECT_FALSE(fs::exists(path("d/output0.npy")));
  EXPECT_EQ(run({"targets"}, RLIM_INFINITY, "/dev/full").code, 1)
      << "a summary that cannot be written is an error";
  EXPECT_EQ(run({"targets", "--json", "/dev/full"}).code, 1);
}

TEST_F(Cli, JsonAfterAnErrorHasTheDiagnostics) {
  const Ended e = run(
      {"compile", path("none.pt2"), "--target", "cortex-m5", "-o", path("x.pte"), "--json", "-"});
  EXPECT_EQ(e.code, 1);
  const json j = json::parse(e.out);
  EXPECT_EQ(j["exit_code"], 1);
  ASSERT_EQ(j["diagnostics"].size(), 2u) << "both are told of in one run";
  EXPECT_EQ(j["diagnostics"][0]["severity"], "error");
  EXPECT_EQ(j["diagnostics"][0]["rule"], "target.unknown");
}

TEST_F(Cli, WhatIsDoneForAccuracyCanBeTurnedOff) {
  const auto db = [&](std::vector<std::string> options) {
    std::vector<std::string> args = {
        "compile",  kModel, "--target",        "cortex-m33", "--calibrate",
        kCalibrate, "-o",   folder_ + "d.pte", "--json",     folder_ + "d.json"};
    args.insert(args.end(), options.begin(), options.end());
    EXPECT_EQ(run(args).code, 0);
    return read_json("d.json");
  };
  const json best = db({});
  EXPECT_GE(best["quantization_gain_db"], 0);
  EXPECT_GT(best["sqnr_db"], db({"--observer", "histogram"})["sqnr_db"]);
  EXPECT_EQ(db({"--observer", "histogram"})["quantization_gain_db"], 0);
  EXPECT_THAT(std::string(best["quantization_policy"]), HasSubstr("biases "));
}

TEST_F(Cli, AMissingKernelIsFoundOnTheHost) {
  const auto compile = [&](const std::string& list) {
    if (!list.empty()) std::ofstream(folder_ + "kernels.txt") << list;
    return run({"compile", kModel, "--target", "cortex-m33", "--dialect", "stock", "--calibrate",
                kCalibrate, kObserver, kPlain, "-o", folder_ + "d.pte", "--firmware-ops",
                folder_ + "kernels.txt"});
  };
  const std::string all =
      "# what the board "
      "has\ncortex_m::quantize_per_tensor.out\ncortex_m::dequantize_per_tensor.out\r\n  "
      "cortex_m::quantized_conv2d.out # "
      "fast\n"
      "cortex_m::quantized_depthwise_conv2d.out\ncortex_m::quantized_activation.out\ncortex_m::"
      "quantized_add.out\n"
      "cortex_m::quantized_linear.out\n";
  EXPECT_EQ(compile(all + "cortex_m::quantized_avg_pool2d.out\n").code, 0);
  fs::remove(folder_ + "d.pte");
  const Ended missing = compile(all + "cortex_m::quantized_avg_pool2d.other_out\n");
  EXPECT_EQ(missing.code, 1);
  EXPECT_THAT(missing.err,
              AllOf(HasSubstr("the firmware has no kernel cortex_m::quantized_avg_pool2d.out, "
                              "which `adaptive_avg_pool2d` (source op"),
                    HasSubstr("[firmware.missing_kernel]")));
  EXPECT_FALSE(fs::exists(folder_ + "d.pte"));
  const Ended wrong = compile("quantized_add\n");
  EXPECT_EQ(wrong.code, 1);
  EXPECT_THAT(wrong.err,
              AllOf(HasSubstr("kernels.txt:1: error: `quantized_add` is not the name of a kernel"),
                    HasSubstr("cortex_m::quantized_add.out")));
  // An image: the names of its kernels stand in it.
  std::ofstream(folder_ + "kernels.txt", std::ios::binary)
      << std::string("\x7f") + "ELF" + std::string(2, '\0') + "cortex_m::quantized_add.out" +
             std::string(1, '\0');
  const Ended image = compile("");
  EXPECT_EQ(image.code, 1);
  EXPECT_THAT(image.err, AllOf(HasSubstr("no kernel cortex_m::quantized_conv2d.out"),
                               Not(HasSubstr("no kernel cortex_m::quantized_add.out"))));
}

TEST_F(Cli, AnalyzeWritesNoProgram) {
  const Ended e = run({"analyze", kModel, "--target", "cortex-m7", "--json", path("a.json")});
  ASSERT_EQ(e.code, 0) << e.err;
  EXPECT_THAT(e.err, AllOf(HasSubstr("warning"), HasSubstr("made-up inputs")));
  const json j = read_json("a.json");
  EXPECT_EQ(j["made_up_samples"], true);
  EXPECT_GT(j["ram_bytes"].get<int>(), 0);
  EXPECT_FALSE(j.contains("program"));
  EXPECT_THAT(files(), testing::UnorderedElementsAre("a.json"));
}

TEST_F(Cli, PassesCanBeLookedAt) {
  const std::vector<std::string> base = {"compile",     kModel,       "--target", "cortex-m55",
                                         "--calibrate", kCalibrate,   kObserver,  kPlain,
                                         "-o",          path("x.pte")};
  auto with = [&](std::vector<std::string> more) {
    std::vector<std::string> args = base;
    args.insert(args.end(), more.begin(), more.end());
    return run(args);
  };
  const Ended stopped = with({"--stop-after", "fuse"});
  EXPECT_EQ(stopped.code, 0) << stopped.err;
  EXPECT_THAT(stopped.out,
              AllOf(HasSubstr("conv2d"), HasSubstr("stopped after fuse; nothing was written")));
  EXPECT_FALSE(fs::exists(path("x.pte")));
  EXPECT_EQ(with({"--intermediates", path("steps")}).code, 0);
  size_t steps = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(path("steps"))) ++steps;
  EXPECT_GE(steps, 5u);
  EXPECT_EQ(with({"--stop-after", "1000000"}).code, 0);
  EXPECT_THAT(with({"--stop-after", "0"}).code,
              testing::AnyOf(0, 1));  // without rewrites some operators have no kernel
  // Whatever is left out: a program or a reason, never a fault of ours, never a program that lacks
  // its operators.
  for (const char* pass :
       {"fold-constants", "fuse", "infer-layout", "fuse-again", "quantize", "fold-quantization",
        "choose-kernels", "int8-ports", "split-rows", "lower"}) {
    for (const std::string& model : {kModel, source_path("models/digits_cnn/qat_qdq.pt2")}) {
      const Ended e = run({"compile", model, "--target", "cortex-m55", "--calibrate", kCalibrate,
                           kObserver, kPlain, "-o", path("y.pte"), "--skip-pass", pass});
      EXPECT_THAT(e.code, testing::AnyOf(0, 1)) << pass << e.err;
      EXPECT_EQ(std::string(pass) == "lower",
                e.err.find("pipeline.not_lowered") != std::string::npos)
          << model;
    }
  }
}

TEST_F(Cli, HostAndBoardGiveTheSameBits) {
  const std::string p = program();
  const std::string input = put_floats("x.npy", {2, 1, 8, 8}, 0.25f);
  const Ended board = run({"run", p, "--input", input, "--output-dir", path("board"), "--on",
                           "qemu:mps3-an547", "--json", path("b.json")});
  if (board.err.find("board.not_built") != std::string::npos ||
      board.err.find("board.qemu_missing") != std::string::npos)
    GTEST_SKIP() << "left out: the emulated board (" << board.err << ")";
  ASSERT_EQ(board.code, 0) << board.err;
  ASSERT_EQ(run({"run", p, "--input", input, "--output-dir", path("host")}).code, 0);
  EXPECT_EQ(content_of(path("board/output0.npy")), content_of(path("host/output0.npy")));
  const json j = read_json("b.json");
  EXPECT_GT(j["instructions"].get<int64_t>(), 66624 / 8);
  ASSERT_EQ(j["instructions_by_sample"].size(), 2u);
  EXPECT_GT(j["load_instructions"].get<int64_t>(), 0);
  const Ended wrong =
      run({"run", p, "--input", input, "--output-dir", path("wrong"), "--on", "qemu:mps2-an386"});
  EXPECT_EQ(wrong.code, 1);
  EXPECT_THAT(wrong.err, HasSubstr("wrong_isa"));
  EXPECT_FALSE(fs::exists(path("wrong")));
}

// The packing itself is refused by a core that lacks its kernel, also where the marker of the file
// says that it is for that core.
TEST_F(Cli, PackedWeightsAreForTheCoreOfTheirPacking) {
  std::string bytes = content_of(program());
  const std::string marker = "deuteron:isa=mve";
  const size_t at = bytes.find(marker);
  ASSERT_NE(at, std::string::npos);
  ASSERT_NE(bytes.find("packed_conv2d"), std::string::npos) << "packed weights are the default";
  bytes.replace(at, marker.size(), "deuteron:isa=dsp");
  const Ended e =
      run({"run", put("changed.pte", bytes), "--input", put_floats("x.npy", {1, 1, 8, 8}, 0.25f),
           "--output-dir", path("out"), "--on", "qemu:mps2-an386"});
  if (e.err.find("board.not_built") != std::string::npos ||
      e.err.find("board.qemu_missing") != std::string::npos)
    GTEST_SKIP() << "left out: the emulated board (" << e.err << ")";
  EXPECT_EQ(e.code, 1);
  EXPECT_THAT(e.err, HasSubstr("wrong_isa"));
  EXPECT_THAT(e.err, HasSubstr("packed_conv2d"));
  EXPECT_FALSE(fs::exists(path("out")));
}

TEST_F(Cli, StockFirmwareGetsPlainWeights) {
  const auto weights = [&](std::vector<std::string> more, const char* target) {
    std::vector<std::string> args = {"compile",  kModel,    "--target", target, "--calibrate",
                                     kCalibrate, kObserver, kPlain,     "-o",   path("w.pte")};
    args.insert(args.end(), more.begin(), more.end());
    const Ended e = run(args);
    EXPECT_EQ(e.code, 0) << e.err;
    EXPECT_EQ(e.err, "");
    const bool packed = content_of(path("w.pte")).find("packed_conv2d") != std::string::npos;
    EXPECT_THAT(e.out,
                HasSubstr(packed ? "Deuteron's runtime (for stock ExecuTorch: --dialect stock)"
                                 : "Deuteron's runtime"));
    return packed;
  };
  for (const char* target : {"cortex-m55", "cortex-m4", "cortex-m3", "cortex-m0+"}) {
    EXPECT_TRUE(weights({}, target)) << target;
    EXPECT_FALSE(weights({"--dialect", "stock"}, target)) << target;
    EXPECT_FALSE(weights({"--dialect", "plain"}, target)) << target;
  }
}

// Stock files: the outputs of the stock runtime, bit for bit, through the command line.
TEST_F(Cli, StockProgramsRun) {
  const std::string stock = shared_path("fixtures/stock/");
  if (!fs::exists(stock))
    GTEST_SKIP() << "left out: stock programs, because " << stock << " is not there";
  for (const char* model : {"resnet8", "dscnn_kws", "autoencoder_ad"}) {
    const std::string program = stock + model + ".cortex-m55.pte";
    const json input = json::parse(run({"inspect", program, "--json", "-"}).out)["inputs"][0];
    const std::string stored = content_of(
        stock + model + ".in0.0.bin");  // in storage order; the command line takes the user's
    const std::vector<std::byte> user =
        to_user_order(std::as_bytes(std::span(stored)), input["sizes"], input["storage_order"], 4);
    const std::string data =
        put(std::string(model) + ".bin", {reinterpret_cast<const char*>(user.data()), user.size()});
    const Ended e = run({"run", program, "--input", data, "--output-dir", path(model)});
    ASSERT_EQ(e.code, 0) << e.err;
    const Array out = read_array(std::string(model) + "/output0.npy");
    const std::string expected = content_of(stock + model + ".out0.0.bin");
    ASSERT_EQ(out.bytes.size(), expected.size());
    EXPECT_EQ(std::memcmp(out.bytes.data(), expected.data(), expected.size()), 0) << model;
  }
  const Ended e = run({"inspect", stock + "resnet8.cortex-m4.pte"});
  EXPECT_EQ(e.code, 0) << e.err;
  EXPECT_THAT(e.out, HasSubstr("not said"));
}

}  // namespace
}  // namespace deuteron
