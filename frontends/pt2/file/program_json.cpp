// SPDX-License-Identifier: Apache-2.0
// torch._export.serde.schema, major version 8.
#include "frontends/pt2/file/program_json.h"

#include <fmt/format.h>

#include "frontends/pt2/file/json_reader.h"
#include "frontends/pt2/file/source_names.h"

namespace deuteron::pt2 {
namespace {

// torch 2.6 to 2.15; a new major number means that old readers must not try
constexpr i64 kSchemaMajor = 8;
constexpr i64 kLayoutStrided = 7;

// "Symbol('s10', positive=True, integer=True)" -> "s10"
std::string symbol_of(std::string_view expression) {
  const size_t first = expression.find('\'');
  const size_t last = first == std::string_view::npos ? first : expression.find('\'', first + 1);
  return std::string(
      last == std::string_view::npos ? expression : expression.substr(first + 1, last - first - 1));
}

class ProgramReader {
 public:
  ProgramReader(std::string where, Diagnostics& diagnostics)
      : read_(std::move(where), diagnostics) {}

  std::optional<Program> read(const Json& top) {
    read_version(top);
    const Json module = read_.member(top, "graph_module");
    const Json graph = read_.member(module, "graph"), signature = read_.member(module, "signature");
    range_constraints_ = read_.optional(top, "range_constraints");
    if (const auto sizes = read_.optional(graph, "sym_int_values"))
      read_.each_member(*sizes,
                        [&](std::string_view name, const Json& v) { read_computed_size(name, v); });
    read_graph(graph, {});
    read_.each(read_.member(signature, "input_specs"),
               [&](const Json& v) { program_.inputs.push_back(input(v)); });
    read_.each(read_.member(signature, "output_specs"),
               [&](const Json& v) { program_.outputs.push_back(output(v)); });
    compare_count(read_.member(graph, "inputs"), program_.inputs.size());
    compare_count(read_.member(graph, "outputs"), program_.outputs.size());
    if (!read_.ok()) return std::nullopt;
    return std::move(program_);
  }

  ByName<WeightEntry> read_config(const Json& top, const std::string& folder) {
    ByName<WeightEntry> entries;
    read_.each_member(read_.member(top, "config"), [&](std::string_view name, const Json& v) {
      WeightEntry entry;
      entry.blob = folder + read_.text(read_.member(v, "path_name"));
      const auto pickled = read_.optional(v, "use_pickle"),
                 is_param = read_.optional(v, "is_param");
      if (pickled && read_.boolean(*pickled))
        read_.fail(v, fmt::format("`{}` is a Python pickle, which is never read", name),
                   "pt2.weights.pickle");
      entry.is_param = is_param && read_.boolean(*is_param);
      entry.meta = tensor_meta(read_.member(v, "tensor_meta"), name);
      if (!entries.emplace(name, std::move(entry)).second)
        read_.fail(v, fmt::format("`{}` is there twice", name));
    });
    return entries;
  }
  bool ok() const { return read_.ok(); }

 private:
  void read_version(const Json& top) {
    const Json version = read_.member(top, "schema_version");
    const i64 major = read_.integer(read_.member(version, "major"));
    if (read_.ok() && major != kSchemaMajor)
      read_.fail(version, fmt::format("major version {} is not {}", major, kSchemaMajor),
                 "pt2.version.schema");
    if (const auto v = read_.optional(top, "torch_version"))
      program_.torch_version = read_.text(*v);
    program_.flavour = "training";
    if (const auto v = read_.optional(top, "verifiers"))
      read_.each(*v, [&](const Json& name) {
        if (read_.text(name) != "TRAINING") program_.flavour = "core";
      });
  }

  void compare_count(const Json& list, size_t count) {
    size_t n = 0;
    read_.each(list, [&](const Json&) { ++n; });
    if (read_.ok() && n != count)
      read_.fail(list, fmt::format("has {} entries, the signature {}", n, count));
  }

