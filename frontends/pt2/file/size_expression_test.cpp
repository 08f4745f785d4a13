// SPDX-License-Identifier: Apache-2.0
#include "frontends/pt2/file/size_expression.h"

#include <gtest/gtest.h>

namespace deuteron::pt2 {
namespace {

TEST(SizeExpression, IsComputed) {
  const Symbols symbols{{"s0", 7}, {"s1", 3}};
  EXPECT_EQ(size_of("Symbol('s0', positive=True, integer=True)", symbols), 7);
  EXPECT_EQ(size_of("Add(Mul(Integer(2), Symbol('s0')), Integer(-1))", symbols), 13);
  EXPECT_EQ(size_of("FloorDiv(Symbol('s0'), Symbol('s1'))", symbols), 2);
  EXPECT_EQ(size_of("Mod(Mul(Integer(-1), Symbol('s0')), Symbol('s1'))", symbols), 2);
  EXPECT_EQ(size_of("Mul(Rational(1, 7), Pow(Symbol('s0'), Integer(2)))", symbols), 7);
  EXPECT_EQ(size_of("Max(Integer(1), Symbol('s1'), Integer(2))", symbols), 3);
  EXPECT_EQ(size_of("s1", symbols), 3);
}

TEST(SizeExpression, HasNoValue) {
  const Symbols symbols{{"s0", 7}};
  for (const char* text :
       {"", "Symbol('s1')", "Symbol('s0", "FloorDiv(Symbol('s0'), Integer(0))",
        "Mul(Rational(1, 2), Symbol('s0'))", "Pow(Integer(10), Integer(9))",
        "Pow(Integer(1000000), Integer(3))", "sin(Symbol('s0'))", "Integer(1) Integer(2)"})
    EXPECT_EQ(size_of(text, symbols), std::nullopt) << text;
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "Add(";
  EXPECT_EQ(size_of(deep, symbols), std::nullopt);
}

TEST(SizeExpression, NamesItsSymbols) {
  EXPECT_EQ(symbols_in("Add(Symbol('s1'), Symbol('s0'), Symbol('s1'))"),
            (std::vector<std::string>{"s1", "s0"}));
}

}  // namespace
}  // namespace deuteron::pt2
