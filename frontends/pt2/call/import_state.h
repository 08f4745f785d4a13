// SPDX-License-Identifier: Apache-2.0
// The state of one import: what the tensors' names stand for, and the graph so far.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"
#include "base/tensor/limits.h"
#include "frontends/pt2/file/archive.h"
#include "frontends/pt2/file/program.h"
#include "frontends/pt2/file/weights.h"
#include "ir/graph.h"

namespace deuteron::pt2 {

class OpenSizes;

// What a tensor's name stands for.
struct Meaning {
  ValueId value = -1;      // in the user's axes; -1: not asked for so far
  ValueId imaginary = -1;  // of a complex tensor, whose real part is `value`
  // an input whose storage has another order of axes, until `value` is made from it
  ValueId stored = -1;
  i32 parameter = -1;     // index into ImportState::parameters, until `value` is made from it
  Axes order;             // of `stored`
  NodeId user_axes = -1;  // the Permute from storage to the user's axes: it works for everybody who
                          // reads the value
  i32 memory = -1;        // names with the same number may share memory in the model: an in-place
                          // operator changes them all
  enum class Home : u8 {
    computed,
    input,
    state
  } home = Home::computed;  // what an in-place operator would change
  // A view: result `part` of what `made_by` makes of the tensor `viewed`.
  const ProgramNode* made_by = nullptr;
  std::string viewed;
  size_t part = 0;
  bool is_stale = false;    // its memory has been written since: it is made again before it is read
  std::string unavailable;  // why it cannot be read; empty: it can
};

struct Parameter {
  const ProgramInput* input;
  std::optional<Weight> weight;                  // after the first use
  bool is_broken = false;                        // reported
  std::vector<std::pair<Type, ValueId>> values;  // one for each way in which it is read
};

// What is being made. Everything here is filled in the order of the model's nodes.
struct ImportState {
  ImportState(const Archive& a, const Program& p, Graph& g, Diagnostics& d)
      : archive(a), program(p), graph(g), diagnostics(d) {}

  const Archive& archive;
  const Program& program;
  Graph& graph;
  Diagnostics& diagnostics;

  OpenSizes* sizes = nullptr;  // of the program, where some of them are found on the way
  // the program says what each result is; if not, the operators' own shape rules do
  bool declares_results = true;
  ByName<Meaning> meanings;
  std::vector<Parameter> parameters;
  i32 memories = 0;
  i64 made_elements = 0;  // of constants that stand in no file
  i64 remade_views = 0;   // after their memory was written
  std::vector<std::string>
      found_states;  // placeholders of buffers that operators in place turned out to write
  std::vector<bool> derived_from_constants;  // by value: no graph input has a part in it
  std::vector<bool> broken;  // by value: stands for the result of an operator that was refused
  std::vector<std::pair<std::pair<ValueId, Axes>, NodeId>> parameter_permutes;

  ValueId add_value(std::string name, Type type, std::optional<Constant> constant,
                    bool is_broken = false);
  bool is_derived_from_constants(ValueId v) const { return v >= 0 && derived_from_constants[v]; }
  bool is_broken(ValueId v) const { return v < 0 || broken[v]; }
  i32 new_memory() { return memories++; }
  // Reads the weight at the first call; null when it cannot be read, which has been reported.
  const Weight* load(i32 parameter);
  // Of a value that is derived from constants. Computes each value on the way to it once.
  std::vector<float> numbers_of_known(ValueId v) const;
  std::vector<std::vector<float>> computed(const Op& op, const std::vector<ValueId>& inputs,
                                           std::vector<std::vector<float>>& data,
                                           const std::vector<const Type*>& types) const;
  ValueId parameter_value(i32 parameter, Type type, const Constant& data);
  // A complex64 parameter as real and imaginary part; false when it cannot be read, which has been
  // reported.
  bool load_complex(i32 parameter, ValueId* real, ValueId* imaginary);
};

// What is wrong with a shape that is to be made, of extents from `least`. The rule has no reader's
// name before it.
std::optional<Refusal> fault_of_size(const Shape& shape, i64 least);

// "net.pt2: aten.conv2d.default `conv2d_1` (source op 12, module stem.conv, nets.py:50 in forward:
// x = self.stem(x))"
std::string describe_source(const Graph& graph, i32 source);

}  // namespace deuteron::pt2
