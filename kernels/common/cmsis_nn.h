// SPDX-License-Identifier: Apache-2.0
// The CMSIS-NN that a stock firmware is built with. Its kernels compute what ours do, but for the
// limits in ops/*/stock_limits.h, and those depend on the version.
#pragma once
#include <cstdint>

namespace deuteron {

enum class CmsisNn : uint8_t { at_dbf45dbf, at_99f736a };

// A commit, as a target file names it ([stock] cmsis_nn). The first is what ExecuTorch 1.5 pins.
// Versions between two rows are like the earlier one; the rows differ in arm_transpose_conv_s8
// alone.
inline constexpr const char* kCmsisNnNames[] = {"dbf45dbf", "99f736a"};
inline const char* name_of(CmsisNn version) { return kCmsisNnNames[static_cast<int>(version)]; }

}  // namespace deuteron
