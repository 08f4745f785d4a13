// SPDX-License-Identifier: Apache-2.0
// Expected numbers are torch's.
#include "frontends/pt2/operators/torch_case.h"

namespace deuteron::pt2 {
namespace {

// What one pool finds, and the places where it finds it, written into an image of `size`.
std::vector<float> unpooled(const std::string& pool, const Shape& in, const Shape& pooled,
                            Arguments window, const Shape& out, const std::vector<i64>& size) {
  std::vector<float> x;
  for (i64 k = 0; k < numel(in); ++k) x.push_back(static_cast<float>(7 * k % 11 - 5) / 4);
  TestModel m;
  m.input("x", in);
  window.insert(window.begin(), {"self", as_tensor("x")});
  m.node(pool, {{"v", pooled}, {"i", pooled, kS64}}, window);
  m.node("aten.max_unpool2d.default", {{"y", out}},
         {{"self", as_tensor("v")}, {"indices", as_tensor("i")}, {"output_size", as_ints(size)}});
  m.output("y");
  return results_of(m, {x})[0];
}

TEST(Pooling, UnpooledToWhereTheLargestLay) {
  const std::string pool = "aten.max_pool2d_with_indices.default";
  EXPECT_THAT(
      unpooled(pool, {1, 2, 4, 4}, {1, 2, 2, 2}, {{"kernel_size", as_ints({2, 2})}}, {1, 2, 4, 4},
               {4, 4}),
      testing::ElementsAre(0, 0.5f, 0, 1.25f, 0, 0, 0, 0, 0, 0.75f, 0, 0, 0, 0, 1.25f, 0,  //
                           0, 1, 0, 0, 0, 0, 0, 0.5f, 0, 1.25f, 0, 0, 0, 0, 0, 0.75f));
  // Windows that overlap, an image without a batch, and one that becomes wider than it was: places
  // count its elements row by row.
  EXPECT_THAT(unpooled(pool, {2, 4, 5}, {2, 2, 3},
                       {{"kernel_size", as_ints({3, 3})},
                        {"stride", as_ints({2, 2})},
                        {"padding", as_ints({1, 1})}},
                       {2, 4, 6}, {4, 6}),
              testing::ElementsAre(0, 0, 0, 1.25f, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1.25f, 0, 0, 0, 0,
                                   0, 0, 0, 0, 0,  //
                                   0, 0, 0, 0, 0, 1.25f, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1.25f, 0, 0,
                                   0, 0, 0, 0, 0));
}

TEST(Pooling, RefusesWhatCannotBeUnpooled) {
  const auto refusal = [](const Shape& positions, const std::vector<i64>& size, const Shape& out) {
    return TorchCase("aten.max_unpool2d.default")
        .input("self", {1, 1, 2})
        .index("indices", positions, std::vector<i64>(static_cast<size_t>(numel(positions)), 1))
        .with("output_size", as_ints(size))
        .refusal(out);
  };
  EXPECT_THAT(refusal({1, 2, 1}, {2, 2}, {1, 2, 2}), testing::HasSubstr("[pt2.scatter.extent]"));
  for (const Shape& in : {Shape{}, Shape{8}, Shape{2, 4}}) {  // no image
    TestModel m;
    m.input("x", in);
    m.node("aten.max_pool2d_with_indices.default", {{"v", in}, {"i", in, kS64}},
           {{"self", as_tensor("x")}, {"kernel_size", as_ints({2, 2})}});
    m.output("v"), m.output("i");
    EXPECT_THAT(refusal_of(m), testing::HasSubstr("[pt2.image.rank]"));
  }
  EXPECT_THAT(refusal({1, 1, 2}, {16777216, 16777216}, {1, 2, 2}),
              testing::HasSubstr("[pt2.image.size]"));
}

}  // namespace
}  // namespace deuteron::pt2
