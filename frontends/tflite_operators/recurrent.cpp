// The LSTM of a sequence. Its state begins with zeros; it is not kept between calls.
#include <fmt/format.h>

#include <array>
#include <limits>

#include "frontends/tflite_operators/import_table.h"

namespace deuteron::tflite {
namespace {

// Operands. Source: tensorflow/lite/kernels/lstm_shared.h.
constexpr size_t kX = 0, kInputWeights = 1, kRecurrentWeights = 5, kPeephole = 9, kBiases = 12, kProjection = 16, kCellState = 19,
                 kLayerNorm = 20, kMostOperands = 24;
constexpr std::array<size_t, 4> kGates{0, 1, 2, 3};  // input, forget, cell, output: the order of ours too
constexpr size_t kFewestOperands = 20;

// The four matrices of the gates, one below the other: int8 with a scale for each row, or float.
ValueId gates(Call& c, size_t first, std::string_view suffix) {
  for (const size_t g : kGates)
    c.require(c.is_constant(first + g) && c.declared(first + g).rank() == 2, "has weights that are no constant matrices", "", "",
              "tflite.lstm.weights");
  if (!c.ok()) return -1;
  const Type& one = c.declared(first);
  const i64 rows = one.shape[0], columns = one.shape[1];
  for (const size_t g : kGates)
    c.require(c.declared(first + g).shape == one.shape && c.declared(first + g).dtype == one.dtype &&
                  c.declared(first + g).quant.empty() == one.quant.empty() && !c.declared(first + g).quant.per_channel(),
              "has gates of different shapes or types", to_text(c.declared(first + g)), to_text(one), "tflite.lstm.weights");
  if (!c.ok()) return -1;
  Type type{one.dtype, {4 * rows, columns}, {}};
  if (one.quant.empty()) {
    std::vector<float> all;
    for (const size_t g : kGates)
      for (const float v : c.numbers(first + g)) all.push_back(v);
    return c.ok() ? c.constant(suffix, std::move(type), constant_of(std::move(all))) : -1;
  }
  std::vector<int8_t> all;
  type.quant.axis = 0;
  for (const size_t g : kGates) {
    const std::span<const int8_t> steps = c.steps(first + g);
    all.insert(all.end(), steps.begin(), steps.end());
    const Quant& q = c.declared(first + g).quant;
    type.quant.scale.insert(type.quant.scale.end(), static_cast<size_t>(rows), q.scale[0]);
    type.quant.zero_point.insert(type.quant.zero_point.end(), static_cast<size_t>(rows), q.zero_point[0]);
  }
  return c.add(Dequantize{}, {c.constant(std::string(suffix) + ".steps", std::move(type), constant_of(std::move(all)))}, suffix);
}

// In float: the kernel rounds them to its own sums.
std::vector<float> biases(Call& c, i64 units) {
  std::vector<float> all;
  for (const size_t g : kGates) {
    const Type &x = c.declared(kX), &w = c.declared(kInputWeights + g);
    const bool is_int8 = !x.quant.empty() && !w.quant.empty();
    const std::vector<float> own = is_int8 ? c.scaled_integers(kBiases + g, x.quant.scale[0] * w.quant.scale[0]) : c.numbers(kBiases + g);
    c.require(!c.ok() || static_cast<i64>(own.size()) == units, "has a bias that does not fit its units", std::to_string(own.size()),
              std::to_string(units), "tflite.operand.bias");
    all.insert(all.end(), own.begin(), own.end());
  }
  return all;
}

void refuse_variants(Call& c, const UnidirectionalSequenceLSTMOptions& o) {
  c.require(o.fused_activation_function() == ActivationFunctionType::TANH, "has another activation than tanh",
            std::to_string(static_cast<int>(o.fused_activation_function())), "TANH", "tflite.lstm.activation");
  for (size_t k = kPeephole; k < kBiases; ++k)
    c.require(!c.has(k), "has peepholes, which are not supported", "", "", "tflite.lstm.peephole");
  for (size_t k = kProjection; k < kProjection + 2; ++k)
    c.require(!c.has(k), "has a projection, which is not supported", "", "", "tflite.lstm.projection");
  for (size_t k = kLayerNorm; k < kMostOperands; ++k)
    c.require(!c.has(k), "normalizes its layers, which is not supported", "", "", "tflite.lstm.normalization");
  c.require(!o.diagonal_recurrent_tensors(), "has diagonal weights, which are not supported", "", "", "tflite.lstm.weights");
}

}  // namespace

static void import_unidirectional_sequence_lstm(Call& c) {
  const auto* o = c.options<UnidirectionalSequenceLSTMOptions>();
  c.takes(kX + 1, kMostOperands);
  c.require(c.operands() >= kFewestOperands, "has another number of operands", std::to_string(c.operands()),
            fmt::format("{}..{}", kFewestOperands, kMostOperands), "tflite.operator.operands");
  if (!c.ok()) return;
  refuse_variants(c, *o);
  const ValueId x = c.real(kX), weight = gates(c, kInputWeights, "weight"), recurrent = gates(c, kRecurrentWeights, "recurrent");
  if (!c.ok()) return;
  const i64 units = c.shape(recurrent)[1];
  std::vector<float> bias = biases(c, units);
  const ValueId b = c.constant("bias", {DType::f32, {4 * units}, {}}, constant_of(std::move(bias)));
  const ValueId zeros =
      c.constant("recurrent_bias", {DType::f32, {4 * units}, {}}, constant_of(std::vector<float>(static_cast<size_t>(4 * units))));
  Lstm op;
  op.form.batch_first = !o->time_major();
  // An int16 cell state says its range.
  const Quant& cell = c.declared(kCellState).quant;
  if (!cell.empty()) op.cell_range = cell.scale[0] * static_cast<float>(std::numeric_limits<int16_t>::max());
  const std::vector<ValueId> results = c.add_all(op, {x, weight, recurrent, b, zeros});
  if (c.ok()) c.result(results[0]);
}

static constexpr ImportRow kRecurrentRows[] = {
    {BuiltinOperator::UNIDIRECTIONAL_SEQUENCE_LSTM, import_unidirectional_sequence_lstm},
};
ImportRows recurrent_rows() { return kRecurrentRows; }

}  // namespace deuteron::tflite
