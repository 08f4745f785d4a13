// SPDX-License-Identifier: Apache-2.0
// What reading a protobuf would cost, found before it is read: a few bytes of a file can ask for
// many objects.
#pragma once
#include <cstdint>
#include <span>
#include <string>

namespace deuteron::onnx {

// beyond any model that a microcontroller holds
inline constexpr int64_t kMostMessages = 4'000'000;
// levels of messages: a graph in a graph has 4 more; protobuf itself ends at 100
inline constexpr int kDeepest = 60;

// Walks through the messages of a ModelProto without making anything. Empty: sound and small
// enough; else what is wrong ("is cut off").
struct ScanFault {
  std::string what, measured, limit;
};
ScanFault scan_model(std::span<const uint8_t> bytes);

}  // namespace deuteron::onnx
