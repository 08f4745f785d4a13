// SPDX-License-Identifier: Apache-2.0
#include "frontends/onnx/file/scan.h"

#include <array>
#include <optional>

namespace deuteron::onnx {
namespace {

// The messages that repeat or nest, and which fields of them hold which. Numbers: onnx.proto.
enum class Message : uint8_t { model, graph, node, attribute, tensor, port, function, leaf };
struct Field {
  Message in;
  uint32_t number;
  Message holds;
};
constexpr Field kFields[] = {
    {Message::model, 7, Message::graph},     {Message::model, 8, Message::leaf},
    {Message::model, 25, Message::function}, {Message::graph, 1, Message::node},
    {Message::graph, 5, Message::tensor},    {Message::graph, 11, Message::port},
    {Message::graph, 12, Message::port},     {Message::graph, 15, Message::leaf},
    {Message::node, 1, Message::leaf},       {Message::node, 2, Message::leaf},
    {Message::node, 5, Message::attribute},  {Message::attribute, 5, Message::tensor},
    {Message::attribute, 6, Message::graph}, {Message::attribute, 9, Message::leaf},
    {Message::tensor, 13, Message::leaf},    {Message::port, 2, Message::leaf},
    {Message::function, 4, Message::leaf},   {Message::function, 5, Message::leaf},
    {Message::function, 6, Message::leaf},   {Message::function, 7, Message::node},
    {Message::function, 9, Message::leaf},   {Message::function, 11, Message::attribute},
};

std::optional<Message> held(Message in, uint64_t number) {
  for (const Field& f : kFields)
    if (f.in == in && f.number == number) return f.holds;
  return std::nullopt;
}

class Scan {
 public:
  ScanFault fault;

  bool message(std::span<const uint8_t> bytes, Message kind, int depth) {
    if (depth > kDeepest)
      return fail("nests messages too deep", std::to_string(depth), std::to_string(kDeepest));
    while (!bytes.empty()) {
      uint64_t tag = 0;
      if (!varint(bytes, tag)) return false;
      if (!field(bytes, tag, kind, depth)) return false;
    }
    return true;
  }

 private:
  bool fail(std::string what, std::string measured = {}, std::string limit = {}) {
    fault = {std::move(what), std::move(measured), std::move(limit)};
    return false;
  }
  bool varint(std::span<const uint8_t>& bytes, uint64_t& value) {
    value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (bytes.empty()) return fail("is cut off, or damaged");
      const uint8_t byte = bytes[0];
      bytes = bytes.subspan(1);
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return true;
    }
    return fail("is damaged: it holds a number of more than 64 bits");
  }
  bool skip(std::span<const uint8_t>& bytes, uint64_t count) {
    if (count > bytes.size()) return fail("is cut off, or damaged");
    bytes = bytes.subspan(static_cast<size_t>(count));
    return true;
  }
  // Wire types: 0 varint, 1 eight bytes, 2 a length and as many bytes, 5 four bytes. Groups (3, 4)
  // are not in the schema.
  bool field(std::span<const uint8_t>& bytes, uint64_t tag, Message kind, int depth) {
    uint64_t value = 0;
    switch (tag & 7) {
      case 0:
        return varint(bytes, value);
      case 1:
        return skip(bytes, 8);
      case 5:
        return skip(bytes, 4);
      case 2:
        break;
      default:
        return fail("is damaged: it is not a protobuf of this schema");
    }
    if (!varint(bytes, value)) return false;
    const std::span<const uint8_t> inner = bytes;
    if (!skip(bytes, value)) return false;
    const std::optional<Message> holds = held(kind, tag >> 3);
    if (!holds) return true;
    if (++messages_ > kMostMessages)
      return fail("holds too many parts", "more", std::to_string(kMostMessages));
    return *holds == Message::leaf ||
           message(inner.first(static_cast<size_t>(value)), *holds, depth + 1);
  }
  int64_t messages_ = 0;
};

}  // namespace

ScanFault scan_model(std::span<const uint8_t> bytes) {
  Scan scan;
  scan.message(bytes, Message::model, 0);
  return scan.fault;
}

}  // namespace deuteron::onnx
