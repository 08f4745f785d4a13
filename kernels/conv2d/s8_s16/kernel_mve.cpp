// SPDX-License-Identifier: Apache-2.0
// int8 convolution with int16 results for the M-profile Vector Extension: the loops of
// packed_conv2d with another end.
#include "kernels/conv2d/packed/windows_mve.h"
#include "kernels/conv2d/s8_s16/kernel.h"

namespace deuteron {
namespace {

struct PackedToS16 {
  using Y = int16_t;
  struct Left {};
  int32_t shift, y_min, y_max;
  static bool meets_windows(const PackedConv2dArgs&) { return true; }
  MvePackedWindowS16 window(const PackedConv2dArgs&, const int8_t* x, const int8_t* last,
                            const int8_t* packed, int16_t* y, int32_t blocks, int32_t pairs,
                            int32_t second, const int8_t*) const {
    return {x, last, packed, y, blocks, pairs, second, y_min, shift, y_max};
  }
  MvePackedWindowsS16 windows(const PackedConv2dArgs& a, const int8_t* x, int32_t step, int16_t* y,
                              const int8_t* packed, int32_t blocks, int32_t tiles, int32_t windows,
                              const int8_t*) const {
    return {x, step, y, a.y_step * 2, packed, blocks, tiles, y_min, windows, shift, y_max};
  }
  static void go_on_behind(MvePackedWindowS16&, int32_t, int32_t, Left&) {}
  static void go_on_behind(MvePackedWindowsS16&, int32_t) {}
  static void run(const MvePackedWindowS16& w) { deuteron_packed_window_s16_mve(&w); }
  static void run(const MvePackedWindowsS16& w) { deuteron_packed_windows_s16_mve(&w); }
};

}  // namespace

void conv2d_s8_s16_mve(const Conv2dS8S16Args& a, const int8_t* x, const int8_t* packed,
                       void* scratch, int16_t* y) {
  const PackedToS16 results{a.shift, a.y_min, a.y_max};
  if (packed_conv2d_is_in_one_piece<int32_t>(a.layer))
    return run_in_place(a.layer, results, x, packed, y);
  auto* const columns = static_cast<int8_t*>(scratch);
  const int32_t room = packed_conv2d_columns_bytes(a.layer) - kPackedBlock;
  if (packed_conv2d_is_apart(a.layer))
    return run_apart(a.layer, results, x, packed, columns, room, y);
  run_columns(a.layer, results, x, packed, columns, room, a.layer.in_c, y);
}

}  // namespace deuteron
