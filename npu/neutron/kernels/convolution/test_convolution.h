// SPDX-License-Identifier: Apache-2.0
// A convolution by its definition, and its weights packed: for tests.
#pragma once
#include "npu/neutron/kernels/convolution/call.h"
#include "npu/neutron/machine/test_tensors.h"

namespace deuteron::neutron::test {

// weight [oc,kh,kw,c] as microcode.h says that it is packed.
inline Bytes pack(Kind kind, const ConvCall& a, const Bytes& weight) {
  Bytes packed(static_cast<size_t>(conv_weight_bytes(kind, a)));
  const bool rows = kind == Kind::kConv2DStandardV2;
  const int32_t blocks = (rows ? a.kernel_w * a.c + 7 : a.c + 7) / 8;
  for (int32_t oc = 0; oc < a.out_c; ++oc)
    for (int32_t kh = 0; kh < a.kernel_h; ++kh)
      for (int32_t kw = 0; kw < a.kernel_w; ++kw)
        for (int32_t c = 0; c < a.c; ++c) {
          const int32_t lane = rows ? kw * a.c + c : c;
          const int32_t tap = rows ? kh : kh * a.kernel_w + kw,
                        taps = rows ? a.kernel_h : a.kernel_h * a.kernel_w;
          const size_t at = static_cast<size_t>(
              (((oc / 8 * taps + tap) * blocks + lane / 8) * 8 + oc % 8) * 8 + lane % 8);
          packed[at] =
              weight[static_cast<size_t>(((oc * a.kernel_h + kh) * a.kernel_w + kw) * a.c + c)];
        }
  return packed;
}

// By scattering for the transposed kind and gathering for the others, with the pitches of the call.
inline Bytes reference(Kind kind, const ConvCall& a, const Bytes& x, const Bytes& weight,
                       const std::vector<int32_t>& params, Bytes y) {
  const bool transposed = kind == Kind::kConv2DTransposed;
  std::vector<int64_t> sums(static_cast<size_t>(a.n * a.out_h * a.out_w * a.out_c));
  for (int n = 0; n < a.n; ++n)
    for (int row = 0; row < (transposed ? a.h : a.out_h); ++row)
      for (int column = 0; column < (transposed ? a.w : a.out_w); ++column)
        for (int kh = 0; kh < a.kernel_h; ++kh)
          for (int kw = 0; kw < a.kernel_w; ++kw) {
            const int h = row * a.stride_h + kh * a.dilation_h - a.pad_top,
                      w = column * a.stride_w + kw * a.dilation_w - a.pad_left;
            const int ih = transposed ? row : h, iw = transposed ? column : w,
                      oh = transposed ? h : row, ow = transposed ? w : column;
            if (ih < 0 || iw < 0 || oh < 0 || ow < 0 || ih >= a.h || iw >= a.w || oh >= a.out_h ||
                ow >= a.out_w)
              continue;
            for (int oc = 0; oc < a.out_c; ++oc)
              for (int c = 0; c < a.c; ++c)
                sums[static_cast<size_t>(((n * a.out_h + oh) * a.out_w + ow) * a.out_c + oc)] +=
                    int64_t{x[static_cast<size_t>(((n * a.h + ih) * a.w + iw) * a.x_pitch + c)] -
                            a.x_zero} *
                    weight[static_cast<size_t>(((oc * a.kernel_h + kh) * a.kernel_w + kw) * a.c +
                                               c)];
          }
  for (size_t i = 0; i < sums.size(); ++i) {
    const size_t pixel = i / static_cast<size_t>(a.out_c), oc = i % static_cast<size_t>(a.out_c);
    y[pixel * static_cast<size_t>(a.y_pitch) + oc] =
        end_of(sums[i] + params[3 * oc], params[3 * oc + 1], params[3 * oc + 2], a.y_zero, a.y_min,
               a.y_max);
  }
  return y;
}

struct ConvCase {
  const char* name;
  Kind kind;
  int n, h, w, c, kh, kw, out_h, out_w, oc, sh = 1, sw = 1, dh = 1, dw = 1, top = 0, left = 0,
                                            x_gap = 0, y_gap = 0;
};

inline ConvCall call_of(const ConvCase& k, Random& random) {
  ConvCall a{};
  a.n = k.n, a.h = k.h, a.w = k.w, a.c = k.c, a.x_pitch = k.c + k.x_gap;
  a.kernel_h = k.kh, a.kernel_w = k.kw, a.stride_h = k.sh, a.stride_w = k.sw, a.dilation_h = k.dh,
  a.dilation_w = k.dw;
  a.pad_top = k.top, a.pad_left = k.left, a.out_h = k.out_h, a.out_w = k.out_w, a.out_c = k.oc,
  a.y_pitch = k.oc + k.y_gap;
  a.x_zero = random.in(-128, 127), a.y_zero = random.in(-40, 40), a.y_min = -113, a.y_max = 101;
  return a;
}

}  // namespace deuteron::neutron::test
