// SPDX-License-Identifier: Apache-2.0
// int8 results of convolution with packed weights for the M-profile Vector Extension: its forms,
// with the loops of some type Results.
#pragma once
#include "kernels/conv2d/packed/rows_mve.h"
#include "kernels/conv2d/packed/windows_mve.h"

namespace deuteron {

struct PackedToS8 {
  using Y = int8_t;
  struct Left {
    alignas(4) int8_t shifts[2 * kShiftsBytes];
  };
  // Filters with shifts, of fully connected layers, have a loop for one window here.
  static bool meets_windows(const PackedConv2dArgs& a) { return !a.has_shifts; }
  static MvePackedWindow window(const PackedConv2dArgs& a, const int8_t* x, const int8_t* last,
                                const int8_t* packed, int8_t* y, int32_t blocks, int32_t pairs,
                                int32_t second, const int8_t* shifts) {
    return {x, last, packed, y, blocks, pairs, second, a.y_zero, a.has_shifts ? shifts : nullptr};
  }
  static MvePackedWindows windows(const PackedConv2dArgs& a, const int8_t* x, int32_t step,
                                  int8_t* y, const int8_t* packed, int32_t blocks, int32_t tiles,
                                  int32_t windows, const int8_t*) {
    return {x, step, y, a.y_step, packed, blocks, tiles, a.y_zero, windows, nullptr};
  }
  static const int8_t* shifts(const PackedConv2dArgs&, const int8_t*) { return nullptr; }
  // Shifts behind the pairs, where eight may be read.
  template <class Window>
  static void go_on_behind(Window& w, int32_t pairs, int32_t left, Left& of_left) {
    if (!w.shifts) return;
    const int8_t* const shifts = w.shifts + 2 * pairs * kShiftsBytes;
    w.shifts = static_cast<int8_t*>(
        std::memcpy(of_left.shifts, shifts, static_cast<size_t>(left * kShiftsBytes)));
  }
  template <class Windows>
  static void go_on_behind(Windows&, int32_t) {}
  static void run(const MvePackedWindow& w) { deuteron_packed_window_mve(&w); }
  static void run(const MvePackedWindows& w) { deuteron_packed_windows_mve(&w); }
  static void run(const MvePackedRows& w) { deuteron_packed_rows_mve(&w); }
};

template <class Results>
void run_packed_in_place(const PackedConv2dArgs& a, const int8_t* x, const int8_t* packed,
                         int8_t* y) {
  run_in_place(a, Results{}, x, packed, y);
}
template <class Results>
void run_packed_columns(const PackedConv2dArgs& a, const int8_t* x, const int8_t* packed,
                        void* scratch, int32_t scratch_bytes, int8_t* y) {
  run_columns(a, Results{}, x, packed, static_cast<int8_t*>(scratch), scratch_bytes - kPackedBlock,
              a.in_c, y);
}
template <class Results>
void run_packed_apart(const PackedConv2dArgs& a, const int8_t* x, const int8_t* packed,
                      void* scratch, int32_t scratch_bytes, int8_t* y) {
  run_apart(a, Results{}, x, packed, static_cast<int8_t*>(scratch), scratch_bytes - kPackedBlock,
            y);
}
template <class Results>
void run_packed_rows(const PackedConv2dArgs& a, const int8_t* x, const int8_t* packed,
                     void* scratch, int32_t scratch_bytes, int8_t* y) {
  run_rows<Results>(a, x, packed, static_cast<int8_t*>(scratch), scratch_bytes - kPackedBlock, y);
}
// In scratch of at least packed_conv2d_least_scratch_bytes() or on the stack.
template <class Results>
void run_packed_copied(const PackedConv2dArgs& a, const int8_t* x, const int8_t* packed,
                       void* scratch, int32_t bytes, int8_t* y) {
  if (packed_conv2d_meets_rows(a, bytes - kPackedBlock))
    run_packed_rows<Results>(a, x, packed, scratch, bytes, y);
  else if (packed_conv2d_is_apart(a)) run_packed_apart<Results>(a, x, packed, scratch, bytes, y);
  else run_packed_columns<Results>(a, x, packed, scratch, bytes, y);
}
template <class Results>
[[gnu::noinline]] void run_packed_on_stack(const PackedConv2dArgs& a, const int8_t* x,
                                           const int8_t* packed, int32_t bytes, int8_t* y) {
  int8_t columns[kPackedStackColumns];
  run_packed_copied<Results>(a, x, packed, columns, bytes, y);
}

// All of a call, whatever its windows are.
template <class Results>
void run_packed(const PackedConv2dArgs& a, const int8_t* x, const int8_t* packed, void* scratch,
                int32_t scratch_bytes, int8_t* y) {
  if (packed_conv2d_is_in_one_piece<int32_t>(a))
    return run_packed_in_place<Results>(a, x, packed, y);
  const int32_t most = packed_conv2d_columns_bytes(a),
                bytes = scratch_bytes < most ? scratch_bytes : most;
  if (bytes < most && bytes <= kPackedStackColumns)
    return run_packed_on_stack<Results>(a, x, packed,
                                        most < kPackedStackColumns ? most : kPackedStackColumns, y);
  run_packed_copied<Results>(a, x, packed, scratch, bytes, y);
}

}  // namespace deuteron
