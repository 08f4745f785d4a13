// SPDX-License-Identifier: Apache-2.0
// The emulated boards: counts are exact, and whatever goes wrong there ends with one clear message.
#include "boards/emulate.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/landlock.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <ostream>
#include <thread>

#include "boards/board.h"
#include "npu/neutron/delegate/test_network.h"
#include "targets/target.h"
#include "tests/paths.h"

namespace deuteron {

void PrintTo(const Board& b, std::ostream* os) { *os << b.name; }

namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::vector<uint8_t> bytes_of_file(const std::string& path) {
  std::ifstream f(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(f), {}};
}

class OnBoard : public ::testing::TestWithParam<Board> {
 protected:
  void SetUp() override {
    if (!has_board_runners())
      GTEST_SKIP() << "left out: emulated boards (built without the cross compiler)";
    // The message of a test that needs the emulator and has none is the product's own.
    const EmulatedRun r = run_board_self_test(GetParam().name, JobKind::count_loop, 1, {});
    if (r.error.rule == "board.qemu_missing")
      GTEST_SKIP() << "left out: emulated boards (" << r.error.what << ")";
  }
  EmulatedRun self_test(JobKind kind, uint32_t argument = 0, std::span<const uint8_t> bytes = {},
                        const EmulateOptions& options = {}) {
    return run_board_self_test(GetParam().name, kind, argument, bytes, options);
  }
};
INSTANTIATE_TEST_SUITE_P(, OnBoard,
                         ::testing::ValuesIn(emulated_boards().begin(), emulated_boards().end()),
                         [](const auto& info) {
                           std::string name(info.param.name);
                           std::erase(name, '-');
                           return name;
                         });

// The loop has two instructions and a return: any error in the clock, its phase or its overhead
// shows.
TEST_P(OnBoard, CountsAreExactToTheInstruction) {
  for (uint32_t turns :
       {1u, 2u, 3u, 7u, 19u, 20u, 21u, 24u, 25u, 26u, 997u, 1000u, 12345u, 3000001u}) {
    const EmulatedRun r = self_test(JobKind::count_loop, turns);
    ASSERT_TRUE(r.ok) << r.error.what;
    ASSERT_EQ(r.instructions.size(), 1u);
    EXPECT_EQ(r.instructions[0], 2ull * turns + 1) << turns << " turns";
  }
}

TEST_P(OnBoard, BytesArriveUnchangedBothWays) {
  std::vector<uint8_t> bytes(1234567);
  uint32_t state = 1;
  for (uint8_t& b : bytes) b = static_cast<uint8_t>((state = state * 1664525u + 1013904223u) >> 24);
  const EmulatedRun r = self_test(JobKind::echo, 0, bytes);
  ASSERT_TRUE(r.ok) << r.error.what;
  EXPECT_TRUE(r.outputs.at(0).at(0) == bytes);
}

// The machine model as the NPU, and what its driver refuses told with step and number.
TEST_P(OnBoard, ADelegateRunsWhereThereIsAnNpu) {
  for (const bool argument : {false, true}) {
    test::NeutronNetwork n(argument);
    std::vector<Sample> samples;
    std::vector<std::vector<int8_t>> y(3), z(3);
    for (size_t k = 0; k < 3; ++k) {
      std::vector<int8_t> x(24);
      for (size_t i = 0; i < 24; ++i) x[i] = static_cast<int8_t>(29 * i + 50 * k);
      test::NeutronNetwork::expected(x, &y[k], &z[k]);
      samples.push_back({{x.begin(), x.end()}});
    }
    EmulateOptions options;
    options.by_step = argument;
    const EmulatedRun r = run_emulated(GetParam().name, n.p.bytes(), samples, options);
    if (!GetParam().npu) {
      EXPECT_EQ(r.error.rule, "board.load.missing_backend");
      return;
    }
    ASSERT_TRUE(r.ok) << r.error.what;
    for (size_t k = 0; k < 3; ++k) {
      EXPECT_EQ(std::vector<int8_t>(r.outputs[k][0].begin(), r.outputs[k][0].end()), y[k]);
      EXPECT_EQ(std::vector<int8_t>(r.outputs[k][1].begin(), r.outputs[k][1].end()), z[k]);
    }
    if (argument) { EXPECT_EQ(r.steps.at(0).at(0).op, "NeutronBackend"); }
  }
  test::PayloadParts vendors;
  vendors.output_flags = {0}, vendors.output_map = {0};
  test::TestProgram p;
  p.outputs = {p.planned(ScalarType::s8, {8}, 0)};
  p.call_delegate(p.delegate(kNeutronBackendId, test::make_payload(vendors)), {p.outputs[0]});
  const EmulatedRun r = run_emulated(GetParam().name, p.bytes(), {}, {});
  EXPECT_FALSE(r.ok);
  EXPECT_EQ(r.error.rule, "board.load.delegate_failed");
  EXPECT_THAT(r.error.what,
              AllOf(HasSubstr("`NeutronBackend`, instruction 0, step `prepare`, error "),
                    HasSubstr("(component 3, category 2,")));
}

TEST_P(OnBoard, AFaultIsReportedWithItsPlace) {
  const struct {
    std::string_view cores;
    FaultKind kind;
    const char *exception, *reason, *status;
  } cases[] = {
      {"cortex_m", FaultKind::read_nowhere, "MemManage", "data access not allowed", "CFSR"},
      {"cortex_m", FaultKind::write_nowhere, "MemManage", "data access not allowed", "CFSR"},
      {"cortex_m", FaultKind::undefined_instruction, "UsageFault", "undefined instruction", "CFSR"},
      {"cortex_m", FaultKind::divide_by_zero, "UsageFault", "division by zero", "CFSR"},
      {"cortex_m", FaultKind::null_pointer, "MemManage", "address 0x00000004", "CFSR"},
      {"cortex_m", FaultKind::jump_to_nowhere, "MemManage", "instruction fetch not allowed",
       "CFSR"},
      {"riscv", FaultKind::read_nowhere, "LoadAccessFault", "address 0xf0000000", "MCAUSE"},
      {"riscv", FaultKind::write_nowhere, "StoreAccessFault", "address 0xf0000000", "MCAUSE"},
      {"riscv", FaultKind::undefined_instruction, "IllegalInstruction", "at PC", "MCAUSE"},
      {"riscv", FaultKind::null_pointer, "StoreAccessFault", "address 0x00000004", "MCAUSE"},
      {"riscv", FaultKind::jump_to_nowhere, "InstructionAccessFault", "PC 0xf0000000", "MCAUSE"}};
  const bool divides = GetParam().target != "cortex-m0+";  // which lacks the instruction
  for (const auto& c : cases) {
    if (c.cores != GetParam().cores.name) continue;
    if (c.kind == FaultKind::divide_by_zero && !divides) continue;
    const EmulatedRun r = self_test(JobKind::fault, static_cast<uint32_t>(c.kind));
    EXPECT_FALSE(r.ok);
    EXPECT_EQ(r.error.rule, "board.fault");
    EXPECT_THAT(r.error.what, AllOf(StartsWith(c.exception), HasSubstr(c.reason),
                                    HasSubstr(c.status), HasSubstr("`")));
    EXPECT_LT(r.seconds, 60);
  }
}

TEST_P(OnBoard, AnOverflowOfTheStackIsReported) {
  const EmulatedRun r = self_test(JobKind::overflow_stack);
  EXPECT_FALSE(r.ok);
  EXPECT_EQ(r.error.rule, "board.stack_overflow") << r.error.what;
}

TEST_P(OnBoard, AHangIsEnded) {
  const EmulatedRun r = self_test(JobKind::hang, 0, {}, {.timeout_seconds = 0.7});
  EXPECT_FALSE(r.ok);
  EXPECT_EQ(r.error.rule, "board.timeout");
  EXPECT_THAT(r.error.limit, HasSubstr("0.7 s"));
  EXPECT_THAT(r.error.fix, HasSubstr("--timeout"));
  EXPECT_GE(r.seconds, 0.7);
  EXPECT_LT(r.seconds, 60);
}

TEST_P(OnBoard, AProgramThatIsNoneIsRefused) {
  std::vector<uint8_t> bytes(64, 0x5a);
  const EmulatedRun r = run_emulated(GetParam().name, bytes, {});
  EXPECT_FALSE(r.ok);
  EXPECT_EQ(r.error.rule, "board.load.not_a_program") << r.error.what;
}

TEST_P(OnBoard, MoreThanTheBoardHasIsRefusedWithTheSizes) {
  if (GetParam().memory_mb >= 256) GTEST_SKIP() << "left out: that much to pass to the emulator";
  const std::vector<uint8_t> bytes((GetParam().memory_mb << 20) + 1, 0x5a);
  const EmulatedRun r = run_emulated(GetParam().name, bytes, {});
  EXPECT_FALSE(r.ok);
  EXPECT_EQ(r.error.rule, "board.memory") << r.error.what;
  EXPECT_THAT(r.error.what, HasSubstr(fmt::format("program {}", bytes.size())));
  EXPECT_EQ(r.error.limit, fmt::format("{} bytes", GetParam().memory_mb << 20));
}

// What the stock flow and the stock kernels gave for the same inputs (fixtures/stock).
struct StockFile {
  std::string name, path;
  std::vector<Sample> inputs, outputs;
};
std::vector<StockFile> stock_files(const std::string& core) {
  std::vector<StockFile> files;
  const std::filesystem::path folder = std::filesystem::path(shared_path("fixtures/stock"));
  if (!std::filesystem::is_directory(folder)) return files;
  const auto tensors = [&](const std::string& name, const char* what, size_t k) {
    Sample sample;
    for (;;) {
      const auto path = folder / fmt::format("{}.{}{}.{}.bin", name, what, sample.size(), k);
      if (!std::filesystem::exists(path)) return sample;
      sample.push_back(bytes_of_file(path));
    }
  };
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string file = entry.path().filename(), ending = "." + core + ".pte";
    if (!file.ends_with(ending)) continue;
    StockFile f{file.substr(0, file.size() - ending.size()), entry.path(), {}, {}};
    for (size_t k = 0;; k++) {
      Sample in = tensors(f.name, "in", k);
      if (in.empty()) break;
      f.inputs.push_back(std::move(in));
      f.outputs.push_back(tensors(f.name, "out", k));
    }
    files.push_back(std::move(f));
  }
  std::ranges::sort(files, {}, &StockFile::name);
  return files;
}

