// SPDX-License-Identifier: Apache-2.0
// Expected numbers are torch's.
#include "frontends/pt2/operators/torch_case.h"

namespace deuteron::pt2 {
namespace {

TEST(Matrices, Diagonals) {
  TorchCase("aten.diagonal.default").input("self", {3, 4}).gives({3}, {-1.25f, -0.75f, -0.25f});
  TorchCase("aten.diagonal.default")
      .input("self", {2, 3, 4})
      .with("offset", as_int(-1))
      .with("dim1", as_int(1))
      .with("dim2", as_int(2))
      .gives({2, 2}, {0.25f, 0.75f, -0.75f, -0.25f});
  TorchCase("aten.diagonal.default")
      .input("self", {3, 2, 4})
      .with("offset", as_int(1))
      .with("dim1", as_int(2))
      .with("dim2", as_int(0))
      .gives({2, 2}, {-1, 1, 0.5f, -0.25f});
  TorchCase("aten.diag.default")
      .input("self", {3})
      .gives({3, 3}, {-1.25f, 0, 0, 0, 0.5f, 0, 0, 0, -0.5f});
  TorchCase("aten.diag.default")
      .input("self", {3})
      .with("diagonal", as_int(-1))
      .gives({4, 4}, {0, 0, 0, 0, -1.25f, 0, 0, 0, 0, 0.5f, 0, 0, 0, 0, -0.5f, 0});
  TorchCase("aten.diag.default")
      .input("self", {3, 4})
      .with("diagonal", as_int(2))
      .gives({2}, {-0.5f, 0});
  TorchCase("aten.diag_embed.default")
      .input("self", {2, 3})
      .with("offset", as_int(1))
      .with("dim1", as_int(0))
      .with("dim2", as_int(2))
      .gives({4, 2, 4}, {0, -1.25f, 0, 0,     0, 1.25f, 0, 0,      0, 0, 0.5f, 0, 0, 0, 0.25f, 0,
                         0, 0,      0, -0.5f, 0, 0,     0, -0.75f, 0, 0, 0,    0, 0, 0, 0,     0});
  TorchCase("aten.trace.default").input("self", {3, 4}).gives({}, {-2.25f});
}

TEST(Matrices, Blocks) {
  TorchCase("aten.kron.default")
      .input("self", {2, 2})
      .input("other", {2, 3})
      .gives({4, 6}, {0.625f,  -1.5625f, -0.3125f, -0.25f, 0.625f, 0.125f,   0.9375f, -1.25f,
                      0,       -0.375f,  0.5f,     0,      0.25f,  -0.625f,  -0.125f, -0.625f,
                      1.5625f, 0.3125f,  0.375f,   -0.5f,  0,      -0.9375f, 1.25f,   0});
  TorchCase("aten.kron.default")
      .input("self", {2})
      .input("other", {2, 2})
      .gives({2, 4}, {0.625f, -1.5625f, -0.25f, 0.625f, -0.3125f, 0.9375f, 0.125f, -0.375f});
  TorchCase("aten.block_diag.default")
      .list("tensors", {{2, 1}, {3}, {1, 2}})
      .gives({4, 6}, {-1.25f, 0,     0,     0,     0, 0, 0.5f, 0, 0, 0, 0,     0,
                      0,      -0.5f, 1.25f, 0.25f, 0, 0, 0,    0, 0, 0, 0.25f, -0.75f});
}

TEST(Matrices, Products) {
  TorchCase("aten.tensordot.default")
      .input("self", {2, 3, 2})
      .input("other", {2, 3, 2})
      .with("dims_self", as_ints({2, 1}))
      .with("dims_other", as_ints({0, 1}))
      .gives({2, 2}, {-0.4375f, -2, -1.8125f, 1.6875f});
  TorchCase("aten.inner.default")
      .input("self", {2, 3})
      .input("other", {2, 2, 3})
      .gives({2, 2, 2}, {1.125f, 1.4375f, 1.75f, 2.0625f, -0.5f, -0.6875f, -0.875f, -1.0625f});
  TorchCase("aten.inner.default").input("self", {3}).input("other", {3}).gives({}, {1.125f});
  TorchCase("aten.linalg_vecdot.default")
      .input("x", {2, 3})
      .input("y", {2, 3})
      .with("dim", as_int(0))
      .gives({3}, {-0.3125f, 0.875f, -0.125f});
  TorchCase("aten.linalg_multi_dot.default")
      .list("tensors", {{2, 3}, {3, 2}, {2, 4}})
      .gives({2, 4},
             {2, -1.640625f, 0.734375f, 2.421875f, -1.703125f, 2.015625f, -1.65625f, -1.71875f});
  TorchCase("aten.matrix_power.default")
      .input("self", {3, 3})
      .with("n", as_int(3))
      .gives({3, 3}, {-1.984375f, 0.71875f, -1.21875f, 3.296875f, -0.828125f, 0.546875f, 3.9375f,
                      -1, 0.25f});
}

TEST(Matrices, AddedProducts) {
  TorchCase("aten.addr.default")
      .input("self", {2, 3})
      .input("vec1", {2})
      .input("vec2", {3})
      .with("beta", as_float(0.5))
      .with("alpha", as_int(2))
      .gives({2, 3}, {-0.875f, 1, -1.25f, 1.25f, -1.75f, 2.125f});
  TorchCase("aten.addmv.default")
      .input("self", {2})
      .input("mat", {2, 3})
      .input("vec", {3})
      .with("beta", as_int(0))
      .gives({2}, {-0.8125f, -0.9375f});
  TorchCase("aten.addbmm.default")
      .input("self", {2, 2})
      .input("batch1", {3, 2, 2})
      .input("batch2", {3, 2, 2})
      .with("alpha", as_int(-1))
      .gives({2, 2}, {0.3125f, -0.4375f, -0.25f, 3.5f});
}

TEST(Matrices, Bilinear) {
  TorchCase("aten.bilinear.default")
      .input("input1", {2, 3})
      .input("input2", {2, 2})
      .weight("weight", {2, 3, 2})
      .weight("bias", {2})
      .gives({2, 2}, {-1.3515625f, 0.953125f, -0.4375f, 0.421875f});
  TorchCase("aten.bilinear.default")
      .input("input1", {1, 2, 3})
      .input("input2", {1, 2, 2})
      .weight("weight", {4, 3, 2})
      .gives({1, 2, 4}, {-1.1015625f, 0.578125f, 0.5625f, -0.765625f, -0.1875f, 0.046875f,
                         -0.1015625f, -0.3046875f});
}

TEST(Matrices, Cross) {
  TorchCase("aten.linalg_cross.default")
      .input("self", {2, 3})
      .input("other", {2, 3})
      .gives({2, 3}, {0.75f, 0.5625f, -1.3125f, 0.75f, 0.5625f, 1.4375f});
  TorchCase("aten.cross.default")
      .input("self", {3, 2, 3})
      .input("other", {3, 2, 3})
      .gives({3, 2, 3}, {1.75f, 0.375f, 1.0625f, 1.0625f, 0.375f, 1.75f, 1.3125f, -0.75f, -0.0625f,
                         -1.4375f, -0.75f, -0.75f, 1.75f, 0.375f, 0.375f, -1, 0.375f, 0.375f});
  TorchCase("aten.linalg_cross.default")
      .input("self", {3, 2})
      .input("other", {3, 1})
      .with("dim", as_int(0))
      .gives({3, 2}, {-0.4375f, 1.25f, 0.1875f, 0.25f, -1.8125f, 1.25f});
}

TEST(Matrices, Norms) {
  TorchCase("aten.linalg_matrix_norm.str_ord").input("self", {2, 3}).gives({}, {2.0615528f});
  TorchCase("aten.linalg_matrix_norm.default")
      .input("self", {2, 2, 3})
      .with("ord", as_int(1))
      .gives({2}, {2.5f, 2.25f});
  TorchCase("aten.linalg_matrix_norm.default")
      .input("self", {2, 3})
      .with("ord", as_float(-1.0))
      .gives({}, {0.75f});
  TorchCase("aten.linalg_matrix_norm.default")
      .input("self", {2, 3})
      .with("ord", as_int(1))
      .with("keepdim", as_bool(true))
      .gives({1, 1}, {2.5f});
}

TEST(Matrices, TrilinearIsASumOfProductsOfThree) {
  TorchCase("aten._trilinear.default")
      .input("i1", {2, 3})
      .input("i2", {2, 3, 2})
      .input("i3", {2, 2})
      .with("expand1", as_ints({1, 3}))
      .with("expand2", as_ints({0}))
      .with("expand3", as_ints({1, 2}))
      .with("sumdim", as_ints({2, 3}))
      .gives({2, 2}, {1.515625f, 1.203125f, -1.3125f, -1.6875f});
}

TEST(Matrices, AllElementsOnADiagonal) {
  TorchCase("aten.diagflat.default")
      .input("self", {2, 2})
      .with("offset", as_int(1))
      .gives({5, 5}, {0,     -1.25f, 0, 0, 0, 0, 0,     0.5f, 0, 0, 0, 0, 0,
                      -0.5f, 0,      0, 0, 0, 0, 1.25f, 0,    0, 0, 0, 0});
}

}  // namespace
}  // namespace deuteron::pt2
