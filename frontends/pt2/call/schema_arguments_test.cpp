// SPDX-License-Identifier: Apache-2.0
#include "frontends/pt2/call/schema_arguments.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace deuteron::pt2 {
namespace {

using K = Argument::Kind;

Argument of(K kind) {
  Argument a;
  a.kind = kind;
  return a;
}

TEST(DefaultArgument, IsTorchsLiteral) {
  EXPECT_EQ(default_argument("aten.add.Tensor", "alpha")->kind, K::integer);
  EXPECT_EQ(default_argument("aten.add.Tensor", "alpha")->integer, 1);
  EXPECT_EQ(default_argument("aten.flatten.using_ints", "end_dim")->integer, -1);
  EXPECT_EQ(default_argument("aten.conv2d.default", "padding")->integers, (std::vector<i64>{0, 0}));
  EXPECT_EQ(default_argument("aten.conv3d.default", "stride")->integers,
            (std::vector<i64>{1, 1, 1}));
  EXPECT_EQ(default_argument("aten.conv2d.padding", "padding")->text, "valid");
  EXPECT_EQ(default_argument("aten.layer_norm.default", "eps")->kind, K::real);
  EXPECT_EQ(default_argument("aten.layer_norm.default", "eps")->real, 1e-5);
  EXPECT_EQ(default_argument("aten.topk.default", "sorted")->kind, K::boolean);
  EXPECT_EQ(default_argument("aten.topk.default", "sorted")->integer, 1);
  EXPECT_FALSE(default_argument("aten.conv2d.default", "bias"));        // None
  EXPECT_FALSE(default_argument("aten.avg_pool2d.default", "stride"));  // []: that of the window
  EXPECT_FALSE(default_argument("aten.conv2d.default", "weight"));      // has none
  EXPECT_FALSE(default_argument("aten.conv2d.default", "no such one"));
  EXPECT_FALSE(default_argument("aten.no_such_operator.default", "self"));
}

TEST(DefaultArgument, OfEveryParameterIsOfAKindThatItTakes) {
  for (std::string_view rest = all_schemas(); !rest.empty();
       rest.remove_prefix(rest.find('\n') + 1)) {
    const std::string_view target = rest.substr(0, rest.find('('));
    const auto parameters = parameters_of(target);
    ASSERT_TRUE(parameters) << target;
    for (const TorchParameter& p : *parameters)
      if (const auto a = default_argument(target, p.name)) {
        EXPECT_TRUE(takes(p, *a)) << target << " " << p.name;
      }
  }
}

TEST(Takes, TellsKindsApart) {
  struct Case {
    const char* type;
    std::vector<K> yes;
  };
  const Case cases[] = {
      {"Tensor", {K::tensor, K::integer, K::real, K::boolean}},  // x + 2 is an add.Tensor
      {"Tensor?", {K::tensor, K::integer, K::real, K::boolean, K::none}},
      {"Tensor[]", {K::tensors, K::integers}},  // an empty list is written as one of integers
      {"Scalar", {K::integer, K::real, K::boolean}},
      {"float?", {K::integer, K::real, K::boolean, K::none}},
      {"SymInt", {K::integer, K::boolean, K::dtype}},
      {"bool", {K::integer, K::boolean}},
      {"str", {K::text}},
      {"SymInt[2]", {K::integer, K::integers}},
      {"int[1]?", {K::integer, K::integers, K::none}},
      {"float[]?", {K::reals, K::integers, K::none}},
      {"ScalarType?", {K::integer, K::dtype, K::none}}};
  constexpr K kAll[] = {K::none,    K::tensor, K::tensors,  K::integer, K::real,
                        K::boolean, K::text,   K::integers, K::reals,   K::dtype};
  for (const Case& c : cases)
    for (const K kind : kAll)
      EXPECT_EQ(takes({c.type, "x", "", false}, of(kind)),
                std::find(c.yes.begin(), c.yes.end(), kind) != c.yes.end())
          << c.type << " " << static_cast<int>(kind);
  EXPECT_TRUE(takes({"Tensor", "x", "", false}, of(K::other)));  // who reads it says so
  Argument filled = of(K::integers);
  filled.integers = {1};
  EXPECT_FALSE(takes({"Tensor[]", "x", "", false}, filled));
}

}  // namespace
}  // namespace deuteron::pt2