  // A size, stride or offset: {"as_int": 3}, or {"as_expr": {"expr_str": .., "hint": {"as_int":
  // 3}}}.
  i64 size(const Json& v, TensorMeta& meta, std::string& expression) {
    const auto [tag, value] = read_.tagged(v);
    if (tag == "as_int") return read_.integer(value);
    if (tag != "as_expr") return read_.fail(v, "is not a size"), 0;
    meta.dynamic = true;
    expression = read_.text(read_.member(value, "expr_str"));
    const auto hint = read_.optional(value, "hint");
    return hint ? read_.integer(read_.tagged(*hint).second) : 1;
  }

  void read_computed_size(std::string_view name, const Json& v) {
    const auto [tag, value] = read_.tagged(v);
    if (tag == "as_int")
      program_.sizes.emplace(name, fmt::format("Integer({})", read_.integer(value)));
    else if (tag == "as_expr")
      program_.sizes.emplace(name, read_.text(read_.member(value, "expr_str")));
  }

  TensorMeta tensor_meta(const Json& v, std::string_view name) {
    TensorMeta meta;
    const i64 code = read_.integer(read_.member(v, "dtype"));
    if (code < 0 || code > 1000) read_.fail(v, fmt::format("dtype {} is unknown", code));
    meta.dtype_code = static_cast<int>(code);
    meta.dtype = dtype_of_code(code);
    read_.each(read_.member(v, "sizes"), [&](const Json& s) {
      std::string& expression = meta.size_expressions.emplace_back();
      meta.sizes.push_back(size(s, meta, expression));
      if (!expression.empty()) note_dynamic(expression, name, meta.sizes.size() - 1);
    });
    read_.each(read_.member(v, "strides"), [&](const Json& s) {
      meta.strides.push_back(size(s, meta, meta.stride_expressions.emplace_back()));
    });
    if (const auto offset = read_.optional(v, "storage_offset"))
      meta.offset = size(*offset, meta, meta.stride_expressions.emplace_back());
    if (const auto layout = read_.optional(v, "layout");
        layout && read_.integer(*layout) != kLayoutStrided)
      read_.fail(v, fmt::format("`{}` is sparse or has another unusual layout", name),
                 "pt2.tensor.layout");
    check_extents(v, meta, name);
    return meta;
  }

  void check_extents(const Json& v, const TensorMeta& meta, std::string_view name) {
    if (!read_.ok()) return;
    if (meta.strides.size() != meta.sizes.size())
      return read_.fail(v, fmt::format("`{}` has {} sizes and {} strides", name, meta.sizes.size(),
                                       meta.strides.size()));
    if (static_cast<i64>(meta.sizes.size()) > kMaxRank)
      return read_.fail(
          v, fmt::format("`{}` has {} axes, limit {}", name, meta.sizes.size(), kMaxRank),
          "pt2.tensor.rank");
    i64 elements = 1;
    for (const i64 extent : meta.sizes) {
      if (extent < 0) return read_.fail(v, fmt::format("`{}` has a negative size", name));
      if (extent > kMaxElements || elements * extent > kMaxElements)
        return read_.fail(v, fmt::format("`{}` has more than {} elements", name, kMaxElements),
                          "pt2.tensor.size");
      elements *= extent;
    }
    for (const i64 stride : meta.strides)
      if (stride < 0 || stride > kMaxElements)
        return read_.fail(v, fmt::format("`{}` has a stride out of range", name));
    if (meta.offset < 0 || meta.offset > kMaxElements)
      return read_.fail(v, fmt::format("`{}` has a storage offset out of range", name));
  }

  void note_dynamic(const std::string& expression, std::string_view tensor, size_t axis) {
    std::string symbol = symbol_of(expression);
    for (const DynamicSize& d : program_.dynamic)
      if (d.symbol == symbol) return;
    program_.dynamic.push_back({std::move(symbol), std::string(tensor), axis, "", {}, {}});
  }

  void read_tensor_value(const std::string& name, const Json& v) {
    const size_t known = program_.dynamic.size();
    if (!program_.tensors.emplace(name, tensor_meta(v, name)).second)
      read_.fail(v, fmt::format("`{}` is there twice", name));
    for (size_t i = known; i < program_.dynamic.size(); ++i) read_range(program_.dynamic[i]);
  }

