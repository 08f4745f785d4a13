// SPDX-License-Identifier: Apache-2.0
// What a Neutron IR model computes, as the converter sees it: tensors, and operations in execution
// order. An operation becomes calls of kernels, or disappears. What there is to know of a kind of
// operation says its definition (operation_def.h).
#pragma once
#include <any>
#include <optional>
#include <string>
#include <vector>

#include "base/tensor/constant.h"
#include "base/tensor/type.h"

namespace deuteron::neutron {

using TensorId = i32;
inline constexpr TensorId kNoTensor = -1;

struct Tensor {
  std::string name;
  Type type;
  std::optional<Constant> constant;
};

// A window over [n, h, w, c]; pads in elements of the image, on the side before and after.
struct Window {
  i64 kernel_h = 1, kernel_w = 1, stride_h = 1, stride_w = 1, dilation_h = 1, dilation_w = 1;
  i64 top = 0, left = 0, bottom = 0, right = 0;
  bool padded() const { return top | left | bottom | right; }
  bool operator==(const Window&) const = default;
};

struct OperationDef;

struct Operation {
  const OperationDef* def = nullptr;
  std::any attributes;           // only the folder of the definition looks inside
  std::vector<TensorId> inputs;  // kNoTensor: an optional operand that is left out
  TensorId output = kNoTensor;
  Quant y;  // what the result is computed in; its scale may differ from the tensor's where a fusion
            // has kept the bits
  i32 low = -128, high = 127;  // bounds of the result, for operations that requantize or compare
  std::vector<i32> origins;    // TFLite operators, sorted

  template <class Attributes>
  const Attributes& as() const {
    return *std::any_cast<Attributes>(&attributes);
  }
  template <class Attributes>
  Attributes& as() {
    return *std::any_cast<Attributes>(&attributes);
  }
};

// A TFLite operator without a kernel of its own, and why.
struct Vanished {
  i32 op = 0;
  std::string reason;
  bool operator==(const Vanished&) const = default;
};

struct Model {
  std::vector<Tensor> tensors;
  std::vector<Operation> operations;
  std::vector<TensorId> inputs, outputs;
  std::vector<std::string> op_names;  // by TFLite operator: "CONV_2D", for reports
  std::vector<Vanished> vanished;

  TensorId add_tensor(std::string name, Type type,
                      std::optional<Constant> constant = std::nullopt) {
    tensors.push_back({std::move(name), std::move(type), std::move(constant)});
    return static_cast<TensorId>(tensors.size()) - 1;
  }
  const Type& type(TensorId t) const { return tensors[t].type; }
  bool is_constant(TensorId t) const { return tensors[t].constant.has_value(); }
};

}  // namespace deuteron::neutron
