// SPDX-License-Identifier: Apache-2.0
// Expected numbers are torch's.
#include "frontends/pt2/operators/torch_case.h"

namespace deuteron::pt2 {
namespace {

TEST(Tables, PowersOfARow) {
  TorchCase("aten.vander.default")
      .input("x", {3})
      .gives({3, 3}, {1.5625f, -1.25f, 1, 0.25f, 0.5f, 1, 0.25f, -0.5f, 1});
  TorchCase("aten.vander.default")
      .input("x", {3})
      .with("N", as_int(2))
      .with("increasing", as_bool(true))
      .gives({3, 2}, {1, -1.25f, 1, 0.5f, 1, -0.5f});
}

TEST(Tables, EachWithEach) {
  TorchCase("aten.cartesian_prod.default")
      .list("tensors", {{2}, {3}})
      .gives({6, 2},
             {-1.25f, -0.5f, -1.25f, 1.25f, -1.25f, 0.25f, 0.5f, -0.5f, 0.5f, 1.25f, 0.5f, 0.25f});
}

TEST(Tables, PowersByKnownExponents) {
  const auto power = [](const Shape& shape, const std::vector<float>& exponents) {
    return TorchCase("aten.pow.Tensor_Tensor")
        .input("self", {3, 2})
        .constant("exponent", shape, exponents, kF32);
  };
  power({2}, {2, 3}).gives({3, 2}, {1.5625f, 0.125f, 0.25f, 1.953125f, 0.0625f, -0.421875f});
  power({3, 1}, {1, 1, 2}).gives({3, 2}, {-1.25f, 0.5f, -0.5f, 1.25f, 0.0625f, 0.5625f});
  power({1, 2}, {2, 2}).gives({3, 2}, {1.5625f, 0.25f, 0.25f, 1.5625f, 0.0625f, 0.5625f});
  TorchCase("aten.pow.Tensor_Tensor")
      .input("self", {2})
      .constant("exponent", {2, 1}, std::vector<float>{2, 3}, kF32)
      .gives({2, 2}, {1.5625f, 0.25f, -1.953125f, 0.125f});
}

// -1 and 1.25, the bounds, are counted; -1.25 is not.
TEST(Tables, Histogram) {
  TorchCase("aten.histc.default")
      .input("self", {3, 5})
      .with("bins", as_int(4))
      .with("min", as_float(-1))
      .with("max", as_float(1.25))
      .gives({4}, {4, 2, 3, 4});
}

}  // namespace
}  // namespace deuteron::pt2