// They were made for one core of each instruction set.
std::string core_of_stock_files(const Board& board) {
  return board.isa == "mve" ? "cortex-m55" : board.isa == "dsp" ? "cortex-m4" : "cortex-m3";
}

TEST_P(OnBoard, StockFilesGiveTheStockBits) {
  const std::vector<StockFile> files = stock_files(core_of_stock_files(GetParam()));
  if (files.empty()) GTEST_SKIP() << "left out: the stock files (no ../shared/fixtures/stock)";
  for (const StockFile& f : files) {
    SCOPED_TRACE(f.name);
    const EmulatedRun r = run_emulated(GetParam().name, bytes_of_file(f.path), f.inputs);
    EXPECT_TRUE(r.ok) << format_diagnostic(r.error);
    if (!r.ok) continue;
    ASSERT_EQ(r.outputs.size(), f.outputs.size());
    for (size_t k = 0; k < f.outputs.size(); k++)
      EXPECT_TRUE(r.outputs[k] == f.outputs[k]) << "sample " << k;
    fmt::print(
        "{:10} {:22} {:>11} instructions, load {:>9}, planned {:>7}, tables {:>6}, stack {:>5}, "
        "{:.2f} s\n",
        GetParam().name, f.name, r.instructions[0], r.load_instructions, r.planned_bytes,
        r.tables_bytes, r.stack_used_bytes, r.seconds);
  }
}

