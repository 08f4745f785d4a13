// Text to graph, one statement a line, by recursive descent. Grammar: docs/text-form.md.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <unordered_map>

#include "ir/cursor.h"
#include "ir/text.h"
#include "ir/text_constant.h"
#include "ir/verify.h"

namespace deuteron {

namespace {

constexpr i64 kMaxReported = 20;
// The device counts elements in int32 (runtime/kernel.h, Tensor::numel). Attributes have the same limit, so that products of two stay in
// i64.
constexpr i64 kMaxCount = std::numeric_limits<i32>::max();
constexpr i64 kMaxConstantBytes = i64{1} << 26;  // of all constants of a file that are not written out
constexpr size_t kMaxRankOfText = 16;            // runtime/kernel.h kMaxRank
constexpr ValueId kFaulty = -1;                  // the name of a value whose line is wrong: lines that read it are not reported
constexpr i64 kLowest = std::numeric_limits<i64>::min(), kHighest = std::numeric_limits<i64>::max();

// The default operator of that name; kernel calls and delegates have a syntax of their own.
template <size_t... I>
std::optional<Op> op_named(std::string_view name, std::index_sequence<I...>) {
  std::optional<Op> found;
  const auto consider = [&]<class T>(T op) {
    if constexpr (!std::is_same_v<T, KernelCall> && !std::is_same_v<T, Delegate>)
      if (def_of(op).name == name) found = op;
  };
  (consider(std::variant_alternative_t<I, Op>{}), ...);
  return found;
}
std::optional<Op> op_named(std::string_view name) { return op_named(name, std::make_index_sequence<std::variant_size_v<Op>>()); }

class Parser {
 public:
  Parser(std::string_view text, const std::string& file, Diagnostics& diagnostics)
      : c_(text, file, diagnostics), file_(file), diagnostics_(diagnostics) {}
  std::optional<Graph> run();

 private:
  Parser(std::string_view text, const std::string& file, Diagnostics& diagnostics, const Graph& outer) : Parser(text, file, diagnostics) {
    g_.sources = outer.sources;
  }
  void statement();
  void body_line();
  void finish_bodies();
  void source();
  void folded();
  void input();
  void output();
  void assignment();
  void constant(const std::vector<std::string>& names, size_t at);
  void node(const std::vector<std::string>& results, size_t results_at);

  std::vector<i64> integers(i64 low, i64 high);
  Origin origin();
  Type type();
  void check(const Type& type, size_t at);
  Constant data(const Type& type, const std::string& name);
  Constant fill(const Type& type);
  Constant listed(const Type& type);
  std::vector<std::byte> element(DType dtype);
  bool fits(const Type& type);
  ValueId operand(const std::string& result, size_t index);
  ValueId define(const std::string& name, Type type, std::optional<Constant> constant, size_t at);
  Port port(ValueId value, const std::string& name);
  std::vector<Type> inferred(const Op& op, const std::vector<ValueId>& inputs, size_t at);

  void read(i64& v) { v = c_.integer(-kMaxCount, kMaxCount); }
  void read(float& v) { v = c_.real(); }
  void read(bool& v);
  void read(HW& v);
  void read(std::vector<i64>& v);
  void read(Bounds& v);
  void read(Quant& v);
  void read(UnaryFn& v);
  void read(PointProgram& v);
  template <class T>
  void attributes(T& op);
  void attributes(KernelCall& call);
  void attributes(Delegate& delegate);
  KernelArg argument();
  Face face();

