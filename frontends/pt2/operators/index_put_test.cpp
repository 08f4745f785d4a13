// SPDX-License-Identifier: Apache-2.0
// Expected numbers are torch's.
#include "frontends/pt2/operators/torch_case.h"

namespace deuteron::pt2 {
namespace {

TEST(IndexPut, WritesOver) {
  TorchCase("aten.index_put.default")
      .input("self", {3, 4})
      .indices({{{2}, {0, 2}}})
      .input("values", {2, 4})
      .gives({3, 4}, {-0.5f, 1.25f, 0.25f, -0.75f, 0.25f, -0.75f, 1, 0, 1, 0, -1, 0.75f});
  TorchCase("aten.index_put.default")
      .input("self", {3, 4})
      .indices({{{}, {}}, {{2}, {3, -4}}})
      .input("values", {3, 2})
      .gives({3, 4}, {1.25f, 0.5f, -0.5f, -0.5f, -0.75f, -0.75f, 1, 0.25f, 0, 0.75f, -0.25f, 1});
  TorchCase("aten.index_put.default")
      .input("self", {3, 4})
      .indices({{{2}, {0, 2}}, {{2}, {1, 3}}})
      .input("values", {2})
      .gives({3, 4}, {-1.25f, -0.5f, -0.5f, 1.25f, 0.25f, -0.75f, 1, 0, -1, 0.75f, -0.25f, 1.25f});
  TorchCase("aten.index_put.default")
      .input("self", {2, 3, 4})
      .indices({{{}, {}}, {{2}, {2, 0}}, {{2}, {1, 1}}})
      .input("values", {1, 2})
      .gives({2, 3, 4},
             {-1.25f, 1.25f, -0.5f, 1.25f, 0.25f,  -0.75f, 1, 0,  -1,    -0.5f, -0.25f, -1.25f,
              0.5f,   1.25f, 1.25f, 0.25f, -0.75f, 1,      0, -1, 0.75f, -0.5f, -1.25f, 0.5f});
  TorchCase("aten.index_put.default")
      .input("self", {2, 3, 4})
      .indices({{{2}, {1, 0}}, {{}, {}}, {{2}, {1, 2}}})
      .input("values", {2, 3})
      .gives({2, 3, 4},
             {-1.25f, 0.5f,  -0.75f, 1.25f, 0.25f,  -0.75f, 1, 0,  -1,    0.75f, 0,      -1.25f,
              0.5f,   -0.5f, 1.25f,  0.25f, -0.75f, 1.25f,  0, -1, 0.75f, 0.25f, -1.25f, 0.5f});
  TorchCase("aten.index_put.default")
      .input("self", {3, 4})
      .indices({{{2, 1}, {0, 2}}, {{1, 2}, {1, 3}}})
      .input("values", {2, 2})
      .gives({3, 4}, {-1.25f, -0.5f, -0.5f, 1.25f, 0.25f, -0.75f, 1, 0, -1, 0.25f, -0.25f, -0.75f});
  TorchCase("aten.index_put.default")
      .input("self", {3, 2})
      .indices({{{2}, {1, 1}}})
      .input("values", {1})
      .gives({3, 2}, {-1.25f, 0.5f, -0.5f, -0.5f, 0.25f, -0.75f});
}

TEST(IndexPut, Accumulates) {
  TorchCase("aten.index_put.default")
      .input("self", {3, 2})
      .indices({{{3}, {0, 0, 2}}})
      .input("values", {3, 2})
      .with("accumulate", as_bool(true))
      .gives({3, 2}, {-1.5f, 1, -0.5f, 1.25f, 1.25f, -0.75f});
  TorchCase("aten.index_put.default")
      .input("self", {3, 3})
      .indices({{{4}, {0, 0, 0, 2}}, {{4}, {1, 1, 1, 0}}})
      .input("values", {4})
      .with("accumulate", as_bool(true))
      .gives({3, 3}, {-1.25f, 1.5f, -0.5f, 1.25f, 0.25f, -0.75f, 0.25f, 0, -1});
}

TEST(IndexPut, DiagonalsAndMasks) {
  TorchCase("aten.diagonal_scatter.default")
      .input("self", {3, 4})
      .input("src", {3})
      .with("offset", as_int(1))
      .gives({3, 4},
             {-1.25f, -0.5f, -0.5f, 1.25f, 0.25f, -0.75f, 1.25f, 0, -1, 0.75f, -0.25f, 0.25f});
  TorchCase("aten.diagonal_scatter.default")
      .input("self", {2, 3, 2})
      .input("src", {3, 2})
      .with("dim1", as_int(0))
      .with("dim2", as_int(2))
      .gives({2, 3, 2}, {-0.5f, 0.5f, 0.25f, 1.25f, 1, -0.75f, 1, 1.25f, -1, -0.75f, -0.25f, 0});
}

}  // namespace
}  // namespace deuteron::pt2
