// SPDX-License-Identifier: Apache-2.0
// What the vendor's converter prints with dumpAfterImport, dumpAfterGenerate, verbose and
// dumpMicrocode, as data. Only the places are read that ExecuTorch's own reader of this text shows
// (backends/nxp, neutron_map.py, 1.5 and main of autumn 2026); whatever lies between them is passed
// over: lines of a log, sections that are new, colours. Nothing is concluded here: kernel_map.h
// does that.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/tensor/type.h"

namespace deuteron::neutron {

// An operator of a graph. Tensors by their names, in order.
struct DumpNode {
  std::string type;  // "CONV_2D"
  std::vector<std::string> inputs, outputs;
  i64 location = -1;     // its place in its graph; -1: not said
  bool is_whole = true;  // no number of its lists is missing
  bool operator==(const DumpNode&) const = default;
};

// A graph as it is after the conversion: of a kernel call ("subgraph_012"), or of all of them
// together.
struct DumpSubgraph {
  i64 number = -1;
  std::vector<std::string> inputs, outputs;
  std::vector<DumpNode> nodes;
  bool is_whole = true;
  bool operator==(const DumpSubgraph&) const = default;
};

// `NeutronOperator "subgraph_012"`: which kinds of operators became which kernels.
struct DumpOperator {
  i64 number = -1;
  std::vector<std::string> operators, kernels;
  bool is_read = true;  // every line of it
  bool operator==(const DumpOperator&) const = default;
};

// A call in the microcode (CALLARGS).
struct DumpCall {
  std::string kernel;
  std::string constants;  // where its weights, bias and scales lie, as printed: the same for
                          // repetitions of one call
  std::vector<std::string> addresses;  // all that its arguments name, as printed: "Consts + 0x40"
};

struct ConsoleDump {
  std::string version;  // "3.2.1"; empty: not printed
  i64 graphs = 0;       // dumps of graphs: 2 where both were asked for
  std::vector<DumpNode> imported;
  std::vector<DumpOperator> extracted;  // in the order of execution
  std::vector<i64> whole_graphs;        // NeutronGraphs, by number
  std::vector<DumpCall> calls;
  i64 kernel_calls = -1;  // as the microcode's header says; -1: it is not printed
  std::vector<DumpSubgraph> generated;
  std::map<std::string, bool, std::less<>> constant;  // by tensor, where the text says so
};

ConsoleDump read_console_dump(std::string_view text);

// "3.2.1" out of a line that says "version" and a number with dots; empty: none.
std::string version_in(std::string_view text);

}  // namespace deuteron::neutron
