// SPDX-License-Identifier: Apache-2.0
// A convolution gives the same numbers whether its weight is a parameter or an input of the model.
#include <fmt/format.h>

#include "frontends/pt2/operators/test_run.h"

namespace deuteron::pt2 {
namespace {

struct Case {
  Shape x, weight, out;
  i64 stride = 1, pad = 0, dilation = 1, groups = 1, output_pad = 0;
};

std::vector<float> numbers(const Shape& shape, i64 seed) {
  std::vector<float> data;
  for (i64 k = 0; k < numel(shape); ++k)
    data.push_back(static_cast<float>((k * 37 + seed * 11) % 19 - 9) / 8);
  return data;
}

TestModel model(const std::string& target, const Case& c, i64 axes, bool computed) {
  const Shape bias{c.out[1]};
  TestModel m;
  m.input("x", c.x);
  if (computed) m.input("w", c.weight), m.input("b", bias);
  else m.parameter("w", c.weight, numbers(c.weight, 2)), m.parameter("b", bias, numbers(bias, 3));
  const std::string prefix = computed ? "" : "p_";
  const auto each = [&](i64 v) { return as_ints(std::vector<i64>(static_cast<size_t>(axes), v)); };
  Arguments arguments{{"input", as_tensor("x")},         {"weight", as_tensor(prefix + "w")},
                      {"bias", as_tensor(prefix + "b")}, {"stride", each(c.stride)},
                      {"padding", each(c.pad)},          {"dilation", each(c.dilation)},
                      {"groups", as_int(c.groups)}};
  if (target.find("transpose") != std::string::npos)
    arguments.push_back({"output_padding", each(c.output_pad)});
  m.node(target, {{"z", c.out}}, arguments);
  m.output("z");
  return m;
}

void compare(const std::string& target, const Case& c, i64 axes) {
  const std::vector<float> x = numbers(c.x, 1), w = numbers(c.weight, 2),
                           b = numbers({c.out[1]}, 3);
  expect_near(results_of(model(target, c, axes, true), {x, w, b})[0],
              results_of(model(target, c, axes, false), {x})[0],
              fmt::format("{} of {} by {}", target, to_text(c.x), to_text(c.weight)));
}

TEST(ComputedWeights, ConvolutionsAreTheSameAsWithParameters) {
  compare("aten.conv2d.default", {{1, 3, 5, 6}, {4, 3, 3, 3}, {1, 4, 5, 6}, 1, 1}, 2);
  compare("aten.conv2d.default", {{2, 3, 7, 6}, {4, 3, 2, 3}, {2, 4, 3, 2}, 2}, 2);
  compare("aten.conv2d.default", {{1, 4, 7, 7}, {6, 2, 3, 3}, {1, 6, 5, 5}, 1, 1, 2, 2}, 2);
  compare("aten.conv2d.default", {{2, 4, 5, 5}, {4, 1, 3, 3}, {2, 4, 3, 3}, 1, 0, 1, 4}, 2);
  compare("aten.conv2d.default", {{2, 3, 4, 4}, {5, 3, 1, 1}, {2, 5, 4, 4}}, 2);
  compare("aten.conv1d.default", {{1, 2, 9}, {3, 2, 4}, {1, 3, 5}, 2, 2}, 1);
}

TEST(ComputedWeights, TransposedConvolutionsToo) {
  compare("aten.conv_transpose2d.input", {{1, 3, 4, 5}, {3, 2, 3, 3}, {1, 2, 6, 7}}, 2);
  compare("aten.conv_transpose2d.input", {{1, 3, 4, 5}, {3, 2, 3, 3}, {1, 2, 8, 10}, 2, 1, 1, 1, 1},
          2);
  compare("aten.conv_transpose2d.input", {{2, 4, 3, 3}, {4, 3, 2, 2}, {2, 6, 6, 6}, 2, 0, 1, 2}, 2);
  compare("aten.conv_transpose1d.default", {{1, 2, 5}, {2, 3, 3}, {1, 3, 15}, 3, 0, 1, 1}, 1);
}

TEST(ComputedWeights, RefuseWhatDoesNotFit) {
  const Case small{{1, 3, 2, 2}, {4, 3, 3, 3}, {1, 4, 1, 1}};
  EXPECT_THAT(refusal_of(model("aten.conv2d.default", small, 2, true)),
              testing::HasSubstr("pt2.conv2d.extent"));
  const Case cut{{1, 3, 4, 4}, {3, 2, 1, 1}, {1, 2, 2, 2}, 1, 1};
  EXPECT_THAT(refusal_of(model("aten.conv_transpose2d.input", cut, 2, true)),
              testing::HasSubstr("pt2.conv2d.padding"));
  const Case large{{1, 64, 128, 128}, {8, 64, 5, 5}, {1, 8, 128, 128}, 1, 2};
  EXPECT_THAT(refusal_of(model("aten.conv2d.default", large, 2, true)),
              testing::HasSubstr("pt2.conv2d.windows"));
}

}  // namespace
}  // namespace deuteron::pt2
