// SPDX-License-Identifier: Apache-2.0
// Convolution with packed weights for the DSP extension.
#include "kernels/conv2d/packed/windows_dsp.h"

namespace deuteron {
namespace {

void run(const PackedConv2dArgs& a, const int8_t* x, const int8_t* packed, int16_t* windows,
         int8_t* y) {
  if (packed_conv2d_is_alone(a)) return run_alone(a, x, packed, windows, y);
  if (!a.has_shifts) return run_windows<deuteron_packed_windows_dsp>(a, x, packed, windows, y);
  for (int32_t rows = a.n * a.out_h * a.out_w; rows > 0; --rows, x += a.in_c, y += a.y_step)
    run_alone(a, x, packed, windows, y);
}

}  // namespace

void packed_conv2d_s8_dsp(const PackedConv2dArgs& a, const int8_t* x, const int8_t* packed,
                          void* scratch, int32_t scratch_bytes, int8_t* y) {
  run_in<run>(scratch, scratch_bytes >= packed_conv2d_windows_bytes(a, Packing::dsp_4x4), a, x,
              packed, y);
}

void packed_conv2d_s8_dsp_alone(const PackedConv2dArgs& a, const int8_t* x, const int8_t* packed,
                                void* scratch, int32_t scratch_bytes, int8_t* y) {
  run_in<run_alone>(scratch, scratch_bytes >= quads_of(a) * kPackedQuad * 2, a, x, packed, y);
}

void packed_conv2d_s8_dsp_windows(const PackedConv2dArgs& a, const int8_t* x, const int8_t* packed,
                                  void* scratch, int32_t scratch_bytes, int8_t* y) {
  run_in<run_windows<deuteron_packed_windows_dsp>>(
      scratch, scratch_bytes >= quads_of(a) * kPackedQuad * 4, a, x, packed, y);
}

void packed_conv2d_s8_dsp_in_scratch(const PackedConv2dArgs& a, const int8_t* x,
                                     const int8_t* packed, void* scratch, int32_t, int8_t* y) {
  run(a, x, packed, static_cast<int16_t*>(scratch), y);
}

}  // namespace deuteron
