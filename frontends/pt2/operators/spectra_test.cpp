// SPDX-License-Identifier: Apache-2.0
// Expected numbers are torch's.
#include "frontends/pt2/operators/torch_case.h"

namespace deuteron::pt2 {
namespace {

TEST(Spectra, AlongAnAxis) {
  TorchCase("aten.fft_rfft.default")
      .input("self", {2, 6})
      .then("aten.view_as_real.default", "self", {2, 4}, true)
      .gives({2, 4, 2}, {-0.5f, 0, -2.5f, -0.43301266f, 0.25f, -1.7320507f, -2.5f, 0, -0.75f, 0,
                         0.25f, -0.43301266f, 3, -1.7320507f, 0.25f, 0});
  TorchCase("aten.fft_rfft.default")
      .input("self", {5, 2})
      .with("n", as_int(7))
      .with("dim", as_int(0))
      .with("norm", as_text("ortho"))
      .then("aten.view_as_real.default", "self", {4, 2}, true)
      .gives({4, 2, 2}, {-0.56694669f, 0, 0.66143781f, 0, -0.6113103f, -0.27235502f, 0.29123157f,
                         0.0299799f, -0.51553661f, 0.81625128f, 0.51599443f, -0.80523294f,
                         -0.24327424f, -0.58110374f, -0.47650701f, -0.1502531f});
  TorchCase("aten.fft_rfft.default")
      .input("self", {6})
      .with("n", as_int(4))
      .with("norm", as_text("forward"))
      .then("aten.view_as_real.default", "self", {3}, true)
      .gives({3, 2}, {0, 0, -0.1875f, 0.1875f, -0.875f, 0});
  TorchCase("aten.fft_fft.default")
      .input("self", {5})
      .then("aten.view_as_real.default", "self", {5}, true)
      .gives({5, 2}, {0.25f, 0, -1.625f, 0.79086006f, -1.625f, -1.8112953f, -1.625f, 1.8112953f,
                      -1.625f, -0.79086006f});
  TorchCase("aten.fft_fft.default")
      .input("self", {2, 3})
      .with("dim", as_int(0))
      .then("aten.fft_fft.default", "self", {2, 3}, true)
      .with("dim", as_int(1))
      .then("aten.real.default", "self", {2, 3}, true)
      .gives({2, 3}, {-0.5f, 0.25f, 0.25f, -2, -2.75f, -2.75f});
  TorchCase("aten.fft_fft.default")
      .input("self", {5})
      .then("aten.fft_ifft.default", "self", {5}, true)
      .with("n", as_int(3))
      .then("aten.view_as_real.default", "self", {3}, true)
      .gives({3, 2}, {-1, -0.34014508f, -0.12617747f, 0.17007254f, 1.3761775f, 0.17007254f});
}

TEST(Spectra, BackToSignals) {
  TorchCase("aten.fft_rfft.default")
      .input("self", {7})
      .then("aten.fft_irfft.default", "self", {4}, true)
      .with("n", as_int(7))
      .gives({7}, {-1.25f, 0.49999988f, -0.5f, 1.25f, 0.25f, -0.75f, 0.99999988f});
  TorchCase("aten.fft_rfft.default")
      .input("self", {6})
      .then("aten.fft_irfft.default", "self", {4}, true)
      .gives({6}, {-1.25f, 0.49999994f, -0.49999994f, 1.25f, 0.24999996f, -0.74999994f});
  TorchCase("aten.fft_rfft.default")
      .input("self", {6})
      .then("aten.fft_irfft.default", "self", {4}, true)
      .with("n", as_int(8))
      .with("norm", as_text("ortho"))
      .gives({8}, {-3.5355339f, 1.2644744f, -0.0473672f, -1.1850151f, 3.5355339f, 0.83146173f,
                   -0.65973955f, -1.6180278f});
}

TEST(Spectra, OverSeveralAxes) {
  TorchCase("aten.fft_fft2.default")
      .input("self", {2, 3})
      .then("aten.view_as_real.default", "self", {2, 3}, true)
      .gives({2, 3, 2},
             {-0.5f, 0, 0.25f, -1.7320508f, 0.25f, 1.7320508f, -2, 0, -2.75f, 0, -2.75f, 0});
  TorchCase("aten.fft_rfft2.default")
      .input("self", {3, 4})
      .with("s", as_ints({2, 5}))
      .then("aten.view_as_real.default", "self", {2, 3}, true)
      .gives({2, 3, 2}, {0.5f, 0, -2.4930341f, 0.67860311f, -0.25696588f, -0.56634605f, -0.5f, 0,
                         -0.91147453f, 0.42758876f, -2.5885255f, -3.3501372f});
  TorchCase("aten.fft_fftn.default")
      .input("self", {2, 2, 3})
      .with("dim", as_ints({0, 2}))
      .then("aten.imag.default", "self", {2, 2, 3}, true)
      .gives({2, 2, 3}, {0, -1.7320508f, 1.7320508f, 0, -1.7320508f, 1.7320508f, 0, 0, 0, 0, 0, 0});
  TorchCase("aten.fft_rfft2.default")
      .input("self", {3, 4})
      .then("aten.fft_irfft2.default", "self", {3, 3}, true)
      .with("s", as_ints({3, 4}))
      .gives({3, 4}, {-1.25f, 0.5f, -0.5f, 1.25f, 0.25f, -0.75f, 1, 0, -1, 0.75f, -0.25f, -1.25f});
  TorchCase("aten._fft_r2c.default")
      .input("self", {2, 5})
      .with("dim", as_ints({1}))
      .with("normalization", as_int(0))
      .with("onesided", as_bool(true))
      .then("aten._fft_c2c.default", "self", {2, 3}, true)
      .with("dim", as_ints({0}))
      .with("normalization", as_int(1))
      .with("forward", as_bool(true))
      .then("aten.view_as_real.default", "self", {2, 3}, true)
      .gives({2, 3, 2}, {0.17677669f, 0, -0.72492814f, -0.024529044f, -2.8989937f, -0.71218729f,
                         0.17677669f, 0, -1.5731689f, 1.142974f, 0.60089689f, -1.849371f});
  TorchCase("aten._fft_r2c.default")
      .input("self", {4})
      .with("dim", as_ints({0}))
      .with("normalization", as_int(0))
      .with("onesided", as_bool(true))
      .then("aten._fft_c2r.default", "self", {3}, true)
      .with("dim", as_ints({0}))
      .with("normalization", as_int(2))
      .with("last_dim_size", as_int(4))
      .gives({4}, {-1.25f, 0.5f, -0.5f, 1.25f});
}

TEST(Spectra, ShortTime) {
  TorchCase("aten.stft.default")
      .input("self", {1, 12})
      .with("n_fft", as_int(6))
      .with("hop_length", as_int(2))
      .constant<float>("window", {6}, {0, 0.25f, 0.75f, 1, 0.74999994f, 0.25000006f}, kF32)
      .with("return_complex", as_bool(true))
      .then("aten.view_as_real.default", "self", {1, 4, 4}, true)
      .gives({1, 4, 4, 2}, {1,
                            0,
                            0.49999994f,
                            0,
                            0,
                            0,
                            -0.50000006f,
                            0,
                            -1.1875f,
                            0.2165063f,
                            0.43750003f,
                            0.2165063f,
                            0,
                            -0.97427845f,
                            -0.4375f,
                            0.2165063f,
                            1.375f,
                            -0.75777227f,
                            -1.375f,
                            -0.75777215f,
                            0,
                            1.6237977f,
                            1.375f,
                            -0.75777227f,
                            -1.375f,
                            0,
                            1.375f,
                            0,
                            0,
                            0,
                            -1.375f,
                            0});
  TorchCase("aten.stft.default")
      .input("self", {11})
      .with("n_fft", as_int(4))
      .with("hop_length", as_int(3))
      .with("win_length", as_int(3))
      .with("normalized", as_bool(true))
      .with("onesided", as_bool(false))
      .with("return_complex", as_bool(true))
      .then("aten.abs.default", "self", {4, 3}, true)
      .gives({4, 3}, {0.625f, 0.375f, 0, 0.45069391f, 1.0077822f, 1, 1.125f, 0.125f, 0, 0.45069391f,
                      1.0077822f, 1});
  TorchCase("aten.stft.default")
      .input("self", {2, 12})
      .with("n_fft", as_int(6))
      .with("hop_length", as_int(3))
      .constant<float>("window", {6}, {0, 0.25f, 0.75f, 1, 0.74999994f, 0.25000006f}, kF32)
      .with("return_complex", as_bool(false))
      .gives({2, 4, 3, 2}, {1,
                            0,
                            0.24999994f,
                            0,
                            -0.50000006f,
                            0,
                            -1.1875f,
                            0.2165063f,
                            -0.8125f,
                            0.2165063f,
                            -0.4375f,
                            0.2165063f,
                            1.375f,
                            -0.75777227f,
                            1.375f,
                            -0.75777227f,
                            1.375f,
                            -0.75777227f,
                            -1.375f,
                            0,
                            -1.375f,
                            0,
                            -1.375f,
                            0,
                            0.75000012f,
                            0,
                            0,
                            0,
                            -0.74999988f,
                            0,
                            -0.375f,
                            -0.97427845f,
                            0,
                            -0.97427845f,
                            0.375f,
                            -0.97427851f,
                            0,
                            1.6237977f,
                            0,
                            1.6237977f,
                            0,
                            1.6237977f,
                            0,
                            0,
                            0,
                            0,
                            0,
                            0});
  TorchCase("aten.stft.default")
      .input("self", {1, 14})
      .with("n_fft", as_int(6))
      .with("hop_length", as_int(2))
      .constant<float>("window", {6}, {0, 0.25f, 0.75f, 1, 0.74999994f, 0.25000006f}, kF32)
      .with("return_complex", as_bool(true))
      .then("aten.istft.default", "self", {1, 4, 5}, true)
      .with("n_fft", as_int(6))
      .with("hop_length", as_int(2))
      .constant<float>("window", {6}, {0, 0.25f, 0.75f, 1, 0.74999994f, 0.25000006f}, kF32)
      .with("center", as_bool(true))
      .gives({1, 8}, {1.25f, 0.25f, -0.75f, 1, 0, -1, 0.75000006f, -0.25f});
  TorchCase("aten.stft.default")
      .input("self", {13})
      .with("n_fft", as_int(4))
      .with("hop_length", as_int(1))
      .with("normalized", as_bool(true))
      .with("return_complex", as_bool(true))
      .then("aten.istft.default", "self", {3, 10}, true)
      .with("n_fft", as_int(4))
      .with("hop_length", as_int(1))
      .with("normalized", as_bool(true))
      .with("center", as_bool(false))
      .with("length", as_int(11))
      .gives({11}, {-1.25f, 0.5f, -0.5f, 1.25f, 0.25f, -0.75f, 1, 0, -1, 0.75f, -0.25f});
}

TEST(Spectra, ComplexArithmetic) {
  TorchCase("aten.complex.default")
      .input("real", {2, 3})
      .input("imag", {2, 3})
      .then("aten.transpose.int", "self", {2, 3}, true)
      .with("dim0", as_int(0))
      .with("dim1", as_int(1))
      .then("aten.slice.Tensor", "self", {3, 2}, true)
      .with("dim", as_int(0))
      .with("start", as_int(1))
      .then("aten.view_as_real.default", "self", {2, 2}, true)
      .gives({2, 2, 2}, {0.5f, 1.25f, 0.25f, 1, -0.5f, 0.25f, -0.75f, 0});
  TorchCase("aten.polar.default")
      .input("abs", {4})
      .input("angle", {4})
      .then("aten.conj_physical.default", "self", {4}, true)
      .then("aten.view_as_real.default", "self", {4}, true)
      .gives({4, 2}, {-1.0969782f, -0.59928191f, 0.15766118f, -0.47449231f, -0.48445621f,
                      0.12370198f, 0.9146111f, 0.85204846f});
  TorchCase("aten.complex.default")
      .input("real", {3})
      .input("imag", {3})
      .then("aten.mul.Tensor", "self", {3}, true)
      .input("other", {2, 3})
      .then("aten.abs.default", "self", {2, 3}, true)
      .gives({2, 3}, {0.3365728f, 1.0097184f, 0.559017f, 0, 1.3462912f, 0.41926274f});
  TorchCase("aten.complex.default")
      .input("real", {3})
      .input("imag", {3})
      .then("aten.add.Tensor", "self", {3}, true)
      .input("other", {2, 1})
      .with("alpha", as_int(2))
      .then("aten.view_as_real.default", "self", {2, 3}, true)
      .gives({2, 3, 2}, {-0.75f, -0.5f, 1, 1.25f, 0, 0.25f, -2.75f, -0.5f, -1, 1.25f, -2, 0.25f});
  TorchCase("aten.complex.default")
      .input("real", {3})
      .input("imag", {3})
      .then("aten.div.Tensor", "self", {3}, true)
      .constant<float>("other", {3}, {2, -4, 0.5f}, kF32)
      .then("aten.view_as_real.default", "self", {3}, true)
      .gives({3, 2}, {-0.625f, -0.25f, -0.125f, -0.3125f, -1, 0.5f});
  TorchCase("aten.complex.default")
      .input("real", {3})
      .input("imag", {3})
      .then("aten.exp.default", "self", {3}, true)
      .then("aten.view_as_real.default", "self", {3}, true)
      .gives({3, 2},
             {0.25143161f, -0.13735773f, 0.51987869f, 1.5646111f, 0.58767509f, 0.15005809f});
  TorchCase("aten.complex.default")
      .input("real", {3})
      .input("imag", {3})
      .then("aten.sub.Tensor", "self", {3}, true)
      .input("other", {3})
      .then("aten.angle.default", "self", {3}, true)
      .gives({3}, {-2.8198421f, 0.78539819f, 2.976444f});
}

TEST(Spectra, RefuseWhatIsNotSupported) {
  const std::string read = TorchCase("aten.fft_rfft.default")
                               .input("self", {4})
                               .then("aten.sigmoid.default", "self", {3}, true)
                               .refusal({3});
  EXPECT_THAT(read, ::testing::HasSubstr("aten.sigmoid.default is not supported"));
  TestModel m;
  m.input("x", {4});
  m.node("aten.fft_rfft.default", {{"z", {3}, kComplex64}}, {{"self", as_tensor("x")}});
  m.output("z");
  EXPECT_THAT(
      refusal_of(m),
      ::testing::HasSubstr(
          "reads `z`, which is complex: that is not supported here  [pt2.operand.complex]"));
  const std::string window = TorchCase("aten.stft.default")
                                 .input("self", {1, 8})
                                 .with("n_fft", as_int(4))
                                 .input("window", {4})
                                 .with("return_complex", as_bool(true))
                                 .then("aten.abs.default", "self", {1, 3, 5}, true)
                                 .refusal({1, 3, 5});
  EXPECT_THAT(window, ::testing::HasSubstr("[pt2.stft.window]"));
}

}  // namespace
}  // namespace deuteron::pt2
