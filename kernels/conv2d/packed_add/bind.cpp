// SPDX-License-Identifier: Apache-2.0
// deuteron::packed_conv2d_add: its arguments checked once, at load. The overload says the packing
// (kernels/dense/packing.h). A host runs each by the portable kernel, a core only that of its
// instruction set.
#include "kernels/conv2d/packed_add/keep_call.h"

namespace deuteron {
namespace {

// Of this file alone, so that what is made of it is inlined.
struct Kernels {
  static constexpr PackedKind kKind = PackedKind::any_shifts;
  [[maybe_unused]] static constexpr auto why_not = why_not_packed_conv2d_add;
  [[maybe_unused]] static constexpr auto mve = packed_conv2d_add_s8_mve;
  [[maybe_unused]] static constexpr auto mve_in_place = packed_conv2d_add_s8_mve_in_place;
  [[maybe_unused]] static constexpr auto mve_columns = packed_conv2d_add_s8_mve_columns;
  [[maybe_unused]] static constexpr auto mve_rows = packed_conv2d_add_s8_mve_rows;
  [[maybe_unused]] static constexpr auto dsp = packed_conv2d_add_s8_dsp;
  [[maybe_unused]] static constexpr auto dsp_in_scratch = packed_conv2d_add_s8_dsp_in_scratch;
  [[maybe_unused]] static constexpr auto scalar = packed_conv2d_add_s8_scalar;
};

}  // namespace

const Kernel kPackedConv2dAddMve4x16 =
    added_kernel<Kernels, Packing::mve_4x16>("deuteron::packed_conv2d_add.mve_4x16");
const Kernel kPackedConv2dAddDsp4x4 =
    added_kernel<Kernels, Packing::dsp_4x4>("deuteron::packed_conv2d_add.dsp_4x4");
const Kernel kPackedConv2dAddScalar1x4 =
    added_kernel<Kernels, Packing::scalar_1x4>("deuteron::packed_conv2d_add.scalar_1x4");

}  // namespace deuteron
