// SPDX-License-Identifier: Apache-2.0
// Expected numbers are torch's.
#include "frontends/pt2/operators/torch_case.h"

namespace deuteron::pt2 {
namespace {

TEST(Windows, BlocksAsColumns) {
  TorchCase("aten.im2col.default")
      .input("self", {1, 2, 3, 4})
      .with("kernel_size", as_ints({2, 3}))
      .with("dilation", as_ints({1, 1}))
      .with("padding", as_ints({0, 0}))
      .with("stride", as_ints({1, 1}))
      .gives({1, 12, 4}, {-1.25f, 0.5f, 0.25f,  -0.75f, 0.5f, -0.5f, -0.75f, 1,   -0.5f, 1.25f,
                          1,      0,    0.25f,  -0.75f, -1,   0.75f, -0.75f, 1,   0.75f, -0.25f,
                          1,      0,    -0.25f, -1.25f, 0.5f, -0.5f, -0.75f, 1,   -0.5f, 1.25f,
                          1,      0,    1.25f,  0.25f,  0,    -1,    -0.75f, 1,   0.75f, -0.25f,
                          1,      0,    -0.25f, -1.25f, 0,    -1,    -1.25f, 0.5f});
  TorchCase("aten.im2col.default")
      .input("self", {2, 1, 4, 3})
      .with("kernel_size", as_ints({2, 2}))
      .with("dilation", as_ints({2, 1}))
      .with("padding", as_ints({1, 0}))
      .with("stride", as_ints({2, 1}))
      .gives({2, 4, 4},
             {0,      0,     1.25f,  0.25f,  0,      0,      0.25f,  -0.75f, 1.25f,  0.25f, 0.75f,
              -0.25f, 0.25f, -0.75f, -0.25f, -1.25f, 0,      0,      0.25f,  -0.75f, 0,     0,
              -0.75f, 1,     0.25f,  -0.75f, -0.25f, -1.25f, -0.75f, 1,      -1.25f, 0.5f});
  TorchCase("aten.im2col.default")
      .input("self", {1, 2, 2})
      .with("kernel_size", as_ints({2, 1}))
      .with("dilation", as_ints({1, 1}))
      .with("padding", as_ints({0, 1}))
      .with("stride", as_ints({1, 2}))
      .gives({2, 2}, {0, 0.5f, 0, 1.25f});
}

TEST(Windows, ColumnsAsBlocks) {
  TorchCase("aten.col2im.default")
      .input("self", {1, 8, 2})
      .with("output_size", as_ints({2, 4}))
      .with("kernel_size", as_ints({2, 2}))
      .with("dilation", as_ints({1, 1}))
      .with("padding", as_ints({0, 0}))
      .with("stride", as_ints({2, 2}))
      .gives({1, 2, 2, 4}, {-1.25f, -0.5f, 0.5f, 1.25f, 0.25f, 1, -0.75f, 0, -1, -0.25f, 0.75f,
                            -1.25f, 0.5f, 1.25f, -0.5f, 0.25f});
  TorchCase("aten.col2im.default")
      .input("self", {2, 4, 4})
      .with("output_size", as_ints({3, 3}))
      .with("kernel_size", as_ints({2, 2}))
      .with("dilation", as_ints({1, 1}))
      .with("padding", as_ints({0, 0}))
      .with("stride", as_ints({1, 1}))
      .gives({2, 1, 3, 3}, {-1.25f, 0.75f, -0.75f, -1.5f, 3.5f, -0.5f, -0.25f, 0, 0.25f, -0.75f,
                            1.75f, -0.25f, -0.5f, 0, 0.5f, 0.25f, -1.75f, 0.75f});
  TorchCase("aten.col2im.default")
      .input("self", {1, 6, 4})
      .with("output_size", as_ints({4, 5}))
      .with("kernel_size", as_ints({3, 2}))
      .with("dilation", as_ints({1, 2}))
      .with("padding", as_ints({1, 0}))
      .with("stride", as_ints({2, 2}))
      .gives({1, 1, 4, 5}, {-1,     0, 1.25f, 0, -0.5f, -1.25f, 0, 4,      0, -0.25f,
                            -0.25f, 0, 0,     0, 0.25f, 0,      0, -2.25f, 0, 0.5f});
}

}  // namespace
}  // namespace deuteron::pt2
