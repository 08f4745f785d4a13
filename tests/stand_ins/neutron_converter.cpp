// SPDX-License-Identifier: Apache-2.0
// Plays the vendor's neutron-converter: its options, its text on the console, its files and its
// failures, as far as public text shows them (ExecuTorch's backends/nxp and its documents, NXP's
// eIQ pages, logs that users have published). Which kernels there are our own converter says. The
// microcode is of a machine that nobody knows: magic word, sizes and counts as published, the rest
// bytes without a meaning.
//
// NEUTRON_STAND_IN=NAME makes it fail: crash, hang, old-version, partial-graph, port-order,
// other-result, other-model, truncated, no-dump. With open-machine the microcode is of the machine
// that we know, so that it runs. NEUTRON_STAND_IN_OTHER=FILE is the Neutron IR that
// other-result and other-model convert instead.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/tflite/open.h"
#include "base/tflite/writer.h"
#include "npu/neutron/converter/converter.h"
#include "npu/neutron/machine/test_machine.h"

namespace deuteron::neutron {
namespace {

// ---- options

struct KnownOption {
  const char* name;
  bool has_value;
};
constexpr KnownOption kOptions[] = {{"input", true},
                                    {"output", true},
                                    {"target", true},
                                    {"min-num-ops-per-graph", true},
                                    {"exclude-graph-passes", true},
                                    {"dump-after-import", true},
                                    {"dump-after-generate", true},
                                    {"verbose", false},
                                    {"dump-microcode", false},
                                    {"dump-statistics", false},
                                    {"use-profiling", false},
                                    {"fetch-constants-to-sram", false},
                                    {"use-sequencer", false},
                                    {"dump-kernel-selection-code", false},
                                    {"version", false},
                                    {"show-targets", false},
                                    {"show-kernel-kinds", false},
                                    {"help", false}};
constexpr const char* kTargets[] = {"mcxn54x", "mcxn94x", "imxrt700", "imx95",
                                    "imx943",  "imx952",  "s32k5",    "s32n79"};

using Options = std::map<std::string, std::string>;

[[noreturn]] void refuse(const std::string& text) {
  fmt::print("ERROR: {}\n", text);
  std::exit(1);
}

Options read_options(int count, char** arguments) {
  Options options;
  for (int k = 1; k < count; ++k) {
    std::string name = arguments[k];
    if (!name.starts_with("--")) refuse(fmt::format("Unexpected argument '{}'", name));
    name.erase(0, 2);
    const auto known = std::find_if(std::begin(kOptions), std::end(kOptions),
                                    [&](const KnownOption& o) { return name == o.name; });
    if (known == std::end(kOptions)) refuse(fmt::format("Unknown option '--{}'", name));
    if (known->has_value && k + 1 == count)
      refuse(fmt::format("Option '--{}' needs a value", name));
    options[name] = known->has_value ? arguments[++k] : "true";
  }
  return options;
}

std::string failure() {
  const char* name = std::getenv("NEUTRON_STAND_IN");
  return name ? name : "";
}

std::vector<u8> read(const std::string& path) {
  std::ifstream f(path, std::ios::binary);
  if (!f) refuse(fmt::format("Cannot open file '{}'", path));
  return {std::istreambuf_iterator<char>(f), {}};
}

void write(const std::string& path, std::span<const u8> bytes) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

// ---- the model that was read

struct Op {
  std::string type;
  std::vector<std::string> inputs, outputs;
};

struct Graph {
  std::vector<std::string> inputs, outputs;
  std::vector<std::pair<std::string, bool>> tensors;  // name, whether it is constant
  std::vector<Op> ops;

