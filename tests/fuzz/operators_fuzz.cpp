// SPDX-License-Identifier: Apache-2.0
// Networks of a few of torch's operators: the fuzzer's bytes choose them and arguments of the kinds
// that torch's schemas have. Shapes of results are what the import says that they are. What is
// imported goes through every pass, the loader and a run.
#include "frontends/pt2/operators/import_table.h"
#include "frontends/pt2/schema/torch_schema.h"
#include "frontends/pt2/test_archive.h"
#include "ir/verify.h"
#include "tests/fuzz/compile_and_run.h"

using namespace deuteron;
using namespace deuteron::pt2;
using test::Decisions;

namespace {

struct Known {
  std::string name;
  Shape shape;
  int dtype;
};

struct TorchNode {
  std::string target;
  std::vector<std::pair<std::string, json>> arguments;
  TestModel::Out out;
};

struct Network {
  Shape x;
  std::vector<std::pair<Shape, std::vector<float>>> parameters;
  std::vector<TorchNode> nodes;

  TestModel model() const {
    TestModel m;
    m.input("x", x);
    for (size_t k = 0; k < parameters.size(); ++k)
      m.parameter("w" + std::to_string(k), parameters[k].first, parameters[k].second);
    for (const TorchNode& n : nodes) m.node(n.target, {n.out}, n.arguments);
    m.output(nodes.back().out.name);
    return m;
  }
};

const std::vector<std::string_view>& targets() {
  static const std::vector<std::string_view> kAll = [] {
    std::vector<std::string_view> all;
    for (const ImportRows& rows : import_tables())
      for (const ImportRow& row : rows)
        if (parameters_of(row.target)) all.push_back(row.target);
    return all;
  }();
  return kAll;
}

// The operand of an operator: what is there already, or weights of a shape that often fits it.
std::string operand(Network& net, std::vector<Known>& known, Decisions& d) {
  if (d.below(3) != 0)
    return known[static_cast<size_t>(d.below(static_cast<i64>(known.size())))].name;
  const Shape& last = known.back().shape;
  Shape shape;
  switch (d.below(5)) {
    case 0:  // as the last, of a convolution, of a linear layer, by channel, a number
      shape = last;
      break;
    case 1:
      shape = {1 + d.below(4), last.size() > 1 ? last[1] : 1, 1 + d.below(3), 1 + d.below(3)};
      break;
    case 2:
      shape = {1 + d.below(5), last.empty() ? 1 : last.back()};
      break;
    case 3:
      shape = {last.size() > 1 ? last[1] : 1 + d.below(4)};
      break;
    default:
      break;
  }
  if (numel(shape) > 512) shape = {};
  std::vector<float> data(static_cast<size_t>(numel(shape)));
  for (float& v : data) v = d.number();
  const std::string name = "p_w" + std::to_string(net.parameters.size());
  net.parameters.emplace_back(shape, std::move(data));
  known.insert(known.begin(), {name, shape, kF32});
  return name;
}

i64 integer(Decisions& d) {
  static constexpr i64 kOften[] = {1, 0, 2,  -1, 3, 4,  6,          -2,
                                   5, 8, 12, -3, 7, 16, 2147483647, -2147483648};
  return kOften[d.below(16)];
}

json argument(const TorchParameter& p, Network& net, std::vector<Known>& known, Decisions& d) {
  const std::string_view element = p.element();
  if (p.may_be_none() && d.below(3) == 0) return as_none();
  if (p.is_list()) {
    const i64 count = element == "Tensor" ? 1 + d.below(3) : d.below(5);
    json list = json::array();
    for (i64 k = 0; k < count; ++k) {
      if (element == "Tensor") list.push_back({{"name", operand(net, known, d)}});
      else if (element == "float") list.push_back(d.number());
      else list.push_back(integer(d));
    }
    return {{element == "Tensor"  ? "as_tensors"
             : element == "float" ? "as_floats"
                                  : "as_ints",
             std::move(list)}};
  }
  if (element == "Tensor") return as_tensor(operand(net, known, d));
  if (element == "bool") return as_bool(d.maybe());
  if (element == "float" || (element == "Scalar" && d.maybe())) return as_float(d.number());
  if (element == "str") return as_text(d.maybe() ? "none" : "mean");
  if (element == "ScalarType") return as_dtype(d.one_of<int>({kF32, kS64, kS32, 12, kS8}));
  return as_int(integer(d));
}

// Imports; a result of another shape or type than declared gets what the import says. False:
// refused for another reason.
bool settle(Network& net) {
  static const std::map<std::string, int> kTypes = {{"f32", kF32}, {"s64", kS64}, {"s32", kS32},
                                                    {"s8", kS8},   {"u8", kU8},   {"b8", 12},
                                                    {"bool", 12}};
  for (int tries = 0; tries < 3; ++tries) {
    Diagnostics diagnostics;
    if (import_bytes(net.model().bytes(), diagnostics)) return true;
    const Diagnostic* error = nullptr;
    for (const Diagnostic& d : diagnostics.list())
      if (d.severity == Severity::error) error = error ? error : &d;
    TestModel::Out& out = net.nodes.back().out;
    if (error->rule == "pt2.graph.shape") {
      out.shape.clear();
      for (const json& extent :
           json::parse("[" + (error->measured == "none" ? "" : error->measured) + "]"))
        out.shape.push_back(extent.is_number_integer() ? extent.get<i64>() : 1);
    } else if (error->rule == "pt2.graph.dtype" && kTypes.contains(error->measured)) {
      out.dtype = kTypes.at(error->measured);
    } else {
      return false;
    }
  }
  return false;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::vector<Shape> kInputs = {{1, 3, 6, 5}, {2, 4},    {1, 4, 7}, {3},
                                             {1, 2, 4, 4}, {5, 1, 3}, {2, 3, 4}, {1, 1, 1, 1}};
  Decisions d(data, size);
  Network net;
  net.x = d.one_of(kInputs);
  std::vector<Known> known = {{"x", net.x, kF32}};
  for (i64 k = 1 + d.below(4); k > 0 && !d.at_end(); --k) {
    TorchNode node;
    node.target = d.one_of(targets());
    node.out = {"y" + std::to_string(net.nodes.size()), known.back().shape, kF32};
    const Network before = net;
    const std::vector<Known> known_before = known;
    const std::vector<TorchParameter> parameters = *parameters_of(node.target);
    for (const TorchParameter& p : parameters)
      if (p.is_required() || d.below(3) == 0)
        node.arguments.emplace_back(p.name, argument(p, net, known, d));
    net.nodes.push_back(std::move(node));
    if (settle(net)) {
      const TestModel::Out& out = net.nodes.back().out;
      known.push_back({out.name, out.shape, out.dtype});
    } else {
      net = before;
      known = known_before;
    }
  }
  if (net.nodes.empty()) return 0;
  Diagnostics diagnostics;
  std::optional<Graph> graph = import_bytes(net.model().bytes(), diagnostics);
  DEUTERON_CHECK(graph.has_value());
  DEUTERON_CHECK(!find_fault(*graph));
  test::compile_and_run(std::move(*graph), d);
  return 0;
}
