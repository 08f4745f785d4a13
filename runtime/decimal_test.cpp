// SPDX-License-Identifier: Apache-2.0
#include "runtime/decimal.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace deuteron {
namespace {

TEST(Decimal, IsWhatTheLibraryWrites) {
  std::mt19937_64 random(5);
  for (uint64_t power = 1, k = 0; k < 20; ++k, power *= 10)
    for (const uint64_t v : {power - 1, power, power + 1})
      EXPECT_EQ(Decimal(v).text(), std::to_string(v));
  for (const uint64_t v : {uint64_t{0xffff}, uint64_t{0x10000}, uint64_t{0xffffffff},
                           uint64_t{0x100000000}, ~uint64_t{0}})
    EXPECT_EQ(Decimal(v).text(), std::to_string(v));
  for (int k = 0; k < 10000; ++k) {
    const uint64_t v = random() >> random() % 64;
    EXPECT_EQ(Decimal(v).text(), std::to_string(v));
  }
}

}  // namespace
}  // namespace deuteron
