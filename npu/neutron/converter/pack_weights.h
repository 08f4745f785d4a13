// SPDX-License-Identifier: Apache-2.0
// Weights in the order in which the machine streams them: blocks for 8 output channels and 8 input
// channels, filled up with zeros.
#pragma once
#include <span>
#include <vector>

#include "npu/neutron/converter/scales.h"
#include "npu/neutron/machine/microcode.h"

namespace deuteron::neutron {

// `w` [oc][kh][kw][c] becomes [ceil(oc/8)][kh][kw][ceil(c/8)][8 oc][8 c].
std::vector<u8> pack_by_channel(std::span<const int8_t> w, i64 oc, i64 kh, i64 kw, i64 c);

// For few channels: [ceil(oc/8)][kh][ceil(kw*c/8)][8 oc][8 of (kw, c)].
std::vector<u8> pack_by_row(std::span<const int8_t> w, i64 oc, i64 kh, i64 kw, i64 c);

// `w` [kh][kw][oc] becomes [ceil(oc/8)][kh][kw][8 oc].
std::vector<u8> pack_depthwise(std::span<const int8_t> w, i64 kh, i64 kw, i64 oc);

// kParamBytes for each channel: bias, multiplier, shift. `bias` may be empty.
std::vector<u8> pack_parameters(std::span<const i32> bias, std::span<const Factor> factors);

}  // namespace deuteron::neutron
