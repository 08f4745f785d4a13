// SPDX-License-Identifier: Apache-2.0
#include "explain/inspect/stock_view.h"

#include <flatbuffers/flexbuffers.h>
#include <fmt/format.h>

#include <map>

#include "base/tflite/tflite_generated.h"
#include "explain/inspect/writes.h"

namespace deuteron {
namespace {

tflite::TensorType type_of(ScalarType type) {
  switch (type) {
    case ScalarType::u8:
      return tflite::TensorType::UINT8;
    case ScalarType::s8:
      return tflite::TensorType::INT8;
    case ScalarType::s16:
      return tflite::TensorType::INT16;
    case ScalarType::s32:
      return tflite::TensorType::INT32;
    case ScalarType::s64:
      return tflite::TensorType::INT64;
    case ScalarType::f16:
      return tflite::TensorType::FLOAT16;
    case ScalarType::f32:
      return tflite::TensorType::FLOAT32;
    case ScalarType::f64:
      return tflite::TensorType::FLOAT64;
    case ScalarType::b8:
      return tflite::TensorType::BOOL;
  }
  return tflite::TensorType::INT8;
}

class View {
 public:
  View(const PteSummary& program, File file) : program_(program), file_(file) {
    buffers_.push_back(tflite::CreateBuffer(b_));
  }

  std::vector<u8> write() {
    std::vector<i32> inputs, outputs;
    for (const PteTensor& t : program_.inputs)
      inputs.push_back(entered(t, fmt::format("input{}", inputs.size())));
    for (size_t k = 0; k < program_.calls.size(); ++k) add_call(program_.calls[k], k);
    for (const PteTensor& t : program_.outputs) outputs.push_back(read(t));
    const auto graph =
        tflite::CreateSubGraphDirect(b_, &tensors_, &inputs, &outputs, &ops_, "forward");
    const std::vector<flatbuffers::Offset<tflite::SubGraph>> graphs{graph};
    tflite::FinishModelBuffer(
        b_, tflite::CreateModelDirect(
                b_, 3, &codes_, &graphs,
                "a program's calls, for a look: deuteron inspect --stock-view", &buffers_));
    return {b_.GetBufferPointer(), b_.GetBufferPointer() + b_.GetSize()};
  }

 private:
  i32 add(const PteTensor& t, const std::string& name, uint32_t buffer = 0) {
    flatbuffers::Offset<tflite::QuantizationParameters> q;
    if (!t.steps.empty()) {
      const std::vector<int64_t> zeros(t.steps.zero_point.begin(), t.steps.zero_point.end());
      q = tflite::CreateQuantizationParametersDirect(b_, nullptr, nullptr, &t.steps.scale, &zeros);
    }
    const std::vector<i32> sizes(t.sizes.begin(), t.sizes.end());
    tensors_.push_back(
        tflite::CreateTensorDirect(b_, &sizes, type_of(t.type), buffer, name.c_str(), q));
    return static_cast<i32>(tensors_.size()) - 1;
  }

  i32 entered(const PteTensor& t, const std::string& name) {
    const i32 tensor = add(t, name);
    values_[tensor] = t.value;
    writes_.add(t, tensor);
    return tensor;
  }

  i32 constant(const PteTensor& t) {
    const auto [place, is_new] = constants_.try_emplace(t.value, 0);
    if (!is_new) return place->second;
    const auto* data = static_cast<const u8*>(file_.data) + t.offset;
    b_.ForceVectorAlignment(static_cast<size_t>(t.bytes), 1, 16);
    buffers_.push_back(
        tflite::CreateBuffer(b_, b_.CreateVector(data, static_cast<size_t>(t.bytes))));
    return place->second = add(t, fmt::format("constant{}", t.value),
                               static_cast<uint32_t>(buffers_.size()) - 1);
  }

  // The tensor of a read. What is seen in another shape than it was written in, or lies in several
  // writes, comes from a `view`.
  i32 read(const PteTensor& t) {
    if (t.constant) return constant(t);
    const std::vector<i32> from = writes_.behind(t);
    if (from.size() == 1 && values_[from[0]] == t.value) return from[0];
    const auto [place, is_new] = seen_.try_emplace({t.value, from}, 0);
    if (!is_new) return place->second;
    place->second = add(t, fmt::format("{}{}", from.empty() ? "state" : "value", t.value));
    if (!from.empty()) add_op("view", from, {place->second}, {});
    return place->second;
  }

  void add_op(const std::string& name, const std::vector<i32>& in, const std::vector<i32>& out,
              const std::vector<u8>& attributes) {
    const auto [place, is_new] =
        code_index_.try_emplace(name, static_cast<uint32_t>(codes_.size()));
    if (is_new)
      codes_.push_back(
          tflite::CreateOperatorCodeDirect(b_, static_cast<int8_t>(tflite::BuiltinOperator::CUSTOM),
                                           name.c_str(), 1, tflite::BuiltinOperator::CUSTOM));
    ops_.push_back(tflite::CreateOperatorDirect(b_, place->second, &in, &out,
                                                tflite::BuiltinOptions::NONE, 0,
                                                attributes.empty() ? nullptr : &attributes));
  }

  void add_call(const PteCall& call, size_t number) {
    std::vector<i32> in, out;
    for (const PteTensor& t : call.reads) in.push_back(read(t));
    for (const PteTensor& t : call.writes)
      out.push_back(entered(t, fmt::format("value{}.{}", t.value, number)));
    const size_t dot = call.op.find('.');  // Netron shows what follows a dot, and nothing else
    flexbuffers::Builder attributes;
    attributes.Map([&] {
      attributes.Int("call", static_cast<i64>(number));
      if (dot != std::string::npos) attributes.String("overload", call.op.substr(dot + 1));
      for (size_t i = 0; i < call.args.size(); ++i)
        attributes.String(fmt::format("argument {}", i).c_str(), call.args[i]);
    });
    attributes.Finish();
    add_op(call.op.substr(0, dot), in, out, attributes.GetBuffer());
  }

  const PteSummary& program_;
  const File file_;
  flatbuffers::FlatBufferBuilder b_;
  std::vector<flatbuffers::Offset<tflite::Buffer>> buffers_;
  std::vector<flatbuffers::Offset<tflite::Tensor>> tensors_;
  std::vector<flatbuffers::Offset<tflite::Operator>> ops_;
  std::vector<flatbuffers::Offset<tflite::OperatorCode>> codes_;
  std::map<std::string, uint32_t> code_index_;
  std::map<i64, i32> constants_;
  Writes writes_;              // by tensor
  std::map<i32, i64> values_;  // of the tensors that calls write
  std::map<std::pair<i64, std::vector<i32>>, i32> seen_;
};

}  // namespace

std::vector<u8> stock_view(const PteSummary& program, File file) {
  return View(program, file).write();
}

}  // namespace deuteron
