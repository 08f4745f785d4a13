// SPDX-License-Identifier: Apache-2.0
#include "frontends/onnx/call/call.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/tensor/limits.h"
#include "frontends/pt2/operators/import_table.h"
#include "frontends/pt2/operators/leftovers.h"
#include "ops/common/broadcast.h"
#include "ops/families.h"

namespace deuteron::onnx {

Arg Arg::dtype(DType dtype) {
  Arg a;
  a.kind = Kind::dtype;
  while (a.integer < 32 && pt2::dtype_of_code(a.integer) != dtype) ++a.integer;
  return a;
}

void Call::refuse(Refusal why, std::string fix) {
  if (why.measured.empty() != why.limit.empty())
    (why.measured.empty() ? why.measured : why.limit) = "none";  // shapes without axes
  if (ok_)
    state_.diagnostics.add({Severity::error, pt2::describe_source(state_.graph, source_),
                            std::move(why.what), std::move(why.measured), std::move(why.limit),
                            std::move(why.rule), std::move(fix)});
  ok_ = false;
}

void Call::require(bool condition, std::string_view what, std::string measured, std::string limit,
                   std::string_view rule) {
  if (!condition)
    refuse({std::string(what), std::move(measured), std::move(limit), std::string(rule)});
}

// Attributes

const Attribute* Call::find(std::string_view name) const {
  for (const Attribute& a : node_.attributes)
    if (a.name == name) return &a;
  return nullptr;
}

const Attribute* Call::need(std::string_view name, Attribute::Kind kind,
                            std::string_view expected) {
  const Attribute* a = find(name);
  if (!a || !ok_) return nullptr;
  if (a->kind == kind) return a;
  refuse({fmt::format("attribute `{}` is of another kind, expected {}", name, expected), "", "",
          "onnx.attribute.kind"});
  return nullptr;
}

void Call::need_attribute(std::string_view name) {
  if (ok_ && !find(name))
    refuse({fmt::format("attribute `{}` is missing", name), "", "", "onnx.attribute.missing"});
}

i64 Call::integer(std::string_view name, i64 otherwise) {
  const Attribute* a = need(name, Attribute::Kind::integer, "an integer");
  return a ? a->integer : otherwise;
}

double Call::number(std::string_view name, double otherwise) {
  const Attribute* a = need(name, Attribute::Kind::real, "a number");
  if (a && !std::isfinite(a->real))
    refuse({fmt::format("attribute `{}` is not finite", name), "", "", "onnx.attribute.finite"});
  return a && ok_ ? a->real : otherwise;
}

std::string Call::text(std::string_view name, std::string_view otherwise) {
  const Attribute* a = need(name, Attribute::Kind::text, "a string");
  return a ? a->text : std::string(otherwise);
}

std::vector<i64> Call::integers(std::string_view name) {
  const Attribute* a = need(name, Attribute::Kind::integers, "a list of integers");
  return a ? a->integers : std::vector<i64>();
}

// Operands

Operand Call::operand(size_t k) {
  if (!ok_) return {};
  if (!has(k))
    return refuse({fmt::format("has no operand {}", k), "", "", "onnx.operand.missing"}), Operand{};
  const std::string& name = node_.inputs[k];
  if (!state_.knows(name))
    return refuse({fmt::format("reads `{}`, which nothing before it makes", name), "", "",
                   "onnx.graph.undefined"}),
           Operand{};
  const Quant& quant = state_.graph.type(state_.value_of(name)).quant;
  return !moves_elements_ || quant.empty() ? Operand{name} : without_steps(name);
}

// A tensor of steps as the numbers that they stand for, and back.
static Args step_args(const Operand& x, const Quant& q) {
  return {{"input", x},
          {"scale", static_cast<double>(q.scale[0])},
          {"zero_point", q.zero_point[0]},
          {"quant_min", q.low},
          {"quant_max", q.high},
          {"dtype", Arg::dtype(DType::s8)}};
}

Operand Call::without_steps(const std::string& tensor) {
  const Quant quant = state_.graph.type(state_.value_of(tensor)).quant;
  require(!quant.per_channel(),
          "works on steps that are quantized by channel, which is not supported", "", "",
          "onnx.operand.quantized");
  require(steps_.empty() || steps_ == quant, "works on steps with several scales", "2", "1",
          "onnx.operand.quantized");
  if (!ok_) return {};
  steps_ = quant;
  return torch("quantized_decomposed.dequantize_per_tensor.default", step_args({tensor}, quant),
               "real");
}

Operand Call::with_steps(const Operand& x) {
  if (steps_.empty() || dtype(x) != DType::f32) return x;
  return torch("quantized_decomposed.quantize_per_tensor.default", step_args(x, steps_), "steps");
}

Quant Call::steps(const Operand& x) {
  const ValueId v = value_of(x);
  return v < 0 ? Quant{} : state_.graph.type(v).quant;
}

// What lies beyond the bounds is clamped by the quantize itself: its range gets narrower.
Operand Call::narrowed(const Operand& x, i64 low, i64 high, i64 shift, std::string_view suffix) {
  const Quant given = steps(x);
  Quant quant = given;
  quant.low = static_cast<i32>(std::clamp<i64>(low - shift, quant.low, quant.high));
  quant.high = static_cast<i32>(std::clamp<i64>(high - shift, quant.low, quant.high));
  require(!ok_ || quant.low < quant.high, "clamps steps to a range without two of them",
          fmt::format("{}..{}", low, high),
          fmt::format("within {}..{}", given.low + shift, given.high + shift), "onnx.clip.range");
  if (!ok_ || quant == given) return x;
  const auto& nodes = state_.graph.nodes;
  const auto makes = [&](const Node& n) {
    return n.outputs.size() == 1 && n.outputs[0] == value_of(x);
  };
  const auto made = std::find_if(nodes.rbegin(), nodes.rend(), makes);
  Operand real;
  if (made != nodes.rend() && is_quantize(made->op)) {
    real.name = "%" + std::to_string(state_.made_names++);
    state_.define(real.name, made->inputs[0]);
  } else {
    real = torch("quantized_decomposed.dequantize_per_tensor.default", step_args(x, given), "real");
  }
  return torch("quantized_decomposed.quantize_per_tensor.default", step_args(real, quant), suffix);
}

DType Call::steps_dtype(const Operand& x) {
  const ValueId v = value_of(x);
  if (v < 0) return DType::u8;
  const Type& type = state_.graph.type(v);
  if (type.quant.empty())
    return type.dtype == DType::s8 || type.dtype == DType::s32 ? type.dtype : DType::u8;
  return type.quant.zero_point[0] == type.quant.low ? DType::u8 : DType::s8;
}

std::vector<Operand> Call::all_operands() {
  std::vector<Operand> all;
  for (size_t k = 0; k < operands(); ++k) all.push_back(operand(k));
  return all;
}

ValueId Call::value_of(const Operand& x) { return ok_ && x ? state_.value_of(x.name) : -1; }

Shape Call::shape(const Operand& x) {
  const ValueId v = value_of(x);
  return v < 0 ? Shape{} : state_.graph.type(v).shape;
}

DType Call::dtype(const Operand& x) {
  const ValueId v = value_of(x);
  return v < 0 ? DType::f32 : state_.graph.type(v).dtype;
}

bool Call::is_known(const Operand& x) {
  return state_.torch.is_derived_from_constants(value_of(x));
}

const Constant* Call::integer_constant(const Operand& x) {
  const ValueId v = value_of(x);
  if (v < 0 || !state_.graph.is_constant(v)) return nullptr;
  const DType dtype = state_.graph.type(v).dtype;
  const bool is_integer = dtype == DType::s64 || dtype == DType::s32 || dtype == DType::b8 ||
                          dtype == DType::u8 || dtype == DType::s8;
  return is_integer ? &*state_.graph.values[v].constant : nullptr;
}

std::optional<std::vector<i64>> Call::known_integers(const Operand& x) {
  const Constant* data = integer_constant(x);
  if (!data) return std::nullopt;
  const auto read = [&]<class T>(T) {
    const auto elements = data->as<T>();
    return std::vector<i64>(elements.begin(), elements.end());
  };
  switch (dtype(x)) {
    case DType::s64:
      return read(i64{});
    case DType::s32:
      return read(i32{});
    case DType::s8:
      return read(int8_t{});
    default:
      return read(u8{});
  }
}

std::optional<std::vector<float>> Call::known_numbers(const Operand& x) {
  const ValueId v = value_of(x);
  if (v < 0 || !state_.torch.is_derived_from_constants(v)) return std::nullopt;
  if (state_.graph.type(v).elements() == 0) return std::vector<float>();
  return state_.torch.numbers_of_known(v);
}

std::vector<i64> Call::integers_of(size_t k, std::string_view what) {
  const Operand x = operand(k);
  const auto known = known_integers(x);
  if (ok_ && !known)
    refuse(
        {fmt::format("computes its {} from the model's inputs, or gives them as no integers", what),
         "", "", "onnx.operand.constant"},
        "export the model with fixed sizes, and simplify it (onnxsim) where the sizes do not "
        "depend on inputs");
  return known.value_or(std::vector<i64>());
}

double Call::number_of(size_t k, std::string_view what, double otherwise) {
  if (!ok_ || !has(k)) return otherwise;
  const auto known = known_numbers(operand(k));
  if (ok_ && (!known || known->size() != 1))
    refuse(
        {fmt::format("has a {} that is computed from the model's inputs, or is not a single number",
                     what),
         "", "", "onnx.operand.constant"});
  return ok_ ? static_cast<double>((*known)[0]) : otherwise;
}

i64 Call::axis(i64 value, i64 rank) {
  const i64 span = std::max<i64>(rank, 1);
  if (ok_ && (value < -span || value >= span))
    refuse({"axis is out of range", std::to_string(value), fmt::format("{}..{}", -span, span - 1),
            "onnx.operand.axis"});
  return !ok_ ? 0 : value < 0 ? value + span : value;
}

std::vector<i64> Call::axes(std::vector<i64> values, i64 rank) {
  for (i64& v : values) v = axis(v, rank);
  std::vector<i64> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  if (ok_ && std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
    refuse({"names an axis twice", "", "", "onnx.operand.axis"});
  return values;
}

// Operators of torch

// An operand that was refused refuses what is made of it.
static bool is_whole(const Args& args) {
  return std::all_of(args.begin(), args.end(), [](const auto& a) {
    const pt2::Argument& arg = a.second;
    if (arg.kind == pt2::Argument::Kind::tensor) return !arg.text.empty();
    return std::find(arg.names.begin(), arg.names.end(), "") == arg.names.end();
  });
}

std::vector<Operand> Call::emit(std::string_view target, Args args, size_t results,
                                const std::vector<Type>* declared, std::string_view suffix,
                                bool by_kernel) {
  std::vector<Operand> made(results);
  ok_ = ok_ && is_whole(args);
  if (!ok_) return made;
  pt2::ProgramNode node;
  node.target = target;
  node.name = value_name(suffix);
  for (auto& [name, arg] : args) node.arguments.emplace_back(name, std::move(arg));
  for (size_t k = 0; k < results; ++k) {
    node.outputs.push_back("%" + std::to_string(state_.made_names++));
    if (declared) state_.declare(node.outputs[k], (*declared)[k]);
  }
  const pt2::FoundRow found = pt2::find_import(target);
  DEUTERON_CHECK(found.row, node.target);
  pt2::Call call(state_.torch, node, source_, found.row->target, false);
  call.check_arguments();
  if (call.ok()) (by_kernel ? pt2::import_leftover : found.row->import)(call);
  state_.pass_on();
  ok_ = call.ok();
  for (size_t k = 0; k < results && ok_; ++k) {
    const ValueId v = call.outcome(k).value;
    if (v < 0) continue;
    made[k].name = node.outputs[k];
    state_.define(made[k].name, v);
  }
  return made;
}

Operand Call::torch(std::string_view target, Args args, std::string_view suffix) {
  return emit(target, std::move(args), 1, nullptr, suffix)[0];
}
std::vector<Operand> Call::torch_all(std::string_view target, Args args, size_t results,
                                     std::string_view suffix) {
  return emit(target, std::move(args), results, nullptr, suffix);
}
Operand Call::torch_as(std::string_view target, Args args, DType dtype, Shape shape,
                       std::string_view suffix) {
  const std::vector<Type> types{{dtype, std::move(shape), {}}};
  return emit(target, std::move(args), 1, &types, suffix)[0];
}
Operand Call::kernel(std::string_view target, Args args, DType dtype, Shape shape,
                     std::string_view suffix) {
  const std::vector<Type> types{{dtype, std::move(shape), {}}};
  return emit(target, std::move(args), 1, &types, suffix, true)[0];
}
std::vector<Operand> Call::torch_all_as(std::string_view target, Args args,
                                        const std::vector<Type>& types, std::string_view suffix) {
  return emit(target, std::move(args), types.size(), &types, suffix);
}

// New tensors

std::string Call::value_name(std::string_view suffix) const {
  const auto named = std::find_if(node_.outputs.begin(), node_.outputs.end(),
                                  [](const std::string& o) { return !o.empty(); });
  const std::string name = named == node_.outputs.end() ? node_.name : *named;
  return suffix.empty() ? name : fmt::format("{}.{}", name, suffix);
}

Operand Call::known(std::string_view suffix, Type type, Constant data) {
  if (!ok_) return {};
  if (auto fault = pt2::fault_of_size(type.shape, 0)) {
    fault->rule = "onnx." + fault->rule;
    return refuse(std::move(*fault)), Operand{};
  }
  const std::string name = "%" + std::to_string(state_.made_names++);
  state_.define(name, state_.torch.add_value(value_name(suffix), std::move(type), std::move(data)));
  return {name};
}

Operand Call::numbers(std::string_view suffix, Shape shape, std::vector<float> data) {
  return known(suffix, {DType::f32, std::move(shape), {}}, constant_of(std::move(data)));
}

Operand Call::known(std::string_view suffix, Type type, const std::vector<i64>& data) {
  const auto as = [&]<class T>(T) {
    std::vector<T> result;
    for (const i64 v : data) result.push_back(static_cast<T>(v));
    return constant_of(std::move(result));
  };
  switch (type.dtype) {
    case DType::s64:
      return known(suffix, std::move(type), as(i64{}));
    case DType::s32:
      return known(suffix, std::move(type), as(i32{}));
    case DType::s8:
      return known(suffix, std::move(type), as(int8_t{}));
    default:
      return known(suffix, std::move(type), as(u8{}));
  }
}

bool Call::may_make(i64 elements) {
  i64& made = state_.torch.made_elements;
  require(elements <= kMostMadeElements && made + elements <= kMostMadeElements,
          "the model makes constants of too many elements",
          std::to_string(made + std::min(elements, kMostElements)),
          std::to_string(kMostMadeElements), "onnx.constant.total");
  if (ok_) made += elements;
  return ok_;
}

void Call::result(size_t k, const Operand& x) {
  if (!ok_ || !x) {
    ok_ = false;
    return;
  }
  const Operand y = wants(k) ? with_steps(x) : x;
  if (wants(k) && y) state_.define(node_.outputs[k], state_.value_of(y.name));
}

void Call::stands_in(size_t k, StandIn kind) {
  if (ok_ && wants(k)) state_.stand_ins[node_.outputs[k]] = kind;
}

Shape broadcast(Call& c, const Shape& a, const Shape& b) {
  if (!c.ok()) return {};
  const std::optional<Shape> shape = broadcast_shape(a, b);
  c.require(shape.has_value(), "the shapes of its operands do not fit", to_text(a), to_text(b),
            "onnx.operand.shape");
  return shape.value_or(Shape{});
}

}  // namespace deuteron::onnx
