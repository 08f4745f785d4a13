// SPDX-License-Identifier: Apache-2.0
// A part of an ONNX model (base/data/model_part.h).
#pragma once
#include "base/data/model_part.h"
#include "frontends/onnx/file/model.h"

namespace deuteron::onnx {

// What is not of the part goes. False: reported.
bool cut(Model& model, const ModelPart& part, const std::string& name, Diagnostics& diagnostics);

}  // namespace deuteron::onnx
