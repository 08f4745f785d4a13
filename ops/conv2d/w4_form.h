// SPDX-License-Identifier: Apache-2.0
// From packed weights to those of deuteron::packed_conv2d_w4, which have four bits, where they are
// such numbers.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "base/tensor/type.h"
#include "kernels/conv2d/packed/kernel.h"

namespace deuteron {

// `int8`: packed weights of deuteron::packed_conv2d. Nothing: some are no products of four bits and
// one factor for 16 of them, or no kernel for the instruction set reads such weights.
std::optional<std::vector<int8_t>> four_bit_weights(const PackedConv2dArgs& a, Packing p,
                                                    std::span<const int8_t> int8);

}  // namespace deuteron