  Cursor c_;
  const std::string& file_;
  Diagnostics& diagnostics_;
  Graph g_;
  std::unordered_map<std::string, ValueId> ids_;
  i64 constant_bytes_ = 0;
  std::vector<std::pair<size_t, std::string>> bodies_;  // of delegates: node, text
};

std::vector<i64> Parser::integers(i64 low, i64 high) {
  std::vector<i64> list;
  do list.push_back(c_.integer(low, high));
  while (!c_.failed() && c_.accept(","));
  return list;
}

Origin Parser::origin() {
  Origin ids;
  const size_t at = c_.position();
  for (const i64 id : integers(0, kMaxCount)) {
    if (id >= static_cast<i64>(g_.sources.size()))
      c_.fail_at(at, fmt::format("expected source ids below {}, found {}", g_.sources.size(), id));
    ids = merge(ids, {static_cast<i32>(id)});
  }
  return ids;
}

void Parser::check(const Type& type, size_t at) {
  if (c_.failed()) return;
  if (const auto fault = find_fault(type)) return c_.fail_at(at, *fault);
  const i64 elements = type.elements();
  if (elements > kMaxCount) c_.fail_at(at, fmt::format("expected at most {} elements, found {}", kMaxCount, elements));
}

Type Parser::type() {
  Type type;
  const size_t at = c_.position();
  const auto dtype = dtype_named(c_.word(""));
  if (!dtype && !c_.failed()) c_.fail_at(at, "expected a dtype (f32, s8, s16, s32, s64, u8, b8, f16, bf16 or f64)");
  type.dtype = dtype.value_or(DType::f32);
  c_.expect("[");
  if (!c_.accept("]")) {
    type.shape = integers(0, kMaxCount);
    c_.expect("]");
  }
  if (c_.sees("q(")) read(type.quant);
  check(type, at);
  return type;
}

// Adds to what the file asks for without writing it out; false once it is too much.
bool Parser::fits(const Type& type) {
  if (c_.failed()) return false;
  constant_bytes_ += type.bytes();
  if (constant_bytes_ > kMaxConstantBytes)
    c_.fail_at(c_.position(), fmt::format("expected at most {} bytes of constants, found {}", kMaxConstantBytes, constant_bytes_));
  return !c_.failed();
}

std::vector<std::byte> Parser::element(DType dtype) {
  std::vector<std::byte> bytes(static_cast<size_t>(bytes_of(dtype)));
  const auto store = [&](auto v) { std::memcpy(bytes.data(), &v, std::min(bytes.size(), sizeof v)); };
  switch (dtype) {  // integers: two's complement, little-endian, so the low bytes
    case DType::f32:
      store(c_.real());
      break;
    case DType::f64:
      store(c_.wide_real());
      break;
    case DType::s8:
      store(c_.integer(-128, 127));
      break;
    case DType::u8:
      store(c_.integer(0, 255));
      break;
    case DType::b8:
      store(c_.integer(0, 1));
      break;
    case DType::s16:
      store(c_.integer(-32768, 32767));
      break;
    case DType::s32:
      store(c_.integer(INT32_MIN, INT32_MAX));
      break;
    case DType::s64:
      store(c_.integer(kLowest, kHighest));
      break;
    case DType::f16:
    case DType::bf16:
      c_.fail("random or base64");
      break;
  }
  return bytes;
}

Constant Parser::fill(const Type& type) {
  const std::vector<std::byte> one = element(type.dtype);
  c_.expect(")");
  if (!fits(type)) return {};
  std::vector<std::byte> bytes;
  bytes.reserve(static_cast<size_t>(type.bytes()));
  for (i64 k = 0; k < type.elements(); ++k) bytes.insert(bytes.end(), one.begin(), one.end());
  return constant_of_bytes(bytes);
}

Constant Parser::listed(const Type& type) {
  std::vector<std::byte> bytes;
  for (i64 k = 0; k < type.elements() && !c_.failed(); ++k) {
    if (k > 0 && !c_.accept(",")) c_.fail(fmt::format("`,` and {} values, of which {} are given", type.elements(), k));
    const std::vector<std::byte> one = element(type.dtype);
    bytes.insert(bytes.end(), one.begin(), one.end());
  }
  return constant_of_bytes(bytes);
}

Constant Parser::data(const Type& type, const std::string& name) {
  if (c_.accept_word("random")) {
    uint64_t seed = seed_of(name);
    if (c_.accept("(")) {
      seed = static_cast<uint64_t>(c_.integer(0, kHighest));
      c_.expect(")");
    }
    return fits(type) ? random_constant(type, seed) : Constant{};
  }
  if (c_.accept("fill(")) return fill(type);
  if (!c_.accept_word("base64")) return listed(type);
  const size_t at = c_.position();
  const auto bytes = from_base64(c_.string());
  if (bytes && static_cast<i64>(bytes->size()) == type.bytes()) return constant_of_bytes(*bytes);
  c_.fail_at(at, bytes ? fmt::format("expected {} bytes, found {}", type.bytes(), bytes->size()) : "this is not base64");
  return {};
}

ValueId Parser::define(const std::string& name, Type type, std::optional<Constant> constant, size_t at) {
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
    Type t = type();
    Constant bytes;
    if (!random) bytes = data(t, name);
    else if (fits(t)) bytes = random_constant(t, seed_of(name));
    return define(name, std::move(t), std::move(bytes), at);
  }
  const std::string name = c_.name();
  if (c_.failed()) return 0;
  const auto found = ids_.find(name);
  if (found != ids_.end()) {
    if (found->second == kFaulty) c_.give_up();
    return found->second;
  }
  c_.fail_at(at, fmt::format("expected the name of an input, a constant or an earlier result, found `{}`", name));
  return 0;
}

void Parser::source() {
  const auto next = static_cast<i64>(g_.sources.size());
  const size_t at = c_.position();
  const i64 id = c_.integer(0, kMaxCount);
  if (id != next) c_.fail_at(at, fmt::format("expected source {}, found {}", next, id), "sources are numbered from 0 in order");
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
  port.order = integers(0, kMaxCount);
  std::vector<bool> used(rank);
  bool valid = port.order.size() == rank;
  for (const i64 axis : port.order) {
    valid = valid && axis < static_cast<i64>(rank) && !used[axis];
    if (valid) used[axis] = true;
  }
  if (!valid)
    c_.fail_at(at, fmt::format("expected an order of the axes 0 to {}, found {}", static_cast<i64>(rank) - 1, to_text(port.order)));
  return port;
}

void Parser::input() {
  const size_t at = c_.position();
  const std::string name = c_.name();
  c_.expect(":");
  const ValueId v = define(name, type(), std::nullopt, at);
  Port p = port(v, name);
  if (c_.failed()) ids_.emplace(name, kFaulty);
  else g_.inputs.push_back(std::move(p));
}

void Parser::output() {
  const size_t at = c_.position();
  const std::string name = c_.name();
  const auto found = ids_.find(name);
  if (found == ids_.end()) return c_.fail_at(at, fmt::format("expected the name of a value, found `{}`", name));
  if (found->second == kFaulty) return c_.give_up();
  Port p = port(found->second, name);
  if (!c_.failed()) g_.outputs.push_back(std::move(p));
}

void Parser::read(bool& v) {
  v = c_.accept_word("true");
  if (!v && !c_.accept_word("false")) c_.fail("true or false");
}

void Parser::read(HW& v) {
  read(v.h);
  v.w = v.h;
  if (c_.accept(",")) read(v.w);
}

// The product of the entries stays within kMaxCount, so that shapes computed from them can be multiplied out.
void Parser::read(std::vector<i64>& v) {
  const size_t at = c_.position();
  v = integers(-kMaxCount, kMaxCount);
  i64 product = 1;
  for (const i64 entry : v) {
    if (product <= kMaxCount) product *= std::max<i64>(std::abs(entry), 1);
  }
  if (product > kMaxCount) c_.fail_at(at, fmt::format("expected numbers whose product is at most {}", kMaxCount));
  if (v.size() > kMaxRankOfText) c_.fail_at(at, fmt::format("expected at most {} numbers, found {}", kMaxRankOfText, v.size()));
}

void Parser::read(Bounds& v) {
  v.low = c_.real();
  c_.expect(",");
  v.high = c_.real();
}

void Parser::read(Quant& v) {
  c_.expect("q(");
  v = {};
  if (c_.accept("axis=")) v.axis = static_cast<i32>(c_.integer(0, static_cast<i64>(kMaxRankOfText) - 1));
  c_.expect("scale=");
  do v.scale.push_back(c_.real());
  while (!c_.failed() && c_.accept(";"));
  c_.expect("zero=");
  do v.zero_point.push_back(static_cast<i32>(c_.integer(INT32_MIN, INT32_MAX)));
  while (!c_.failed() && c_.accept(";"));
  if (c_.accept("range=")) {
    v.low = static_cast<i32>(c_.integer(INT32_MIN, INT32_MAX));
    c_.expect("..");
    v.high = static_cast<i32>(c_.integer(INT32_MIN, INT32_MAX));
  }
  c_.expect(")");
}

void Parser::read(PointProgram& v) {
  const size_t at = c_.position();
  const std::string text = c_.string();
  if (c_.failed()) return;
  const auto program = point_program_named(text);
  if (!program) return c_.fail_at(at, fmt::format("this is no program of element-wise steps: {}", text));
  v = *program;
}

void Parser::read(UnaryFn& v) {
  const size_t at = c_.position();
  const std::string_view name = c_.word("");
  if (const auto fn = unary_named(name)) v = *fn;
  else c_.fail_at(at, fmt::format("expected the name of a function, found `{}`", name));
}

template <class T>
void Parser::attributes(T& op) {
  std::vector<std::string_view> seen;
  while (!c_.failed() && !c_.at_line_end() && !c_.sees(":") && !c_.sees("from ")) {
    const size_t at = c_.position();
    const std::string_view key = c_.word("");
    std::vector<std::string> names;
    bool known = false;
    const bool again = std::find(seen.begin(), seen.end(), key) != seen.end();
    T::fields(op, [&](const char* name, auto& field) {
      names.emplace_back(name);
      if (key != name || again) return;
      known = true;
      c_.expect("=");
      read(field);
    });
    seen.push_back(key);
    if (again) c_.fail_at(at, fmt::format("`{}` is given twice", key));
    if (known) continue;
    if (key.empty()) c_.fail("an attribute, `:` or from");
    c_.fail_at(at, names.empty() ? fmt::format("{} has no attributes, found `{}`", def_of(op).name, key)
                                 : fmt::format("expected one of {}, found `{}`", fmt::join(names, ", "), key));
  }
}

Face Parser::face() {
  Face face;
  c_.expect("[");
  if (!c_.sees("]") && !c_.sees("|")) face.sizes = integers(0, kMaxCount);
  face.order.resize(face.sizes.size());
  std::iota(face.order.begin(), face.order.end(), 0);
  if (c_.accept("|")) face.order = integers(0, kMaxCount);
  c_.expect("]");
  return face;
}

KernelArg Parser::argument() {
  using Kind = KernelArg::Kind;
  KernelArg arg;
  if (c_.accept_word("none")) return arg;
  if (c_.accept_word("true")) return {Kind::boolean, 1, 0, {}, {}};
  if (c_.accept_word("false")) return {Kind::boolean, 0, 0, {}, {}};
  if (c_.accept("[")) {
    arg.kind = Kind::integers;
    if (!c_.accept("]")) {
      arg.integers = integers(kLowest, kHighest);
      c_.expect("]");
    }
    return arg;
  }
  if (c_.accept("{")) {
    arg.kind = Kind::inputs;
    arg.integers = integers(0, kMaxCount);
    c_.expect("}");
    return arg;
  }
  const bool is_out = c_.accept("out");
  if (is_out || (c_.sees("in") && !c_.sees("inf"))) {
    if (!is_out) c_.accept("in");
    arg.kind = is_out ? Kind::output : Kind::input;
    arg.integer = c_.integer(0, kMaxCount);
    arg.face = face();
    return arg;
  }
  Cursor ahead = c_;
  if (!c_.sees_digit() && !c_.sees("-") && !c_.sees("inf") && !c_.sees("nan"))
    c_.fail("an argument (in0[..], out0[..], a number, [..], true, false or none)");
  if (ahead.number().find_first_of(".en") == std::string_view::npos) return {Kind::integer, c_.integer(kLowest, kHighest), 0, {}, {}};
  return {Kind::real, 0, c_.wide_real(), {}, {}};
}

void Parser::attributes(KernelCall& call) {
  c_.expect("args(");
  if (!c_.accept(")")) {
    do call.args.push_back(argument());
    while (!c_.failed() && c_.accept(","));
    c_.expect(")");
  }
  if (c_.accept("in_place=")) do {
      const i64 output = c_.integer(0, kMaxCount);
      c_.expect(":");
      call.in_place.emplace_back(output, c_.integer(0, kMaxCount));
    } while (!c_.failed() && c_.accept(","));
  if (c_.accept("macs=")) call.macs = c_.integer(0, kHighest);
}

void Parser::attributes(Delegate& delegate) {
  c_.expect("backend=");
  delegate.backend = c_.word("");
}

std::vector<Type> Parser::inferred(const Op& op, const std::vector<ValueId>& inputs, size_t at) {
  if (c_.failed()) return {};
  std::vector<const Type*> storage;
  Result<std::vector<Type>> types = infer(op, g_.types(inputs, storage));
  if (!types) {
    const Refusal& why = types.why;
    c_.fail_at(at, why.measured.empty() ? why.what : fmt::format("{}: {}, limit {}", why.what, why.measured, why.limit));
    return {};
  }
  if (const auto* quantize = std::get_if<Quantize>(&op)) types.value->at(0).quant = quantize->quant;
  for (const Type& t : *types) check(t, at);
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
      if (dot == std::string_view::npos || dot + 1 == name.size()) return c_.fail_at(at, "expected call NAME.OVERLOAD");
      call.name = name.substr(0, dot);
      call.overload = name.substr(dot + 1);
    }
    op = std::move(call);
  } else if (c_.accept_word("delegate")) {
    op = Delegate{};
  } else {
    const std::string_view name = c_.word("");
    op = op_named(name);
    if (!op) return c_.fail_at(at, fmt::format("expected an operator, const or call, found `{}`", name));
  }
  c_.expect("(");
  Node node;
  if (!c_.accept(")")) {
    do node.inputs.push_back(operand(results[0], node.inputs.size()));
    while (!c_.failed() && c_.accept(","));
    c_.expect(")");
  }
  std::visit([&](auto& o) { attributes(o); }, *op);
  std::vector<Type> types;
  if (c_.accept(":")) do
      types.push_back(type());
    while (!c_.failed() && c_.accept(","));
  else types = inferred(*op, node.inputs, at);
  if (!c_.failed() && types.size() != results.size())
    c_.fail_at(results_at, fmt::format("expected as many names as types, found {} and {}", results.size(), types.size()));
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
  if (std::holds_alternative<Delegate>(node.op)) bodies_.emplace_back(g_.nodes.size(), "");
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
  Type t = type();
  Constant bytes = data(t, names[0]);
  if (names.size() != 1) c_.fail_at(at, fmt::format("expected one name for a constant, found {}", names.size()));
  define(names[0], std::move(t), std::move(bytes), at);
}

void Parser::statement() {
  if (c_.accept_word("graph")) g_.name = c_.string();
  else if (c_.accept_word("source")) source();
  else if (c_.accept_word("folded")) folded();
  else if (c_.accept_word("input")) input();
  else if (c_.accept_word("output")) output();
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

std::optional<Graph> parse(std::string_view text, const std::string& file_name, Diagnostics& diagnostics) {
  return Parser(text, file_name, diagnostics).run();
}

}  // namespace deuteron
