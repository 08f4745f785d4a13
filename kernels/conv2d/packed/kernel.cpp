// SPDX-License-Identifier: Apache-2.0
// Portable convolution with packed weights: reads them one by one where they stand. The reference,
// and what a host runs.
#include "kernels/conv2d/packed/kernel.h"

#include "kernels/conv2d/packed/result.h"
#include "kernels/image/window.h"
#if defined(DEUTERON_HOST_KERNELS)
#include "kernels/conv2d/packed/kernel_host.h"
#endif

namespace deuteron {
namespace {

// sums[i] += one pixel under the tap (kh, kw), whose channel c is x(c), times the weights of the
// tile's filter i.
template <Packing p, class Pixel>
void add_tap(const PackedConv2dArgs& a, const int8_t* tile, int32_t kh, int32_t kw, const Pixel& x,
             uint32_t (&sums)[packed_tile(p)]) {
  const int32_t tap = p == Packing::mve_4x16 ? kw * a.kernel_h + kh : kh * a.kernel_w + kw;
  const int32_t first = tap * a.in_c, length = a.length();
  for (int32_t c = 0; c < a.in_c; ++c)
    for (int32_t i = 0; i < packed_tile(p); ++i)
      sums[i] += static_cast<uint32_t>(x(c) * packed_weight<p>(tile, length, i, first + c));
}

// The filters of a tile at one place of the output.
template <Packing p>
void run_tile(const PackedConv2dArgs& a, const int8_t* image, const int8_t* tile,
              const int8_t* shifts, int32_t ih, int32_t iw, int32_t count, int8_t* y) {
  uint32_t sums[packed_tile(p)] = {};
  for (int32_t kh = 0; kh < a.kernel_h; ++kh)
    for (int32_t kw = 0; kw < a.kernel_w; ++kw) {
      const int32_t h = ih + kh * a.dilation_h, w = iw + kw * a.dilation_w;
      const bool inside = h >= 0 && h < a.in_h && w >= 0 && w < a.in_w;
      const int8_t* const x = inside ? image + (h * a.in_w + w) * a.in_c : nullptr;
      add_tap<p>(
          a, tile, kh, kw, [&](int32_t c) -> int32_t { return inside ? x[c] : a.x_zero; },
          sums);  // outside: the zero point
    }
  for (int32_t i = 0; i < count; ++i) {
    const PackedNumbers n = packed_numbers<p>(tile, a.length(), i);
    const bool is_doubled = p != Packing::mve_4x16 && !a.has_shifts;
    const int32_t shift = a.has_shifts ? packed_int(shifts + i * kShiftBytes) : 0;
    y[i] = packed_result(sums[i] + static_cast<uint32_t>(n.first),
                         int64_t{n.multiplier} * (is_doubled ? 1 : 2), shift, a.y_zero);
  }
}

}  // namespace

template <Packing p>
void packed_conv2d_s8(const PackedConv2dArgs& a, const int8_t* x, const int8_t* packed, int8_t* y) {
#if defined(DEUTERON_HOST_KERNELS)
  const HostKernels<HostDotForm>& host = host_dot_forms();
  if (host.count > 0 && packed_conv2d_s8_host<p>(a, x, packed, host.kernel[0], y)) return;
#endif
  const int64_t bytes = packed_tile_bytes(p, a.length());
  const int8_t* const shifts = packed + packed_bytes(p, a.out_c, a.length());
  constexpr int32_t tile = packed_tile(p);
  const int32_t count = a.out_c < tile ? a.out_c : tile;
  for (int32_t n = 0; n < a.n; ++n, x += a.in_h * a.in_w * a.in_c)
    for (int32_t oh = 0; oh < a.out_h; ++oh, y += a.y_row)
      for (int32_t ow = 0; ow < a.out_w; ++ow)
        for (int32_t t = 0; t < packed_tiles(a.out_c, tile); ++t)
          run_tile<p>(a, x, packed + t * bytes, shifts + t * tile * kShiftBytes,
                      oh * a.stride_h - a.pad_h, ow * a.stride_w - a.pad_w, count,
                      y + ow * a.y_step + first_of_tile(a.out_c, t, tile));
}

template void packed_conv2d_s8<Packing::mve_4x16>(const PackedConv2dArgs&, const int8_t*,
                                                  const int8_t*, int8_t*);
template void packed_conv2d_s8<Packing::dsp_4x4>(const PackedConv2dArgs&, const int8_t*,
                                                 const int8_t*, int8_t*);
template void packed_conv2d_s8<Packing::scalar_1x4>(const PackedConv2dArgs&, const int8_t*,
                                                    const int8_t*, int8_t*);

}  // namespace deuteron
