// SPDX-License-Identifier: Apache-2.0
// Takes the operators of a TFLite model over into operations, each checked against its operands.
// What a builtin demands is said beside its operation (kernels/*/operation.cpp), with what is
// offered here.
#pragma once
#include <fmt/format.h>

#include <limits>
#include <string>

#include "base/tflite/open.h"
#include "npu/neutron/converter/operation_def.h"

namespace deuteron::neutron {

inline constexpr i64 kMostExtent = 1 << 24;  // of an axis, and of padding

class OperatorReader {
 public:
  OperatorReader(const tflite::Model& file, Model& model) : file_(file), model_(model) {}

  Fault tensor(const tflite::Tensor& t);
  Fault op(const tflite::Operator& o, i32 index, i32 builtin);

  // Of the operator that is being read.
  Fault wrong(std::string what, std::string measured = {}, std::string limit = {}) const {
    return Refusal{std::move(what), std::move(measured), std::move(limit),
                   fmt::format("neutron.ir.{}", rule_)};
  }
  size_t operands() const { return in_.size(); }
  bool has(size_t i) const { return i < in_.size() && in_[i] != kNoTensor; }
  TensorId in(size_t i) const { return has(i) ? in_[i] : kNoTensor; }
  const Type& type(size_t i) const { return model_.type(in_[i]); }
  const Shape& shape(size_t i) const { return type(i).shape; }
  const Type& y() const { return model_.type(out_); }
  bool is_constant(size_t i) const { return model_.is_constant(in_[i]); }
  std::span<const int8_t> int8_data(size_t i) const {
    return model_.tensors[in_[i]].constant->as<int8_t>();
  }

  Fault int8(size_t i) const;
  Fault int8_result() const;
  Fault same_quant(size_t i) const;
  Fault same_quant_int8() const;  // operand 0 and the result
  Fault shape_of_y(const Shape& expected) const;
  Fault ints(size_t i, std::vector<i64>* values) const;  // of a constant operand
  Fault weights(size_t i, i64 rank, i32 axis, i64 channels) const;
  Fault bias(size_t i, i64 channels) const;
  // A fused activation: bounds of the result in its own steps.
  Fault activation(tflite::ActivationFunctionType a, Operation* s) const;
  Fault axes(size_t i, std::vector<bool>* flags) const;
  // Image, weights and bias of a convolution; `axis` of the weights counts the channels of the
  // result.
  Fault convolved(size_t image, i32 axis, size_t bias_at) const;
  Fault image_result(i64 images, i64 channels) const;
  // Padding and activation of what slides a window over the image `from` to make `to`.
  template <class Options>
  Fault sliding(const Options& p, const Shape& from, const Shape& to, Window* v,
                Operation* s) const {
    DEUTERON_TRY(window(p.padding(), from[1], to[1], v->kernel_h, v->stride_h, v->dilation_h,
                        "height", &v->top, &v->bottom));
    DEUTERON_TRY(window(p.padding(), from[2], to[2], v->kernel_w, v->stride_w, v->dilation_w,
                        "width", &v->left, &v->right));
    return activation(p.fused_activation_function(), s);
  }

  // The operation of the operator. `s`: its bounds.
  Fault push(const OperationDef& def, std::any attributes, std::vector<TensorId> inputs,
             Operation s = {});
  // Those that follow make the result, and this tensor holds what the first of them makes.
  TensorId push_before(const OperationDef& def, std::any attributes, std::vector<TensorId> inputs,
                       std::string name, Type type);

 private:
  Fault quantization(const tflite::Tensor& t, Type* type) const;
  Fault window(tflite::Padding padding, i64 extent, i64 out, i64 kernel, i64 stride, i64 dilation,
               const char* side, i64* before, i64* after) const;

  const tflite::Model& file_;
  Model& model_;
  std::vector<TensorId> in_;
  TensorId out_ = kNoTensor;
  i32 index_ = 0;
  std::string_view rule_;
};

}  // namespace deuteron::neutron
