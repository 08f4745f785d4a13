// SPDX-License-Identifier: Apache-2.0
// The LSTM of a sequence. It goes on with the states of the call before, which are variable
// tensors.
#include <fmt/format.h>

#include "frontends/tflite/operators/lstm.h"

namespace deuteron::tflite {
namespace {

constexpr size_t kFewestOperands = 20;

void refuse_variants(Call& c, const UnidirectionalSequenceLSTMOptions& o) {
  c.require(o.fused_activation_function() == ActivationFunctionType::TANH,
            "has another activation than tanh",
            std::to_string(static_cast<int>(o.fused_activation_function())), "TANH",
            "tflite.lstm.activation");
  for (size_t k = kLstmPeephole; k < kLstmBiases; ++k)
    c.require(!c.has(k), "has peepholes, which are not supported", "", "", "tflite.lstm.peephole");
  for (size_t k = kLstmProjection; k < kLstmHiddenState; ++k)
    c.require(!c.has(k), "has a projection, which is not supported", "", "",
              "tflite.lstm.projection");
  for (size_t k = kLstmNorm; k < kMostLstmOperands; ++k)
    c.require(!c.has(k), "normalizes its layers, which is not supported", "", "",
              "tflite.lstm.normalization");
  c.require(!o.diagonal_recurrent_tensors(), "has diagonal weights, which are not supported", "",
            "", "tflite.lstm.weights");
}

// Matrices of one shape and type for the four gates.
void check_gates(Call& c, size_t first, i64 units, i64 columns) {
  for (const size_t g : kLstmGates)
    c.require(c.is_constant(first + g) && c.declared(first + g).rank() == 2,
              "has weights that are no constant matrices", "", "", "tflite.lstm.weights");
  if (!c.ok()) return;
  const Type& one = c.declared(first);
  const Shape shape{units, columns};
  for (const size_t g : kLstmGates)
    c.require(c.declared(first + g).shape == shape && c.declared(first + g).dtype == one.dtype &&
                  c.declared(first + g).quant.empty() == one.quant.empty(),
              "has gates of different shapes or types", to_text(c.declared(first + g)),
              to_text(Type{one.dtype, shape, {}}), "tflite.lstm.weights");
}

LstmSizes sizes_of(Call& c, const UnidirectionalSequenceLSTMOptions& o) {
  const Shape &x = c.declared(kLstmX).shape, &recurrent = c.declared(kLstmRecurrentWeights).shape;
  c.require(x.size() == 3, "has an operand that is not a batch of sequences", to_text(x),
            "three axes", "tflite.operand.rank");
  c.require(recurrent.size() == 2, "has weights that are no constant matrices", to_text(recurrent),
            "two axes", "tflite.lstm.weights");
  if (!c.ok()) return {};
  const LstmSizes s{x[o.time_major() ? 0 : 1], x[o.time_major() ? 1 : 0], x[2], recurrent[1]};
  check_gates(c, kLstmInputWeights, s.units, s.inputs);
  check_gates(c, kLstmRecurrentWeights, s.units, s.units);
  const Shape state{s.batch, s.units};
  for (const size_t i : {kLstmHiddenState, kLstmCellState})
    c.require(c.declared(i).shape == state, "has a state that does not fit its units",
              to_text(c.declared(i).shape), to_text(state), "tflite.lstm.state");
  return s;
}

ValueId stacked(Call& c, size_t first, std::string_view suffix) {
  std::vector<float> all;
  for (const size_t g : kLstmGates)
    for (const float v : c.numbers(first + g)) all.push_back(v);
  Type type{DType::f32, c.declared(first).shape, {}};
  type.shape[0] *= static_cast<i64>(kLstmGates.size());
  return c.ok() ? c.constant(suffix, std::move(type), constant_of(std::move(all))) : -1;
}

void import_float(Call& c, const UnidirectionalSequenceLSTMOptions& o, const LstmSizes& s) {
  std::vector<float> bias;
  for (const size_t g : kLstmGates) {
    const std::vector<float> own = c.numbers(kLstmBiases + g);
    c.require(!c.ok() || static_cast<i64>(own.size()) == s.units,
              "has a bias that does not fit its units", std::to_string(own.size()),
              std::to_string(s.units), "tflite.operand.bias");
    bias.insert(bias.end(), own.begin(), own.end());
  }
  for (const size_t i : {kLstmHiddenState, kLstmCellState})
    c.require(c.declared(i).dtype == DType::f32, "keeps a state of another type than it computes",
              to_text(c.declared(i)), "FLOAT32", "tflite.lstm.type");
  const ValueId x = c.real(kLstmX), weight = stacked(c, kLstmInputWeights, "weight"),
                recurrent = stacked(c, kLstmRecurrentWeights, "recurrent");
  if (!c.ok()) return;
  const Type of_bias{DType::f32, {static_cast<i64>(bias.size())}, {}};
  const std::vector<float> none(bias.size());
  std::vector<ValueId> in{x, weight, recurrent,
                          c.constant("bias", of_bias, constant_of(std::move(bias))),
                          c.constant("recurrent_bias", of_bias, constant_of(none))};
  for (const size_t i : {kLstmHiddenState, kLstmCellState})
    in.push_back(
        c.reshape(c.kept(i), {1, s.batch, s.units}, i == kLstmHiddenState ? "hidden" : "cell"));
  Lstm op;
  op.form.batch_first = !o.time_major();
  const std::vector<ValueId> results = c.add_all(op, std::move(in));
  if (!c.ok()) return;
  c.result(results[0]);
  c.keep(kLstmHiddenState, c.reshape(results[1], {s.batch, s.units}, "hidden_after"));
  c.keep(kLstmCellState, c.reshape(results[2], {s.batch, s.units}, "cell_after"));
}

}  // namespace

static void import_unidirectional_sequence_lstm(Call& c) {
  const auto* o = c.options<UnidirectionalSequenceLSTMOptions>();
  c.takes(kLstmX + 1, kMostLstmOperands);
  c.require(c.operands() >= kFewestOperands, "has another number of operands",
            std::to_string(c.operands()), fmt::format("{}..{}", kFewestOperands, kMostLstmOperands),
            "tflite.operator.operands");
  if (!c.ok()) return;
  refuse_variants(c, *o);
  for (const size_t i : {kLstmHiddenState, kLstmCellState})
    c.require(c.has(i), "lacks a state", fmt::format("operand {} is left out", i), "an operand",
              "tflite.operator.operands");
  if (!c.ok()) return;
  const LstmSizes s = sizes_of(c, *o);
  if (!c.ok()) return;
  const bool of_steps =
      !c.declared(kLstmX).quant.empty() || !c.declared(kLstmHiddenState).quant.empty();
  of_steps ? import_integer_lstm(c, *o, s) : import_float(c, *o, s);
}

static constexpr ImportRow kRecurrentRows[] = {
    {BuiltinOperator::UNIDIRECTIONAL_SEQUENCE_LSTM, import_unidirectional_sequence_lstm,
     Int16::taken},
};
ImportRows recurrent_rows() { return kRecurrentRows; }

}  // namespace deuteron::tflite
