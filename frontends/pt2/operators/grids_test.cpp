// SPDX-License-Identifier: Apache-2.0
// Expected numbers are torch's.
#include "frontends/pt2/operators/torch_case.h"

namespace deuteron::pt2 {
namespace {

TEST(Grids, KnownPoints) {
  const struct {
    int mode, padding;  // bilinear, nearest, bicubic; zeros, border, reflection
    bool align_corners;
    std::vector<float> expected;
  } cases[] = {
      {0, 0, false, {-0.4375f, -0.125f, 0, 0.1484375f, 0.09375f, -0.625f, 0, 0.265625f}},
      {0, 1, true, {-0.5f, -0.125f, 0.59375f, 0.140625f, -0.125f, -1.125f, 0.625f, 0.34375f}},
      {0, 2, false, {-0.875f, -0.25f, 0.9375f, 0.1484375f, 0.1875f, -1.25f, -0.0625f, 0.265625f}},
      {0, 2, true, {-0.5f, -0.125f, 0.484375f, 0.140625f, -0.125f, -1.125f, 0, 0.34375f}},
      {1, 0, false, {-1.25f, -0.25f, 0, 1, 0.5f, -1.25f, 0, 0}},
      {1, 1, false, {-1.25f, -0.25f, 1.25f, 1, 0.5f, -1.25f, 0.25f, 0}},
      {2,
       0,
       false,
       {-0.61291504f, -0.2421875f, -0.13183594f, 0.21014833f, 0.14456177f, -0.7421875f,
        -0.026367188f, 0.48273373f}},
      {2,
       1,
       true,
       {-0.3828125f, -0.055786133f, 0.56075668f, 0.17397308f, -0.265625f, -1.2813721f, 0.85988998f,
        0.60079575f}},
      {2,
       2,
       false,
       {-1.0593872f, -0.484375f, 1.0107422f, 0.19926929f, 0.21661377f, -1.484375f, -0.0859375f,
        0.50432444f}},
  };
  for (const auto& row : cases)
    TorchCase("aten.grid_sampler.default")
        .input("input", {1, 2, 3, 4})
        .constant<float>("grid", {1, 2, 2, 2}, {-1, -0.5f, 0.25f, 1, 0.75f, -1.5f, 0, 0.125f}, kF32)
        .with("interpolation_mode", as_int(row.mode))
        .with("padding_mode", as_int(row.padding))
        .with("align_corners", as_bool(row.align_corners))
        .gives({1, 2, 2, 2}, row.expected);
}

TEST(Grids, Batches) {
  TorchCase("aten.grid_sampler_2d.default")
      .input("input", {2, 1, 2, 3})
      .constant<float>("grid", {2, 2, 2, 2},
                       {-1, -0.5f, 0.25f, 1, 0.75f, -1.5f, 0, 0.125f, 1, 0.5f, -0.25f, -1, -0.75f,
                        1.5f, 0, -0.125f},
                       kF32)
      .with("interpolation_mode", as_int(0))
      .with("padding_mode", as_int(0))
      .with("align_corners", as_bool(false))
      .gives({2, 1, 2, 2}, {-0.625f, -0.0625f, 0, 0.34375f, -0.625f, 0.1875f, 0, -0.09375f});
}

TEST(Grids, ComputedPoints) {
  TorchCase("aten.grid_sampler.default")
      .input("input", {1, 2, 3, 4})
      .input("grid", {1, 2, 3, 2})
      .with("interpolation_mode", as_int(0))
      .with("padding_mode", as_int(0))
      .with("align_corners", as_bool(false))
      .gives({1, 2, 2, 3}, {-0.015625f, -0.4375f, 0, -0.4375f, 0.0625f, 0.40625f, 0.03125f,
                            1.09375f, -0.5f, 0.328125f, -0.0625f, 0.4375f});
  TorchCase("aten.grid_sampler.default")
      .input("input", {1, 2, 3, 4})
      .input("grid", {1, 2, 3, 2})
      .with("interpolation_mode", as_int(0))
      .with("padding_mode", as_int(0))
      .with("align_corners", as_bool(true))
      .gives({1, 2, 2, 3}, {0.234375f, -0.0859375f, 0, -0.6875f, 0.28125f, 0.34375f, 0, 0.8046875f,
                            -1, 0.375f, -0.2109375f, 0.375f});
  TorchCase("aten.grid_sampler.default")
      .input("input", {1, 2, 3, 4})
      .input("grid", {1, 2, 3, 2})
      .with("interpolation_mode", as_int(0))
      .with("padding_mode", as_int(1))
      .with("align_corners", as_bool(false))
      .gives({1, 2, 2, 3},
             {-0.125f, -0.5f, 0, -1, 0.5f, 0.40625f, 0.25f, 1.25f, -1, 0.75f, -0.5f, 0.4375f});
  TorchCase("aten.grid_sampler.default")
      .input("input", {2, 1, 3, 2})
      .input("grid", {2, 2, 2, 2})
      .with("interpolation_mode", as_int(1))
      .with("padding_mode", as_int(1))
      .with("align_corners", as_bool(true))
      .gives({2, 1, 2, 2}, {0.25f, 0.5f, 1.25f, 0.25f, 1, 0, 0.75f, -0.25f});
}

TEST(Grids, AffineMaps) {
  TorchCase("aten.affine_grid_generator.default")
      .input("theta", {2, 2, 3})
      .with("size", as_ints({2, 1, 2, 3}))
      .with("align_corners", as_bool(false))
      .gives({2, 2, 3, 2}, {0.083333373f, -1.7083334f, -0.75f, -0.875f, -1.5833334f,  -0.041666627f,
                            0.58333337f,  -1.4583334f, -0.25f, -0.625f, -1.0833334f,  0.20833337f,
                            -1.6666667f,  -1.625f,     -1,     -1.125f, -0.33333331f, -0.625f,
                            -1.6666667f,  -1.875f,     -1,     -1.375f, -0.33333331f, -0.875f});
  TorchCase("aten.affine_grid_generator.default")
      .input("theta", {2, 2, 3})
      .with("size", as_ints({2, 1, 2, 3}))
      .with("align_corners", as_bool(true))
      .gives({2, 2, 3, 2},
             {0.25f, -2.25f, -1, -1, -2.25f, 0.25f,  1.25f, -1.75f, 0,  -0.5f, -1.25f, 0.75f,
              -2,    -1.75f, -1, -1, 0,      -0.25f, -2,    -2.25f, -1, -1.5f, 0,      -0.75f});
}

}  // namespace
}  // namespace deuteron::pt2
