// SPDX-License-Identifier: Apache-2.0
// Writes small TFLite models, operator by operator: for tests.
#pragma once
#include <algorithm>
#include <string>
#include <vector>

#include "base/tensor/type.h"
#include "base/tflite/tflite_generated.h"

namespace deuteron::tflite {

class Writer {
 public:
  Writer() { buffers_.push_back(tflite::CreateBuffer(b_)); }

  i32 tensor(const Shape& shape, float scale, i32 zero, const char* name = "t") {
    return add(shape, tflite::TensorType::INT8, {scale}, zero, 0, 0, name);
  }
  i32 constant(const Shape& shape, const std::vector<int8_t>& data, std::vector<float> scales,
               i32 zero = 0, i32 axis = 0) {
    return add(shape, tflite::TensorType::INT8, scales, zero, axis,
               buffer(data.data(), data.size()), "constant");
  }
  i32 constant(const std::vector<i32>& data, Shape shape = {}) {
    if (shape.empty()) shape = {static_cast<i64>(data.size())};
    return add(shape, tflite::TensorType::INT32, {}, 0, 0, buffer(data.data(), data.size() * 4),
               "integers");
  }
  template <class Options = int>
  i32 op(tflite::BuiltinOperator code, const std::vector<i32>& in, i32 out,
         tflite::BuiltinOptions type = tflite::BuiltinOptions::NONE,
         flatbuffers::Offset<Options> options = {}) {
    const std::vector<i32> outs{out};
    ops_.push_back(
        tflite::CreateOperatorDirect(b_, code_index(code), &in, &outs, type, options.Union()));
    return out;
  }
  template <class Options = int>
  void op(tflite::BuiltinOperator code, const std::vector<i32>& in, const std::vector<i32>& outs,
          tflite::BuiltinOptions type = tflite::BuiltinOptions::NONE,
          flatbuffers::Offset<Options> options = {}) {
    ops_.push_back(
        tflite::CreateOperatorDirect(b_, code_index(code), &in, &outs, type, options.Union()));
  }
  // With options of the second kind.
  template <class Options>
  i32 op2(tflite::BuiltinOperator code, const std::vector<i32>& in, i32 out,
          flatbuffers::Offset<Options> options) {
    const std::vector<i32> outs{out};
    ops_.push_back(tflite::CreateOperatorDirect(
        b_, code_index(code), &in, &outs, tflite::BuiltinOptions::NONE, 0, nullptr,
        tflite::CustomOptionsFormat::FLEXBUFFERS, nullptr, nullptr, 0, 0,
        tflite::BuiltinOptions2Traits<Options>::enum_value, options.Union()));
    return out;
  }
  flatbuffers::FlatBufferBuilder& builder() { return b_; }

  // What follows belongs to another subgraph.
  void finish_subgraph(const std::vector<i32>& inputs, const std::vector<i32>& outputs) {
    graphs_.push_back(
        tflite::CreateSubGraphDirect(b_, &tensors_, &inputs, &outputs, &ops_, "main"));
    tensors_.clear(), ops_.clear();
  }
  std::vector<u8> finish(const std::vector<i32>& inputs, const std::vector<i32>& outputs) {
    finish_subgraph(inputs, outputs);
    std::vector<flatbuffers::Offset<tflite::OperatorCode>> codes;
    for (const auto c : codes_)
      codes.push_back(tflite::CreateOperatorCodeDirect(
          b_, static_cast<int8_t>(std::min(static_cast<int>(c), 127)),
          c == tflite::BuiltinOperator::CUSTOM ? custom_.c_str() : nullptr, 1, c));
    tflite::FinishModelBuffer(b_,
                              tflite::CreateModelDirect(b_, 3, &codes, &graphs_, "", &buffers_));
    return {b_.GetBufferPointer(), b_.GetBufferPointer() + b_.GetSize()};
  }
  void name_custom(std::string name) { custom_ = std::move(name); }

  i32 add(const Shape& shape, tflite::TensorType type, const std::vector<float>& scales, i32 zero,
          i32 axis, uint32_t buffer, const char* name, bool is_variable = false) {
    flatbuffers::Offset<tflite::QuantizationParameters> q;
    if (!scales.empty()) {
      const std::vector<int64_t> zeros(scales.size(), zero);
      q = tflite::CreateQuantizationParametersDirect(b_, nullptr, nullptr, &scales, &zeros,
                                                     tflite::QuantizationDetails::NONE, 0, axis);
    }
    const std::vector<i32> extents(shape.begin(), shape.end());
    tensors_.push_back(
        tflite::CreateTensorDirect(b_, &extents, type, buffer, name, q, is_variable));
    return static_cast<i32>(tensors_.size()) - 1;
  }
  uint32_t buffer(const void* data, size_t bytes) {
    b_.ForceVectorAlignment(bytes, 1, 16);
    buffers_.push_back(
        tflite::CreateBuffer(b_, b_.CreateVector(static_cast<const u8*>(data), bytes)));
    return static_cast<uint32_t>(buffers_.size()) - 1;
  }

 private:
  uint32_t code_index(tflite::BuiltinOperator code) {
    const auto at = std::find(codes_.begin(), codes_.end(), code);
    if (at != codes_.end()) return static_cast<uint32_t>(at - codes_.begin());
    codes_.push_back(code);
    return static_cast<uint32_t>(codes_.size()) - 1;
  }

  flatbuffers::FlatBufferBuilder b_;
  std::vector<flatbuffers::Offset<tflite::Buffer>> buffers_;
  std::vector<flatbuffers::Offset<tflite::SubGraph>> graphs_;
  std::vector<flatbuffers::Offset<tflite::Tensor>> tensors_;
  std::vector<flatbuffers::Offset<tflite::Operator>> ops_;
  std::vector<tflite::BuiltinOperator> codes_;
  std::string custom_;
};

}  // namespace deuteron::tflite
