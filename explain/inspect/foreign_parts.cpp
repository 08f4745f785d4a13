// SPDX-License-Identifier: Apache-2.0
#include "explain/inspect/foreign_parts.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "base/number_at.h"
#include "runtime/flatbuffer.h"

namespace deuteron {
namespace {

using Octets = std::span<const uint8_t>;

// The nodes of an XNNGraph, by the number of the union's member: from 1.
constexpr const char* kXnnpackNodes[] = {
    "Add",
    "FullyConnected",
    "Softmax",
    "Sigmoid",
    "StaticTranspose",
    "Clamp",
    "Conv2d",
    "Div",
    "StaticResizeBilinear2D",
    "StaticConstantPad",
    "AvgPooling2d",
    "Minimum",
    "DepthwiseConv2d",
    "MaxPooling2d",
    "Multiply",
    "Subtract",
    "Floor",
    "Convert",
    "GlobalAvgPooling2d",
    "StaticReshape",
    "ArgMaxPooling2d",
    "SquareRoot",
    "Ceiling",
    "Hardswish",
    "LeakyReLU",
    "Maximum",
    "Negate",
    "Square",
    "ELU",
    "Abs",
    "PReLU",
    "Concatenate2",
    "Concatenate3",
    "Concatenate4",
    "StaticSlice",
    "ScaledDotProductAttention",
    "BatchMatrixMultiply",
    "Concatenate5",
    "ConvTranspose2d",
    "ReciprocalSquareRoot",
    "Log",
    "Gelu",
    "Tanh",
    "Exp",
    "Sin",
    "Copy",
    "Cos",
};

// Behind four bytes: magic, the header's length, then places and lengths of graph and constants.
ForeignPart read_xnnpack(Octets payload) {
  constexpr size_t kGraphAt = 10, kGraphBytes = 14, kConstantBytes = 22;
  ForeignPart part;
  const uint64_t at = number_at<uint32_t>(payload, kGraphAt);
  const uint64_t bytes = number_at<uint32_t>(payload, kGraphBytes);
  if (payload.size() < kConstantBytes + 8 || std::memcmp(payload.data() + 4, "XH00", 4) != 0 ||
      at > payload.size() || bytes > payload.size() - at || bytes < 8)
    return part.fault = "it is not a graph of XNNPACK", part;
  const auto piece = payload.subspan(at, bytes);
  const std::vector<uint8_t> graph(piece.begin(), piece.end());  // at a multiple of 16
  FlatReader r{graph.data(), static_cast<uint32_t>(bytes)};
  const FlatVector nodes = r.vector(r.table_at(r.load<uint32_t>(0)), 1, 4);
  for (uint32_t i = 0; i < nodes.count && !r.fault; ++i) {
    const uint8_t kind = r.scalar<uint8_t>(r.table(nodes, i), 0);
    part.calls.emplace_back(kind > 0 && kind <= std::size(kXnnpackNodes) ? kXnnpackNodes[kind - 1]
                                                                         : "another node");
  }
  if (r.fault) part.fault = r.fault;
  part.bytes.emplace_back("constants",
                          static_cast<i64>(number_at<uint32_t>(payload, kConstantBytes)));
  return part;
}

// Blocks: a name of 16 bytes, a length, whether the bytes lie elsewhere; they fill lines of 16.
ForeignPart read_vela(Octets payload) {
  constexpr size_t kHeader = 32, kLine = 16, kName = 16;
  ForeignPart part;
  for (size_t at = 0; payload.size() - at >= kHeader;) {
    const char* text = reinterpret_cast<const char*>(payload.data()) + at;
    const std::string_view name(text, strnlen(text, kName));
    const uint64_t bytes = number_at<uint32_t>(payload, at + kName);
    if (at == 0 && name != "vela_bin_stream") break;
    if (name == "vela_end_stream") return part;
    at += kHeader;
    const uint64_t lines = (bytes + kLine - 1) / kLine * kLine;
    if (lines > payload.size() - at) break;
    if (name == "cmd_data") part.bytes.emplace_back("commands", bytes);
    if (name == "weight_data") part.bytes.emplace_back("weights", bytes);
    if (name == "scratch_size")
      part.bytes.emplace_back("scratch", number_at<uint32_t>(payload, at));
    at += lines;
  }
  part.fault = "it is not a stream of Vela's";
  return part;
}

}  // namespace

ForeignPart read_foreign_part(const std::string& backend, Octets payload) {
  if (backend == "XnnpackBackend") return read_xnnpack(payload);
  if (backend == "EthosUBackend") return read_vela(payload);
  return {};
}

}  // namespace deuteron
