// SPDX-License-Identifier: Apache-2.0
// deuteron::packed_conv2d_shifts: its arguments checked once, at load, as those of
// deuteron::packed_conv2d.
#include "kernels/conv2d/packed/keep_call.h"
#include "kernels/conv2d/packed_shifts/kernel.h"

namespace deuteron {
namespace {

// Of this file alone, so that what is made of it is inlined.
struct Kernels {
  static constexpr PackedKind kKind = PackedKind::all_shifts;
  template <Packing p>
  static constexpr auto portable = packed_conv2d_s8<p>;
  [[maybe_unused]] static constexpr auto mve = packed_conv2d_shifts_s8_mve;
  [[maybe_unused]] static constexpr auto mve_alone = packed_conv2d_shifts_s8_mve_in_place;
  [[maybe_unused]] static constexpr auto mve_in_place = packed_conv2d_shifts_s8_mve_in_place;
  [[maybe_unused]] static constexpr auto mve_columns = packed_conv2d_shifts_s8_mve_columns;
  [[maybe_unused]] static constexpr auto mve_apart = packed_conv2d_shifts_s8_mve_apart;
  [[maybe_unused]] static constexpr auto mve_rows = packed_conv2d_shifts_s8_mve_rows;
  [[maybe_unused]] static constexpr auto dsp = packed_conv2d_shifts_s8_dsp;
  [[maybe_unused]] static constexpr auto dsp_alone = packed_conv2d_shifts_s8_dsp;
  [[maybe_unused]] static constexpr auto dsp_windows = packed_conv2d_shifts_s8_dsp_windows;
  [[maybe_unused]] static constexpr auto dsp_in_scratch = packed_conv2d_shifts_s8_dsp_in_scratch;
};

}  // namespace

const Kernel kPackedConv2dShiftsMve4x16 =
    packed_kernel<Kernels, Packing::mve_4x16>("deuteron::packed_conv2d_shifts.mve_4x16");
const Kernel kPackedConv2dShiftsDsp4x4 =
    packed_kernel<Kernels, Packing::dsp_4x4>("deuteron::packed_conv2d_shifts.dsp_4x4");

}  // namespace deuteron
