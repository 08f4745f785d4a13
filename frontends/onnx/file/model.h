// SPDX-License-Identifier: Apache-2.0
// An ONNX model as plain data: what the import uses of the file, checked for kind and size, nothing
// interpreted.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/tensor/constant.h"
#include "base/tensor/type.h"

namespace deuteron::onnx {

inline constexpr i64 kOldestOpset = 10, kNewestOpset = 28;  // of the standard's operators
inline constexpr size_t kMaxRank = 8;

// TensorProto.DataType, those that the import tells apart.
enum class Element : i32 {
  undefined = 0,
  f32 = 1,
  u8 = 2,
  s8 = 3,
  u16 = 4,
  s16 = 5,
  s32 = 6,
  s64 = 7,
  text = 8,
  b8 = 9,
  f16 = 10,
  f64 = 11,
  u32 = 12,
  u64 = 13,
  bf16 = 16,
  u4 = 21,
  s4 = 22
};
std::string name_of(Element);  // "FLOAT"; "type 99" for a number that the schema does not name
i64 bits_of(Element);          // of one element; 0: not a type whose elements are read

struct ModelTensor {
  std::string name;
  Element type = Element::undefined;
  Shape shape;
  Constant data;  // dense, little-endian; elements of 4 bits in pairs, the first one low. Empty: of
                  // a type whose elements are not read
};

struct ModelGraph;

struct Attribute {
  enum class Kind : u8 { other, real, integer, text, tensor, graph, reals, integers, texts };
  std::string name;
  Kind kind = Kind::other;
  double real = 0;
  i64 integer = 0;
  std::string text;
  std::vector<float> reals;
  std::vector<i64> integers;
  std::vector<std::string> texts;
  std::shared_ptr<const ModelTensor> tensor;
  std::shared_ptr<const ModelGraph> graph;
  std::string
      reference;  // within a function: the attribute of the call that it stands for; empty: none
};

struct ModelNode {
  std::string op, domain, name;              // domain "": the standard's
  std::vector<std::string> inputs, outputs;  // "": left out
  std::vector<Attribute> attributes;
};

// An extent that the file leaves open is -1, with the name that it has there ("" for none).
struct ModelPort {
  std::string name;
  Element type = Element::undefined;
  bool has_shape = false;
  Shape shape;
  std::vector<std::string> symbols;  // one for each axis
};

struct ModelGraph {
  std::string name;
  std::vector<ModelNode> nodes;
  std::vector<ModelPort> inputs, outputs;
  std::vector<ModelTensor> initializers;
};

struct OperatorSet {
  std::string domain;  // "": the standard's
  i64 version = 0;
};

struct Function {
  std::string domain, name, overload;
  std::vector<std::string> inputs, outputs;
  std::vector<Attribute> defaults;
  std::vector<ModelNode> nodes;
};

struct Model {
  i64 ir_version = 0;
  std::string producer;
  std::vector<OperatorSet> opsets;
  ModelGraph graph;
  std::vector<Function> functions;
  i64 opset() const;  // of the standard's operators
};

}  // namespace deuteron::onnx
