// SPDX-License-Identifier: Apache-2.0
// A TFLite model from outside: its inputs, outputs and operators by name. What the converter was
// given is held against what it gives back.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "npu/neutron/converter/extract.h"

namespace deuteron::neutron {

struct ModelPort {
  std::string name, dtype;  // "int8"
  std::vector<i32> shape;
  std::vector<float> scale;  // empty: the file does not say
  std::vector<i64> zero_point;
};

struct ModelOperator {
  std::string type;  // "CONV_2D"
  std::vector<std::string> inputs, outputs;
  std::vector<bool> is_constant;  // by input
};

struct ModelFace {
  std::vector<ModelPort> inputs, outputs;
  std::vector<ModelOperator> operators;
};

// Of a model that open_tflite() takes.
ModelFace face_of_model(std::span<const u8> model);

// The ports of `result`, which came for `asked`, by their index in `asked`: by name where the names
// are the same, else by place. Refused with the port and what differs: count, type, shape, scale,
// zero point. Another order is said in a note.
struct PortOrder {
  std::vector<u8> inputs, outputs;
};
std::optional<PortOrder> match_ports(const ModelFace& asked, const ModelFace& result,
                                     const std::string& where, Diagnostics& diagnostics);

}  // namespace deuteron::neutron
