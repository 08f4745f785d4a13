// SPDX-License-Identifier: Apache-2.0
// The LSTM of a sequence, as the file has it: its operands, and its two forms.
#pragma once
#include <array>

#include "frontends/tflite/operators/import_table.h"

namespace deuteron::tflite {

// Operands. Source: tensorflow/lite/kernels/lstm_shared.h.
inline constexpr size_t kLstmX = 0, kLstmInputWeights = 1, kLstmRecurrentWeights = 5,
                        kLstmPeephole = 9, kLstmBiases = 12, kLstmProjection = 16,
                        kLstmHiddenState = 18, kLstmCellState = 19, kLstmNorm = 20,
                        kMostLstmOperands = 24;
inline constexpr std::array<size_t, 4> kLstmGates{
    0, 1, 2, 3};  // input, forget, cell, output: the order of ours too

struct LstmSizes {
  i64 steps, batch, inputs, units;
};

// Steps, with the cell state in int16: TFLite's integer kernel, bit for bit.
void import_integer_lstm(Call& c, const UnidirectionalSequenceLSTMOptions& o,
                         const LstmSizes& sizes);

}  // namespace deuteron::tflite
