// SPDX-License-Identifier: Apache-2.0
// Delegates in programs, over a driver that can fail at any step: results in every memory order,
// where scratch lies, and that nothing is left half-done.
#include "npu/neutron/delegate/delegate.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "npu/neutron/delegate/reorder.h"
#include "npu/neutron/delegate/test_payload.h"
#include "runtime/test_kernels.h"
#include "runtime/test_program.h"
#include "tests/fuzz/load_and_run.h"

namespace deuteron {
namespace {
using namespace test;

const Backend* const kBackends[] = {&kFakeBackend};
const KernelTable kTable = {kTestKernelList, 5, kBackends, 1};

// One delegate of one input and one output, between two kernels or alone.
struct Network {
  TestProgram p;
  PayloadParts parts;
  std::map<std::string, std::string> options;
  std::vector<int32_t> args;
  bool in_line = false;
  std::function<void(std::vector<uint8_t>&)> damage;

  Network() { fake = {}; }
  // The partition has one of each, in their order.
  void one_in_one_out() {
    parts.input_flags = {0}, parts.output_flags = {0}, parts.input_map = {0},
    parts.output_map = {0};
    parts.arguments = 1;
  }
  std::vector<uint8_t> bytes() {
    fake.parts = parts;
    std::vector<uint8_t> payload = make_payload(parts);
    if (damage) damage(payload);
    p.call_delegate(p.delegate(kNeutronBackendId, payload, options, in_line), args);
    return p.bytes();
  }
};

// x [sizes] -> delegate -> y, each in its own memory order and with its own flag.
struct OneTensor : Network {
  std::vector<int32_t> sizes;
  size_t numel = 1;
  OneTensor(const std::vector<int32_t>& shape, const std::vector<uint8_t>& x_order,
            const std::vector<uint8_t>& y_order, uint8_t x_flag, uint8_t y_flag,
            ScalarType type = ScalarType::s8)
      : sizes(shape) {
    for (const int32_t s : sizes) numel *= static_cast<size_t>(s);
    const size_t bytes = numel * element_bytes(type);
    const int32_t x = p.planned(type, sizes, 0, x_order),
                  y = p.planned(type, sizes, static_cast<uint32_t>((bytes + 15) / 16 * 16),
                                y_order);
    p.inputs = {x};
    p.outputs = {y};
    args = {x, y};
    parts.input_flags = {x_flag}, parts.output_flags = {y_flag}, parts.input_map = {0},
    parts.output_map = {0};
    parts.arguments = 1;
    parts.weights = {0};
    if (element_bytes(type) == 1)
      parts.port_bytes = {static_cast<uint32_t>(numel), static_cast<uint32_t>(numel)};
    fake.input_bytes = {bytes};
    fake.output_bytes = {bytes};
  }
};

TEST(NeutronDelegate, RunsBetweenKernels) {
  for (const bool in_line : {false, true}) {
    Network n;
    n.in_line = in_line;
    const int32_t a = n.p.planned(ScalarType::s8, {1, 2, 3, 5}, 0),
                  sum = n.p.planned(ScalarType::s8, {1, 2, 3, 5}, 32);
    const int32_t c = n.p.constant<uint8_t>(ScalarType::s8, {30}, std::vector<uint8_t>(30, 2));
    const int32_t y = n.p.planned(ScalarType::s8, {30}, 64),
                  z = n.p.planned(ScalarType::s8, {30}, 0);
    n.p.inputs = {a};
    n.p.outputs = {z};
    n.p.call("test::add", {a, c, sum});
    n.parts.input_flags = {0, 0}, n.parts.output_flags = {0}, n.parts.input_map = {0, 1},
    n.parts.output_map = {0};
    n.parts.arguments = 2;
    n.parts.weights = {9};
    n.parts.port_bytes = {30, 30, 30};
    n.parts.version = 1, n.parts.scratch_bytes = 50, n.parts.profile_bytes = 16,
    n.parts.debug_bytes = 8, n.parts.sram_bytes = 24;
    n.args = {sum, c, y};
    fake.input_bytes = {30, 30};
    fake.output_bytes = {30};
    n.bytes();
    n.p.call("test::reverse", {y, z});
    Loaded l(n.p.bytes(), kTable);
    ASSERT_TRUE(l.status.ok()) << l.status.detail;
    EXPECT_EQ(l.needs.planned_bytes, 96u + 64 + 16 + 16 + 32)
        << "the file's plan, and behind it what the delegate needs";
    EXPECT_EQ(fake.prepared, 1);
    EXPECT_EQ(fake.configured, 1) << "it fetches";
    for (uint8_t round = 0; round < 3; ++round) {
      std::vector<uint8_t> x(30);
      for (size_t i = 0; i < 30; ++i) x[i] = static_cast<uint8_t>(5 * i + round);
      ASSERT_TRUE(l.program.set_input(0, x.data(), 30).ok());
      ASSERT_TRUE(l.program.run().ok());
      for (size_t i = 0; i < 30; ++i)
        EXPECT_EQ(data_of(l.program.output(0))[29 - i], static_cast<uint8_t>(x[i] + 2 + 2 + 9))
            << i;
    }
    EXPECT_EQ(fake.runs, 3);
    EXPECT_EQ(fake.resumed, 3);
    EXPECT_EQ(fake.suspended, 3);
    EXPECT_TRUE(fake.aligned);
    const Program::Step step = l.program.step(1);
    EXPECT_STREQ(step.op, "NeutronBackend");
    EXPECT_EQ(step.count, 3);
    ASSERT_NE(step.delegate, nullptr);
    EXPECT_EQ(l.program.step(0).delegate, nullptr);
    const NeutronBuffers buffers = neutron_buffers(*step.delegate);
    EXPECT_EQ(buffers.profile_bytes, 16u);
    EXPECT_EQ(buffers.profile[15], 0xE1);
    EXPECT_EQ(buffers.debug[7], 0xE2);
    l.program.unload();
    EXPECT_EQ(fake.prepared, 0);
    EXPECT_EQ(l.program.instruction_count(), 0);
  }
}

// Every rank, order and flag: the machine sees and gives the order of the flag, the program its
// own.
TEST(NeutronDelegate, EveryOrderIsHonoured) {
  std::mt19937 random(3);
  int transposed = 0;
  for (int k = 0; k < 300; ++k) {
    const size_t rank = 1 + random() % 5;
    std::vector<int32_t> sizes;
    for (size_t d = 0; d < rank; ++d) sizes.push_back(static_cast<int32_t>(1 + random() % 5));
    const auto any_order = [&] {
      std::vector<uint8_t> o(rank);
      payload_order(static_cast<int32_t>(rank), random() % 2, o.data());
      if (random() % 4 == 0) std::shuffle(o.begin(), o.end(), random);
      return o;
    };
    const std::vector<uint8_t> x_order = any_order(), y_order = any_order();
    const uint8_t x_flag = random() % 2, y_flag = random() % 2;
    OneTensor n(sizes, x_order, y_order, x_flag, y_flag);
    n.parts.scratch_bytes = static_cast<uint32_t>(random() % 40);
    Loaded l(n.bytes(), kTable);
    ASSERT_TRUE(l.status.ok()) << l.status.detail;
    std::vector<uint8_t> x(n.numel);
    for (uint8_t& v : x) v = static_cast<uint8_t>(random());
    ASSERT_TRUE(l.program.set_input(0, x.data(), x.size()).ok());
    ASSERT_TRUE(l.program.run().ok());
    // The machine copies bytes in order: from x in the order of its flag to y in the order of its
    // flag.
    const Tensor t = l.program.input(0);
    uint8_t x_machine[16], y_machine[16];
    payload_order(t.rank, x_flag, x_machine);
    payload_order(t.rank, y_flag, y_machine);
    std::vector<uint8_t> machine(n.numel), y(n.numel);
    copy_reordered(t, x_order.data(), x_machine, x.data(), machine.data());
    copy_reordered(t, y_machine, y_order.data(), machine.data(), y.data());
    EXPECT_EQ(std::memcmp(l.program.output(0).data, y.data(), y.size()), 0)
        << ::testing::PrintToString(sizes);
    transposed +=
        l.needs.planned_bytes > 2 * round_up_16(n.numel) + round_up_16(n.parts.scratch_bytes);
  }
  EXPECT_GT(transposed, 50);
}

// Upstream refuses flag 1 with one channel and a channels-last order, and permutes ranks 3 and 5
// wrongly.
TEST(NeutronDelegate, OneChannelInAnyOrderPassesThrough) {
  for (const std::vector<uint8_t>& order :
       {std::vector<uint8_t>{0, 1, 2, 3}, std::vector<uint8_t>{0, 2, 3, 1}}) {
    OneTensor n({2, 1, 3, 4}, order, order, 1, 1);
    Loaded l(n.bytes(), kTable);
    ASSERT_TRUE(l.status.ok()) << l.status.detail;
    EXPECT_EQ(l.needs.planned_bytes, 64u) << "no copy";
  }
}

TEST(NeutronDelegate, WiderElementsAreTransposedToo) {
  OneTensor n({2, 3, 4, 2}, {0, 1, 2, 3}, {0, 2, 3, 1}, 1, 1, ScalarType::f32);
  Loaded l(n.bytes(), kTable);
  ASSERT_TRUE(l.status.ok()) << l.status.detail;
  std::vector<uint32_t> x(48), y(48);
  for (uint32_t i = 0; i < 48; ++i) x[i] = i * 0x01010101u;
  ASSERT_TRUE(l.program.set_input(0, x.data(), 192).ok());
  ASSERT_TRUE(l.program.run().ok());
  const uint8_t from[] = {0, 1, 2, 3}, to[] = {0, 2, 3, 1};
  copy_reordered(l.program.input(0), from, to, x.data(), y.data());
  EXPECT_EQ(std::memcmp(l.program.output(0).data, y.data(), 192), 0);
}

// A scratch argument: nothing is added to the plan, and the overlap rules hold for it.
struct WithScratch : Network {
  int32_t x, scratch, y;
  explicit WithScratch(uint32_t scratch_at, int32_t scratch_bytes = 112) {
    x = p.planned(ScalarType::s8, {1, 3, 4, 2}, 0), y = p.planned(ScalarType::s8, {24}, 32);
    scratch = p.planned(ScalarType::u8, {scratch_bytes}, scratch_at);
    p.inputs = {x};
    p.outputs = {y};
    args = {scratch, x, y};
    parts.input_flags = {1}, parts.output_flags = {0}, parts.input_map = {1},
    parts.output_map = {0};
    parts.arguments = 2;
    parts.weights = {1};
    parts.port_bytes = {24, 24};
    parts.version = 1, parts.scratch_bytes = 20, parts.profile_bytes = 16, parts.debug_bytes = 1,
    parts.sram_bytes = 0;  // 32 + 16 + 16 + 32 for x
    options = {{kNeutronScratchOption, "0"}, {"other", "7"}};
    fake.input_bytes = {24};
    fake.output_bytes = {24};
  }
};

TEST(NeutronDelegate, ScratchIsAnArgument) {
  WithScratch n(64);
  Loaded l(n.bytes(), kTable);
  ASSERT_TRUE(l.status.ok()) << l.status.detail;
  EXPECT_EQ(l.needs.planned_bytes, 64u + 112);
  std::vector<uint8_t> x(24, 4);
  ASSERT_TRUE(l.program.set_input(0, x.data(), 24).ok());
  ASSERT_TRUE(l.program.run().ok());
  EXPECT_EQ(data_of(l.program.output(0))[23], 5);
  EXPECT_EQ(l.planned.data()[64 + 19], 0xE0);
  EXPECT_EQ(l.planned.data()[64 + 32], 0xE1);
}

TEST(NeutronDelegate, ScratchThatDoesNotFitIsRefused) {
  const auto status = [](WithScratch& n) {
    Loaded l(n.bytes(), kTable);
    EXPECT_EQ(fake.prepared, l.status.ok() ? 1 : 0);
    if (l.status.code == Code::bad_argument) {
      EXPECT_STREQ(l.status.op, "NeutronBackend");  // lies in the file
    }
    return l.status;
  };
  WithScratch exact(64, 96), small(64, 95), on_input(16), on_output(48), crooked(68), constant(64),
      none(64);
  EXPECT_TRUE(status(exact).ok());
  Status s = status(small);
  EXPECT_EQ(s.code, Code::bad_argument);
  EXPECT_EQ(s.argument, 0);
  EXPECT_EQ(s.bytes_needed, 96u);
  EXPECT_EQ(s.instruction, 0);
  EXPECT_EQ(status(on_input).code, Code::overlap);
  EXPECT_EQ(status(on_output).code, Code::overlap);
  s = status(crooked);
  EXPECT_EQ(s.code, Code::bad_argument);
  EXPECT_EQ(s.argument, 0);
  constant.args[0] = constant.p.constant<uint8_t>(ScalarType::u8, {112}, std::vector<uint8_t>(112));
  s = status(constant);
  EXPECT_EQ(s.code, Code::bad_argument);
  EXPECT_STREQ(s.detail, "a constant in the file would be overwritten");
  none.args[0] = none.p.bare(ScalarType::u8, {112});
  EXPECT_EQ(status(none).code, Code::corrupt) << "no memory";
  for (const char* option : {"1", "2", "", "-1", "x", "0x0", "0000", "300", " 0"}) {
    WithScratch n(64);
    n.options[kNeutronScratchOption] = option;
    EXPECT_EQ(status(n).code, Code::corrupt) << option;
  }
  WithScratch terminated(64);
  terminated.options[kNeutronScratchOption] = std::string("0\0", 2);
  EXPECT_TRUE(status(terminated).ok());
}

// Each delegate is asked for its own options: the first one of a file has none here, and the second
// one's scratch is a byte too small.
TEST(NeutronDelegate, OptionsAreThoseOfTheDelegateThatIsCalled) {
  for (const int32_t bytes : {96, 95}) {
    WithScratch n(64, bytes);
    PayloadParts plain = n.parts;
    plain.input_map = {0}, plain.arguments = 1, plain.output_flags = {1};
    const int32_t first = n.p.planned(ScalarType::s8, {1, 3, 4, 2}, 176);
    n.p.inputs = {first};
    n.p.call_delegate(n.p.delegate(kNeutronBackendId, make_payload(plain)), {first, n.x});
    const Status s = Loaded(n.bytes(), kTable).status;
    EXPECT_EQ(s.ok(), bytes == 96) << bytes;
    if (s.ok()) continue;
    EXPECT_EQ(s.code, Code::bad_argument);
    EXPECT_EQ(s.argument, 0);
    EXPECT_EQ(s.instruction, 1);
  }
}

// Without the option an argument that nothing maps to is left alone, as in stock files: it needs no
// memory and conflicts with nothing.
TEST(NeutronDelegate, UnusedArgumentsAreLeftAlone) {
  WithScratch n(16);
  n.options.clear();
  Loaded l(n.bytes(), kTable);
  ASSERT_TRUE(l.status.ok()) << l.status.detail;
  EXPECT_EQ(l.needs.planned_bytes, 128u + 96) << "the scratch argument ends at 128";
  WithScratch m(64);
  m.options.clear();
  m.args[0] = m.p.bare(ScalarType::f32, {1000});
  EXPECT_TRUE(Loaded(m.bytes(), kTable).status.ok());
}

// Two delegates share the workspace, and their kernels' bytes stay their own.
TEST(NeutronDelegate, DelegatesShareTheWorkspace) {
  Network n;
  const int32_t x = n.p.planned(ScalarType::s8, {20}, 0), a = n.p.planned(ScalarType::s8, {20}, 32),
                y = n.p.planned(ScalarType::s8, {20}, 64);
  n.p.inputs = {x};
  n.p.outputs = {a, y};
  n.one_in_one_out();
  n.parts.weights = {1};
  n.parts.scratch_bytes = 100;
  fake.parts = n.parts;
  fake.input_bytes = {20}, fake.output_bytes = {20};
  n.p.call_delegate(n.p.delegate(kNeutronBackendId, make_payload(n.parts)), {x, a});
  n.parts.scratch_bytes = 40;
  n.p.call_delegate(n.p.delegate(kNeutronBackendId, make_payload(n.parts)), {a, y});
  Loaded l(n.p.bytes(), kTable);
  ASSERT_TRUE(l.status.ok()) << l.status.detail;
  EXPECT_EQ(l.needs.planned_bytes, 96u + 112);
  EXPECT_EQ(fake.prepared, 2);
}

// Each step that can fail, and what is left then: nothing.
TEST(NeutronDelegate, AFailingDriverIsNamedWithItsStep) {
  const auto load = [](const char* step, int32_t error) {
    OneTensor n({24}, {0}, {0}, 0, 0);
    n.parts.sram_bytes = 8;
    fake.fails = step;
    fake.error = error;
    auto l = std::make_unique<Loaded>(n.bytes(), kTable);
    return l;
  };
  constexpr int32_t kNoMemory = 3 | kNeutronNoMemory << 3 | 77 << 8,
                    kTimeout = 3 | kNeutronTimeout << 3;
  auto l = load("prepare", kNoMemory);
  EXPECT_EQ(l->status.code, Code::delegate_failed);
  EXPECT_STREQ(l->status.step, "prepare");
  EXPECT_STREQ(l->status.op, "NeutronBackend");
  EXPECT_EQ(l->status.instruction, 0);
  EXPECT_EQ(l->status.error, kNoMemory);
  EXPECT_STREQ(l->status.detail, "the driver: no memory");
  const NeutronFault f = fault_of(l->status.error);
  EXPECT_EQ(f.component, 3);
  EXPECT_EQ(f.category, 5);
  EXPECT_EQ(f.code, 77);
  EXPECT_EQ(fake.prepared, 0);
  EXPECT_EQ(l->program.instruction_count(), 0);

  l = load("set fetching", 1);
  EXPECT_STREQ(l->status.step, "set fetching");
  EXPECT_STREQ(l->status.detail, "the driver's library");
  EXPECT_EQ(fake.prepared, 0) << "prepared, and unprepared again";

  for (const char* step : {"resume", "run"}) {
    l = load("", kTimeout);
    ASSERT_TRUE(l->status.ok());
    const std::vector<uint8_t> x(24, 3);
    ASSERT_TRUE(l->program.set_input(0, x.data(), 24).ok());
    fake.fails = step;
    const Status s = l->program.run();
    EXPECT_EQ(s.code, Code::delegate_failed);
    EXPECT_STREQ(s.step, step);
    EXPECT_STREQ(s.op, "NeutronBackend");
    EXPECT_STREQ(s.detail, "the driver: timeout");
    EXPECT_EQ(s.instruction, 0);
    EXPECT_EQ(l->program.run_one(0).step, s.step);
    EXPECT_EQ(fake.suspended, std::string(step) == "run" ? 2 : 0)
        << "after every run, also one that fails";
    fake.fails = "suspend";
    EXPECT_TRUE(l->program.run().ok())
        << "a clock that goes on is no failure, and the program can run again";
    l.reset();
    EXPECT_EQ(fake.prepared, 0);
  }
}

// When the second of two delegates cannot be prepared, or a kernel behind them refuses, the first
// is given back.
TEST(NeutronDelegate, AFailedLoadGivesEverythingBack) {
  static int prepared;
  prepared = 0;
  static NeutronDriver second_fails;
  second_fails = kFakeDriver;
  second_fails.prepare = [](const NeutronModelConfig* c, NeutronModelHandle* h) -> NeutronError {
    return ++prepared == 2 ? 3 : kFakeDriver.prepare(c, h);
  };
  static const Backend backend = neutron_backend(&second_fails);
  static const Backend* const backends[] = {&backend};
  const auto load = [&](bool two) {
    fake = {};
    Network n;
    const int32_t x = n.p.planned(ScalarType::s8, {20}, 0),
                  a = n.p.planned(ScalarType::s8, {20}, 32),
                  y = n.p.planned(ScalarType::s8, {21}, 64);
    n.p.inputs = {x};
    n.p.outputs = {two ? a : y};
    n.one_in_one_out();
    const int32_t d = n.p.delegate(kNeutronBackendId, make_payload(n.parts));
    n.p.call_delegate(d, {x, a});
    if (two) n.p.call_delegate(d, {x, a});
    else n.p.call("test::reverse", {a, y});  // 20 bytes to 21: its prepare() refuses
    return Loaded(n.p.bytes(), KernelTable{kTestKernelList, 5, backends, 1}).status;
  };
  EXPECT_EQ(load(true).instruction, 1);
  EXPECT_EQ(fake.prepared, 0);
  prepared = 0;
  EXPECT_EQ(load(false).code, Code::bad_argument);
  EXPECT_EQ(fake.prepared, 0);

  // And loading another program over the first.
  OneTensor n({24}, {0}, {0}, 0, 0);
  const Block file(n.bytes());
  Needs needs;
  ASSERT_TRUE(measure(file.file(), kTable, &needs).ok());
  const Block tables(needs.tables_bytes), planned(needs.planned_bytes);
  Program program;
  ASSERT_TRUE(program.load(file.file(), kTable, tables.memory(), planned.memory()).ok());
  ASSERT_TRUE(program.load(file.file(), kTable, tables.memory(), planned.memory()).ok());
  EXPECT_EQ(fake.prepared, 1);
  for (size_t bytes = 0; bytes < needs.tables_bytes; bytes += 8) {
    const Status s = program.load(file.file(), kTable, {tables.data(), bytes}, planned.memory());
    if (s.ok()) continue;
    EXPECT_EQ(s.code, Code::out_of_memory);
    EXPECT_EQ(s.bytes_needed, needs.tables_bytes);
    EXPECT_EQ(fake.prepared, 0) << bytes;
  }
  program.unload();
  EXPECT_EQ(fake.prepared, 0);
}

// Memory that calls share ends where the tables end: a delegate that does not fit before it is
// refused as one that does not fit at all.
TEST(NeutronDelegate, LeavesWhatKernelsShare) {
  static const Kernel shares = {"test::shares.out", "TO", [](Call& c, Prepared* p) {
                                  uint8_t* room = static_cast<uint8_t*>(c.arena->share(512));
                                  const Tensor &x = c.tensor(0), &y = c.tensor(1);
                                  return keep_bytes(
                                      c, p, {data_of(x), nullptr, data_of(y), room, bytes_of(y)},
                                      [](const void* args) {
                                        const Bytes& k = *static_cast<const Bytes*>(args);
                                        std::memset(k.scratch, 255, 512);
                                        std::memcpy(k.y, k.a, static_cast<size_t>(k.count));
                                      });
                                }};
  static const Kernel* const kernels[] = {&shares};
  const KernelTable table = {kernels, 1, kBackends, 1};
  Network n;
  const int32_t x = n.p.planned(ScalarType::s8, {20}, 0), a = n.p.planned(ScalarType::s8, {20}, 32),
                y = n.p.planned(ScalarType::s8, {20}, 64);
  n.p.inputs = {x};
  n.p.outputs = {y};
  n.one_in_one_out();
  fake.input_bytes = fake.output_bytes = {20};
  n.p.call("test::shares", {x, a});
  n.args = {a, y};
  const Block file(n.bytes());
  Needs needs;
  ASSERT_TRUE(measure(file.file(), table, &needs).ok());
  EXPECT_GT(needs.tables_bytes, 512u);
  const Block planned(needs.planned_bytes);
  for (size_t bytes = 0; bytes <= needs.tables_bytes; bytes += 8) {
    const Block tables(bytes);
    Program program;
    const Status s = program.load(file.file(), table, tables.memory(), planned.memory());
    EXPECT_TRUE(s.ok() || bytes < needs.tables_bytes) << name_of(s.code);
    if (s.ok()) {
      EXPECT_TRUE(program.run().ok());
    } else {
      EXPECT_EQ(s.code, Code::out_of_memory);
      EXPECT_EQ(s.bytes_needed, needs.tables_bytes);
    }
    program.unload();
  }
}

TEST(NeutronDelegate, CallsThatDoNotFitThePayloadAreRefused) {
  const auto status = [](const std::function<void(OneTensor&)>& change,
                         ScalarType type = ScalarType::s8) {
    OneTensor n({2, 3, 4}, {0, 1, 2}, {0, 1, 2}, 0, 0, type);
    change(n);
    const Loaded l(n.bytes(), kTable);
    if (l.status.code == Code::corrupt) {
      EXPECT_TRUE(!l.status.op || std::string(l.status.op) == "NeutronBackend");
    }
    EXPECT_EQ(fake.prepared, l.status.ok() ? 1 : 0);
    return l.status;
  };
  EXPECT_TRUE(status([](OneTensor&) {}).ok());
  EXPECT_EQ(status([](OneTensor& n) { n.args.push_back(n.args[1]); }).code, Code::bad_argument)
      << "an argument too many";
  EXPECT_EQ(status([](OneTensor& n) { n.args.pop_back(); }).code, Code::bad_argument);
  EXPECT_EQ(status([](OneTensor& n) { n.parts.arguments = 2; }).code, Code::bad_argument);
  EXPECT_EQ(status([](OneTensor& n) { n.args[0] = n.p.integer(3); }).argument, 0) << "not a tensor";
  EXPECT_EQ(status([](OneTensor& n) { n.args[1] = 999; }).code, Code::corrupt);
  Status s = status([](OneTensor& n) { n.parts.port_bytes[1] = 23; });
  EXPECT_EQ(s.code, Code::bad_argument);
  EXPECT_EQ(s.argument, 1);
  EXPECT_EQ(s.bytes_needed, 23u);
  s = status([](OneTensor& n) { n.parts.port_bytes = {192, 192}; }, ScalarType::s64);
  EXPECT_EQ(s.code, Code::bad_argument) << "the open model computes on bytes";
  EXPECT_EQ(s.argument, 0);
  EXPECT_EQ(status([](OneTensor& n) {
              n.args[1] = n.p.constant<uint8_t>(ScalarType::s8, {24}, std::vector<uint8_t>(24));
            }).argument,
            1);
  EXPECT_EQ(status([](OneTensor& n) { n.args[1] = n.args[0]; }).code, Code::overlap)
      << "not in place";
  EXPECT_EQ(status([](OneTensor& n) { n.parts.scratch_bytes = 0x7FFFFFFF; }).code,
            Code::unsupported);
  EXPECT_EQ(status([](OneTensor& n) { n.parts.scratch_bytes = 0x7FFFFFF0; }).code,
            Code::unsupported);
  s = status([](OneTensor& n) { n.damage = [](std::vector<uint8_t>& b) { b[16] ^= 1; }; });
  EXPECT_EQ(s.code, Code::corrupt);
  EXPECT_STREQ(s.detail, "the microcode does not begin with its magic word");
}

// An input that a later kernel overwrites before the delegate reads it, and a delegate that
// overwrites what is still needed.
TEST(NeutronDelegate, TakesPartInTheOverlapCheck) {
  const auto status = [](uint32_t y_at, bool x_is_output) {
    Network n;
    const int32_t x = n.p.planned(ScalarType::s8, {20}, 0),
                  y = n.p.planned(ScalarType::s8, {20}, y_at);
    n.p.inputs = {x};
    n.p.outputs = x_is_output ? std::vector<int32_t>{y, x} : std::vector<int32_t>{y};
    n.parts.input_flags = {}, n.parts.output_flags = {0}, n.parts.input_map = {},
    n.parts.output_map = {0};
    n.args = {y};
    return Loaded(n.bytes(), kTable).status.code;
  };
  EXPECT_EQ(status(0, false), Code::ok);
  EXPECT_EQ(status(16, true), Code::overlap);
  EXPECT_EQ(status(32, true), Code::ok);
  Network n;
  const int32_t x = n.p.planned(ScalarType::s8, {20}, 0),
                never = n.p.planned(ScalarType::s8, {20}, 32),
                y = n.p.planned(ScalarType::s8, {20}, 64);
  n.p.inputs = {x};
  n.p.outputs = {y};
  n.one_in_one_out();
  n.args = {never, y};
  const Status s = Loaded(n.bytes(), kTable).status;
  EXPECT_EQ(s.code, Code::overlap);
  EXPECT_EQ(s.argument, 0);
}

TEST(NeutronDelegate, BackendsAreStartedOnceAndTogether) {
  fake = {};
  const Backend* const two[] = {&kFakeBackend, &kFakeBackend};
  const KernelTable table = {kTestKernelList, 5, two, 2};
  EXPECT_TRUE(start_backends(table).ok());
  EXPECT_EQ(fake.started, 2);
  stop_backends(table);
  EXPECT_EQ(fake.started, 0);
  fake.fails = "init";
  const Status s = start_backends(kTable);
  EXPECT_EQ(s.code, Code::delegate_failed);
  EXPECT_STREQ(s.step, "init");
  EXPECT_STREQ(s.op, "NeutronBackend");
  EXPECT_TRUE(start_backends(kTestKernels).ok()) << "no backends";
}

TEST(NeutronDelegate, EveryErrorHasAText) {
  for (int component = 0; component < 8; ++component)
    for (int category = 0; category < 32; ++category)
      EXPECT_NE(explain_neutron_error(component | category << 3), nullptr);
  EXPECT_STREQ(explain_neutron_error(2 | 2 << 3), "the firmware: a buffer overflow");
}

// Files with delegates, damaged: in the tables, the payload and the options.
TEST(NeutronDelegate, DamagedFiles) {
  WithScratch n(64);
  n.parts.sram_bytes = 16;
  n.args[0] = n.p.planned(ScalarType::u8, {200}, 64);
  const std::vector<uint8_t> whole = n.bytes();
  int loaded = 0, tried = 0;
  const auto add = [&](const std::vector<uint8_t>& b) {
    fake.parts.scratch_bytes = fake.parts.profile_bytes = fake.parts.debug_bytes =
        fake.parts.sram_bytes = 0;  // the driver trusts its microcode
    fake.input_bytes.clear();
    fake.output_bytes.clear();
    ++tried;
    loaded += load_and_run(Block(b).file(), kTable) == Outcome::ran;
    EXPECT_EQ(fake.prepared, 0);
  };
  for (size_t at = 0; at < whole.size(); ++at)
    for (const int value : {0, 1, 2, 0x7F, 0xFF, whole[at] ^ 1, whole[at] ^ 0x10}) {
      std::vector<uint8_t> b = whole;
      b[at] = static_cast<uint8_t>(value);
      add(b);
    }
  std::mt19937 random(5);
  for (int k = 0; k < 4000; ++k) {
    std::vector<uint8_t> b = whole;
    for (int c = 0; c < 3; ++c) {
      const uint32_t word =
          random() % 3 ? static_cast<uint32_t>(random() % 64) : static_cast<uint32_t>(random());
      std::memcpy(&b[random() % (b.size() - 3) & ~size_t{3}], &word, 4);
    }
    add(b);
  }
  EXPECT_GT(loaded, 500);
  std::printf("%d damaged files, %d loaded and ran\n", tried, loaded);
}

}  // namespace
}  // namespace deuteron
