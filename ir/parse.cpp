// SPDX-License-Identifier: Apache-2.0
// Text to graph, one statement a line, by recursive descent. Grammar: ir/text_form.md.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "ir/text.h"
#include "ir/text_constant.h"
#include "ir/text_values.h"
#include "ir/verify.h"
#include "ops/families.h"

namespace deuteron {

namespace {

constexpr i64 kMaxReported = 20;
// the name of a value whose line is wrong: lines that read it are not reported
constexpr ValueId kFaulty = -1;

// The default operator of that name; kernel calls and delegates have a syntax of their own.
template <size_t... I>
std::optional<Op> op_named(std::string_view name, std::index_sequence<I...>) {
  std::optional<Op> found;
  const auto consider = [&]<class T>(T op) {
    if constexpr (!std::is_same_v<T, KernelCall> && !std::is_same_v<T, Delegate>)
      if (def_of(op).name == name) found = op;
  };
  (consider(std::variant_alternative_t<I, AnyOp>{}), ...);
  return found;
}
std::optional<Op> op_named(std::string_view name) {
  return op_named(name, std::make_index_sequence<std::variant_size_v<AnyOp>>());
}

class Parser {
 public:
  Parser(std::string_view text, const std::string& file, Diagnostics& diagnostics)
      : c_(text, file, diagnostics), file_(file), diagnostics_(diagnostics) {}
  std::optional<Graph> run();

 private:
  Parser(std::string_view text, const std::string& file, Diagnostics& diagnostics,
         const Graph& outer)
      : Parser(text, file, diagnostics) {
    g_.sources = outer.sources;
  }
  void statement();
  void body_line();
  void finish_bodies();
  void source();
  void numerics();
  void folded();
  void input();
  void output();
  void state();
  void assignment();
  void constant(const std::vector<std::string>& names, size_t at);
  void node(const std::vector<std::string>& results, size_t results_at);

  Origin origin();
  ValueId operand(const std::string& result, size_t index);
  ValueId define(const std::string& name, Type type, std::optional<Constant> constant, size_t at);
  Port port(ValueId value, const std::string& name);
  std::vector<Type> inferred(const Op& op, const std::vector<ValueId>& inputs, size_t at);

