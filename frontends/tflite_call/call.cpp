#include "frontends/tflite_call/call.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "frontends/tflite_call/fold.h"
#include "ops/families.h"
#include "ops/kernel_call/host_call.h"
#include "tensor/axes.h"
#include "tensor/elements.h"

namespace deuteron::tflite {

Call::Call(ImportState& state, const Operator& op, i32 index, std::string builtin, Int16 int16)
    : state_(state),
      op_(op),
      index_(index),
      builtin_(std::move(builtin)),
      int16_(int16),
      in_(ints_of(op.inputs())),
      out_(ints_of(op.outputs())) {}

std::string Call::where() const {
  const std::string name = out_.empty() ? "" : fmt::format(" `{}`", state_.tensors[out_[0]].name);
  const std::string inside = state_.running.empty() ? "" : fmt::format("in subgraph {}, which runs for ", state_.running.back());
  return fmt::format("{}: {}{} ({}operator {} of subgraph 0)", state_.graph.name, builtin_, name, inside, index_);
}

void Call::refuse(Refusal why, std::string fix) {
  // The shape of a tensor without axes is an empty text.
  if (why.measured.empty() != why.limit.empty()) (why.measured.empty() ? why.measured : why.limit) = "no axes";
  if (ok_) state_.diagnostics.add({Severity::error, where(), why.what, why.measured, why.limit, why.rule, std::move(fix)});
  ok_ = false;
}

void Call::require(bool condition, std::string_view what, std::string measured, std::string limit, std::string_view rule) {
  if (ok_ && !condition) refuse({std::string(what), std::move(measured), std::move(limit), std::string(rule)});
}

void Call::takes(size_t fewest, size_t most, size_t results) {
  const std::string limit = fewest == most ? std::to_string(most) : fmt::format("{}..{}", fewest, most);
  require(in_.size() >= fewest && in_.size() <= most, "has another number of operands", std::to_string(in_.size()), limit,
          "tflite.operator.operands");
  for (size_t i = 0; ok_ && i < fewest; ++i)
    require(in_[i] >= 0, "lacks an operand that it needs", fmt::format("operand {} is left out", i), fmt::format("{} operands", fewest),
            "tflite.operator.operands");
  require(out_.size() == results, "has another number of results", std::to_string(out_.size()), std::to_string(results),
          "tflite.operator.results");
}

static const Type kNothing;

const Type& Call::declared(size_t i) { return has(i) ? state_.tensors[in_[i]].type : kNothing; }
const Type& Call::declared_result(size_t i) { return i < out_.size() ? state_.tensors[out_[i]].type : kNothing; }
bool Call::is_bytes(size_t i) const { return has(i) && state_.tensors[in_[i]].shifted; }
bool Call::is_constant(size_t i) { return has(i) && state_.tensors[in_[i]].constant.has_value(); }

ModelTensor* Call::tensor(size_t i) {
  if (!ok_) return nullptr;
  require(has(i), "lacks an operand that it needs", fmt::format("operand {} is left out", i), "an operand", "tflite.operator.operands");
  if (!ok_) return nullptr;
  ModelTensor& t = state_.tensors[in_[i]];
  if (t.unsupported) {
    const Refusal& r = *t.unsupported;
    refuse({fmt::format("tensor `{}` {}", t.name, r.what), r.measured, r.limit, r.rule});
  } else if (t.state == ModelTensor::State::broken) {
    ok_ = false;  // reported
  } else if (!t.constant && t.state == ModelTensor::State::unknown) {
    if (t.is_variable)
      refuse({fmt::format("reads the tensor `{}`, which keeps its content from call to call: only SVDF takes such tensors, others take "
                          "resource variables",
                          t.name),
              "", "", "tflite.graph.variable"});
    else
      refuse({fmt::format("reads `{}`, which is no input, has no data and is made by no operator before this one", t.name), "", "",
              "tflite.graph.order"},
             "write the file again: its operators stand in the order in which they run, and constants have a buffer");
  }
  fit_int16(t);
  return ok_ ? &t : nullptr;
}

void Call::fit_int16(const ModelTensor& t) {
  if (!ok_ || t.type.dtype != DType::s16) return;
  require(!t.type.quant.empty(), fmt::format("tensor `{}` is of int16 without a scale", t.name), "s16", "with a scale",
          "tflite.quant.missing");
  for (const i32 zero : t.type.quant.zero_point)
    require(zero == 0 || int16_ == Int16::any_zero, fmt::format("tensor `{}` is int16 and has a zero point", t.name), std::to_string(zero),
            "0", "tflite.tensor.int16");
  if (ok_ && int16_ == Int16::refused)
    refuse({fmt::format("takes or makes `{}`, which is int16: {} has no form for int16 activations (16x8)", t.name, builtin_), "INT16",
            "INT8, FLOAT32", "tflite.tensor.int16"},
           "convert the model with int8 activations; docs/formats-tflite.md has the operators that int16 has");
}

ValueId Call::value_of(ModelTensor& t) {
  if (t.value < 0 && t.constant) t.value = state_.graph.add_value(t.name, t.type, t.constant);
  return t.value;
}

// A node that several operators need is all of theirs.
ValueId Call::steps_to_real(ModelTensor& t) {
  if (t.real < 0) {
    t.real = state_.graph.add_node(Dequantize{}, {value_of(t)}, {{DType::f32, t.type.shape, {}}}, t.name + ".real", {index_});
    t.to_real = static_cast<NodeId>(state_.graph.nodes.size()) - 1;
    return t.real;
  }
  for (const NodeId n : {t.to_real, t.to_steps})
    if (n >= 0 && t.maker < 0) state_.graph.nodes[n].origin = merge(state_.graph.nodes[n].origin, {index_});
  return t.real;
}

// An input in steps is given as real values and rounded by its first reader.
ValueId Call::steps_of(ModelTensor& t) {
  if (!t.constant && t.maker < 0 && t.to_steps < 0) {
    t.value = state_.graph.add_node(Quantize{t.type.quant}, {t.value}, {t.type}, t.name + ".steps", {index_});
    t.to_steps = static_cast<NodeId>(state_.graph.nodes.size()) - 1;
  }
  return value_of(t);
}

const Quant& Call::quant_of_int32(size_t i) { return has(i) ? state_.tensors[in_[i]].of_int32 : kNothing.quant; }
const Quant& Call::result_quant_of_int32(size_t i) { return i < out_.size() ? state_.tensors[out_[i]].of_int32 : kNothing.quant; }

const Quant* Call::intermediate_quant(size_t i) {
  const std::span<const i32> ids = ints_of(op_.intermediates());
  if (i >= ids.size() || ids[i] < 0 || static_cast<size_t>(ids[i]) >= state_.tensors.size()) return nullptr;
  const Quant& quant = state_.tensors[ids[i]].type.quant;
  return quant.empty() ? nullptr : &quant;
}

ValueId Call::steps_value(size_t i) {
  ModelTensor* t = tensor(i);
  if (t)
    require(!t->type.quant.empty(), fmt::format("operand {} has no scale", i), to_text(t->type), "INT8, UINT8", "tflite.quant.missing");
  return ok_ ? steps_of(*t) : -1;
}

ValueId Call::constant_value(size_t i) {
  ModelTensor& t = state_.tensors[in_[i]];
  require(t.constant.has_value(), fmt::format("operand {} is computed, it has to be a constant", i), "", "", "tflite.operand.constant");
  return ok_ ? value_of(t) : -1;
}

ValueId Call::in(size_t i) {
  ModelTensor* t = tensor(i);
  if (!t) return -1;
  if (!t->type.quant.empty()) {
    steps_of(*t);
    return steps_to_real(*t);
  }
  const DType d = t->type.dtype;
  if (d == DType::s8 || d == DType::u8)
    refuse({fmt::format("tensor `{}` is of 8-bit integers without a scale", t->name), std::string(name_of(d)), "with scale and zero point",
            "tflite.quant.missing"});
  if (d == DType::f16) {
    require(t->constant.has_value(), fmt::format("tensor `{}` is computed in float16", t->name), "FLOAT16", "FLOAT32",
            "tflite.tensor.type");
    if (!ok_) return -1;
    if (t->real < 0)
      t->real =
          state_.graph.add_value(t->name, {DType::f32, t->type.shape, {}}, constant_of(numbers_of(t->constant->bytes.data(), t->type)));
    return t->real;
  }
  return ok_ ? value_of(*t) : -1;
}

ValueId Call::real(size_t i) {
  const ValueId v = in(i);
  if (ok_)
    require(type(v).dtype == DType::f32, fmt::format("operand {} is of integers, for which there is no kernel", i),
            std::string(name_of(type(v).dtype)), "FLOAT32, INT8, UINT8, INT16", "tflite.operand.type");
  return ok_ ? v : -1;
}

ValueId Call::bias(size_t i, const Type& x, const Type& weight, i64 channels) {
  ModelTensor* t = tensor(i);
  if (!t) return -1;
  require(t->constant.has_value(), "has a bias that is computed, it has to be a constant", "", "", "tflite.operand.constant");
  require(t->type.elements() == channels, "has a bias that does not fit its channels", std::to_string(t->type.elements()),
          std::to_string(channels), "tflite.operand.bias");
  if (!ok_) return -1;
  const Shape one{channels};
  const bool is_wide = t->type.dtype == DType::s64 && x.dtype == DType::s16;
  if ((t->type.dtype != DType::s32 && !is_wide) || x.quant.empty() || weight.quant.empty()) {
    const ValueId v = real(i);
    return reshape(v, one, "bias");
  }
  Quant quant;
  quant.axis = weight.quant.per_channel() ? 0 : -1;
  quant.low = std::numeric_limits<i32>::min(), quant.high = std::numeric_limits<i32>::max();
  for (const float scale : weight.quant.scale) {
    quant.scale.push_back(std::max(x.quant.scale[0] * scale, std::numeric_limits<float>::min()));
    quant.zero_point.push_back(0);
  }
  const ValueId steps = constant(t->name, {t->type.dtype, one, std::move(quant)}, *t->constant);
  return add(Dequantize{}, {steps}, "bias");
}

ValueId Call::bias_of_int16(size_t i, TensorType said, const Type& x, const Type& weight, i64 channels) {
  const bool narrow = said == TensorType::INT32;
  require(narrow || said == TensorType::INT64 || said == TensorType::FLOAT32, "names a type of its bias that it cannot have",
          name_of_type(said), "INT32, INT64, or FLOAT32 for none", "tflite.operand.bias");
  if (!ok_) return -1;
  if (has(i)) {
    const DType wanted = narrow ? DType::s32 : DType::s64;
    const ModelTensor* t = tensor(i);
    if (t)
      require(t->type.dtype == wanted, "has a bias of another type than it sums in", std::string(name_of(t->type.dtype)),
              std::string(name_of(wanted)), "tflite.operand.bias");
    return ok_ ? bias(i, x, weight, channels) : -1;
  }
  constexpr i32 kLow = std::numeric_limits<i32>::min(), kHigh = std::numeric_limits<i32>::max();
  const float scale = std::max(x.quant.scale[0] * weight.quant.scale[0], std::numeric_limits<float>::min());
  const ValueId zeros = constant("zeros", {DType::s32, {channels}, per_tensor(scale, 0, kLow, kHigh)},
                                 constant_of(std::vector<i32>(static_cast<size_t>(channels))));
  return add(Dequantize{}, {zeros}, "bias");
}

std::vector<i64> Call::integers(size_t i) {
  ModelTensor* t = tensor(i);
  if (!t) return {};
  require(t->constant.has_value(), fmt::format("operand {} is computed, it has to be a constant", i), "", "", "tflite.operand.constant");
  const DType d = t->type.dtype;
  require(d == DType::s32 || d == DType::s64, fmt::format("operand {} is not of integers", i), std::string(name_of(d)), "INT32, INT64",
          "tflite.operand.type");
  if (!ok_) return {};
  std::vector<i64> values;
  if (d == DType::s64) values.assign(t->constant->as<i64>().begin(), t->constant->as<i64>().end());
  else values.assign(t->constant->as<i32>().begin(), t->constant->as<i32>().end());
  return values;
}

std::vector<float> Call::numbers(size_t i) {
  ModelTensor* t = tensor(i);
  if (!t) return {};
  require(t->constant.has_value(), fmt::format("operand {} is computed, it has to be a constant", i), "", "", "tflite.operand.constant");
  require(!t->type.quant.per_channel(), fmt::format("operand {} has several scales", i), "", "", "tflite.quant.channels");
  const DType d = t->type.dtype;
  require(d == DType::f32 || d == DType::f16 || !t->type.quant.empty(), fmt::format("operand {} is not of real values", i),
          std::string(name_of(d)), "FLOAT32, INT8", "tflite.operand.type");
  return ok_ ? numbers_of(t->constant->bytes.data(), t->type) : std::vector<float>();
}

std::span<const int8_t> Call::steps(size_t i) {
  ModelTensor* t = tensor(i);
  if (!t) return {};
  require(t->constant.has_value() && t->type.dtype == DType::s8, fmt::format("operand {} is no int8 constant", i), "", "",
          "tflite.operand.constant");
  return ok_ ? t->constant->as<int8_t>() : std::span<const int8_t>();
}

std::vector<float> Call::scaled_integers(size_t i, double scale) {
  std::vector<float> values;
  for (const i64 v : integers(i)) values.push_back(static_cast<float>(static_cast<double>(v) * scale));
  return values;
}

std::optional<bool> Call::known_truth(size_t i) {
  const ModelTensor* t = tensor(i);
  if (!t || !t->constant || t->type.dtype != DType::b8 || t->type.elements() != 1) return std::nullopt;
  return t->constant->as<u8>()[0] != 0;
}

i64 Call::axis(i64 value, i64 rank) {
  require(value >= -rank && value < rank, "names an axis that its operand does not have", std::to_string(value),
          fmt::format("{}..{}", -rank, rank - 1), "tflite.operator.axis");
  return !ok_ ? 0 : value < 0 ? value + rank : value;
}

Axes Call::axes(size_t i, i64 rank) {
  Axes result;
  for (const i64 v : integers(i)) result.push_back(axis(v, rank));
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return ok_ ? result : Axes();
}

const Type& Call::type(ValueId v) const { return v < 0 ? kNothing : state_.graph.type(v); }
const Shape& Call::shape(ValueId v) const { return type(v).shape; }

static std::string suffixed(const ImportState& state, std::span<const i32> out, std::string_view suffix) {
  const std::string name = out.empty() ? "value" : state.tensors[out[0]].name;
  return suffix.empty() ? name : name + "." + std::string(suffix);
}

ValueId Call::constant(std::string_view suffix, Type type, Constant data) {
  return ok_ ? state_.graph.add_value(suffixed(state_, out_, suffix), std::move(type), std::move(data)) : -1;
}

// What is made of constants alone is computed by us.
void Call::count_made(const std::vector<ValueId>& inputs, i64 elements) {
  if (std::all_of(inputs.begin(), inputs.end(), [&](ValueId v) { return state_.graph.is_constant(v); })) state_.made_elements += elements;
  require(state_.made_elements <= kMostMadeElements, "makes constants of too many elements", std::to_string(state_.made_elements),
          std::to_string(kMostMadeElements), "tflite.constant.total");
}

// A part of a dequantized constant, in a turn of a loop: a constant too. So what is written into zeros step by step stays in steps.
std::optional<ValueId> Call::part_of_steps(const Op& op, const std::vector<ValueId>& inputs, const Shape& to, std::string_view suffix) {
  const bool is_part = inputs.size() == 1 && is_movement(op) && numel(to) < type(inputs[0]).elements();
  const Node* node = is_part && !state_.running.empty() ? maker(inputs[0]) : nullptr;
  if (!node || !std::holds_alternative<Dequantize>(node->op)) return std::nullopt;
  const ValueId steps = node->inputs[0];
  if (type(steps).quant.per_channel()) return std::nullopt;
  const Type result{type(steps).dtype, to, type(steps).quant};
  auto folded = fold_part(state_.graph, op, steps, result, state_.folded_elements);
  return folded ? std::optional(constant(fmt::format("{}.steps", suffix), result, std::move(*folded))) : std::nullopt;
}

std::vector<ValueId> Call::add_all(Op op, std::vector<ValueId> inputs, std::string_view suffix) {
  for (const ValueId v : inputs)
    if (v < 0) ok_ = false;
  if (!ok_) return {};
  std::vector<const Type*> types;
  auto inferred = infer(op, state_.graph.types(inputs, types));
  if (!inferred) {
    inferred.why.rule = "tflite." + inferred.why.rule;
    refuse(inferred.why);
    return {};
  }
  for (Type& result : *inferred.value) {
    i64 elements = 1;
    for (const i64 extent : result.shape) {
      const bool fits = extent >= 1 && extent <= kMostElements && elements * extent <= kMostElements;
      require(fits, "makes a tensor without elements, or of too many", to_text(result.shape), fmt::format("1..{}", kMostElements),
              "tflite.result.elements");
      if (!ok_) return {};
      elements *= extent;
    }
    count_made(inputs, elements);
    if (!ok_) return {};
    if (const auto* quantize = std::get_if<Quantize>(&op)) result.quant = quantize->quant;
  }
  if (inferred.value->size() == 1)
    if (auto folded = fold(state_.graph, op, inputs, inferred.value->front(), state_.folded_elements))
      return {constant(suffix, inferred.value->front(), std::move(*folded))};
  if (const auto steps = inferred.value->size() == 1 ? part_of_steps(op, inputs, inferred.value->front().shape, suffix) : std::nullopt)
    return add_all(Dequantize{}, {*steps}, suffix);
  state_.graph.add_node(std::move(op), std::move(inputs), *inferred.value, suffixed(state_, out_, suffix), {index_});
  return state_.graph.nodes.back().outputs;
}

ValueId Call::add(Op op, std::vector<ValueId> inputs, std::string_view suffix) {
  const std::vector<ValueId> results = add_all(std::move(op), std::move(inputs), suffix);
  return results.empty() ? -1 : results[0];
}

const Node* Call::maker(ValueId v) const {
  const std::vector<Node>& nodes = state_.graph.nodes;
  // Values are numbered as they are made.
  const auto node = std::partition_point(nodes.begin(), nodes.end(), [v](const Node& n) { return n.outputs.back() < v; });
  return node == nodes.end() || node->outputs[0] > v ? nullptr : &*node;
}

ValueId Call::add_for(Op op, std::vector<ValueId> inputs, std::vector<ValueId> replaced, std::string_view suffix) {
  const ValueId v = add(std::move(op), std::move(inputs), suffix);
  for (const ValueId other : replaced)
    if (const Node* node = ok_ ? maker(other) : nullptr)
      state_.graph.nodes.back().origin = merge(state_.graph.nodes.back().origin, node->origin);
  return v;
}

ValueId Call::add_call(KernelCall call, std::vector<ValueId> inputs, Type result, std::string_view suffix) {
  const std::vector<ValueId> results = add_calls(std::move(call), std::move(inputs), {std::move(result)}, suffix);
  return results.empty() ? -1 : results[0];
}

std::vector<ValueId> Call::add_calls(KernelCall call, std::vector<ValueId> inputs, std::vector<Type> types, std::string_view suffix) {
  for (const ValueId v : inputs)
    if (v < 0) ok_ = false;
  if (!ok_) return {};
  std::vector<const Type*> in, out;
  for (const Type& type : types) out.push_back(&type);
  if (const auto fault = fault_of_call(call, state_.graph.types(inputs, in), TypeView(out)))
    refuse({fmt::format("has no int8 form, and the portable kernel {}.{} does not take it: {}", call.name, call.overload, *fault), "", "",
            "tflite.leftover.call"});
  for (const Type& type : types)
    if (ok_) count_made(inputs, type.elements());
  if (!ok_) return {};
  if (types.size() == 1)
    if (auto folded = fold(state_.graph, call, inputs, types[0], state_.folded_elements))
      return {constant(suffix, std::move(types[0]), std::move(*folded))};
  state_.graph.add_node(std::move(call), std::move(inputs), std::move(types), suffixed(state_, out_, suffix), {index_});
  return state_.graph.nodes.back().outputs;
}

ValueId Call::permute(ValueId x, Axes perm, std::string_view suffix) {
  if (!ok_ || x < 0 || is_identity(perm)) return ok_ ? x : -1;
  return add(Permute{std::move(perm)}, {x}, suffix);
}

ValueId Call::reshape(ValueId x, Shape to, std::string_view suffix) {
  if (!ok_ || x < 0) return -1;
  return to == shape(x) ? x : add(Reshape{std::move(to)}, {x}, suffix);
}

ValueId Call::rounded(ValueId v, const Quant& quant, std::string_view suffix) {
  if (!ok_ || v < 0 || quant.empty()) return ok_ ? v : -1;
  return add(Dequantize{}, {add(Quantize{quant}, {v}, std::string(suffix) + ".steps")}, suffix);
}

void Call::result(size_t i, ValueId v) {
  if (!ok_ || v < 0) {
    ok_ = false;
    return;
  }
  require(i < out_.size(), "has fewer results in the model", std::to_string(out_.size()), std::to_string(i + 1), "tflite.operator.results");
  if (!ok_) return;
  ModelTensor& t = state_.tensors[out_[i]];
  require(type(v).shape == t.type.shape, "has a result of another shape than the file says: it is damaged", to_text(type(v).shape),
          to_text(t.type.shape), "tflite.result.shape");
  if (t.unsupported)
    refuse(
        {fmt::format("tensor `{}` {}", t.name, t.unsupported->what), t.unsupported->measured, t.unsupported->limit, t.unsupported->rule});
  require(!t.type.quant.per_channel(), "has a result with several scales", std::to_string(t.type.quant.scale.size()), "1",
          "tflite.quant.channels");
  fit_int16(t);
  const DType own = type(v).dtype;
  const bool steps = !t.type.quant.empty() && own == DType::f32;
  const bool position = own == DType::s64 && t.type.dtype == DType::s32;  // the kernels count in int64
  require(steps || own == t.type.dtype || position, "has a result of another type than it computes", std::string(name_of(t.type.dtype)),
          std::string(name_of(own)), "tflite.result.type");
  if (!ok_) return;
  t.state = ModelTensor::State::there;
  t.value = steps ? add(Quantize{t.type.quant}, {v}, i == 0 ? "steps" : fmt::format("steps{}", i)) : v;
  if (steps) state_.graph.values[t.value].name = t.name;
  else if (state_.graph.is_constant(v)) t.constant = state_.graph.values[v].constant, t.type.dtype = own;
}

}  // namespace deuteron::tflite
