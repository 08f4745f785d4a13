// SPDX-License-Identifier: Apache-2.0
// The program inside a `.pt2` archive as plain data: every field that the import uses, checked for
// kind and size, nothing interpreted.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/diagnostic.h"
#include "base/tensor/limits.h"
#include "frontends/pt2/file/archive.h"

namespace deuteron::pt2 {

inline constexpr i64 kMaxRank = 8;
inline constexpr i64 kMaxElements = kMostElements;  // of one tensor

// Name -> index or value, looked up without making a string.
struct NameHash {
  using is_transparent = void;
  size_t operator()(std::string_view s) const { return std::hash<std::string_view>{}(s); }
};
template <class T>
using ByName = std::unordered_map<std::string, T, NameHash, std::equal_to<>>;

// What the model says of a tensor, in the user's axes. Strides and offset count elements.
struct TensorMeta {
  int dtype_code = 0;  // torch's; docs/formats.md
  std::optional<DType> dtype;
  Shape sizes;
  Axes strides;
  i64 offset = 0;
  bool dynamic = false;  // some size is a symbol; then `sizes` holds the example's
  // Of a dynamic tensor, by axis, and at the end that of the offset; empty where a number stands:
  // frontends/pt2/file/size_expression.h.
  std::vector<std::string> size_expressions, stride_expressions;
};
inline constexpr int kComplex64 = 10;  // the dtype code of pairs of float32
std::optional<DType> dtype_of_code(i64 code);
std::string name_of_code(i64 code);  // "f32", "bf16", "complex64", ...

struct Argument {
  enum class Kind : u8 {
    none,
    tensor,
    tensors,
    integer,
    real,
    boolean,
    text,
    integers,
    reals,
    dtype,
    symbol,
    symbols,
    complex,
    other
  };
  Kind kind = Kind::none;
  i64 integer = 0;  // integer, boolean, dtype (torch's code)
  double real = 0;
  std::string text;  // text; tensor: its name; other: the tag that the file gives it
  std::vector<i64> integers;
  std::vector<double> reals;       // complex: real and imaginary part
  std::vector<std::string> names;  // tensors; empty: none. symbol, symbols: computed sizes or a
                                   // number; empty: the number in `integers`

  bool is_number_symbol() const { return kind == Kind::symbol && text == "sym_float"; }
};

struct ProgramNode {
  std::string target;  // "aten.conv2d.default"
  std::string name;
  std::vector<std::pair<std::string, Argument>> arguments;
  std::vector<std::string> outputs;  // names of tensors; results that are no tensors are left out
  // some result is a symbolic size or another thing that is no tensor
  bool has_other_results = false;
  std::string module, stack;
  std::vector<std::string> sizes = {};    // names of results that are symbolic sizes
  bool is_test = false;                   // a test of a size, or its result
  std::vector<std::string> numbers = {};  // names of results that are real numbers: item()
};

struct ProgramInput {
  enum class Kind : u8 { parameter, buffer, constant, user, literal, other };
  Kind kind = Kind::other;
  std::string name;  // in the graph
  std::string
      key;  // parameter, buffer, constant: the user's name; literal: its value; other: what it is
  // stored among the constants: constants and buffers that are not persistent
  bool in_constants = false;
};

struct ProgramOutput {
  enum class Kind : u8 { tensor, none, literal, buffer_mutation, input_mutation, other };
  Kind kind = Kind::other;
  std::string name;  // tensor and mutations: the value; other: what it is
  std::string key;   // mutations: what is changed
};

struct WeightEntry {
  std::string blob;  // entry in the archive
  TensorMeta meta;
  bool is_param = false;
};

struct DynamicSize {
  std::string symbol, tensor;
  size_t axis = 0;
  std::string range;  // "2..64", empty when the file gives none
  std::optional<i64> low, high;
};

struct Program {
  std::string torch_version, flavour;  // "training", "core"
  std::vector<ProgramNode> nodes;
  std::vector<ProgramInput> inputs;
  std::vector<ProgramOutput> outputs;
  ByName<TensorMeta> tensors;
  ByName<WeightEntry> weights, constants;
  std::vector<DynamicSize> dynamic;  // one for each symbol
  ByName<std::string> sizes;         // expressions of computed sizes, by name
};

// The first fault ends the reading; it is in `diagnostics`.
std::optional<Program> read_program(const Archive& archive, Diagnostics& diagnostics);

}  // namespace deuteron::pt2