  void read_range(DynamicSize& d) {
    const auto range = range_constraints_ ? range_constraints_->find(d.symbol) : std::nullopt;
    if (!range) return;
    const auto bound = [&](std::string_view name) -> std::optional<i64> {
      const auto b = range->find(name);
      return b && b->kind() == Json::Kind::integer ? std::optional(b->integer()) : std::nullopt;
    };
    d.low = bound("min_val"), d.high = bound("max_val");
    const auto text = [](std::optional<i64> b) {
      return b ? std::to_string(*b) : std::string("?");
    };
    d.range = text(d.low) + ".." + text(d.high);
  }

  std::string tensor_name(const Json& v) { return read_.text(read_.member(v, "name")); }

  Argument argument(const Json& v) {
    const auto [tag, value] = read_.tagged(v);
    Argument a;
    using K = Argument::Kind;
    if (tag == "as_tensor") return a.kind = K::tensor, a.text = tensor_name(value), a;
    if (tag == "as_none") return a;
    if (tag == "as_int") return a.kind = K::integer, a.integer = read_.integer(value), a;
    if (tag == "as_float") return a.kind = K::real, a.real = read_.real(value), a;
    if (tag == "as_bool") return a.kind = K::boolean, a.integer = read_.boolean(value), a;
    if (tag == "as_string") return a.kind = K::text, a.text = read_.text(value), a;
    if (tag == "as_scalar_type") return a.kind = K::dtype, a.integer = read_.integer(value), a;
    if (tag == "as_ints") {
      a.kind = K::integers;
      read_.each(value, [&](const Json& i) { a.integers.push_back(read_.integer(i)); });
      return a;
    }
    if (tag == "as_floats") {
      a.kind = K::reals;
      read_.each(value, [&](const Json& i) { a.reals.push_back(read_.real(i)); });
      return a;
    }
    if (tag == "as_tensors") {
      a.kind = K::tensors;
      read_.each(value, [&](const Json& t) { a.names.push_back(tensor_name(t)); });
      return a;
    }
    if (tag == "as_optional_tensors") {
      a.kind = K::tensors;
      read_.each(value, [&](const Json& t) {
        a.names.push_back(t.find("as_none") ? std::string() : tensor_name(read_.tagged(t).second));
      });
      return a;
    }
    if (tag == "as_complex") {
      a.kind = K::complex, a.text = "complex";
      a.reals = {read_.real(read_.member(value, "real")), read_.real(read_.member(value, "imag"))};
      return a;
    }
    if (tag == "as_sym_ints") return symbolic_integers(value);
    if (tag == "as_sym_int" && value.find("as_int"))
      return a.kind = K::integer, a.integer = read_.integer(*value.find("as_int")), a;
    if (tag == "as_sym_int")
      return a.kind = K::symbol, a.text = "sym_int",
             a.names = {read_.text(read_.tagged(value).second)}, a;
    if (tag == "as_sym_float" && value.find("as_float"))
      return a.kind = K::real, a.real = read_.real(*value.find("as_float")), a;
    if (tag == "as_sym_float")
      return a.kind = K::symbol, a.text = "sym_float",
             a.names = {read_.text(read_.tagged(value).second)}, a;
    a.kind = K::other;
    read_optional_tensors(value, a);
    a.text = tag.substr(tag.starts_with("as_") ? 3 : 0);
    return a;
  }

  // [{"as_none": true}, {"as_tensor": {"name": "i"}}]: only who reads what is of interest.
  void read_optional_tensors(const Json& list, Argument& a) {
    list.each([&](const Json& v) {
      const auto t = v.find("as_tensor");
      const auto name = t ? t->find("name") : std::nullopt;
      if (name && name->kind() == Json::Kind::text) a.names.emplace_back(name->text());
    });
  }