// The same sample takes the same instructions in every run, alone or in a series; the calls add up
// to the whole.
TEST_P(OnBoard, CountsRepeat) {
  const std::vector<StockFile> files = stock_files(core_of_stock_files(GetParam()));
  const auto f = std::ranges::find(files, "dscnn_kws", &StockFile::name);
  if (f == files.end()) GTEST_SKIP() << "left out: the stock files (no ../shared/fixtures/stock)";
  const std::vector<uint8_t> program = bytes_of_file(f->path);
  const EmulatedRun series = run_emulated(GetParam().name, program, f->inputs);
  ASSERT_TRUE(series.ok) << format_diagnostic(series.error);
  const std::span<const Sample> last = std::span(f->inputs).last(1);
  const EmulatedRun alone = run_emulated(GetParam().name, program, last);
  ASSERT_TRUE(alone.ok) << format_diagnostic(alone.error);
  EXPECT_EQ(alone.instructions[0], series.instructions.back());
  EXPECT_EQ(alone.load_instructions, series.load_instructions);
  const EmulatedRun by_step = run_emulated(GetParam().name, program, last, {.by_step = true});
  ASSERT_TRUE(by_step.ok) << format_diagnostic(by_step.error);
  ASSERT_EQ(by_step.steps.size(), 1u);
  uint64_t sum = 0;
  for (const StepCount& s : by_step.steps[0]) sum += s.instructions;
  EXPECT_EQ(sum, by_step.instructions[0]);
  EXPECT_EQ(by_step.outputs, alone.outputs);
  // What a call by itself takes more: most of it copies its status, word by word where no
  // instruction moves several.
  const double more = GetParam().cores.name == "cortex_m" ? 40 : 130;
  EXPECT_NEAR(static_cast<double>(sum), static_cast<double>(alone.instructions[0]),
              more * static_cast<double>(by_step.steps[0].size()));
}

