// SPDX-License-Identifier: Apache-2.0
// The integer LSTM: gates, states and results as TFLite's kernel computes them.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "frontends/tflite/operators/lstm.h"
#include "kernels/recurrent/sequence_lstm/kernel.h"
#include "ops/common/multiplier.h"

namespace deuteron::tflite {
namespace {

void check_types(Call& c) {
  const Type &x = c.declared(kLstmX), &h = c.declared(kLstmHiddenState),
             &cell = c.declared(kLstmCellState), &y = c.declared_result(0);
  bool all = has_one_scale(x, DType::s8) && has_one_scale(h, DType::s8) &&
             has_one_scale(cell, DType::s16) && has_one_scale(y, DType::s8);
  for (const size_t first : {kLstmInputWeights, kLstmRecurrentWeights})
    for (const size_t g : kLstmGates) all = all && has_one_scale(c.declared(first + g), DType::s8);
  c.require(all, "has other types than TFLite's integer kernel takes",
            fmt::format("{}, states {}, {}, result {}", to_text(x), to_text(h), to_text(cell),
                        to_text(y)),
            "INT8 operand, weights, hidden state and result, INT16 cell state, each with one scale",
            "tflite.lstm.type");
  if (!c.ok()) return;
  for (const size_t first : {kLstmInputWeights, kLstmRecurrentWeights})
    for (const size_t g : kLstmGates)
      c.require(c.declared(first + g).quant.zero_point[0] == 0, "has weights with a zero point",
                std::to_string(c.declared(first + g).quant.zero_point[0]), "0",
                "tflite.lstm.zero_point");
  c.require(cell.quant.zero_point[0] == 0, "has a cell state with a zero point",
            std::to_string(cell.quant.zero_point[0]), "0", "tflite.lstm.zero_point");
}

// How many bits the cell state has behind the point: its scale is a power of two, within a
// thousandth of its exponent as in TFLite.
i64 cell_bits(Call& c) {
  const float scale = c.declared(kLstmCellState).quant.scale[0], exponent = std::log2(scale),
              nearest = std::round(exponent);
  c.require(std::abs(exponent - nearest) < 1e-3f && nearest >= -15 && nearest <= -9,
            "has a cell state whose scale is not a power of two", fmt::format("{}", scale),
            "2^-15..2^-9", "tflite.lstm.cell");
  return c.ok() ? -static_cast<i64>(nearest) : 15;
}

// The matrices of the gates, one below the other.
std::vector<int8_t> rows(Call& c, size_t first) {
  std::vector<int8_t> all;
  for (const size_t g : kLstmGates) {
    const std::span<const int8_t> steps = c.steps(first + g);
    all.insert(all.end(), steps.begin(), steps.end());
  }
  return all;
}

// What stands before the products of a row: its bias less the zero point's part, modulo 2^32 as the
// products are. Their sum never leaves int32.
std::vector<i32> sums(Call& c, const std::vector<int8_t>& weight, i64 columns, const Quant& x,
                      bool biased) {
  const size_t length = static_cast<size_t>(columns),
               units = weight.size() / length / kLstmGates.size();
  std::vector<i32> all;
  for (const size_t g : kLstmGates) {
    const bool has_bias = biased && c.has(kLstmBiases + g);
    const std::vector<i64> own = has_bias ? c.integers(kLstmBiases + g) : std::vector<i64>(units);
    c.require(!has_bias || !c.ok() ||
                  (own.size() == units && c.declared(kLstmBiases + g).dtype == DType::s32),
              "has a bias that does not fit its units", to_text(c.declared(kLstmBiases + g)),
              fmt::format("INT32, {}", units), "tflite.operand.bias");
    if (!c.ok()) return {};
    for (size_t j = 0; j < units; ++j) {
      const auto row = std::span(weight).subspan((g * units + j) * length, length);
      const SumRange range = sum_range(row, x, own[j]);
      c.require(
          fits_int32(range), fmt::format("has sums in unit {} that may leave int32", j),
          fmt::format("{}..{}", range.low, range.high),
          fmt::format("{}..{}", std::numeric_limits<i32>::min(), std::numeric_limits<i32>::max()),
          "tflite.lstm.sums");
      if (!c.ok()) return {};
      all.push_back(
          static_cast<i32>(static_cast<uint32_t>(folded_bias(row, x.zero_point[0], own[j]))));
    }
  }
  return all;
}

struct Numbers {
  std::vector<i64> multipliers, shifts;

