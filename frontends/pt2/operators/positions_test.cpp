// SPDX-License-Identifier: Apache-2.0
// Expected numbers are torch's.
#include "frontends/pt2/operators/torch_case.h"

namespace deuteron::pt2 {
namespace {

TEST(Positions, AddAlongAnAxis) {
  TorchCase("aten.index_add.default")
      .input("self", {3, 4})
      .with("dim", as_int(0))
      .index("index", {3}, {0, 2, 0})
      .input("source", {3, 4})
      .gives({3, 4}, {-2, 0.5f, 0.25f, 0, 0.25f, -0.75f, 1, 0, 0, 0.75f, -1.25f, -0.5f});
  TorchCase("aten.index_add.default")
      .input("self", {2, 3, 2})
      .with("dim", as_int(-2))
      .index("index", {4}, {1, 1, 1, 0})
      .input("source", {2, 4, 2})
      .with("alpha", as_float(-0.5))
      .gives({2, 3, 2}, {-0.75f, 0.125f, -0.875f, 1, 0.25f, -0.75f, 1.375f, -0.5f, -1.75f, 1.5f,
                         -0.25f, -1.25f});
}

TEST(Positions, CopyAndFillAlongAnAxis) {
  TorchCase("aten.index_copy.default")
      .input("self", {3, 4})
      .with("dim", as_int(1))
      .index("index", {2}, {3, 0})
      .input("source", {3, 2})
      .gives({3, 4}, {1.25f, 0.5f, -0.5f, -0.5f, -0.75f, -0.75f, 1, 0.25f, 0, 0.75f, -0.25f, 1});
  TorchCase("aten.index_copy.default")
      .input("self", {2, 3})
      .with("dim", as_int(0))
      .index("index", {2}, {1, 0})
      .input("source", {2, 3})
      .gives({2, 3}, {-0.75f, 1, 0, -0.5f, 1.25f, 0.25f});
  TorchCase("aten.index_fill.int_Scalar")
      .input("self", {3, 4})
      .with("dim", as_int(1))
      .index("index", {2}, {-1, 0})
      .with("value", as_float(2.5))
      .gives({3, 4}, {2.5f, 0.5f, -0.5f, 2.5f, 2.5f, -0.75f, 1, 2.5f, 2.5f, 0.75f, -0.25f, 2.5f});
}

TEST(Positions, ScatterElements) {
  TorchCase("aten.scatter.src")
      .input("self", {3, 4})
      .with("dim", as_int(1))
      .index("index", {3, 2}, {0, 3, 1, 2, 3, 2})
      .input("src", {3, 3})
      .gives({3, 4}, {-0.5f, 0.5f, -0.5f, 1.25f, 0.25f, -0.75f, 1, 0, -1, 0.75f, 0.75f, -1});
  TorchCase("aten.scatter.value")
      .input("self", {3, 4})
      .with("dim", as_int(0))
      .index("index", {2, 3}, {0, 2, 1, 2, 0, 1})
      .with("value", as_float(1.5))
      .gives({3, 4},
             {1.5f, 1.5f, -0.5f, 1.25f, 0.25f, -0.75f, 1.5f, 0, 1.5f, 1.5f, -0.25f, -1.25f});
  TorchCase("aten.scatter_add.default")
      .input("self", {3, 4})
      .with("dim", as_int(1))
      .index("index", {3, 3}, {0, 0, 0, 1, 2, 1, 3, 3, 3})
      .input("src", {3, 3})
      .gives({3, 4}, {-0.25f, 0.5f, -0.5f, 1.25f, 0.25f, -1.5f, 2, 0, -1, 0.75f, -0.25f, -1.75f});
  TorchCase("aten.scatter.reduce")
      .input("self", {2, 3})
      .with("dim", as_int(1))
      .index("index", {2, 2}, {0, 0, 2, 2})
      .input("src", {2, 2})
      .with("reduce", as_text("add"))
      .gives({2, 3}, {-0.5f, 0.5f, -0.5f, 1.25f, 0.25f, -1.25f});
  TorchCase("aten.scatter.value_reduce")
      .input("self", {2, 3})
      .with("dim", as_int(1))
      .index("index", {2, 2}, {0, 0, 2, 1})
      .with("value", as_float(2.0))
      .with("reduce", as_text("add"))
      .gives({2, 3}, {2.75f, 0.5f, -0.5f, 1.25f, 2.25f, 1.25f});
}

TEST(Positions, ScatterSlices) {
  TorchCase("aten.scatter_add.default")
      .input("self", {4, 2})
      .with("dim", as_int(0))
      .index("index", {3, 2}, {0, 0, 2, 2, 0, 0})
      .input("src", {3, 2})
      .gives({4, 2}, {-0.75f, 1.75f, -0.5f, 1.25f, 0.5f, -1.5f, 1, 0});
  TorchCase("aten.scatter.src")
      .input("self", {2, 4})
      .with("dim", as_int(1))
      .index("index", {2, 2}, {3, 1, 3, 1})
      .input("src", {2, 2})
      .gives({2, 4}, {-1.25f, 1.25f, -0.5f, -0.5f, 0.25f, -0.75f, 1, 0.25f});
}

TEST(Positions, ReduceWhatIsScattered) {
  const struct {
    const char* reduce;
    bool with_self;
    std::vector<float> expected;
  } cases[] = {
      {"sum", true, {-0.5f, 0.5f, -0.25f, 1.25f, 0.25f, -0.5f, 1, 0}},
      {"sum", false, {0.75f, 0.5f, 0.25f, 1.25f, 0.25f, 0.25f, 1, 0}},
      {"mean", true, {-0.16666667f, 0.5f, -0.125f, 1.25f, 0.25f, -0.125f, 1, 0}},
      {"mean", false, {0.375f, 0.5f, 0.25f, 1.25f, 0.25f, 0.083333336f, 1, 0}},
      {"amax", true, {1.25f, 0.5f, 0.25f, 1.25f, 0.25f, 1, 1, 0}},
      {"amax", false, {1.25f, 0.5f, 0.25f, 1.25f, 0.25f, 1, 1, 0}},
      {"amin", true, {-1.25f, 0.5f, -0.5f, 1.25f, 0.25f, -0.75f, 1, 0}},
      {"amin", false, {-0.5f, 0.5f, 0.25f, 1.25f, 0.25f, -0.75f, 1, 0}},
  };
  for (const auto& row : cases)
    TorchCase("aten.scatter_reduce.two")
        .input("self", {2, 4})
        .with("dim", as_int(1))
        .index("index", {2, 3}, {0, 0, 2, 1, 1, 1})
        .input("src", {2, 3})
        .with("reduce", as_text(row.reduce))
        .with("include_self", as_bool(row.with_self))
        .gives({2, 4}, row.expected);
}

TEST(Positions, GatherElements) {
  TorchCase("aten.gather.default")
      .input("self", {3, 4})
      .with("dim", as_int(1))
      .index("index", {3, 2}, {0, 0, 1, 2, 3, 3})
      .gives({3, 2}, {-1.25f, -1.25f, -0.75f, 1, -1.25f, -1.25f});
  TorchCase("aten.gather.default")
      .input("self", {3, 2})
      .with("dim", as_int(0))
      .index("index", {2, 2}, {2, 2, 0, 0})
      .gives({2, 2}, {0.25f, -0.75f, -1.25f, 0.5f});
  TorchCase("aten.take.default")
      .input("self", {3, 4})
      .index("index", {2, 2}, {0, -1, 5, 5})
      .gives({2, 2}, {-1.25f, -1.25f, -0.75f, -0.75f});
}

TEST(Positions, RefuseWhatLiesOutside) {
  const std::string outside = TorchCase("aten.index_add.default")
                                  .input("self", {3, 2})
                                  .with("dim", as_int(0))
                                  .index("index", {1}, {3})
                                  .input("source", {1, 2})
                                  .refusal({3, 2});
  EXPECT_THAT(outside, ::testing::HasSubstr(
                           "an index lies outside the axis: 3, limit -3..2  [pt2.index.range]"));
  const std::string unfit = TorchCase("aten.index_copy.default")
                                .input("self", {3, 2})
                                .with("dim", as_int(0))
                                .index("index", {1}, {0})
                                .input("source", {2, 2})
                                .refusal({3, 2});
  EXPECT_THAT(unfit, ::testing::HasSubstr("[pt2.scatter.extent]"));
  const std::string reduce = TorchCase("aten.scatter_reduce.two")
                                 .input("self", {2, 2})
                                 .with("dim", as_int(0))
                                 .index("index", {1, 2}, {0, 1})
                                 .input("src", {1, 2})
                                 .with("reduce", as_text("prod"))
                                 .refusal({2, 2});
  EXPECT_THAT(reduce, ::testing::HasSubstr("[pt2.scatter.reduce]"));
}

}  // namespace
}  // namespace deuteron::pt2