TEST_P(OnBoard, InputsOfTheWrongSizeAreRefused) {
  const std::vector<StockFile> files = stock_files(core_of_stock_files(GetParam()));
  const auto f = std::ranges::find(files, "dscnn_kws", &StockFile::name);
  if (f == files.end()) GTEST_SKIP() << "left out: the stock files (no ../shared/fixtures/stock)";
  const std::vector<uint8_t> program = bytes_of_file(f->path);
  const Sample short_one[] = {{std::vector<uint8_t>(1956)}},
               two[] = {{std::vector<uint8_t>(1960), std::vector<uint8_t>(4)}};
  const EmulatedRun a = run_emulated(GetParam().name, program, short_one),
                    b = run_emulated(GetParam().name, program, two);
  EXPECT_EQ(a.error.rule, "board.job");
  EXPECT_EQ(a.error.what, "input 0 has 1956 bytes, the program takes 1960");
  EXPECT_EQ(b.error.rule, "board.job");
  EXPECT_EQ(b.error.what, "the program has 1 inputs, the job 2");
}

TEST(Boards, AreWhatTheirTargetsAreCompiledFor) {
  for (const Board& b : all_boards()) {
    Diagnostics d;
    const std::optional<Target> target = find_target(std::string(b.target), d);
    ASSERT_TRUE(target) << b.name;
    EXPECT_EQ(name_of(target->isa), b.isa) << b.name;
  }
}

TEST(Boards, AnUnknownOneIsRefused) {
  const EmulatedRun r = run_emulated("mps9", {}, {});
  EXPECT_EQ(r.error.rule, "board.unknown");
  EXPECT_THAT(r.error.fix, HasSubstr("mps2-an386"));
}

TEST(Boards, AMissingEmulatorSaysHowToInstallIt) {
  if (!has_board_runners())
    GTEST_SKIP() << "left out: emulated boards (built without the cross compiler)";
  const EmulatedRun r = run_emulated("mps2-an386", {}, {}, {.qemu = "qemu-system-that-nobody-has"});
  EXPECT_EQ(r.error.rule, "board.qemu_missing");
  EXPECT_EQ(r.error.fix, "apt-get install qemu-system-arm");
}

TEST(Boards, AnEmulatorThatFailsIsReportedWithItsText) {
  if (!has_board_runners())
    GTEST_SKIP() << "left out: emulated boards (built without the cross compiler)";
  const EmulatedRun r = run_emulated("mps2-an386", {}, {}, {.qemu = "false"});
  EXPECT_EQ(r.error.rule, "board.emulator");
  EXPECT_THAT(r.error.what, HasSubstr("code 1 before the runner started"));
}

