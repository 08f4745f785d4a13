// SPDX-License-Identifier: Apache-2.0
// deuteron::packed_linear: its arguments checked once, at load, as those of
// deuteron::packed_conv2d.
#include "kernels/conv2d/packed/keep_call.h"
#include "kernels/linear/packed/kernel.h"

namespace deuteron {

#if !defined(DEUTERON_MICROCONTROLLER)
template <>
inline constexpr std::string_view kKernelName<packed_linear_s8<Packing::mve_4x16>> =
    "packed_linear_s8<Packing::mve_4x16>";
template <>
inline constexpr std::string_view kKernelName<packed_linear_s8<Packing::dsp_4x4>> =
    "packed_linear_s8<Packing::dsp_4x4>";
#endif

namespace {

// Of this file alone, so that what is made of it is inlined. Columns and rows of images are not
// among its calls.
struct Kernels {
  static constexpr PackedKind kKind = PackedKind::behind_relu;
  template <Packing p>
  static constexpr auto portable = packed_linear_s8<p>;
  [[maybe_unused]] static constexpr auto mve = packed_linear_s8_mve;
  [[maybe_unused]] static constexpr auto mve_alone = packed_linear_s8_mve_in_place;
  [[maybe_unused]] static constexpr auto mve_in_place = packed_linear_s8_mve_in_place;
  [[maybe_unused]] static constexpr auto mve_columns = packed_linear_s8_mve;
  [[maybe_unused]] static constexpr auto mve_apart = packed_linear_s8_mve;
  [[maybe_unused]] static constexpr auto mve_rows = packed_linear_s8_mve;
  [[maybe_unused]] static constexpr auto dsp = packed_linear_s8_dsp;
  [[maybe_unused]] static constexpr auto dsp_alone = packed_linear_s8_dsp;
  [[maybe_unused]] static constexpr auto dsp_windows = packed_linear_s8_dsp;
  [[maybe_unused]] static constexpr auto dsp_in_scratch = packed_linear_s8_dsp_in_scratch;
};

}  // namespace

const Kernel kPackedLinearMve4x16 =
    packed_kernel<Kernels, Packing::mve_4x16>("deuteron::packed_linear.mve_4x16");
const Kernel kPackedLinearDsp4x4 =
    packed_kernel<Kernels, Packing::dsp_4x4>("deuteron::packed_linear.dsp_4x4");

}  // namespace deuteron
