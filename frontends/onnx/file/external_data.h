// SPDX-License-Identifier: Apache-2.0
// The elements of a tensor that lie in a file beside the model.
#pragma once
#include <map>
#include <optional>
#include <string>

#include "base/diagnostic.h"
#include "base/tensor/constant.h"
#include "base/tensor/type.h"

namespace deuteron::onnx {

// The files of one model: each is mapped once.
class ExternalFiles {
 public:
  explicit ExternalFiles(std::string folder) : folder_(std::move(folder)) {}

  struct Place {
    std::string location;  // a path below the model's folder
    i64 offset = 0;
    i64 length = -1;  // -1: the file does not say
  };
  // `bytes` are how many the tensor has. What is wrong is in `fault`; the rule is onnx.external.*.
  std::optional<Constant> read(const Place& place, i64 bytes, Diagnostic& fault);

 private:
  struct File {
    std::shared_ptr<const void> owner;
    std::span<const std::byte> bytes;
  };
  std::string folder_;
  std::map<std::string, File> files_;
};

}  // namespace deuteron::onnx
