// SPDX-License-Identifier: Apache-2.0
// Reads an ONNX file (protobuf, and files of external data beside it) into plain data.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/diagnostic.h"
#include "frontends/onnx/file/model.h"

namespace deuteron::onnx {

// Nothing: a diagnostic says why. `folder` is where external data may lie, "" for nowhere: paths
// that leave it are refused. What is read: tensors whose elements fit their shapes, of at most
// kMaxRank axes. Names, operators and the order of nodes are not looked at.
std::optional<Model> open_onnx(std::span<const u8> bytes, const std::string& name,
                               const std::string& folder, Diagnostics& diagnostics);

// Whether a file that begins so may be a ModelProto: its first field is the version of the schema,
// or another one that writers put first.
bool may_be_onnx(std::string_view start);

}  // namespace deuteron::onnx