  bool is_constant(const std::string& name) const {
    return std::any_of(tensors.begin(), tensors.end(),
                       [&](const auto& t) { return t.first == name && t.second; });
  }
};

Graph read_graph(std::span<const u8> model) {
  const tflite::Model& m = *tflite::GetModel(model.data());
  const tflite::SubGraph& g = *m.subgraphs()->Get(0);
  const auto name_of = [&](i32 t) {
    return g.tensors()->Get(static_cast<flatbuffers::uoffset_t>(t))->name()->str();
  };
  Graph graph;
  for (const tflite::Tensor* t : *g.tensors())
    graph.tensors.emplace_back(t->name()->str(), !tflite::buffer_of(m, *t).empty());
  for (const i32 t : tflite::ints_of(g.inputs())) graph.inputs.push_back(name_of(t));
  for (const i32 t : tflite::ints_of(g.outputs())) graph.outputs.push_back(name_of(t));
  for (const tflite::Operator* o : *g.operators()) {
    Op op{tflite::name_of_builtin(tflite::code_of(m, *o)->builtin), {}, {}};
    for (const i32 t : tflite::ints_of(o->inputs()))
      if (t >= 0) op.inputs.push_back(name_of(t));
    for (const i32 t : tflite::ints_of(o->outputs())) op.outputs.push_back(name_of(t));
    graph.ops.push_back(std::move(op));
  }
  return graph;
}

// ---- what became of it: a NeutronOperator for each group of kernels

struct NeutronOperator {
  std::vector<std::string> kernels;
  std::vector<Op> nodes;
  std::vector<std::string> inputs, outputs;  // with constants
};

class Extraction {
 public:
  Extraction(const Graph& graph, const Converted& converted) : g_(graph) {
    for (const KernelUse& use : converted.kernels)
      if (use.kind != Kind::kMemCpy) kept_.insert(use.ops.begin(), use.ops.end());
    for (size_t k = 0; k < converted.kernels.size();) {
      const KernelUse& first = converted.kernels[k];
      if (first.kind == Kind::kMemCpy) {  // only the microcode has it
        ++k;
        continue;
      }
      std::vector<std::string> kernels;
      for (; k < converted.kernels.size() && converted.kernels[k].ops == first.ops; ++k)
        kernels.push_back(name_of(converted.kernels[k].kind));
      add(first.ops, kernels);
    }
  }
  std::vector<NeutronOperator> take() { return std::move(list_); }

 private:
  const Op* producer(const std::string& tensor, i32* index) const {
    for (size_t k = 0; k < g_.ops.size(); ++k)
      if (std::count(g_.ops[k].outputs.begin(), g_.ops[k].outputs.end(), tensor))
        return *index = static_cast<i32>(k), &g_.ops[k];
    return nullptr;
  }

  // Of an operator that no kernel computes; null: it has others.
  const std::string* only_input(i32 op) const {
    if (kept_.contains(op)) return nullptr;
    const std::string* only = nullptr;
    for (const std::string& in : g_.ops[static_cast<size_t>(op)].inputs) {
      if (g_.is_constant(in)) continue;
      if (only) return nullptr;
      only = &in;
    }
    return only;
  }

  // Such an operator is removed: who reads its result reads what it read.
  std::string read_as(std::string tensor) const {
    i32 op = -1;
    while (producer(tensor, &op)) {
      const std::string* from = only_input(op);
      if (!from) break;
      tensor = *from;
    }
    if (const auto renamed = renamed_.find(tensor); renamed != renamed_.end())
      return renamed->second;
    return producer(tensor, &op) ? written_as(tensor) : tensor;
  }
  // But an output of the model keeps its name.
  std::string written_as(const std::string& tensor) const {
    if (std::count(g_.outputs.begin(), g_.outputs.end(), tensor)) return tensor;
    for (size_t k = 0; k < g_.ops.size(); ++k)
      if (const std::string* from = only_input(static_cast<i32>(k)); from && *from == tensor)
        if (const std::string name = written_as(g_.ops[k].outputs[0]);
            std::count(g_.outputs.begin(), g_.outputs.end(), name))
          return name;
    return tensor;
  }

  void add(const std::vector<i32>& ops, const std::vector<std::string>& kernels) {
    NeutronOperator whole{kernels, {}, {}, {}};
    std::set<std::string> made;
    for (const i32 op : ops) {
      Op node = g_.ops[static_cast<size_t>(op)];
      for (std::string& in : node.inputs)
        if (!made.contains(in) && !g_.is_constant(in)) in = read_as(in);
      for (std::string& out : node.outputs) {
        made.insert(out);
        const std::string name = written_as(out);
        // Means are remade, with a result of a new name.
        const bool is_new = node.type == "MEAN" && name == out &&
                            !std::count(g_.outputs.begin(), g_.outputs.end(), out);
        if (is_new)
          renamed_[out] =
              fmt::format("newOut{}", renamed_.empty() ? "" : fmt::format("_{}", renamed_.size()));
        out = is_new ? renamed_[out] : name;
        made.insert(out);
      }
      whole.nodes.push_back(std::move(node));
    }
    std::set<std::string> inside;  // made and read by this one alone
    for (const Op& node : whole.nodes)
      for (const std::string& in : node.inputs) {
        if (made.contains(in)) inside.insert(in);
        else if (!std::count(whole.inputs.begin(), whole.inputs.end(), in))
          whole.inputs.push_back(in);
      }
    for (const Op& node : whole.nodes)
      for (const std::string& out : node.outputs)
        if (!inside.contains(out) || is_read_elsewhere(out, ops)) whole.outputs.push_back(out);
    if (kernels.size() >= 3 && whole.nodes.size() == 1 && whole.inputs.size() == 1) divide(whole);
    else list_.push_back(std::move(whole));
  }

