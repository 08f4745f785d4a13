// SPDX-License-Identifier: Apache-2.0
// The inner loop of one window and a tile of weights of four bits
// (kernels/conv2d/packed_w4/tiles.h), with the M-profile Vector Extension.
#pragma once
#include <cstdint>

namespace deuteron {

// The sums of four filters over so many blocks of the window, at least one. 4-aligned: sums.
extern "C" void deuteron_w4_sums_mve(const int8_t* window, const int8_t* nibbles,
                                     const int8_t* factors, int32_t blocks, int32_t* sums);

}  // namespace deuteron