  Argument symbolic_integers(const Json& list) {
    Argument a;
    a.kind = Argument::Kind::integers;
    read_.each(list, [&](const Json& v) {
      const auto [tag, value] = read_.tagged(v);
      const bool is_number = tag == "as_int";
      a.integers.push_back(is_number ? read_.integer(value) : 0);
      a.names.push_back(is_number ? std::string() : read_.text(value));
      if (!is_number) a.kind = Argument::Kind::symbols, a.text = "sym_ints";
    });
    if (a.kind == Argument::Kind::integers) a.names.clear();
    return a;
  }

  ProgramNode node(const Json& v) {
    ProgramNode n;
    n.target = read_.text(read_.member(v, "target"));
    if (constexpr std::string_view kPrefix = "torch.ops."; n.target.starts_with(kPrefix))
      n.target.erase(0, kPrefix.size());
    read_.each(read_.member(v, "inputs"), [&](const Json& input) {
      n.arguments.emplace_back(read_.text(read_.member(input, "name")),
                               argument(read_.member(input, "arg")));
    });
    read_.each(read_.member(v, "outputs"), [&](const Json& out) {
      const auto [tag, value] = read_.tagged(out);
      if (tag == "as_tensor") n.outputs.push_back(tensor_name(value));
      else if (tag == "as_tensors")
        read_.each(value, [&](const Json& t) { n.outputs.push_back(tensor_name(t)); });
      else if (tag != "as_none") n.has_other_results = true;
      if (tag == "as_sym_int" && value.find("as_name"))
        n.sizes.push_back(read_.text(*value.find("as_name")));
      if (tag == "as_sym_float" && value.find("as_name"))
        n.numbers.push_back(read_.text(*value.find("as_name")));
      n.is_test = n.is_test || tag == "as_sym_bool";
    });
    n.is_test = n.is_test || n.target == "aten._assert_scalar.default" ||
                n.target.starts_with("aten.sym_constrain_range");
    if (const auto name = read_.optional(v, "name")) n.name = read_.text(*name);
    if (n.name.empty()) n.name = n.outputs.empty() ? n.target : n.outputs[0];
    if (const auto metadata = read_.optional(v, "metadata")) {
      if (const auto stack = metadata->find("stack_trace");
          stack && stack->kind() == Json::Kind::text)
        n.stack = short_stack(stack->text());
      if (const auto modules = metadata->find("nn_module_stack");
          modules && modules->kind() == Json::Kind::text)
        n.module = innermost_module(modules->text());
    }
    return n;
  }

  // Tensors of the whole program, by their names in one of its graphs.
  struct Names {
    std::string prefix;         // of the others
    ByName<std::string> known;  // what comes from outside, and what goes there
    int depth = 0;

    std::string of(const std::string& name) const {
      const auto it = known.find(name);
      return it != known.end() ? it->second : name.empty() ? name : prefix + name;
    }
  };

  void read_graph(const Json& graph, const Names& names) {
    read_.each_member(read_.member(graph, "tensor_values"),
                      [&](std::string_view name, const Json& v) {
                        if (!names.known.contains(name))
                          read_tensor_value(names.of(std::string(name)), v);
                      });
    read_.each(read_.member(graph, "nodes"), [&](const Json& v) {
      ProgramNode n = renamed(node(v), names);
      const std::vector<Json> graphs = graphs_of(v);
      const bool is_written =
          n.target == "higher_order.cond"
              ? read_choice(graphs, n, names)
              : is_block(n.target) && graphs.size() == 1 && read_block(graphs[0], n, names);
      if (!is_written) program_.nodes.push_back(std::move(n));
    });
  }

  static ProgramNode renamed(ProgramNode n, const Names& names) {
    n.name = names.of(n.name);
    for (auto& [name, a] : n.arguments) {
      if (a.kind == Argument::Kind::tensor) a.text = names.of(a.text);
      if (a.kind == Argument::Kind::tensors || a.kind == Argument::Kind::other)
        for (std::string& each : a.names) each = names.of(each);
    }
    for (std::string& output : n.outputs) output = names.of(output);
    return n;
  }

