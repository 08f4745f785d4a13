// SPDX-License-Identifier: Apache-2.0
// What an operator reads: its tensors as values of the graph, and what constants say.
#include "frontends/tflite/call/call.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/tensor/elements.h"
#include "ops/families.h"

namespace deuteron::tflite {

static const Type kNothing;

const Type& Call::declared(size_t i) { return has(i) ? state_.tensors[in_[i]].type : kNothing; }
const Type& Call::declared_result(size_t i) {
  return i < out_.size() ? state_.tensors[out_[i]].type : kNothing;
}
bool Call::is_bytes(size_t i) const { return has(i) && state_.tensors[in_[i]].shifted; }
bool Call::is_empty(size_t i) const {
  return has(i) && state_.tensors[in_[i]].state == ModelTensor::State::empty;
}
bool Call::is_constant(size_t i) { return has(i) && state_.tensors[in_[i]].constant.has_value(); }

bool Call::is_made_of_constants(size_t i) {
  constexpr int kMostMoves = 16;
  ValueId v = in(i);
  for (int k = 0; ok_ && k < kMostMoves; ++k) {
    if (state_.graph.is_constant(v)) return true;
    const Node* node = maker(v);
    if (!node || node->inputs.size() != 1 || !(is_movement(node->op) || is_dequantize(node->op)))
      return false;
    v = node->inputs[0];
  }
  return false;
}

ModelTensor* Call::tensor(size_t i, bool takes_complex) {
  if (!ok_) return nullptr;
  require(has(i), "lacks an operand that it needs", fmt::format("operand {} is left out", i),
          "an operand", "tflite.operator.operands");
  if (!ok_) return nullptr;
  ModelTensor& t = state_.tensors[in_[i]];
  if (t.unsupported) {
    const Refusal& r = *t.unsupported;
    refuse({fmt::format("tensor `{}` {}", t.name, r.what), r.measured, r.limit, r.rule});
  } else if (t.state == ModelTensor::State::empty) {
    refuse({fmt::format("reads `{}`, which has no elements", t.name), "0", "1..",
            "tflite.tensor.extent"});
  } else if (t.state == ModelTensor::State::broken) {
    ok_ = false;  // reported
  } else if (!t.constant && t.state == ModelTensor::State::unknown) {
    if (t.is_variable)
      refuse({fmt::format("reads the tensor `{}`, which keeps its content from call to call: only "
                          "SVDF takes such tensors, others take "
                          "resource variables",
                          t.name),
              "", "", "tflite.graph.variable"});
    else
      refuse(
          {fmt::format("reads `{}`, which is not an input, has no data and is made by no operator "
                       "before this one",
                       t.name),
           "", "", "tflite.graph.order"},
          "write the file again: its operators stand in the order in which they run, and "
          "constants have a buffer");
  }
  if (ok_ && t.is_complex && !takes_complex)
    refuse({fmt::format("reads `{}`, which is of complex numbers", t.name), "COMPLEX64",
            "COMPLEX_ABS, IMAG, REAL, RESHAPE", "tflite.tensor.complex"});
  fit_int16(t);
  return ok_ ? &t : nullptr;
}

bool Call::is_complex(size_t i) const { return has(i) && state_.tensors[in_[i]].is_complex; }
Call::Complex Call::complex(size_t i) {
  const ModelTensor* t = tensor(i, true);
  require(!t || t->is_complex, "takes complex numbers", t ? to_text(t->type) : "", "COMPLEX64",
          "tflite.tensor.complex");
  return ok_ ? Complex{t->value, t->imaginary} : Complex{-1, -1};
}

void Call::fit_int16(const ModelTensor& t) {
  if (!ok_ || t.type.dtype != DType::s16) return;
  require(!t.type.quant.empty(), fmt::format("tensor `{}` is of int16 without a scale", t.name),
          "s16", "with a scale", "tflite.quant.missing");
  for (const i32 zero : t.type.quant.zero_point)
    require(zero == 0 || int16_ == Int16::any_zero,
            fmt::format("tensor `{}` is int16 and has a zero point", t.name), std::to_string(zero),
            "0", "tflite.tensor.int16");
  if (ok_ && int16_ == Int16::refused)
    refuse({fmt::format(
                "takes or makes `{}`, which is int16: {} has no form for int16 activations (16x8)",
                t.name, builtin_),
            "INT16", "INT8, FLOAT32", "tflite.tensor.int16"},
           "convert the model with int8 activations; docs/formats.md has the operators that int16 "
           "has");
}

ValueId Call::value_of(ModelTensor& t) {
  if (t.value < 0 && t.constant) t.value = state_.graph.add_value(t.name, t.type, t.constant);
  return t.value;
}

const Quant& Call::quant_of_int32(size_t i) {
  return has(i) ? state_.tensors[in_[i]].of_int32 : kNothing.quant;
}
const Quant& Call::result_quant_of_int32(size_t i) {
  return i < out_.size() ? state_.tensors[out_[i]].of_int32 : kNothing.quant;
}

const Quant* Call::intermediate_quant(size_t i) {
  const std::span<const i32> ids = ints_of(op_.intermediates());
  if (i >= ids.size() || ids[i] < 0 || static_cast<size_t>(ids[i]) >= state_.tensors.size())
    return nullptr;
  const Quant& quant = state_.tensors[ids[i]].type.quant;
  return quant.empty() ? nullptr : &quant;
}

ValueId Call::constant_value(size_t i) {
  ModelTensor& t = state_.tensors[in_[i]];
  require(t.constant.has_value(), fmt::format("operand {} is computed, it has to be a constant", i),
          "", "", "tflite.operand.constant");
  return ok_ ? value_of(t) : -1;
}

ValueId Call::in(size_t i) {
  ModelTensor* t = tensor(i);
  if (!t) return -1;
  if (!t->type.quant.empty()) {
    steps_of(*t);
    return steps_to_real(*t);
  }
  const DType d = t->type.dtype;
  if (d == DType::s8 || d == DType::u8)
    refuse({fmt::format("tensor `{}` is of 8-bit integers without a scale", t->name),
            std::string(name_of(d)), "with scale and zero point", "tflite.quant.missing"});
  return ok_ ? value_of(*t) : -1;
}

ValueId Call::real(size_t i) {
  const ValueId v = in(i);
  if (ok_)
    require(type(v).dtype == DType::f32,
            fmt::format("operand {} is of integers, for which there is no kernel", i),
            std::string(name_of(type(v).dtype)), "FLOAT32, INT8, UINT8, INT16",
            "tflite.operand.type");
  return ok_ ? v : -1;
}

std::vector<i64> Call::integers(size_t i) {
  ModelTensor* t = tensor(i);
  if (!t) return {};
  require(t->constant.has_value(),
          fmt::format("operand {} is computed, it has to be a constant", i), "", "",
          "tflite.operand.constant");
  const DType d = t->type.dtype;
  require(d == DType::s32 || d == DType::s64, fmt::format("operand {} is not of integers", i),
          std::string(name_of(d)), "INT32, INT64", "tflite.operand.type");
  if (!ok_) return {};
  std::vector<i64> values;
  if (d == DType::s64) values.assign(t->constant->as<i64>().begin(), t->constant->as<i64>().end());
  else values.assign(t->constant->as<i32>().begin(), t->constant->as<i32>().end());
  return values;
}

std::vector<float> Call::numbers(size_t i) {
  ModelTensor* t = tensor(i);
  if (!t) return {};
  require(t->constant.has_value(),
          fmt::format("operand {} is computed, it has to be a constant", i), "", "",
          "tflite.operand.constant");
  require(!t->type.quant.per_channel(), fmt::format("operand {} has several scales", i), "", "",
          "tflite.quant.channels");
  const DType d = t->type.dtype;
  require(d == DType::f32 || !t->type.quant.empty(),
          fmt::format("operand {} is not of real values", i), std::string(name_of(d)),
          "FLOAT32, INT8", "tflite.operand.type");
  return ok_ ? numbers_of(t->constant->bytes.data(), t->type) : std::vector<float>();
}

std::span<const int8_t> Call::steps(size_t i) {
  ModelTensor* t = tensor(i);
  if (!t) return {};
  require(t->constant.has_value() && t->type.dtype == DType::s8,
          fmt::format("operand {} is not an int8 constant", i), "", "", "tflite.operand.constant");
  return ok_ ? t->constant->as<int8_t>() : std::span<const int8_t>();
}

std::vector<float> Call::scaled_integers(size_t i, double scale) {
  std::vector<float> values;
  for (const i64 v : integers(i))
    values.push_back(static_cast<float>(static_cast<double>(v) * scale));
  return values;
}

std::optional<bool> Call::known_truth(size_t i) {
  const ModelTensor* t = tensor(i);
  if (!t || !t->constant || t->type.dtype != DType::b8 || t->type.elements() != 1)
    return std::nullopt;
  return t->constant->as<u8>()[0] != 0;
}

i64 Call::axis(i64 value, i64 rank) {
  require(value >= -rank && value < rank, "names an axis that its operand does not have",
          std::to_string(value), fmt::format("{}..{}", -rank, rank - 1), "tflite.operator.axis");
  return !ok_ ? 0 : value < 0 ? value + rank : value;
}

Axes Call::axes(size_t i, i64 rank) {
  Axes result;
  for (const i64 v : integers(i)) result.push_back(axis(v, rank));
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return ok_ ? result : Axes();
}

const Type& Call::type(ValueId v) const { return v < 0 ? kNothing : state_.graph.type(v); }
const Shape& Call::shape(ValueId v) const { return type(v).shape; }

}  // namespace deuteron::tflite
