// SPDX-License-Identifier: Apache-2.0
// Convolution with packed weights and shifts for the DSP extension.
#include "kernels/conv2d/packed/windows_dsp.h"
#include "kernels/conv2d/packed_shifts/kernel.h"
#include "kernels/dense/packed_shifts_dsp.h"

namespace deuteron {
namespace {

void run_shifted(const PackedConv2dArgs& a, const int8_t* x, const int8_t* packed, int16_t* windows,
                 int8_t* y) {
  if (packed_conv2d_is_alone(a)) return run_alone(a, x, packed, windows, y);
  run_windows<deuteron_packed_windows_shifts_dsp>(a, x, packed, windows, y);
}

}  // namespace

void packed_conv2d_shifts_s8_dsp(const PackedConv2dArgs& a, const int8_t* x, const int8_t* packed,
                                 void* scratch, int32_t scratch_bytes, int8_t* y) {
  run_in<run_shifted>(scratch, scratch_bytes >= packed_conv2d_windows_bytes(a, Packing::dsp_4x4), a,
                      x, packed, y);
}

void packed_conv2d_shifts_s8_dsp_windows(const PackedConv2dArgs& a, const int8_t* x,
                                         const int8_t* packed, void* scratch, int32_t scratch_bytes,
                                         int8_t* y) {
  run_in<run_windows<deuteron_packed_windows_shifts_dsp>>(
      scratch, scratch_bytes >= quads_of(a) * kPackedQuad * 4, a, x, packed, y);
}

void packed_conv2d_shifts_s8_dsp_in_scratch(const PackedConv2dArgs& a, const int8_t* x,
                                            const int8_t* packed, void* scratch, int32_t,
                                            int8_t* y) {
  run_shifted(a, x, packed, static_cast<int16_t*>(scratch), y);
}

}  // namespace deuteron