  void add(Call& c, float factor) {
    const auto m = checked_multiplier(factor, Ties::away, "tflite.lstm.scale");
    if (!m) return c.refuse(m.why);
    multipliers.push_back(m->value);
    shifts.push_back(m->shift);
  }
};

// TFLite forms the factors in float32.
Numbers numbers_of_gates(Call& c) {
  Numbers n;
  const float x = c.declared(kLstmX).quant.scale[0],
              h = c.declared(kLstmHiddenState).quant.scale[0];
  for (const size_t g : kLstmGates)
    n.add(c, c.declared(kLstmInputWeights + g).quant.scale[0] * x / 0x1p-12f);
  for (const size_t g : kLstmGates)
    n.add(c, c.declared(kLstmRecurrentWeights + g).quant.scale[0] * h / 0x1p-12f);
  return n;
}

i64 clip_of(Call& c, float clip) {
  if (!(clip > 0)) return 0;
  return static_cast<i64>(std::min(clip / c.declared(kLstmCellState).quant.scale[0], 32767.0f));
}

}  // namespace

void import_integer_lstm(Call& c, const UnidirectionalSequenceLSTMOptions& o, const LstmSizes& s) {
  check_types(c);
  if (!c.ok()) return;
  const Quant y = c.declared_result(0).quant;
  const Quant* hidden = c.intermediate_quant(
      4);  // of the product of gate and cell, which is the result where nothing is projected
  const Quant product = hidden && hidden->scale.size() == 1 ? *hidden : y;
  const i64 bits = cell_bits(c);
  Numbers gates = numbers_of_gates(c), last;
  last.add(c, static_cast<float>(0x1p-15 / product.scale[0] * 0x1p-15));
  if (!c.ok()) return;
  const std::vector<int8_t> weight = rows(c, kLstmInputWeights),
                            recurrent = rows(c, kLstmRecurrentWeights);
  std::vector<i32> of_x = sums(c, weight, s.inputs, c.declared(kLstmX).quant, true);
  std::vector<i32> of_h = sums(c, recurrent, s.units, c.declared(kLstmHiddenState).quant, false);
  if (!c.ok()) return;
  const i64 all_rows = kLstmGates.size() * s.units;
  std::vector<ValueId> in{c.steps_value(kLstmX), c.kept(kLstmHiddenState), c.kept(kLstmCellState)};
  in.push_back(c.constant("weight", {DType::s8, {all_rows, s.inputs}, {}}, constant_of(weight)));
  in.push_back(
      c.constant("recurrent", {DType::s8, {all_rows, s.units}, {}}, constant_of(recurrent)));
  in.push_back(c.constant("bias", {DType::s32, {all_rows}, {}}, constant_of(std::move(of_x))));
  in.push_back(
      c.constant("recurrent_bias", {DType::s32, {all_rows}, {}}, constant_of(std::move(of_h))));
  if (!c.ok()) return;
  const Type hidden_state = c.type(in[1]), cell_state = c.type(in[2]);
  const Shape of_result = c.declared_result(0).shape;
  CallBuilder call("deuteron::sequence_lstm", in.size(), 3);
  for (size_t i = 0; i < in.size(); ++i) call.in(static_cast<i64>(i), plain_face(c.shape(in[i])));
  call.integers(gates.multipliers).integers(gates.shifts).boolean(!o.time_major());
  call.integer(bits).integer(clip_of(c, o.cell_clip()));
  call.integer(product.zero_point[0]).integer(last.multipliers[0]).integer(last.shifts[0]);
  call.out(0, plain_face(of_result))
      .out(1, plain_face(hidden_state.shape))
      .out(2, plain_face(cell_state.shape));
  KernelCall kernel = call.done().call;
  kernel.macs = s.steps * s.batch * all_rows * (s.inputs + s.units);
  const std::vector<ValueId> results = c.add_calls(
      std::move(kernel), std::move(in), {{DType::s8, of_result, y}, hidden_state, cell_state});
  if (!c.ok()) return;
  c.result(results[0]);
  c.keep(kLstmHiddenState, results[1]);
  c.keep(kLstmCellState, results[2]);
}

}  // namespace deuteron::tflite
