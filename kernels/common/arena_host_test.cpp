// SPDX-License-Identifier: Apache-2.0
// Memory that is lent to the kernels of a host, and what they keep there: a call that found room
// does not read its weights again.
#include "kernels/common/arena_host.h"

#include <gtest/gtest.h>

#include "kernels/common/kernels.h"
#include "kernels/common/test_call.h"
#include "kernels/conv2d/packed/kernel.h"
#include "kernels/dense/dot_host.h"
#include "kernels/depthwise_conv2d/row_host.h"

namespace deuteron {
namespace {

TEST(HostArena, CountsWhereItHasNothing) {
  EXPECT_EQ(HostArena::take(1), nullptr);  // nobody lends
  const HostArena asking;
  EXPECT_EQ(asking.bytes(), 0u);
  EXPECT_EQ(HostArena::take(65), nullptr);
  EXPECT_EQ(HostArena::take(1), nullptr);
  EXPECT_EQ(asking.bytes(), 128u + 1 + 63);
}

TEST(HostArena, GivesWhatWasAskedForWhereverTheMemoryBegins) {
  alignas(64) uint8_t memory[256];
  for (size_t begin = 0; begin < 64; ++begin) {
    const HostArena lent({memory + begin, 128 + 1 + 63});
    for (const size_t bytes : {65, 1}) {
      const auto* const at = static_cast<uint8_t*>(HostArena::take(bytes));
      ASSERT_NE(at, nullptr) << begin;
      EXPECT_EQ(reinterpret_cast<uintptr_t>(at) % 64, 0u);
      EXPECT_LE(at + bytes, memory + begin + 128 + 1 + 63);
    }
    EXPECT_EQ(HostArena::take(64), nullptr);
  }
}

TEST(HostArena, IsTheInnermostOneOfItsThread) {
  alignas(64) uint8_t outer_memory[64], inner_memory[64];
  const HostArena outer({outer_memory, 64});
  {
    const HostArena inner({inner_memory, 64});
    EXPECT_EQ(HostArena::take(64), inner_memory);
  }
  EXPECT_EQ(HostArena::take(64), outer_memory);
}

TestCall depthwise(bool constant) {
  Random random(1);
  TestCall call(kQuantizedDepthwiseConv2d);
  random.fill(call.image(1, 5, 6, 7));
  Tensor& weight = call.tensor(ScalarType::s8, {1, 3, 3, 7});
  random.fill(weight);
  weight.constant = constant;
  call.constants(random.list(7, -3000, 3000));
  for (const int32_t both : {1, 1, 1}) call.integers({both, both});
  for (const int32_t number : {1, 3, -7}) call.integer(number);
  call.constants(random.multipliers(7));
  call.constants(random.list(7, -9, -4));
  for (const int32_t bound : {-128, 127}) call.integer(bound);
  call.tensor(ScalarType::u8, {0});
  call.image(1, 5, 6, 7);
  return call;
}

TestCall packed(bool constant) {
  Random random(2);
  TestCall call(kPackedConv2dMve4x16);
  random.fill(call.image(1, 5, 6, 7));
  std::vector<int8_t> bytes(static_cast<size_t>(packed_bytes(Packing::mve_4x16, 6, 63)));
  const std::vector<int32_t> first(6, 100), multiplier(6, 1 << 22);
  const auto weight = [&](int32_t, int32_t) { return random.s8(); };
  pack_weights<Packing::mve_4x16>(6, 63, first.data(), multiplier.data(), nullptr, weight,
                                  bytes.data());
  Tensor& t = call.tensor(ScalarType::s8, {static_cast<int32_t>(bytes.size())});
  std::memcpy(t.data, bytes.data(), bytes.size());
  t.constant = constant;
  for (const int32_t both : {3, 1, 1, 1}) call.integers({both, both});
  for (const int32_t number : {3, -7}) call.integer(number);
  call.tensor(ScalarType::u8, {1024});
  call.image(1, 5, 6, 6);
  return call;
}

// The results of a run, of one more when the weights had been changed in the file, and how much the
// kernel asked for.
struct Found {
  std::vector<int8_t> before, after;
  size_t asked;
};
Found run_with(TestCall call, int out, Memory memory) {
  const HostArena arena(memory);
  const auto results = [&call, out] {
    const int8_t* const y = data_of<int8_t>(call.tensor_at(out));
    return std::vector<int8_t>(y, y + call.tensor_at(out).numel);
  };
  Found found;
  call.run();
  found.before = results();
  const Tensor& weight = call.tensor_at(1);
  for (int32_t i = 0; i < 60; ++i)
    data_of<int8_t>(weight)[i] = static_cast<int8_t>(~data_of<int8_t>(weight)[i]);
  call.run_again();
  found.after = results();
  found.asked = arena.bytes();
  return found;
}

void check(TestCall (*make)(bool constant), int out) {
  const Found without = run_with(make(true), out, {});
  EXPECT_NE(without.after, without.before);
  ASSERT_GT(without.asked, 0u);
  std::vector<uint8_t> memory(without.asked);
  const Found with = run_with(make(true), out, {memory.data(), memory.size()});
  EXPECT_EQ(with.before, without.before);
  EXPECT_EQ(with.after, with.before);
  const Found with_less = run_with(make(true), out, {memory.data(), memory.size() - 64});
  EXPECT_EQ(with_less.before, without.before);
  EXPECT_EQ(with_less.after, without.after);
  const Found not_constant = run_with(make(false), out, {memory.data(), memory.size()});
  EXPECT_EQ(not_constant.after, without.after);
  EXPECT_EQ(not_constant.asked, 0u);
}

TEST(HostArena, HasTheWeightsOfDepthwiseConvolutions) {
  if (host_row_forms().count == 0) GTEST_SKIP() << "left out: this processor has no AVX2";
  check(depthwise, 14);
}
TEST(HostArena, HasTheWeightsOfPackedConvolutions) {
  if (host_dot_forms().count == 0) GTEST_SKIP() << "left out: this processor has no AVX2";
  check(packed, 9);
}

}  // namespace
}  // namespace deuteron
