// SPDX-License-Identifier: Apache-2.0
#include "frontends/pt2/schema/torch_schema.h"

#include <gtest/gtest.h>

#include <string>

namespace deuteron {
namespace {

TEST(TorchSchema, FindsEveryLineByItsTarget) {
  int lines = 0;
  std::string_view before;
  for (std::string_view rest = all_schemas(); !rest.empty(); ++lines) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    const std::string_view target = line.substr(0, line.find('('));
    EXPECT_LT(before, target);
    const auto parameters = parameters_of(target);
    ASSERT_TRUE(parameters) << target;
    std::string again(target);
    again += '(';
    bool keywords = false;
    for (const TorchParameter& p : *parameters) {
      if (again.back() != '(') again += ", ";
      if (p.keyword_only && !keywords) again += "*, ";
      keywords = keywords || p.keyword_only;
      EXPECT_FALSE(p.type.empty() || p.name.empty()) << line;
      again.append(p.type).append(" ").append(p.name);
      if (!p.is_required()) again.append("=").append(p.fallback);
    }
    EXPECT_EQ(again + ")", line);
    before = target;
    rest.remove_prefix(line.size() + 1);
  }
  EXPECT_GT(lines, 400);
}

TEST(TorchSchema, KnowsNothingElse) {
  for (const std::string_view target :
       {"", "aten", "aten.conv2d", "aten.conv2d.default(", "aten.zzz.default", "a", "zz"})
    EXPECT_FALSE(parameters_of(target)) << target;
  EXPECT_FALSE(parameter_of("aten.conv2d.default", "inputs"));
}

TEST(TorchSchema, TellsTypesAndDefaults) {
  const auto stride = parameter_of("aten.conv2d.default", "stride");
  ASSERT_TRUE(stride);
  EXPECT_EQ(stride->type, "SymInt[2]");
  EXPECT_EQ(stride->element(), "SymInt");
  EXPECT_EQ(stride->fallback, "[1,1]");
  EXPECT_TRUE(stride->is_list());
  EXPECT_FALSE(stride->is_required() || stride->may_be_none() || stride->keyword_only);
  EXPECT_TRUE(parameter_of("aten.conv2d.default", "weight")->is_required());
  EXPECT_TRUE(parameter_of("aten.conv2d.default", "bias")->may_be_none());
  EXPECT_TRUE(parameter_of("aten.add.Tensor", "alpha")->keyword_only);
}

}  // namespace
}  // namespace deuteron
