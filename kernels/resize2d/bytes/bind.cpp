// SPDX-License-Identifier: Apache-2.0
// deuteron::resize2d_bytes: its arguments and every position of its tables checked once, at load.
#include <cstring>

#include "kernels/common/kernels.h"
#include "kernels/resize2d/bytes/kernel.h"
#include "kernels/resize2d/prepare.h"

namespace deuteron {
namespace {

const char* why_not_place(int32_t first, int32_t bits, int32_t in) {
  if (!lies_in(first, 0, in - 1)) return "has a position outside the axis";
  float weight = 0;
  std::memcpy(&weight, &bits, sizeof weight);
  return weight >= -1 && weight <= 1 ? nullptr : "has a weight out of range";
}

}  // namespace

const Kernel kResize2dBytes = kernel_by<kResizeRow<Is::s8_image>>(
    "deuteron::resize2d_bytes.out",
    prepare_resize2d<int8_t, Is::s8_image, why_not_place, resize2d_bytes>);

}  // namespace deuteron
