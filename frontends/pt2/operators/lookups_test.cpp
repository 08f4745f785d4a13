// SPDX-License-Identifier: Apache-2.0
// Expected numbers are torch's.
#include "frontends/pt2/operators/torch_case.h"

namespace deuteron::pt2 {
namespace {

TEST(Lookups, Bags) {
  const struct {
    std::vector<i64> offsets;
    int mode;  // sum, mean, max
    bool last_offset;
    Shape shape;
    std::vector<float> expected;
  } cases[] = {
      {{0, 3}, 0, false, {2, 3}, {-0.125f, 0, 0.125f, 0.25f, -0.5f, -0.375f}},
      {{0, 2, 4},
       1,
       false,
       {3, 3},
       {0.0625f, -0.1875f, 0, -0.125f, 0.0625f, 0.25f, 0.125f, -0.125f, -0.375f}},
      {{0, 3}, 2, false, {2, 3}, {0.25f, 0.375f, 0.25f, 0.125f, -0.125f, 0.375f}},
      {{0, 1, 4},
       1,
       false,
       {3, 3},
       {-0.125f, -0.375f, 0.25f, 0, 0.041666668f, 0.083333336f, 0.125f, -0.125f, -0.375f}},
      {{0, 1, 4},
       2,
       false,
       {3, 3},
       {-0.125f, -0.375f, 0.25f, 0.25f, 0.375f, 0.375f, 0.125f, -0.125f, -0.375f}},
      {{0, 2, 6}, 0, true, {2, 3}, {0.125f, -0.375f, 0, 0, -0.125f, -0.25f}},
  };
  for (const auto& row : cases)
    TorchCase("aten.embedding_bag.padding_idx")
        .weight("weight", {5, 3})
        .index("indices", {6}, {1, 4, 0, 2, 3, 3})
        .index("offsets", {static_cast<i64>(row.offsets.size())}, row.offsets)
        .with("scale_grad_by_freq", as_bool(false))
        .with("mode", as_int(row.mode))
        .with("sparse", as_bool(false))
        .with("per_sample_weights", as_none())
        .with("include_last_offset", as_bool(row.last_offset))
        .with("padding_idx", as_none())
        .gives(row.shape, row.expected);
}

TEST(Lookups, Losses) {
  TorchCase("aten.mse_loss.default")
      .input("self", {2, 3})
      .input("target", {2, 3})
      .gives({}, {1.1354166f});
  TorchCase("aten.l1_loss.default")
      .input("self", {2, 3})
      .input("target", {2, 3})
      .with("reduction", as_int(2))
      .gives({}, {5.75f});
  TorchCase("aten.mse_loss.default")
      .input("self", {2, 3})
      .input("target", {2, 3})
      .with("reduction", as_int(0))
      .gives({2, 3}, {0.5625f, 0.5625f, 0.5625f, 4, 0.5625f, 0.5625f});
  TorchCase("aten.smooth_l1_loss.default")
      .input("self", {2, 3})
      .input("target", {2, 3})
      .with("reduction", as_int(0))
      .with("beta", as_float(0.5))
      .gives({2, 3}, {0.5f, 0.5f, 0.5f, 1.75f, 0.5f, 0.5f});
  TorchCase("aten.huber_loss.default")
      .input("self", {2, 3})
      .input("target", {2, 3})
      .with("delta", as_float(1.5))
      .gives({}, {0.546875f});
}

TEST(Lookups, Turns) {
  TorchCase("aten.rot90.default")
      .input("self", {2, 3})
      .with("k", as_int(1))
      .gives({3, 2}, {-0.5f, -0.75f, 0.5f, 0.25f, -1.25f, 1.25f});
  TorchCase("aten.rot90.default")
      .input("self", {2, 3})
      .with("k", as_int(2))
      .gives({2, 3}, {-0.75f, 0.25f, 1.25f, -0.5f, 0.5f, -1.25f});
  TorchCase("aten.rot90.default")
      .input("self", {2, 3})
      .with("k", as_int(-1))
      .gives({3, 2}, {1.25f, -1.25f, 0.25f, 0.5f, -0.75f, -0.5f});
  TorchCase("aten.rot90.default")
      .input("self", {2, 2, 3})
      .with("k", as_int(1))
      .with("dims", as_ints({2, 0}))
      .gives({3, 2, 2},
             {1, -1.25f, 0.75f, 1.25f, 0, 0.5f, -0.25f, 0.25f, -1, -0.5f, -1.25f, -0.75f});
  TorchCase("aten.fliplr.default")
      .input("self", {2, 3})
      .gives({2, 3}, {-0.5f, 0.5f, -1.25f, -0.75f, 0.25f, 1.25f});
  TorchCase("aten.flipud.default")
      .input("self", {2, 3})
      .gives({2, 3}, {1.25f, 0.25f, -0.75f, -1.25f, 0.5f, -0.5f});
  TorchCase("aten.fft_fftshift.default")
      .input("self", {3, 5})
      .gives({3, 5}, {-0.5f, 1.25f, -0.25f, -1.25f, 0.5f, 1.25f, 0.25f, -1.25f, 0.5f, -0.5f, -1,
                      0.75f, -0.75f, 1, 0});
  TorchCase("aten.fft_ifftshift.default")
      .input("self", {2, 5})
      .with("dim", as_ints({1}))
      .gives({2, 5}, {-0.5f, 1.25f, 0.25f, -1.25f, 0.5f, 0, -1, 0.75f, -0.75f, 1});
}

}  // namespace
}  // namespace deuteron::pt2