// An image for a Cortex-M at address 0 that makes one semihosting call, whose block is the text,
// `word` and its length, and ends with 0.
//   ldr r0, number; ldr r1, =block; bkpt 0xab; movs r0, #0x18; ldr r1, =0x20026; bkpt 0xab; b .
std::vector<uint8_t> semihosting_image(uint32_t number, const std::string& text,
                                       std::optional<uint32_t> word) {
  static constexpr uint16_t kCode[] = {0x4804, 0x4905, 0xbeab, 0x2018, 0x4904,
                                       0xbeab, 0xe7fe, 0xbf00, 0xbf00, 0xbf00};
  constexpr uint32_t kCodeAt = 8, kLiteralsAt = kCodeAt + sizeof kCode, kBlockAt = kLiteralsAt + 12,
                     kTextAt = kBlockAt + 12;
  std::vector<uint32_t> block = {kTextAt};
  if (word) block.push_back(*word);
  block.push_back(static_cast<uint32_t>(text.size()));
  block.resize(3);
  std::vector<uint8_t> image;
  const auto put = [&](const void* from, size_t bytes) {
    image.insert(image.end(), static_cast<const uint8_t*>(from),
                 static_cast<const uint8_t*>(from) + bytes);
  };
  const uint32_t vectors[] = {0x20001000, kCodeAt | 1}, literals[] = {number, kBlockAt, 0x20026};
  put(vectors, sizeof vectors);
  put(kCode, sizeof kCode);
  put(literals, sizeof literals);
  put(block.data(), 12);
  put(text.c_str(), text.size() + 1);
  return image;
}

// With full semihosting an image is a program on the host.
TEST(Boards, AnImageCannotReachTheHost) {
  constexpr uint32_t kOpen = 0x01, kSystem = 0x12, kModeWrite = 4;
  if (!has_board_runners())
    GTEST_SKIP() << "left out: emulated boards (built without the cross compiler)";
  namespace fs = std::filesystem;
  const fs::path made = fs::temp_directory_path() / fmt::format("deuteron_image.{}", getpid());
  for (const char* board : {"mps2-an385", "mps2-an386", "mps3-an547"}) {
    EmulateOptions options;
    options.timeout_seconds = 30;
    const std::vector<uint8_t> command =
        semihosting_image(kSystem, "touch " + made.string(), std::nullopt);
    options.image = command;
    const EmulatedRun r = run_board_self_test(board, JobKind::count_loop, 1, {}, options);
    if (r.error.rule == "board.qemu_missing")
      GTEST_SKIP() << "left out: emulated boards (" << r.error.what << ")";
    EXPECT_FALSE(r.ok);
    EXPECT_FALSE(fs::exists(made)) << board << " ran a command on the host";
    EXPECT_THAT(r.error.what, HasSubstr("asked the host to start a process"))
        << "or the image makes no call, and this test looks at nothing";

    // What it may do: this ends well. With a kernel that has Landlock it makes no file either.
    const std::vector<uint8_t> file = semihosting_image(kOpen, made.string(), kModeWrite);
    options.image = file;
    const EmulatedRun opened = run_board_self_test(board, JobKind::count_loop, 1, {}, options);
    EXPECT_THAT(opened.error.what, HasSubstr("the board ended early"));
    const bool has_landlock =
        syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION) >= 1;
    EXPECT_FALSE(has_landlock && fs::exists(made)) << board << " made a file on the host";
    fs::remove(made);
  }
}

TEST(Boards, SamplesMustLookAlike) {
  if (!has_board_runners())
    GTEST_SKIP() << "left out: emulated boards (built without the cross compiler)";
  const Sample one = {{1, 2, 3}}, other = {{1, 2}};
  const Sample samples[] = {one, other};
  EXPECT_EQ(run_emulated("mps2-an386", {}, samples).error.rule, "board.job");
}

TEST(Boards, RunsAtTheSameTimeDoNotDisturbEachOther) {
  if (!has_board_runners())
    GTEST_SKIP() << "left out: emulated boards (built without the cross compiler)";
  constexpr uint32_t kRuns = 6;
  EmulatedRun runs[kRuns];
  {
    std::vector<std::jthread> threads;
    for (uint32_t i = 0; i < kRuns; i++)
      threads.emplace_back([&runs, i] {
        const std::vector<uint8_t> bytes(1000 + i, static_cast<uint8_t>(i));
        runs[i] = run_board_self_test(emulated_boards()[i % emulated_boards().size()].name,
                                      JobKind::echo, 0, bytes);
      });
  }
  if (runs[0].error.rule == "board.qemu_missing")
    GTEST_SKIP() << "left out: emulated boards (" << runs[0].error.what << ")";
  for (uint32_t i = 0; i < kRuns; i++) {
    ASSERT_TRUE(runs[i].ok) << runs[i].error.what;
    EXPECT_TRUE(runs[i].outputs[0][0] == std::vector<uint8_t>(1000 + i, static_cast<uint8_t>(i)));
  }
}

}  // namespace
}  // namespace deuteron
