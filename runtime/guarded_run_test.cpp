// SPDX-License-Identifier: Apache-2.0
// The oracle of the fuzzers sees what it is for: kernels with a fault each, whose effect nothing
// but the guard notices.
#include <gtest/gtest.h>

#include "runtime/test_kernels.h"
#include "tests/fuzz/load_and_run.h"

namespace deuteron {
namespace {
using namespace test;

constexpr int32_t kBytes = 16;

// A kernel that copies its input to its out, and `fault` besides.
template <void (*fault)(const Bytes&)>
Status prepare_copy(Call& c, Prepared* p) {
  return keep_bytes(
      c, p, {data_of(c.tensor(0)), nullptr, data_of(c.tensor(1)), nullptr, bytes_of(c.tensor(1))},
      [](const void* args) {
        const Bytes& k = *static_cast<const Bytes*>(args);
        std::memcpy(k.y, k.a, static_cast<size_t>(k.count));
        fault(k);
      });
}
void none(const Bytes&) {}
void read_behind(const Bytes& k) {
  k.y[0] = static_cast<uint8_t>(k.y[0] + 0 * *const_cast<const volatile uint8_t*>(k.a + k.count));
}
void write_behind(const Bytes& k) { *const_cast<volatile uint8_t*>(k.y + k.count) = 7; }
void write_input(const Bytes& k) {
  *const_cast<volatile uint8_t*>(k.a) = static_cast<uint8_t>(k.a[0] + 1);
}
void keep_last(const Bytes& k) { k.y[k.count - 1] = 0; }

// Behind x and y lies what is another call's: a step too far stays inside the planned memory.
TestProgram neighbours() {
  TestProgram p;
  const int32_t x = p.planned(ScalarType::u8, {kBytes}, 0),
                other = p.planned(ScalarType::u8, {kBytes}, kBytes),
                y = p.planned(ScalarType::u8, {kBytes}, 2 * kBytes),
                z = p.planned(ScalarType::u8, {kBytes}, 3 * kBytes);
  p.inputs = {x, other};
  p.call("test::copy", {x, y});
  p.call("test::copy", {other, z});
  p.outputs = {y, z};
  return p;
}

template <void (*fault)(const Bytes&)>
Outcome run_with() {
  static const Kernel copy = {"test::copy.out", "TO", prepare_copy<fault>};
  static const Kernel* const list[] = {&copy};
  const Block file(neighbours().bytes());
  return load_and_run(file.file(), {list, 1});
}

TEST(GuardedRun, SoundKernelsPass) {
  EXPECT_EQ(run_with<none>(), Outcome::ran);
  EXPECT_EQ(run_with<keep_last>(), Outcome::ran) << "its own out";
}

TEST(GuardedRun, WritesBesideTheOutAreSeen) {
  if (kPoisons) {
    EXPECT_DEATH(run_with<write_behind>(), "use-after-poison");
  } else {
    EXPECT_DEATH(run_with<write_behind>(),
                 "call 0 .test::copy. changed byte 48 of the planned memory");
  }
  EXPECT_DEATH(
      run_with<write_input>(),
      "call 0 .test::copy. changed byte 0 of the planned memory, which is not its own: 1 was 0");
}

TEST(GuardedRun, ReadsBesideTheInputsAreSeen) {
  if (!kPoisons) GTEST_SKIP() << "left out: needs AddressSanitizer";
  EXPECT_DEATH(run_with<read_behind>(), "use-after-poison");
}

}  // namespace
}  // namespace deuteron
