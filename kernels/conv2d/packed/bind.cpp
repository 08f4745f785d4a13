// SPDX-License-Identifier: Apache-2.0
// deuteron::packed_conv2d: its arguments checked once, at load. The overload says the packing
// (kernels/dense/packing.h). A host runs each by the portable kernel, a core only that of its
// instruction set.
#include "kernels/conv2d/packed/keep_call.h"

namespace deuteron {
namespace {

// Of this file alone, so that what is made of it is inlined.
struct Kernels {
  static constexpr PackedKind kKind = PackedKind::any_shifts;
  template <Packing p>
  static constexpr auto portable = packed_conv2d_s8<p>;
  [[maybe_unused]] static constexpr auto mve = packed_conv2d_s8_mve;
  [[maybe_unused]] static constexpr auto mve_alone = packed_conv2d_s8_mve_alone;
  [[maybe_unused]] static constexpr auto mve_in_place = packed_conv2d_s8_mve_in_place;
  [[maybe_unused]] static constexpr auto mve_columns = packed_conv2d_s8_mve_columns;
  [[maybe_unused]] static constexpr auto mve_apart = packed_conv2d_s8_mve_apart;
  [[maybe_unused]] static constexpr auto mve_rows = packed_conv2d_s8_mve_rows;
  [[maybe_unused]] static constexpr auto dsp = packed_conv2d_s8_dsp;
  [[maybe_unused]] static constexpr auto dsp_alone = packed_conv2d_s8_dsp_alone;
  [[maybe_unused]] static constexpr auto dsp_windows = packed_conv2d_s8_dsp_windows;
  [[maybe_unused]] static constexpr auto dsp_in_scratch = packed_conv2d_s8_dsp_in_scratch;
  [[maybe_unused]] static constexpr auto scalar = packed_conv2d_s8_scalar;
  [[maybe_unused]] static constexpr auto scalar_alone = packed_conv2d_s8_scalar_alone;
  [[maybe_unused]] static constexpr auto scalar_in_scratch = packed_conv2d_s8_scalar_in_scratch;
};

}  // namespace

const Kernel kPackedConv2dMve4x16 =
    packed_kernel<Kernels, Packing::mve_4x16>("deuteron::packed_conv2d.mve_4x16");
const Kernel kPackedConv2dDsp4x4 =
    packed_kernel<Kernels, Packing::dsp_4x4>("deuteron::packed_conv2d.dsp_4x4");
const Kernel kPackedConv2dScalar1x4 =
    packed_kernel<Kernels, Packing::scalar_1x4>("deuteron::packed_conv2d.scalar_1x4");

}  // namespace deuteron