  // `with torch.no_grad():` and `with torch.autocast(...):` are blocks: graphs of their own, which
  // an operator calls. Numbers are float32 in either, so their nodes stand in the place of the
  // call.
  static bool is_block(std::string_view target) {
    return target == "higher_order.wrap_with_set_grad_enabled" ||
           target == "higher_order.wrap_with_autocast";
  }
  std::vector<Json> graphs_of(const Json& v) {
    std::vector<Json> found;
    read_.each(read_.member(v, "inputs"), [&](const Json& input) {
      if (const auto graph = read_.member(input, "arg").find("as_graph"))
        found.push_back(read_.member(*graph, "graph"));
    });
    return found;
  }

  // What a call hands to its graphs, which stand before it. Nothing when some of it is no tensor.
  static std::optional<std::vector<std::string>> operands_of_block(const ProgramNode& call) {
    std::vector<std::string> operands;
    bool is_behind_graph = false;
    for (const auto& [name, a] : call.arguments) {
      const bool is_graph = a.kind == Argument::Kind::other && a.text == "graph";
      if (is_behind_graph && a.kind == Argument::Kind::tensor) operands.push_back(a.text);
      else if (is_behind_graph && a.kind == Argument::Kind::tensors)
        operands.insert(operands.end(), a.names.begin(), a.names.end());
      else if (is_behind_graph && !is_graph) return std::nullopt;
      is_behind_graph = is_behind_graph || is_graph;
    }
    return operands;
  }

  // torch.cond: both branches are computed, and each result is picked by the condition, as an IF of
  // TFLite is.
  bool read_choice(const std::vector<Json>& graphs, const ProgramNode& call, const Names& outside) {
    if (graphs.size() != 2 || call.arguments.empty() ||
        call.arguments[0].second.kind != Argument::Kind::tensor)
      return false;
    static constexpr const char *kBranches[] = {"yes", "no"}, *kPick = "aten.where.self";
    const auto branch_name = [](const std::string& name, size_t branch) {
      return fmt::format("{}.{}", name, kBranches[branch]);
    };
    for (size_t branch = 0; branch < 2; ++branch) {
      ProgramNode one = call;
      one.name = branch_name(call.name, branch);
      for (std::string& output : one.outputs) {
        const auto meta = program_.tensors.find(output);
        if (meta == program_.tensors.end()) return false;
        output = branch_name(output, branch);
        program_.tensors.emplace(output, TensorMeta(meta->second));
      }
      if (!read_block(graphs[branch], one, outside)) return false;
    }
    for (const std::string& out : call.outputs)
      write_node(kPick, out, call,
                 {{"self", tensor(branch_name(out, 0))},
                  {"other", tensor(branch_name(out, 1))},
                  {"condition", call.arguments[0].second}});
    return true;
  }

  static Argument tensor(std::string name) {
    Argument a;
    a.kind = Argument::Kind::tensor, a.text = std::move(name);
    return a;
  }
  // A node that the file does not have, in the place of a call.
  void write_node(const char* target, const std::string& output, const ProgramNode& call,
                  std::vector<std::pair<std::string, Argument>> arguments) {
    program_.nodes.push_back(
        {target, output, std::move(arguments), {output}, false, call.module, call.stack});
  }

  // False, and nothing is read: an operand or result is no tensor, or their numbers differ.
  bool read_block(const Json& graph, const ProgramNode& call, const Names& outside) {
    constexpr int kMostBlocks = 32;  // one in the other
    const auto operands = operands_of_block(call);
    const auto inputs = tensors_of(graph, "inputs"), outputs = tensors_of(graph, "outputs");
    if (!operands || !inputs || !outputs || inputs->size() != operands->size() ||
        outputs->size() != call.outputs.size())
      return false;
    if (outside.depth == kMostBlocks) return false;
    Names names{call.name + ".", {}, outside.depth + 1};
    for (size_t k = 0; k < operands->size(); ++k) names.known.emplace((*inputs)[k], (*operands)[k]);
    std::vector<std::pair<std::string, std::string>>
        passed;  // a result that has another name already
    for (size_t k = 0; k < outputs->size(); ++k)
      if (!names.known.emplace((*outputs)[k], call.outputs[k]).second)
        passed.emplace_back(names.of((*outputs)[k]), call.outputs[k]);
    read_graph(graph, names);
    for (const auto& [from, to] : passed)
      write_node("aten.alias.default", to, call, {{"self", tensor(from)}});
    return true;
  }

