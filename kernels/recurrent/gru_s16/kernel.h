// SPDX-License-Identifier: Apache-2.0
// One layer of int16 GRU cells: that of kernels/recurrent/gru/kernel.h with x, weights, states and
// results in int16 and sums in int64. Shapes, gates, limits, scratch   as there; without `sequence`
// y has room for two rows in int16 Units    y and the states are clamped to -32768..32767; zero
// points are int16; multipliers of gates 0..65535 Source   docs/precision.md
#pragma once
#include "kernels/recurrent/gru/kernel.h"

namespace deuteron {

void gru_s16(const GruS16Args& a);

}  // namespace deuteron
