// SPDX-License-Identifier: Apache-2.0
// Writes small ONNX models byte by byte, for tests and the seeds of the fuzzer: sound ones, and
// such as no library would write.
#pragma once
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/tensor/type.h"

namespace deuteron::onnx {

// The fields of a message, one behind the other. Numbers: onnx.proto.
class Writer {
 public:
  Writer& number(uint32_t field, i64 value) {
    varint(field << 3);
    return varint(static_cast<uint64_t>(value)), *this;
  }
  Writer& text(uint32_t field, std::string_view value) {
    varint(field << 3 | 2);
    varint(value.size());
    return bytes_ += value, *this;
  }
  Writer& message(uint32_t field, const Writer& inner) { return text(field, inner.bytes_); }
  const std::string& bytes() const { return bytes_; }

 private:
  void varint(uint64_t value) {
    for (; value > 127; value >>= 7) bytes_ += static_cast<char>((value & 127) | 128);
    bytes_ += static_cast<char>(value);
  }
  std::string bytes_;
};

inline Writer tensor_of(std::string_view name, const Shape& shape, const std::vector<float>& data) {
  Writer t;
  for (const i64 extent : shape) t.number(1, extent);
  t.number(2, 1).text(8, name);
  return t.text(9, {reinterpret_cast<const char*>(data.data()), data.size() * sizeof(float)});
}
inline Writer tensor_of(std::string_view name, const Shape& shape, const std::vector<i64>& data) {
  Writer t;
  for (const i64 extent : shape) t.number(1, extent);
  t.number(2, 7).text(8, name);
  return t.text(9, {reinterpret_cast<const char*>(data.data()), data.size() * sizeof(i64)});
}
inline Writer integers_of(std::string_view name, const std::vector<i64>& values) {
  Writer a;
  a.text(1, name).number(20, 7);
  for (const i64 v : values) a.number(8, v);
  return a;
}
inline Writer node_of(std::string_view op, const std::vector<std::string>& inputs,
                      std::string_view output, const std::vector<Writer>& attributes = {}) {
  Writer n;
  for (const std::string& input : inputs) n.text(1, input);
  n.text(2, output).text(4, op);
  for (const Writer& a : attributes) n.message(5, a);
  return n;
}
inline Writer input_of(std::string_view name, const Shape& shape) {
  Writer extents, type, kind, port;
  for (const i64 extent : shape) extents.message(1, Writer().number(1, extent));
  type.number(1, 1).message(2, extents);
  kind.message(1, type);
  return port.text(1, name).message(2, kind), port;
}
inline std::string model_of(const Writer& graph, i64 opset = 17) {
  return Writer().number(1, 8).message(7, graph).message(8, Writer().number(2, opset)).bytes();
}

// A convolution, a pool, a reshape by a computed shape, a fully connected layer.
inline std::string small_model() {
  Writer g;
  g.message(1, node_of("Conv", {"x", "w"}, "c",
                       {integers_of("pads", {1, 1, 1, 1}), integers_of("strides", {1, 1})}));
  g.message(1, node_of("MaxPool", {"c"}, "m",
                       {integers_of("kernel_shape", {2, 2}), integers_of("strides", {2, 2})}));
  g.message(1, node_of("Shape", {"m"}, "s"));
  g.message(1, node_of("Slice", {"s", "from", "to"}, "s1"));
  g.message(1, node_of("Concat", {"s1", "rest"}, "wanted",
                       {Writer().text(1, "axis").number(20, 2).number(3, 0)}));
  g.message(1, node_of("Reshape", {"m", "wanted"}, "f"));
  g.message(1, node_of("Gemm", {"f", "v"}, "y"));
  g.message(5, tensor_of("w", {3, 2, 3, 3}, std::vector<float>(54, 0.5f)))
      .message(5, tensor_of("v", {12, 2}, std::vector<float>(24, -0.25f)));
  g.message(5, tensor_of("from", {1}, std::vector<i64>{0}))
      .message(5, tensor_of("to", {1}, std::vector<i64>{1}));
  g.message(5, tensor_of("rest", {1}, std::vector<i64>{-1}));
  g.message(11, input_of("x", {1, 2, 4, 4})).message(12, Writer().text(1, "y"));
  return model_of(g);
}

}  // namespace deuteron::onnx