  bool is_read_elsewhere(const std::string& tensor, const std::vector<i32>& ops) const {
    if (std::count(g_.outputs.begin(), g_.outputs.end(), tensor)) return true;
    for (size_t k = 0; k < g_.ops.size(); ++k)
      if (!std::count(ops.begin(), ops.end(), static_cast<i32>(k)) &&
          std::count(g_.ops[k].inputs.begin(), g_.ops[k].inputs.end(), tensor))
        return true;
    return false;
  }

  // One operator as a chain: pad, kernel, slice.
  void divide(const NeutronOperator& whole) {
    std::string from = whole.inputs[0];
    for (size_t k = 0; k < whole.kernels.size(); ++k) {
      const std::string& kernel = whole.kernels[k];
      const bool is_last = k + 1 == whole.kernels.size();
      const std::string to = is_last           ? whole.outputs[0]
                             : kernel == "Pad" ? from + "/pad"
                                               : fmt::format("{}/{}", whole.outputs[0], k);
      const std::string type = kernel == "Pad"            ? "PAD"
                               : kernel == "Slice"        ? "SLICE"
                               : kernel == "TransposeCHW" ? "TRANSPOSE"
                                                          : whole.nodes[0].type;
      list_.push_back({{kernel}, {{type, {from}, {to}}}, {from}, {to}});
      from = to;
    }
  }