  Cursor c_;
  TextValues read_{c_};
  const std::string& file_;
  Diagnostics& diagnostics_;
  Graph g_;
  std::unordered_map<std::string, ValueId> ids_;
  std::vector<std::pair<size_t, std::string>> bodies_;  // of delegates: node, text
};

Origin Parser::origin() {
  Origin ids;
  const size_t at = c_.position();
  for (const i64 id : read_.integers(0, kMaxCount)) {
    if (id >= static_cast<i64>(g_.sources.size()))
      c_.fail_at(at, fmt::format("expected source ids below {}, found {}", g_.sources.size(), id));
    ids = merge(ids, {static_cast<i32>(id)});
  }
  return ids;
}

ValueId Parser::define(const std::string& name, Type type, std::optional<Constant> constant,
                       size_t at) {
  if (c_.failed()) return 0;
  const auto v = static_cast<ValueId>(g_.values.size());
  if (!ids_.emplace(name, v).second) {
    c_.fail_at(at, fmt::format("`{}` is defined already", name));
    return 0;
  }
  return g_.add_value(name, std::move(type), std::move(constant));
}

ValueId Parser::operand(const std::string& result, size_t index) {
  const size_t at = c_.position();
  const bool random = c_.accept_word("random");
  if (random || c_.accept_word("const")) {
    const std::string name = fmt::format("{}.{}", result, index);
    Type t = read_.type();
    Constant bytes;
    if (!random) bytes = read_.constant(t, name);
    else if (read_.fits(t)) bytes = random_constant(t, seed_of(name));
    return define(name, std::move(t), std::move(bytes), at);
  }
  const std::string name = c_.name();
  if (c_.failed()) return 0;
  const auto found = ids_.find(name);
  if (found != ids_.end()) {
    if (found->second == kFaulty) c_.give_up();
    return found->second;
  }
  c_.fail_at(
      at, fmt::format("expected the name of an input, a constant or an earlier result, found `{}`",
                      name));
  return 0;
}

void Parser::source() {
  const auto next = static_cast<i64>(g_.sources.size());
  const size_t at = c_.position();
  const i64 id = c_.integer(0, kMaxCount);
  if (id != next)
    c_.fail_at(at, fmt::format("expected source {}, found {}", next, id),
               "sources are numbered from 0 in order");
  SourceOp op;
  op.name = c_.string();
  op.target = c_.string();
  if (c_.accept("module=")) op.module = c_.string();
  if (c_.accept("stack=")) op.stack = c_.string();
  if (!c_.failed()) g_.sources.push_back(std::move(op));
}

void Parser::folded() {
  Origin ids = origin();
  std::string reason = c_.string();
  if (!c_.failed()) g_.folded.push_back({std::move(ids), std::move(reason)});
}

Port Parser::port(ValueId value, const std::string& name) {
  Port port{value, name, {}};
  if (c_.accept("name=")) port.name = c_.string();
  if (c_.failed()) return port;
  const size_t rank = g_.type(value).shape.size();
  port.order.resize(rank);
  std::iota(port.order.begin(), port.order.end(), 0);
  const size_t at = c_.position();
  if (!c_.accept("order=")) return port;
  port.order = read_.integers(0, kMaxCount);
  std::vector<bool> used(rank);
  bool valid = port.order.size() == rank;
  for (const i64 axis : port.order) {
    valid = valid && axis < static_cast<i64>(rank) && !used[axis];
    if (valid) used[axis] = true;
  }
  if (!valid)
    c_.fail_at(at, fmt::format("expected an order of the axes 0 to {}, found {}",
                               static_cast<i64>(rank) - 1, to_text(port.order)));
  return port;
}

void Parser::input() {
  const size_t at = c_.position();
  const std::string name = c_.name();
  c_.expect(":");
  const ValueId v = define(name, read_.type(), std::nullopt, at);
  Port p = port(v, name);
  if (c_.failed()) ids_.emplace(name, kFaulty);
  else g_.inputs.push_back(std::move(p));
}

void Parser::output() {
  const size_t at = c_.position();
  const std::string name = c_.name();
  const auto found = ids_.find(name);
  if (found == ids_.end())
    return c_.fail_at(at, fmt::format("expected the name of a value, found `{}`", name));
  if (found->second == kFaulty) return c_.give_up();
  Port p = port(found->second, name);
  if (!c_.failed()) g_.outputs.push_back(std::move(p));
}

// The next of the last inputs and outputs is a state, which begins so.
void Parser::state() {
  State s;
  s.type = read_.type();
  s.initial = read_.constant(s.type, "state");
  if (c_.accept_word("from"))
    if (const Origin ids = origin(); !ids.empty()) s.source = ids[0];
  if (!c_.failed()) g_.states.push_back(std::move(s));
}

std::vector<Type> Parser::inferred(const Op& op, const std::vector<ValueId>& inputs, size_t at) {
  if (c_.failed()) return {};
  std::vector<const Type*> storage;
  Result<std::vector<Type>> types = infer(op, g_.types(inputs, storage));
  if (!types) {
    const Refusal& why = types.why;
    const std::string what =
        why.measured.empty() ? why.what
                             : fmt::format("{}: {}, limit {}", why.what, why.measured, why.limit);
    c_.fail_at(at, what, {}, "text." + why.rule);
    return {};
  }
  for (const Type& t : *types) read_.check(t, at);
  return std::move(*types.value);
}

void Parser::node(const std::vector<std::string>& results, size_t results_at) {
  const size_t at = c_.position();
  std::optional<Op> op;
  if (c_.accept_word("call")) {
    KernelCall call;
    if (c_.sees("\"")) {
      call.name = c_.string();
      call.overload = c_.string();
    } else {
      const std::string_view name = c_.word(":.");
      const size_t dot = name.rfind('.');
      if (dot == std::string_view::npos || dot + 1 == name.size())
        return c_.fail_at(at, "expected call NAME.OVERLOAD");
      call.name = name.substr(0, dot);
      call.overload = name.substr(dot + 1);
    }
    op = std::move(call);
  } else if (c_.accept_word("delegate")) {
    op = Delegate{};
  } else {
    const std::string_view name = c_.word("");
    op = op_named(name);
    if (!op)
      return c_.fail_at(at, fmt::format("expected an operator, const or call, found `{}`", name));
  }
  c_.expect("(");
  Node node;
  if (!c_.accept(")")) {
    do node.inputs.push_back(operand(results[0], node.inputs.size()));
    while (!c_.failed() && c_.accept(","));
    c_.expect(")");
  }
  read_.attributes(*op);
  std::vector<Type> types;
  if (c_.accept(":")) do
      types.push_back(read_.type());
    while (!c_.failed() && c_.accept(","));
  else types = inferred(*op, node.inputs, at);
  if (!c_.failed() && types.size() != results.size())
    c_.fail_at(results_at, fmt::format("expected as many names as types, found {} and {}",
                                       results.size(), types.size()));
  if (c_.accept_word("from")) {
    node.origin = origin();
  } else if (!c_.failed()) {
    node.origin = {static_cast<i32>(g_.sources.size())};
    g_.sources.push_back({results[0], fmt::format("text.{}", name_of(*op)), "", ""});
  }
  for (size_t k = 0; k < results.size() && !c_.failed(); ++k)
    node.outputs.push_back(define(results[k], std::move(types[k]), std::nullopt, results_at));
  node.op = std::move(*op);
  if (c_.failed()) return;
  if (delegate_of(node.op)) bodies_.emplace_back(g_.nodes.size(), "");
  g_.nodes.push_back(std::move(node));
}

// A line of the body of the delegate above it.
void Parser::body_line() {
  if (bodies_.empty() || bodies_.back().first + 1 != g_.nodes.size()) return c_.fail("a statement");
  bodies_.back().second += std::string(c_.rest_of_line()) + "\n";
}

void Parser::finish_bodies() {
  for (const auto& [node, text] : bodies_) {
    std::optional<Graph> body = Parser(text, file_, diagnostics_, g_).run();
    if (!body) return c_.fail("a valid body of a delegate");
    std::get<Delegate>(g_.nodes[node].op).body = std::make_shared<const Graph>(std::move(*body));
  }
}

void Parser::assignment() {
  const size_t at = c_.position();
  std::vector<std::string> names;
  do names.push_back(c_.name());
  while (!c_.failed() && c_.accept(","));
  c_.expect("=");
  if (c_.accept_word("const")) constant(names, at);
  else node(names, at);
  if (c_.failed())
    for (const std::string& name : names) ids_.emplace(name, kFaulty);
}

void Parser::constant(const std::vector<std::string>& names, size_t at) {
  Type t = read_.type();
  Constant bytes = read_.constant(t, names[0]);
  if (names.size() != 1)
    c_.fail_at(at, fmt::format("expected one name for a constant, found {}", names.size()));
  define(names[0], std::move(t), std::move(bytes), at);
}

void Parser::numerics() {
  const size_t at = c_.position();
  if (c_.accept_word("tflite")) g_.numerics = Numerics::tflite;
  else if (!c_.accept_word("own")) c_.fail_at(at, "expected own or tflite");
}

void Parser::statement() {
  if (c_.accept_word("graph")) g_.name = c_.string();
  else if (c_.accept_word("numerics")) numerics();
  else if (c_.accept_word("source")) source();
  else if (c_.accept_word("folded")) folded();
  else if (c_.accept_word("input")) input();
  else if (c_.accept_word("output")) output();
  else if (c_.accept_word("state")) state();
  else if (c_.accept("|")) body_line();
  else assignment();
  if (!c_.at_line_end()) c_.fail("end of line");
}

std::optional<Graph> Parser::run() {
  for (; !c_.at_end() && !c_.sees("---") && c_.failures() < kMaxReported; c_.next_line())
    if (!c_.at_line_end()) statement();
  if (c_.failures() == 0) finish_bodies();
  if (c_.failures() > 0) return std::nullopt;
  if (const auto fault = find_fault(g_)) {
    diagnostics_.error(file_, *fault, "text.invalid");
    return std::nullopt;
  }
  return std::move(g_);
}

}  // namespace

std::optional<Graph> parse(std::string_view text, const std::string& file_name,
                           Diagnostics& diagnostics) {
  return Parser(text, file_name, diagnostics).run();
}

}  // namespace deuteron
