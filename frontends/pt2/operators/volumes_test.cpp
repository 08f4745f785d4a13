// SPDX-License-Identifier: Apache-2.0
// Expected numbers are torch's.
#include "frontends/pt2/operators/torch_case.h"

namespace deuteron::pt2 {
namespace {

TEST(Volumes, Convolutions) {
  TorchCase("aten.conv3d.default")
      .input("input", {1, 2, 3, 3, 2})
      .weight("weight", {2, 2, 2, 2, 2})
      .weight("bias", {2})
      .gives({1, 2, 2, 2, 1},
             {-1.125f, 1.375f, -1.53125f, -0.75f, 1.65625f, -1.09375f, 2, -0.0625f});
  TorchCase("aten.conv3d.default")
      .input("input", {2, 4, 3, 2})
      .weight("weight", {4, 1, 2, 2, 1})
      .with("stride", as_ints({1, 2, 1}))
      .with("padding", as_ints({1, 0, 1}))
      .with("dilation", as_ints({2, 1, 1}))
      .with("groups", as_int(2))
      .gives({4, 4, 1, 4},
             {0, 0.25f,     -0.09375f, 0, 0, 0.03125f,  0.25f,     0, 0, -0.71875f, 0.1875f,  0,
              0, 0.34375f,  0.21875f,  0, 0, 0.25f,     -0.1875f,  0, 0, 0.03125f,  0.0625f,  0,
              0, -0.8125f,  0.25f,     0, 0, 0.125f,    0.25f,     0, 0, 0.21875f,  0.375f,   0,
              0, -0.03125f, -0.03125f, 0, 0, -0.03125f, -0.03125f, 0, 0, 0.375f,    0.21875f, 0,
              0, 0.15625f,  -0.65625f, 0, 0, -0.71875f, 0.625f,    0, 0, -0.90625f, 0.4375f,  0,
              0, 0.3125f,   0.0625f,   0});
  TorchCase("aten.conv3d.padding")
      .input("input", {1, 1, 3, 2, 2})
      .weight("weight", {1, 1, 2, 1, 2})
      .with("padding", as_text("same"))
      .gives({1, 1, 3, 2, 2}, {0.625f, -0.21875f, 0.71875f, -0.3125f, -0.5625f, 0.28125f, -0.125f,
                               -0.15625f, 0.53125f, -0.1875f, -0.40625f, 0.3125f});
}

TEST(Volumes, TransposedConvolutions) {
  TorchCase("aten.conv_transpose3d.input")
      .input("input", {1, 2, 2, 2, 1})
      .weight("weight", {2, 2, 2, 2, 2})
      .weight("bias", {2})
      .with("stride", as_ints({2, 2, 2}))
      .gives({1, 2, 4, 4, 2},
             {0.09375f, -0.75f,   -0.5f,     -0.03125f, -0.46875f, 0.03125f, 0.09375f,  -0.5f,
              0.21875f, -0.625f,  -0.15625f, 0.09375f,  -0.4375f,  0.0625f,  -0.53125f, -0.46875f,
              0,        -0.5625f, -0.6875f,  0.0625f,   -0.5625f,  0.21875f, -0.09375f, -0.40625f,
              -0.0625f, -0.625f,  0.125f,    0,         -0.71875f, 0.0625f,  -0.25f,    -0.5625f,
              -0.125f,  0.125f,   0.59375f,  0.84375f,  0.65625f,  0.71875f, 0.125f,    0.1875f,
              0,        0.46875f, 0.71875f,  -0.125f,   0.6875f,   0.09375f, 0.15625f,  0.65625f,
              0.0625f,  -0.0625f, 0.6875f,   0.5625f,   0.84375f,  0.53125f, 0.21875f,  -0.09375f,
              0,        0.75f,    0.625f,    0.0625f,   0.6875f,   0.375f,   0.0625f,   0.84375f});
  TorchCase("aten.conv_transpose3d.input")
      .input("input", {1, 2, 2, 1, 2})
      .weight("weight", {2, 1, 3, 2, 1})
      .with("stride", as_ints({2, 1, 1}))
      .with("padding", as_ints({1, 0, 0}))
      .with("output_padding", as_ints({1, 0, 0}))
      .with("groups", as_int(2))
      .gives({1, 2, 4, 2, 2},
             {-0.15625f, 0.0625f,   0.15625f, -0.0625f,  0.59375f,  -0.5f,     -0.5f,     0.59375f,
              -0.0625f,  0.15625f,  0.0625f,  -0.15625f, 0.1875f,   -0.46875f, -0.125f,   0.3125f,
              0.09375f,  -0.28125f, 0.03125f, -0.09375f, -0.03125f, 0.09375f,  -0.34375f, 0.28125f,
              0.375f,    0,         0.125f,   0,         -0.125f,   0,         -0.375f,   0});
  TorchCase("aten.conv_transpose3d.input")
      .input("input", {1, 3, 2, 2})
      .weight("weight", {1, 2, 2, 1, 1})
      .with("dilation", as_ints({2, 1, 1}))
      .gives(
          {2, 5, 2, 2},
          {0.3125f,   -0.125f,   0.125f,    -0.3125f,  -0.0625f,  0.1875f,   -0.25f,   0,
           -0.21875f, 0,         -0.125f,   0.78125f,  0.09375f,  -0.28125f, 0.375f,   0,
           -0.375f,   0.28125f,  -0.09375f, -0.46875f, -0.15625f, 0.0625f,   -0.0625f, 0.15625f,
           0.03125f,  -0.09375f, 0.125f,    0,         0.03125f,  0.03125f,  0.03125f, -0.3125f,
           -0.03125f, 0.09375f,  -0.125f,   0,         0.125f,    -0.09375f, 0.03125f, 0.15625f});
}

TEST(Volumes, Pools) {
  TorchCase("aten.max_pool3d.default")
      .input("self", {1, 2, 4, 2, 3})
      .with("kernel_size", as_ints({2, 1, 2}))
      .with("stride", as_ints({2, 1, 1}))
      .gives({1, 2, 2, 2, 2}, {1, 0.5f, 1.25f, 0.25f, 0.5f, 1.25f, 0.25f, 1, 1.25f, 1.25f, 1, 1,
                               1.25f, 0.25f, 1, 1.25f});
  TorchCase("aten.max_pool3d.default")
      .input("self", {1, 3, 4, 3})
      .with("kernel_size", as_ints({2, 2, 2}))
      .with("stride", as_ints({1, 2, 2}))
      .with("padding", as_ints({1, 0, 1}))
      .with("dilation", as_ints({1, 2, 1}))
      .with("ceil_mode", as_bool(true))
      .gives({1, 4, 2, 2},
             {1, 0.5f, 1, 0, 1, 1.25f, 1, 0.75f, 0.5f, 1.25f, 0, 0.75f, -0.5f, 1.25f, -1, 0.75f});
  TorchCase("aten.avg_pool3d.default")
      .input("self", {1, 2, 2, 4, 2})
      .with("kernel_size", as_ints({2}))
      .gives({1, 2, 1, 2, 1}, {-0.21875f, 0.25f, -0.0625f, 0.0625f});
  TorchCase("aten.avg_pool3d.default")
      .input("self", {1, 3, 3, 3})
      .with("kernel_size", as_ints({2, 3, 2}))
      .with("stride", as_ints({2, 1, 2}))
      .with("padding", as_ints({1, 1, 0}))
      .with("ceil_mode", as_bool(true))
      .with("count_include_pad", as_bool(false))
      .gives({1, 2, 3, 2}, {0.1875f, -0.625f, 0.29166666f, -0.75f, 0.625f, -0.875f, -0.25f, 0.3125f,
                            -0.14583333f, 0.41666666f, -0.15625f, 0.75f});
  TorchCase("aten.avg_pool3d.default")
      .input("self", {1, 1, 2, 3, 2})
      .with("kernel_size", as_ints({2, 2, 1}))
      .with("stride", as_ints({1, 1, 1}))
      .with("divisor_override", as_int(3))
      .gives({1, 1, 1, 2, 2}, {-0.58333331f, 0.83333331f, -0.5f, 0});
  TorchCase("aten.adaptive_avg_pool3d.default")
      .input("self", {1, 2, 3, 4, 2})
      .with("output_size", as_ints({2, 2, 1}))
      .gives({1, 2, 2, 2, 1},
             {-0.21875f, 0.25f, -0.3125f, 0.15625f, -0.15625f, 0.3125f, -0.25f, 0.21875f});
  TorchCase("aten.adaptive_max_pool3d.default")
      .input("self", {1, 3, 4, 5})
      .with("output_size", as_ints({2, 2, 3}))
      .gives({1, 2, 2, 3},
             {1.25f, 1.25f, 1.25f, 1.25f, 1.25f, 1.25f, 1.25f, 1.25f, 1, 1.25f, 1.25f, 1.25f});
}

TEST(Volumes, Normalization) {
  TorchCase("aten.batch_norm.default")
      .input("input", {1, 2, 2, 2, 3})
      .weight("weight", {2})
      .weight("bias", {2})
      .constant<float>("running_mean", {2}, {0.5f, -0.25f}, kF32)
      .constant<float>("running_var", {2}, {0.5f, 2}, kF32)
      .with("training", as_bool(false))
      .with("momentum", as_float(0.1))
      .with("eps", as_float(1e-05))
      .with("cudnn_enabled", as_bool(false))
      .gives({1, 2, 2, 2, 3},
             {0.36871222f,  -0.25f,        0.10354984f, -0.51516235f, -0.16161254f, 0.1919373f,
              -0.42677492f, -0.073225081f, 0.28032476f, -0.33838746f, 0.015162379f, 0.36871222f,
              0.57387328f,  0.30870891f,   0.77274656f, 0.50758219f,  0.24241781f,  0.70645547f,
              0.44129109f,  0.17612672f,   0.64016438f, 0.375f,       0.10983562f,  0.57387328f});
}

}  // namespace
}  // namespace deuteron::pt2