  const Graph& g_;
  std::set<i32> kept_;
  std::map<std::string, std::string> renamed_;
  std::vector<NeutronOperator> list_;
};

// ---- the text

void print_ports(const char* title, const std::vector<std::string>& names, int indent) {
  fmt::print("{:{}}{}:\n", "", indent, title);
  for (size_t k = 0; k < names.size(); ++k)
    fmt::print("{:{}}[{}]: {}\n", "", indent + 2, k, names[k]);
}

void print_node(const Op& op, size_t location) {
  fmt::print("      Type: {}\n", op.type);
  print_ports("Inputs", op.inputs, 8);
  print_ports("Outputs", op.outputs, 8);
  fmt::print("        Location: {}\n\n", location);
}

void print_import(const Graph& g) {
  fmt::print("Graphs:\n  Name: main\n");
  print_ports("Inputs", g.inputs, 4);
  print_ports("Outputs", g.outputs, 4);
  fmt::print("    Tensors:\n");
  for (const auto& [name, constant] : g.tensors)
    fmt::print("      Name: {}\n      Kind: {}\n\n", name, constant ? "Constant" : "Variable");
  fmt::print("    Operators:\n");
  for (size_t k = 0; k < g.ops.size(); ++k) print_node(g.ops[k], k);
}

// The list that --verbose shows; its lines end as on the vendor's machines.
void print_extract(const std::vector<NeutronOperator>& list) {
  fmt::print(
      "==================== Extract Graphs ====================\r\nNeutronGraph "
      "\"subgraph_{:03}\":\r\n",
      list.size());
  for (size_t k = 0; k < list.size(); ++k) {
    fmt::print("    NeutronOperator \"subgraph_{:03}\":\r\n        Operators:\r\n", k);
    for (const Op& node : list[k].nodes) fmt::print("            {}\r\n", node.type);
    fmt::print("        Kernels:\r\n");
    for (const std::string& kernel : list[k].kernels) fmt::print("            {}\r\n", kernel);
  }
  fmt::print("========================================================\r\n");
}

void print_microcode(const Converted& converted, size_t graph) {
  fmt::print(
      "Generate code for NeutronGraph \"subgraph_{:03}\"\n  Header:\n    numKernelCalls      "
      "{:#x}\n  Microinstructions:\n",
      graph, converted.kernels.size());
  const auto is_copy = [&](size_t k) { return converted.kernels[k].kind == Kind::kMemCpy; };
  for (size_t k = 0; k < converted.kernels.size(); ++k) {
    if (is_copy(k)) {
      fmt::print(
          "    {:04}: CALLARGS MemCpy @() {{ srcPtr: (Consts + {:#x}), dstPtr: (Weights + {:#x}) "
          "}}\n",
          k, 256 * k, 256 * k);
      continue;
    }
    std::string fetched;  // where the copies before it put its constants
    for (size_t c = 0; c < k; ++c)
      if (is_copy(c) && converted.kernels[c].ops == converted.kernels[k].ops)
        fetched += fmt::format(", extraPtr: (Weights + {:#x})", 256 * c);
    fmt::print(
        "    {:04}: CALLARGS {} @() {{ inPtr: (Scratch + {:#x}), filterPtr: (Consts + {:#x}), "
        "biasPtr: (Consts + {:#x}){} }}\n",
        k, name_of(converted.kernels[k].kind), 64 * k, 256 * k, 256 * k + 128, fetched);
  }
}

void print_subgraph(const NeutronOperator& s, size_t number, const Graph& g) {
  fmt::print("  Name: subgraph_{:03}\n", number);
  print_ports("Inputs", s.inputs, 4);
  print_ports("Outputs", s.outputs, 4);
  fmt::print("    Tensors:\n");
  std::set<std::string> names;
  for (const Op& node : s.nodes)
    for (const auto* side : {&node.inputs, &node.outputs}) names.insert(side->begin(), side->end());
  for (const std::string& name : names)
    fmt::print("      Name: {}\n      Kind: {}\n\n", name,
               g.is_constant(name) ? "Constant" : "Variable");
  for (size_t k = 0; k < s.nodes.size(); ++k) print_node(s.nodes[k], k);
}

// Each NeutronOperator, then all of them as the NeutronGraph.
void print_generated(const std::vector<NeutronOperator>& list, const Graph& g) {
  fmt::print("Graphs:\n");
  NeutronOperator whole{{}, {}, g.inputs, g.outputs};
  for (size_t s = 0; s < list.size(); ++s) {
    print_subgraph(list[s], s, g);
    whole.nodes.insert(whole.nodes.end(), list[s].nodes.begin(), list[s].nodes.end());
  }
  print_subgraph(whole, list.size(), g);
  fmt::print("Statistics for NeutronGraph \"subgraph_{:03}\":\n", list.size());
}

void print_statistics(const Graph& g, const std::vector<NeutronOperator>& list) {
  size_t after = 0;
  for (const NeutronOperator& row : list) after += row.nodes.size();
  fmt::print(
      "Conversion statistics:\n  Number of operators after import    = {}\n  Number of operators "
      "after optimize  = {}\n"
      "    Number of operators converted     = {}\n    Number of operators NOT converted = 0\n"
      "  Number of operators after extract   = 1\n    Number of Neutron graphs          = 1\n"
      "    Number of operators NOT converted = 0\n  Operator conversion ratio           = {} / {} "
      "= 1\n",
      g.ops.size(), after, after, after, after);
}

void write_selection(const Converted& converted) {
  std::set<Kind> kinds;
  for (const KernelUse& use : converted.kernels) kinds.insert(use.kind);
  std::string text =
      "// Neutron kernel selection, version 3.2.1\n#include <stdint.h>\n\nenum KernelKind {\n";
  for (i32 k = 1; k < kKinds; ++k)
    text += fmt::format("  KERNEL_{} = {},\n", name_of(static_cast<Kind>(k)), k);
  text += "};\n";
  for (const Kind k : kinds) text += fmt::format("int32_t {}(void);\n", name_of(k));
  text += fmt::format("\nint32_t (*const kernelSelection[{}])(void) = {{\n", kKinds);
  for (const Kind k : kinds) text += fmt::format("  [KERNEL_{}] = {},\n", name_of(k), name_of(k));
  std::ofstream("_kernel_selection.c") << text << "};\n";
}

// ---- the microcode

// The same for the same model.
std::vector<u8> scrambled(std::span<const u8> from, size_t bytes) {
  uint64_t state = 0xcbf29ce484222325;
  for (const u8 b : from) state = (state ^ b) * 0x100000001b3;
  std::vector<u8> made(bytes);
  for (u8& b : made) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    b = static_cast<u8>(state >> 32);
  }
  return made;
}

// The words that ExecuTorch's runtime reads are 0, 6, 7 and those from 9 on.
std::vector<u8> foreign_microcode(std::span<const u8> ours, size_t weights_bytes, bool profiles) {
  constexpr uint32_t kVendorsVersion = 0x00030201, kTopBit = 0x80000000;
  const size_t words = ours.size() / 4 + ours.size() / 16 + 1;
  std::vector<u8> made = scrambled(ours, 4 * words);
  const auto set = [&](int word, uint32_t value) {
    std::memcpy(made.data() + 4 * word, &value, 4);
  };
  const auto keep = [&](int word) {
    std::memcpy(made.data() + 4 * word, ours.data() + 4 * word, 4);
  };
  for (int word = kScratchBytesWord; word <= (profiles ? int{kOutputsWordV1} : int{kOutputsWordV0});
       ++word)
    keep(word);
  set(kMagicWord, kMagic);
  set(kTagWord, kVendorsVersion);
  set(kMicrocodeBytesWord, static_cast<uint32_t>(made.size()));
  set(kWeightsBytesWord, static_cast<uint32_t>(weights_bytes));
  if (profiles) made[4 * kProfileBytesWordV1 + 3] |= kTopBit >> 24;
  return made;
}

// The converted model with sections of other lengths that nothing of ours can read.
std::vector<u8> with_foreign_sections(const std::vector<u8>& model) {
  const tflite::Model& m = *tflite::GetModel(model.data());
  const tflite::SubGraph& g = *m.subgraphs()->Get(0);
  const tflite::Operator& op = *g.operators()->Get(0);
  const auto list = [](const auto* indexes) {
    const auto all = tflite::ints_of(indexes);
    return std::vector<i32>(all.begin(), all.end());
  };
  const std::vector<i32> operands = list(op.inputs()), results = list(op.outputs()),
                         outputs = list(g.outputs());
  const i32 microcode_at = operands[operands.size() - 3],
            weights_at = operands[operands.size() - 2];
  const auto section = [&](i32 t) {
    return tflite::buffer_of(m, *g.tensors()->Get(static_cast<flatbuffers::uoffset_t>(t)));
  };
  const auto own = section(weights_at);
  const std::vector<u8> weights = scrambled(own, own.size() + own.size() / 16);
  const std::vector<u8> microcode = foreign_microcode(section(microcode_at), weights.size(),
                                                      results.size() == outputs.size() + 3);
  tflite::Writer w;
  w.name_custom(kNeutronGraph);
  for (flatbuffers::uoffset_t t = 0; t < g.tensors()->size(); ++t) {
    const tflite::Tensor& from = *g.tensors()->Get(t);
    const std::vector<u8> none, &data = static_cast<i32>(t) == microcode_at ? microcode
                                        : static_cast<i32>(t) == weights_at ? weights
                                                                            : none;
    const std::vector<i32> extents = list(from.shape());
    Shape shape(extents.begin(), extents.end());
    if (!data.empty()) shape = {static_cast<i64>(data.size())};
    std::vector<float> scales;
    i64 zero = 0;
    if (const auto* q = from.quantization(); q && q->scale() && q->scale()->size() > 0)
      scales.assign(q->scale()->begin(), q->scale()->end()), zero = q->zero_point()->Get(0);
    w.add(shape, from.type(), scales, static_cast<i32>(zero), 0,
          data.empty() ? 0 : w.buffer(data.data(), data.size()), from.name()->c_str());
  }
  w.op(tflite::BuiltinOperator::CUSTOM, operands, results);
  return w.finish(list(g.inputs()), outputs);
}

// ---- the failures of the result

void reverse_ports(std::vector<u8>& model) {
  const tflite::SubGraph& g = *tflite::GetModel(model.data())->subgraphs()->Get(0);
  for (const auto* list : {g.inputs(), g.outputs()}) {
    const auto ports = tflite::ints_of(list);
    std::reverse(const_cast<i32*>(ports.data()), const_cast<i32*>(ports.data()) + ports.size());
  }
}

// Its last operator stays one of the CPU.
std::vector<u8> partial_graph(const Graph& g) {
  tflite::Writer w;
  w.name_custom(kNeutronGraph);
  const i32 x = w.tensor({1, 8}, 0.5f, 0, "x"), middle = w.tensor({1, 8}, 0.5f, 0, "middle"),
            y = w.tensor({1, 8}, 0.5f, 0, "y");
  w.op(tflite::BuiltinOperator::CUSTOM, {x}, middle);
  tflite::BuiltinOperator last = tflite::BuiltinOperator::SOFTMAX;
  for (int code = 0; code <= static_cast<int>(tflite::BuiltinOperator::MAX); ++code)
    if (!g.ops.empty() && tflite::name_of_builtin(code) == g.ops.back().type)
      last = static_cast<tflite::BuiltinOperator>(code);
  w.op(last, {middle}, y);
  return w.finish({x}, {y});
}

int convert_file(const Options& options) {
  const auto value = [&](const char* name) {
    const auto at = options.find(name);
    return at == options.end() ? std::string() : at->second;
  };
  const std::string wrong = failure();
  fmt::print(
      "Converting model with the following options:\n  Input  = {}\n  Output = {}\n  Target = {}\n",
      value("input"), value("output"), value("target"));
  if (std::find(std::begin(kTargets), std::end(kTargets), value("target")) == std::end(kTargets))
    refuse(fmt::format("Unknown target '{}'", value("target")));
  if (wrong == "hang")
    for (std::fflush(stdout);;) pause();
  const char* other = std::getenv("NEUTRON_STAND_IN_OTHER");
  const std::vector<u8> given = read(value("input"));
  const std::vector<u8> model = other && wrong.starts_with("other") ? read(other) : given;
  const Graph g = read_graph(wrong == "other-result" ? given : model);
  const bool dump = value("dump-after-import") == "console" && wrong != "no-dump";
  if (dump) print_import(g);
  if (wrong == "crash") {
    fmt::print(
        "==================== Optimize Graph ====================\nAssertion failed: tensor != "
        "nullptr\n");
    std::fflush(stdout);
    std::raise(SIGSEGV);
  }
  const auto convert_ir = [&](const std::vector<u8>& ir) {
    Diagnostics diagnostics;
    auto result = convert(
        ir,
        {n3_64(), options.contains("fetch-constants-to-sram"), options.contains("use-profiling")},
        diagnostics);
    if (!result) refuse(format_diagnostic(diagnostics.list()[0]));
    return std::move(*result);
  };
  Converted converted = convert_ir(model);
  const Converted shown = wrong == "other-result" ? convert_ir(given) : converted;
  const std::vector<NeutronOperator> list = Extraction(g, shown).take();
  if (dump) fmt::print("==================== Optimize Graph ====================\n");
  if (options.contains("verbose") && wrong != "no-dump") print_extract(list);
  if (options.contains("dump-microcode") && wrong != "no-dump") print_microcode(shown, list.size());
  if (value("dump-after-generate") == "console" && wrong != "no-dump") print_generated(list, g);
  print_statistics(g, list);
  if (options.contains("dump-kernel-selection-code")) write_selection(converted);
  if (wrong != "open-machine") converted.model = with_foreign_sections(converted.model);

  const std::string least = value("min-num-ops-per-graph");
  if (!least.empty() && std::strtoul(least.c_str(), nullptr, 10) > g.ops.size())
    converted.model = given;  // nothing is worth it
  if (wrong == "partial-graph") converted.model = partial_graph(g);
  if (wrong == "port-order") reverse_ports(converted.model);
  if (wrong == "truncated") converted.model.resize(converted.model.size() * 3 / 5);
  write(value("output"), converted.model);
  return 0;
}

}  // namespace
}  // namespace deuteron::neutron

int main(int count, char** arguments) {
  using namespace deuteron::neutron;
  const Options options = read_options(count, arguments);
  if (options.contains("version")) {
    fmt::print("eIQ neutron-converter version {}\n",
               failure() == "old-version" ? "2.0.2+0X0cebb80a" : "3.2.1+0X00000000");
    return 0;
  }
  if (options.contains("show-targets")) {
    for (const char* target : kTargets) fmt::print("{}\n", target);
    return 0;
  }
  if (options.contains("show-kernel-kinds")) {
    for (int k = 1; k < kKinds; ++k) fmt::print("{:3} {}\n", k, name_of(static_cast<Kind>(k)));
    return 0;
  }
  if (options.contains("help") || !options.contains("input") || !options.contains("output")) {
    fmt::print("Usage: neutron-converter --input FILE --output FILE --target NAME [options]\n");
    return options.contains("help") ? 0 : 1;
  }
  return convert_file(options);
}
