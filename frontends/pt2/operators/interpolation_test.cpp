// SPDX-License-Identifier: Apache-2.0
// Expected numbers are torch's.
#include "frontends/pt2/operators/torch_case.h"

namespace deuteron::pt2 {
namespace {

TEST(Interpolation, Bicubic) {
  TorchCase("aten.upsample_bicubic2d.default")
      .input("self", {1, 1, 3, 2})
      .with("output_size", as_ints({4, 4}))
      .with("align_corners", as_bool(false))
      .gives({1, 1, 4, 4},
             {-1.4884033f, -0.90734863f, 0.049682617f, 0.6307373f, -1.0690961f, -0.38772678f,
              0.73452854f, 1.4158978f, -0.22739315f, 0.024629593f, 0.43972588f, 0.69174862f,
              0.43011999f, 0.032549858f, -0.62227154f, -1.0198417f});
  TorchCase("aten.upsample_bicubic2d.default")
      .input("self", {1, 2, 3, 3})
      .with("output_size", as_ints({2, 5}))
      .with("align_corners", as_bool(true))
      .gives({1, 2, 2, 5}, {-1.25f, -0.28125f, 0.5f,        0.1640625f, -0.5f,    1,      0.59375f,
                            0,      -0.59375f, -1,          0.75f,      0.34375f, -0.25f, -0.84375f,
                            -1.25f, 0.25f,     -0.4140625f, -0.75f,     0.03125f, 1});
}

// A scale that is given decides where elements are found, also where the sizes say something else.
TEST(Interpolation, ScalesAreTaken) {
  TorchCase("aten.upsample_bicubic2d.default")
      .input("self", {1, 1, 3, 3})
      .with("output_size", as_ints({4, 4}))
      .with("align_corners", as_bool(false))
      .with("scales_h", as_float(1.5))
      .with("scales_w", as_float(1.4))
      .gives({1, 1, 4, 4},
             {-1.62356126f, -0.208254501f, 0.47527805f, -0.478298724f, -0.00608149916f,
              0.345959306f, 0.175587416f, -0.6015625f, 1.52864301f, 0.817418337f, -0.206857622f,
              -0.807581067f, 1.16175807f, 0.576363921f, -0.346858412f, -0.968460798f});
}

TEST(Interpolation, Filtered) {
  TorchCase("aten._upsample_bicubic2d_aa.default")
      .input("self", {1, 1, 5, 6})
      .with("output_size", as_ints({2, 4}))
      .with("align_corners", as_bool(false))
      .gives({1, 1, 2, 4}, {0.075582474f, -0.098287776f, 0.40782675f, -0.47958994f, -0.061672878f,
                            0.36735386f, -0.28813219f, 0.14770493f});
  TorchCase("aten._upsample_bilinear2d_aa.default")
      .input("self", {1, 1, 5, 4})
      .with("output_size", as_ints({2, 6}))
      .with("align_corners", as_bool(false))
      .gives({1, 1, 2, 6},
             {-0.50000006f, -0.25f, 0.041666694f, 0.20833337f, 0.1875f, 0.125f, -0.25f,
              3.7252903e-09f, 0.29166669f, 0.45833334f, -2.9802322e-08f, -0.5f});
}

TEST(Interpolation, Volumes) {
  TorchCase("aten.upsample_trilinear3d.default")
      .input("self", {1, 1, 2, 3, 2})
      .with("output_size", as_ints({3, 2, 4}))
      .with("align_corners", as_bool(false))
      .gives(
          {1, 1, 3, 2, 4},
          {-1.0625f,  -0.625f,     0.25f,      0.6875f, 0.0625f,  -0.015625f, -0.171875f, -0.25f,
           -0.28125f, -0.1015625f, 0.2578125f, 0.4375f, -0.1875f, -0.265625f, -0.421875f, -0.5f,
           0.5f,      0.421875f,   0.265625f,  0.1875f, -0.4375f, -0.515625f, -0.671875f, -0.75f});
  TorchCase("aten.upsample_trilinear3d.default")
      .input("self", {1, 1, 2, 2, 3})
      .with("output_size", as_ints({3, 3, 2}))
      .with("align_corners", as_bool(true))
      .gives({1, 1, 3, 3, 2}, {-1.25f, -0.5f, 0, -0.625f, 1.25f, -0.75f, -0.125f, -0.75f, 0.4375f,
                               -0.875f, 1, -1, 1, -1, 0.875f, -1.125f, 0.75f, -1.25f});
  TorchCase("aten.upsample_nearest3d.default")
      .input("self", {1, 1, 2, 2, 2})
      .with("output_size", as_ints({3, 2, 4}))
      .gives({1, 1, 3, 2, 4}, {-1.25f, -1.25f, 0.5f,   0.5f,   -0.5f, -0.5f, 1.25f, 1.25f,
                               -1.25f, -1.25f, 0.5f,   0.5f,   -0.5f, -0.5f, 1.25f, 1.25f,
                               0.25f,  0.25f,  -0.75f, -0.75f, 1,     1,     0,     0});
  TorchCase("aten._upsample_nearest_exact3d.default")
      .input("self", {1, 1, 3, 2, 2})
      .with("output_size", as_ints({2, 3, 2}))
      .gives({1, 1, 2, 3, 2},
             {-1.25f, 0.5f, -0.5f, 1.25f, -0.5f, 1.25f, -1, 0.75f, -0.25f, -1.25f, -0.25f, -1.25f});
}

// So long an axis is picked from: elements that are one of the operand's have one term less than
// those between two.
TEST(Interpolation, ALongAxis) {
  constexpr i64 kIn = 80;
  const auto x = [](i64 k) {
    return static_cast<float>(7 * k % 11 - 5) / 4;
  };  // as TorchCase makes it
  std::vector<float> y;
  for (i64 k = 0; k < 2 * kIn - 1; ++k) y.push_back((x(k / 2) + x((k + 1) / 2)) / 2);
  TorchCase("aten.upsample_trilinear3d.default")
      .input("self", {1, 1, 1, 1, kIn})
      .with("output_size", as_ints({1, 1, 2 * kIn - 1}))
      .with("align_corners", as_bool(true))
      .gives({1, 1, 1, 1, 2 * kIn - 1}, y);
}

}  // namespace
}  // namespace deuteron::pt2
