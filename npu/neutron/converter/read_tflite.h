// SPDX-License-Identifier: Apache-2.0
// Reads Neutron IR: a TFLite model of one subgraph with int8 operators becomes steps. Total:
// whatever the bytes are, the answer is a model or diagnostics. Constants of the model refer to
// `bytes`.
#pragma once
#include <span>

#include "base/diagnostic.h"
#include "npu/neutron/converter/operation.h"

namespace deuteron::neutron {

std::optional<Model> read_tflite(std::span<const u8> bytes, Diagnostics& diagnostics);

}  // namespace deuteron::neutron
