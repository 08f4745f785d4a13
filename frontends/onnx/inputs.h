// SPDX-License-Identifier: Apache-2.0
// The inputs of an ONNX model, with the sizes that are fixed for the program.
#pragma once
#include "frontends/onnx/call/state.h"
#include "frontends/onnx/import.h"

namespace deuteron::onnx {

// Adds them to the graph. A size that the file leaves open is the user's, or 1 in the first axis
// and wherever the same name stands; else it is reported. An input that is an initializer, too, is
// that constant.
void declare_inputs(ImportState& state, const ModelGraph& model, const InputShapes& given);

}  // namespace deuteron::onnx
