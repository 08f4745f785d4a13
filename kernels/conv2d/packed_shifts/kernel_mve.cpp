// SPDX-License-Identifier: Apache-2.0
// Convolution with packed weights and shifts for the M-profile Vector Extension.
#include "kernels/conv2d/packed/results_mve.h"
#include "kernels/conv2d/packed_shifts/kernel.h"
#include "kernels/dense/packed_rows_shifts_mve.h"
#include "kernels/dense/packed_shifts_mve.h"

namespace deuteron {
namespace {

struct ShiftedToS8 : PackedToS8 {
  static bool meets_windows(const PackedConv2dArgs&) { return true; }
  static MvePackedWindows windows(const PackedConv2dArgs& a, const int8_t* x, int32_t step,
                                  int8_t* y, const int8_t* packed, int32_t blocks, int32_t tiles,
                                  int32_t windows, const int8_t* shifts) {
    return {x, step, y, a.y_step, packed, blocks, tiles, a.y_zero, windows, shifts};
  }
  static const int8_t* shifts(const PackedConv2dArgs&, const int8_t* behind_tiles) {
    return behind_tiles;
  }
  using PackedToS8::go_on_behind;
  static void go_on_behind(MvePackedWindows& w, int32_t tiles) { w.shifts += tiles * kShiftsBytes; }
  static void go_on_behind(MvePackedRows& w, int32_t tiles) { w.shifts += tiles * kShiftsBytes; }
  static void run(const MvePackedWindow& w) { deuteron_packed_window_mve(&w); }
  static void run(const MvePackedWindows& w) { deuteron_packed_windows_shifts_mve(&w); }
  static void run(const MvePackedRows& w) { deuteron_packed_rows_shifts_mve(&w); }
};

}  // namespace

void packed_conv2d_shifts_s8_mve_in_place(const PackedConv2dArgs& a, const int8_t* x,
                                          const int8_t* packed, int8_t* y) {
  run_packed_in_place<ShiftedToS8>(a, x, packed, y);
}

void packed_conv2d_shifts_s8_mve_columns(const PackedConv2dArgs& a, const int8_t* x,
                                         const int8_t* packed, void* scratch, int32_t scratch_bytes,
                                         int8_t* y) {
  run_packed_columns<ShiftedToS8>(a, x, packed, scratch, scratch_bytes, y);
}

void packed_conv2d_shifts_s8_mve_apart(const PackedConv2dArgs& a, const int8_t* x,
                                       const int8_t* packed, void* scratch, int32_t scratch_bytes,
                                       int8_t* y) {
  run_packed_apart<ShiftedToS8>(a, x, packed, scratch, scratch_bytes, y);
}

void packed_conv2d_shifts_s8_mve_rows(const PackedConv2dArgs& a, const int8_t* x,
                                      const int8_t* packed, void* scratch, int32_t scratch_bytes,
                                      int8_t* y) {
  run_packed_rows<ShiftedToS8>(a, x, packed, scratch, scratch_bytes, y);
}

void packed_conv2d_shifts_s8_mve(const PackedConv2dArgs& a, const int8_t* x, const int8_t* packed,
                                 void* scratch, int32_t scratch_bytes, int8_t* y) {
  run_packed<ShiftedToS8>(a, x, packed, scratch, scratch_bytes, y);
}

}  // namespace deuteron