  // Nothing when one of them is no tensor.
  std::optional<std::vector<std::string>> tensors_of(const Json& graph, std::string_view member) {
    std::vector<std::string> names;
    bool all = true;
    read_.each(read_.member(graph, member), [&](const Json& v) {
      const Argument a = argument(v);
      all = all && a.kind == Argument::Kind::tensor;
      names.push_back(a.text);
    });
    return all ? std::optional(std::move(names)) : std::nullopt;
  }

  ProgramInput input(const Json& v) {
    using K = ProgramInput::Kind;
    const auto union_value = read_.tagged(v);
    const std::string_view tag = union_value.first;
    const Json spec = union_value.second;
    ProgramInput in;
    const auto named = [&](K kind, std::string_view key) {
      in.kind = kind;
      in.name = read_.text(read_.member(read_.member(spec, "arg"), "name"));
      in.key = read_.text(read_.member(spec, key));
    };
    if (tag == "parameter") return named(K::parameter, "parameter_name"), in;
    if (tag == "buffer")
      return named(K::buffer, "buffer_name"),
             in.in_constants = !read_.boolean(read_.member(spec, "persistent")), in;
    if (tag == "tensor_constant")
      return named(K::constant, "tensor_constant_name"), in.in_constants = true, in;
    if (tag == "user_input") {
      const Argument a = argument(read_.member(spec, "arg"));
      const bool is_tensor = a.kind == Argument::Kind::tensor;
      return in.kind = is_tensor ? K::user : K::other, in.name = a.text,
             in.key = is_tensor ? "" : "an argument that is not a tensor", in;
    }
    if (tag == "constant_input") {
      in.kind = K::literal;
      in.name = read_.text(read_.member(spec, "name"));
      return in;
    }
    in.key = fmt::format("`{}`", tag);
    return in;
  }

  ProgramOutput output(const Json& v) {
    using K = ProgramOutput::Kind;
    const auto [tag, spec] = read_.tagged(v);
    ProgramOutput out;
    if (tag == "user_output") {
      const Argument a = argument(read_.member(spec, "arg"));
      const bool is_tensor = a.kind == Argument::Kind::tensor,
                 is_none = a.kind == Argument::Kind::none;
      return out.kind = is_tensor ? K::tensor
                        : is_none ? K::none
                                  : K::literal,
             out.name = a.text, out;
    }
    if (tag == "buffer_mutation" || tag == "user_input_mutation" || tag == "parameter_mutation") {
      out.kind = tag == "user_input_mutation" ? K::input_mutation : K::buffer_mutation;
      const auto key = tag == "buffer_mutation"      ? "buffer_name"
                       : tag == "parameter_mutation" ? "parameter_name"
                                                     : "user_input_name";
      out.name = read_.text(read_.member(read_.member(spec, "arg"), "name"));
      out.key = read_.text(read_.member(spec, key));
      return out;
    }
    out.name = fmt::format("`{}`", tag);
    return out;
  }

  JsonReader read_;
  std::optional<Json> range_constraints_;
  Program program_;
};

}  // namespace

std::optional<Program> program_of_json(const Json& top, std::string where,
                                       Diagnostics& diagnostics) {
  return ProgramReader(std::move(where), diagnostics).read(top);
}

std::optional<ByName<WeightEntry>> weights_of_json(const Json& top, const std::string& folder,
                                                   std::string where, Diagnostics& diagnostics) {
  ProgramReader reader(std::move(where), diagnostics);
  ByName<WeightEntry> entries = reader.read_config(top, folder);
  return reader.ok() ? std::optional(std::move(entries)) : std::nullopt;
}

}  // namespace deuteron::pt2
