// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/float_argument.h"

#include <gtest/gtest.h>

#include <cmath>

namespace deuteron {
namespace {

float as_argument(const Value& v) {
  const Value* args[] = {&v};
  return float_argument(Call{args, 1, nullptr}, 0);
}
float of_real(double x) {
  Value v;
  v.kind = Kind::real;
  v.real = x;
  return as_argument(v);
}
float of_integer(int64_t x) {
  Value v;
  v.kind = Kind::integer;
  v.integer = x;
  return as_argument(v);
}

TEST(FloatArgument, IsTheNumberRoundedOnce) {
  for (const double x : {0.0, 1.0 / 3, 3e38, 1e-50, 16777217.0})
    EXPECT_EQ(of_real(x), static_cast<float>(x));
  for (const int64_t x :
       {int64_t{0}, int64_t{-7}, int64_t{16777217}, int64_t{INT32_MAX}, int64_t{INT32_MIN}})
    EXPECT_EQ(of_integer(x), static_cast<float>(static_cast<double>(x)));
  Value v;
  v.kind = Kind::boolean;
  v.boolean = true;
  EXPECT_EQ(as_argument(v), 1.0f);
}

TEST(FloatArgument, IsNoNumberForAnIntegerOfMoreThan32Bits) {
  for (const int64_t x : {int64_t{INT32_MAX} + 1, int64_t{INT32_MIN} - 1, INT64_MAX})
    EXPECT_TRUE(std::isnan(of_integer(x)));
}

}  // namespace
}  // namespace deuteron
