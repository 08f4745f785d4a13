// SPDX-License-Identifier: Apache-2.0
// A graph as text. Constants stand before the first node that reads them; names that occur twice
// get a number.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "ir/text.h"
#include "ir/text_constant.h"
#include "ops/families.h"

namespace deuteron {

namespace {

std::string text_of(i64 v) { return fmt::format("{}", v); }
std::string text_of(bool v) { return v ? "true" : "false"; }
std::string text_of(float v) { return fmt::format("{}", v); }
std::string text_of(const HW& v) { return fmt::format("{},{}", v.h, v.w); }
std::string text_of(const std::vector<i64>& v) { return to_text(v); }
std::string text_of(const Bounds& v) { return fmt::format("{},{}", v.low, v.high); }
std::string text_of(UnaryFn v) { return std::string(name_of(v)); }
std::string text_of(const PointProgram& v) { return in_quotes(to_text(v)); }
std::string text_of(const Quant& q) {
  std::string text = "q(";
  if (q.axis >= 0) text += fmt::format("axis={} ", q.axis);
  text += fmt::format("scale={} zero={}", fmt::join(q.scale, ";"), fmt::join(q.zero_point, ";"));
  if (q.low != -128 || q.high != 127) text += fmt::format(" range={}..{}", q.low, q.high);
  return text + ")";
}
std::string text_of(const Type& type) {
  std::string text = fmt::format("{}[{}]", name_of(type.dtype), to_text(type.shape));
  if (!type.quant.empty()) text += " " + text_of(type.quant);
  return text;
}

bool counts_up(const Axes& axes) {
  for (size_t k = 0; k < axes.size(); ++k)
    if (axes[k] != static_cast<i64>(k)) return false;
  return true;
}

// " stride=2,2": the attributes that differ from those of a default operator.
template <class T>
std::string attributes(const T& op) {
  std::vector<std::string> usual;
  const T default_op;
  T::fields(default_op, [&](const char*, const auto& field) { usual.push_back(text_of(field)); });
  std::string text;
  size_t k = 0;
  T::fields(op, [&](const char* name, const auto& field) {
    const std::string value = text_of(field);
    if (value != usual[k++]) text += fmt::format(" {}={}", name, value);
  });
  return text;
}

std::string real_text(double v) {
  const std::string text = fmt::format("{}", v);
  return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
}

std::string text_of(const KernelArg& arg) {
  using Kind = KernelArg::Kind;
  switch (arg.kind) {
    case Kind::input:
    case Kind::output: {
      const std::string order = counts_up(arg.face.order) ? "" : "|" + to_text(arg.face.order);
      return fmt::format("{}{}[{}{}]", arg.kind == Kind::input ? "in" : "out", arg.integer,
                         to_text(arg.face.sizes), order);
    }
    case Kind::integer:
      return fmt::format("{}", arg.integer);
    case Kind::real:
      return real_text(arg.real);
    case Kind::boolean:
      return text_of(arg.integer != 0);
    case Kind::integers:
      return fmt::format("[{}]", to_text(arg.integers));
    case Kind::inputs:
      return fmt::format("{{{}}}", to_text(arg.integers));
    case Kind::none:
      return "none";
  }
  return "none";
}

std::string callee(const KernelCall& call) {
  const auto plain = [](const std::string& s) {
    return !s.empty() && std::all_of(s.begin(), s.end(), [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == ':';
    });
  };
  if (plain(call.name) && plain(call.overload))
    return fmt::format("call {}.{}", call.name, call.overload);
  return fmt::format("call {} {}", in_quotes(call.name), in_quotes(call.overload));
}

std::string attributes(const Delegate& delegate) { return " backend=" + delegate.backend; }

std::string attributes(const KernelCall& call) {
  std::string text = " args(";
  for (size_t k = 0; k < call.args.size(); ++k)
    text += (k == 0 ? "" : ", ") + text_of(call.args[k]);
  text += ")";
  for (size_t k = 0; k < call.in_place.size(); ++k)
    text += fmt::format("{}{}:{}", k == 0 ? " in_place=" : ",", call.in_place[k].first,
                        call.in_place[k].second);
  if (call.writes_state) text += " writes_state";
  for (size_t k = 0; k < call.own_scratch.size(); ++k)
    text += fmt::format("{}{}:{}", k == 0 ? " own_scratch=" : ",", call.own_scratch[k].least,
                        call.own_scratch[k].most);
  if (call.macs != 0) text += fmt::format(" macs={}", call.macs);
  return text;
}

// "0.5,-0.25", or nothing where decimal text would not give the same bits.
template <class T>
std::string elements_text(std::span<const T> elements) {
  return fmt::format("{}", fmt::join(elements, ","));
}
template <class T>
bool decimal_is_exact(std::span<const T> elements) {
  const T nan = std::numeric_limits<T>::quiet_NaN();
  return std::all_of(elements.begin(), elements.end(),
                     [&](T v) { return v == v || std::memcmp(&v, &nan, sizeof v) == 0; });
}

std::optional<std::string> decimal_text(DType dtype, const Constant& data) {
  switch (dtype) {
    case DType::f32:
      return decimal_is_exact(data.as<float>()) ? std::optional(elements_text(data.as<float>()))
                                                : std::nullopt;
    case DType::f64:
      return decimal_is_exact(data.as<double>()) ? std::optional(elements_text(data.as<double>()))
                                                 : std::nullopt;
    case DType::s8:
      return elements_text(data.as<int8_t>());
    case DType::u8:
      return elements_text(data.as<uint8_t>());
    case DType::s16:
      return elements_text(data.as<int16_t>());
    case DType::s32:
      return elements_text(data.as<i32>());
    case DType::s64:
      return elements_text(data.as<i64>());
    case DType::b8: {
      const auto bytes = data.as<uint8_t>();
      return std::all_of(bytes.begin(), bytes.end(), [](uint8_t b) { return b <= 1; })
                 ? std::optional(elements_text(bytes))
                 : std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

// Above this many elements a constant is not printed as decimal numbers.
constexpr i64 kMaxDecimals = 64;

std::string constant_text(const Type& type, const Constant& data, const TextOptions& options,
                          uint64_t seed) {
  const bool is_real = type.dtype == DType::f32 || type.dtype == DType::f64 ||
                       type.dtype == DType::f16 || type.dtype == DType::bf16;
  if (options.no_weights && is_real && type.elements() > 1) return fmt::format(" random({})", seed);
  const auto width = static_cast<size_t>(bytes_of(type.dtype));
  if (data.bytes.empty()) return "";
  const bool uniform =
      data.bytes.size() > width &&
      std::memcmp(data.bytes.data(), data.bytes.data() + width, data.bytes.size() - width) == 0;
  if (uniform)
    if (const auto element = decimal_text(type.dtype, {data.owner, data.bytes.first(width)}))
      return fmt::format(" fill({})", *element);
  if (type.elements() <= kMaxDecimals)
    if (const auto decimals = decimal_text(type.dtype, data)) return " " + *decimals;
  if (options.all_constants || type.elements() <= kMaxDecimals)
    return fmt::format(" base64 \"{}\"", base64(data.bytes));
  return fmt::format(" random({})", seed);
}

class Printer {
 public:
  Printer(const Graph& g, const TextOptions& options)
      : g_(g), options_(options), names_(g.values.size()) {}
  std::string run();

 private:
  const std::string& name(ValueId v);
  void constants(std::span<const ValueId> ids);
  void port(const char* word, const Port& port, bool with_type);
  void node(const Node& node);

  const Graph& g_;
  const TextOptions& options_;
  std::vector<std::string> names_;  // as printed; empty: not yet
  std::set<std::string> taken_;
  std::map<std::string, i64> repeated_;
  std::string text_;
};

const std::string& Printer::name(ValueId v) {
  std::string& printed = names_[v];
  if (!printed.empty()) return printed;
  const std::string base = g_.values[v].name.empty() ? "v" : g_.values[v].name;
  std::string unique = base;
  for (i64& count = repeated_[base]; !taken_.insert(unique).second;)
    unique = fmt::format("{}.{}", base, ++count + 1);
  return printed = name_text(unique);
}

void Printer::constants(std::span<const ValueId> ids) {
  for (const ValueId v : ids) {
    const GraphValue& value = g_.values[v];
    if (!value.constant || !names_[v].empty()) continue;
    const std::string& printed = name(v);
    text_ += fmt::format("{} = const {}{}\n", printed, text_of(value.type),
                         constant_text(value.type, *value.constant, options_, seed_of(printed)));
  }
}

void Printer::port(const char* word, const Port& port, bool with_type) {
  const std::string& printed = name(port.value);
  text_ += fmt::format("{} {}", word, printed);
  if (with_type) text_ += " : " + text_of(g_.type(port.value));
  if (name_text(port.name) != printed) text_ += " name=" + in_quotes(port.name);
  if (!counts_up(port.order)) text_ += " order=" + to_text(port.order);
  text_ += "\n";
}

void Printer::node(const Node& node) {
  constants(node.inputs);
  std::string line, types;
  for (const ValueId v : node.outputs) {
    line += (line.empty() ? "" : ", ") + name(v);
    types += (types.empty() ? "" : ", ") + text_of(g_.type(v));
  }
  const auto* call = call_of(node.op);
  const auto* delegate = delegate_of(node.op);
  line += fmt::format(" = {}(", call       ? callee(*call)
                                : delegate ? "delegate"
                                           : std::string(name_of(node.op)));
  for (size_t k = 0; k < node.inputs.size(); ++k)
    line += (k == 0 ? "" : ", ") + name(node.inputs[k]);
  line += ")" + std::visit([](const auto& op) { return attributes(op); }, node.op) + " : " + types;
  if (!node.origin.empty()) line += fmt::format(" from {}", fmt::join(node.origin, ","));
  text_ += line + "\n";
  if (delegate) {
    Graph body = *delegate->body;
    body.sources.clear();  // the outer ones
    const std::string text = print(body, options_);
    for (size_t at = 0; at < text.size();) {
      const size_t end = text.find('\n', at) + 1;
      text_ += "| " + text.substr(at, end - at);
      at = end;
    }
  }
}

std::string Printer::run() {
  if (!g_.name.empty()) text_ += fmt::format("graph {}\n", in_quotes(g_.name));
  if (g_.numerics == Numerics::tflite) text_ += "numerics tflite\n";
  for (size_t k = 0; k < g_.sources.size(); ++k) {
    const SourceOp& source = g_.sources[k];
    text_ += fmt::format("source {} {} {}", k, in_quotes(source.name), in_quotes(source.target));
    if (!source.module.empty()) text_ += " module=" + in_quotes(source.module);
    if (!source.stack.empty()) text_ += " stack=" + in_quotes(source.stack);
    text_ += "\n";
  }
  for (const Folded& folded : g_.folded)
    text_ += fmt::format("folded {} {}\n", fmt::join(folded.origin, ","), in_quotes(folded.reason));
  for (const Port& p : g_.inputs) port("input", p, true);
  for (const Node& n : g_.nodes) node(n);
  for (const Port& p : g_.outputs) {
    constants({&p.value, 1});
    port("output", p, false);
  }
  for (size_t k = 0; k < g_.states.size(); ++k) {
    const State& state = g_.states[k];
    text_ += fmt::format("state {}{}", text_of(state.type),
                         constant_text(state.type, state.initial, options_, seed_of("state")));
    if (state.source >= 0) text_ += fmt::format(" from {}", state.source);
    text_ += "\n";
  }
  return std::move(text_);
}

}  // namespace

std::string print(const Graph& graph, const TextOptions& options) {
  return Printer(graph, options).run();
}

}  // namespace deuteron
