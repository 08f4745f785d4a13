// SPDX-License-Identifier: Apache-2.0
// A call's operands, the values that it makes, and its result.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/tensor/elements.h"
#include "frontends/pt2/call/call.h"
#include "frontends/pt2/file/storage_order.h"
#include "ops/families.h"
#include "ops/kernel_call/host_call.h"

namespace deuteron::pt2 {

Meaning* Call::lookup(const std::string& tensor) {
  const auto it = state_.meanings.find(tensor);
  if (it == state_.meanings.end()) {
    refuse({fmt::format("reads `{}`, which nothing before it makes", tensor), "", "",
            "pt2.graph.undefined"});
    return nullptr;
  }
  if (!it->second.unavailable.empty()) {
    refuse({fmt::format("reads `{}`, {}", tensor, it->second.unavailable), "", "",
            "pt2.graph.unavailable"});
    return nullptr;
  }
  return &it->second;
}

// A parameter or an input that lies in another order of axes: the user's axes are made when they
// are first asked for.
void Call::make_value(Meaning& m, const std::string& tensor) {
  if (m.parameter >= 0) {
    const Weight* weight = state_.load(m.parameter);
    if (!weight) {
      ok_ = false;  // reported
      return;
    }
    m.stored = state_.parameter_value(m.parameter, weight->type, weight->data);
    m.order = weight->order;
  }
  m.value = m.stored;
  if (is_identity(m.order)) return;
  const Type& stored = state_.graph.type(m.stored);
  Type type = stored;
  const Permute op{inverse(m.order)};
  type.shape = permuted(stored.shape, op.perm);
  m.value = state_.graph.add_node(op, {m.stored}, {std::move(type)}, tensor + ".user", {source_});
  state_.derived_from_constants.push_back(state_.derived_from_constants[m.stored]);
  state_.broken.push_back(state_.broken[m.stored]);
  m.user_axes = static_cast<NodeId>(state_.graph.nodes.size()) - 1;
}

ValueId Call::value_of(const std::string& tensor) {
  if (!ok_) return -1;
  Meaning* m = lookup(tensor);
  if (!m) return -1;
  if (part_ == Part::imaginary && m->imaginary >= 0) return m->imaginary;
  if (part_ == Part::none && !require_real(*m, tensor)) return -1;
  if (m->value < 0) make_value(*m, tensor);
  if (m->value >= 0 && m->user_axes >= 0) {
    Node& node = state_.graph.nodes[m->user_axes];
    node.origin = merge(node.origin, {source_});
  }
  return m->value;
}

ValueId Call::as_float_tensor(ValueId v, const std::string& tensor) {
  if (v < 0) return -1;
  const Type& type = state_.graph.type(v);
  if (type.dtype == DType::f32) return v;
  const auto fail = [&] { return ok_ = false, ValueId{-1}; };
  if (state_.is_broken(v)) return fail();
  if (state_.graph.is_constant(v) && type.quant.empty()) {
    const auto data = as_float(*state_.graph.values[v].constant, type.dtype);
    if (data) return state_.add_value(tensor + ".f32", {DType::f32, type.shape, {}}, *data);
    refuse({fmt::format("reads `{}`, whose integers are too large for float32", tensor), "", "",
            "pt2.operand.integer"});
  } else if (type.quant.empty() &&
             (type.dtype == DType::b8 || type.dtype == DType::s32 || type.dtype == DType::s64)) {
    return converted(v, DType::f32);
  } else if (!type.quant.empty()) {
    refuse(
        {fmt::format("reads `{}`, which is quantized: only quantize and dequantize, views and "
                     "permutes work on quantized values",
                     tensor),
         "", "", "pt2.operand.quantized"},
        "export the model as convert_pt2e leaves it, with a dequantize in front of every operator");
  } else {
    refuse({fmt::format("reads `{}`, which has dtype {}", tensor, name_of(type.dtype)), "", "",
            "pt2.operand.dtype"},
           "keep the model in float32");
  }
  return -1;
}

// A call of the kernel that converts computed numbers.
ValueId Call::converted(ValueId v, DType to) {
  if (!ok_ || v < 0) return -1;
  using K = KernelArg::Kind;
  KernelCall call;
  call.name = "aten::_to_copy", call.overload = "out";
  const Face face = plain_face(shape(v));
  call.args = {
      {K::input, 0, 0, {}, face}, {K::boolean, 0, 0, {}, {}}, {}, {K::output, 0, 0, {}, face}};
  const std::vector<ValueId> results = add_call(std::move(call), {v}, {{to, shape(v), {}}});
  return ok_ ? results[0] : -1;
}

ValueId Call::tensor(std::string_view argument) {
  const Argument* a = need(argument, {Argument::Kind::tensor}, "a tensor");
  return a ? as_float_tensor(value_of(a->text), a->text) : -1;
}

std::vector<ValueId> Call::tensors(std::string_view argument) {
  const Argument* a = need(argument, {Argument::Kind::tensors}, "a list of tensors");
  std::vector<ValueId> values;
  for (size_t k = 0; a && k < a->names.size(); ++k)
    values.push_back(as_float_tensor(value_of(a->names[k]), a->names[k]));
  return values;
}

std::vector<ValueId> Call::optional_tensors(std::string_view argument) {
  const Argument* a = need(argument, {Argument::Kind::tensors}, "a list of tensors");
  std::vector<ValueId> values;
  for (size_t k = 0; a && k < a->names.size(); ++k)
    values.push_back(a->names[k].empty() ? -1 : value_of(a->names[k]));
  return values;
}

ValueId Call::any_tensor(std::string_view argument) {
  const Argument* a = need(argument, {Argument::Kind::tensor}, "a tensor");
  return a ? value_of(a->text) : -1;
}

ValueId Call::operand(std::string_view argument) {
  if (is_tensor(argument)) return tensor(argument);
  const double value = number(argument);
  if (!std::isfinite(static_cast<float>(value)))
    refuse({fmt::format("argument `{}` is not a finite float32", argument), std::to_string(value),
            "finite", "pt2.argument.finite"});
  return constant(argument, {}, {static_cast<float>(value)});
}

ValueId Call::parameter(std::string_view argument) {
  const ValueId v = tensor(argument);
  if (ok_ && !is_derived_from_constants(v))
    refuse({fmt::format("`{}` is computed from the model's inputs, it has to be a parameter",
                        argument),
            "", "", "pt2.operand.parameter"});
  return ok_ ? v : -1;
}

const TensorMeta* Call::meta(std::string_view argument) {
  const Argument* a = need(argument, {Argument::Kind::tensor}, "a tensor");
  if (!a) return nullptr;
  const auto it = state_.program.tensors.find(a->text);
  if (it == state_.program.tensors.end())
    refuse({fmt::format("`{}` has no shape in the model", a->text), "", "", "pt2.graph.shape"});
  return ok_ ? &it->second : nullptr;
}

Call::Stored Call::stored(std::string_view argument) {
  const Argument* a = need(argument, {Argument::Kind::tensor}, "a tensor");
  Meaning* m = a ? lookup(a->text) : nullptr;
  if (!m || m->parameter < 0) return {};
  const Weight* weight = state_.load(m->parameter);
  if (!weight) ok_ = false;  // reported
  return {weight, m->parameter};
}

const Type& Call::type(ValueId v) const {
  static const Type nothing;
  return v < 0 ? nothing : state_.graph.type(v);
}
const Shape& Call::shape(ValueId v) const { return type(v).shape; }

// New values

ValueId Call::constant_value(std::string name, Type type, Constant data) {
  return ok_ ? state_.add_value(std::move(name), std::move(type), std::move(data)) : -1;
}

ValueId Call::constant(std::string_view suffix, Shape shape, std::vector<float> data) {
  return constant_value(name(suffix), {DType::f32, std::move(shape), {}},
                        constant_of(std::move(data)));
}

// A view or permute of quantized values keeps their parameters; every other result of a float
// operator has none.
static std::optional<Quant> carried_quant(const Op& op, const Quant& quant) {
  if (quant.empty()) return Quant{};
  Quant q = quant;
  if (is_same_storage(op)) return q.per_channel() ? std::nullopt : std::optional(q);
  if (const auto* permute = std::get_if<Permute>(&op)) {
    if (q.per_channel())
      q.axis = static_cast<i32>(std::find(permute->perm.begin(), permute->perm.end(), q.axis) -
                                permute->perm.begin());
    return q;
  }
  if (is_dequantize(op)) return Quant{};
  return std::nullopt;
}

bool Call::take_types(const Op& op, const std::vector<ValueId>& inputs,
                      std::vector<Type>& results) {
  std::vector<const Type*> types;
  auto inferred = infer(op, state_.graph.types(inputs, types));
  if (!inferred) {
    inferred.why.rule = "pt2." + inferred.why.rule;
    return refuse(inferred.why), false;
  }
  results = *inferred;
  for (Type& result : results) {
    if (!has_size(result.shape, 1)) return false;
    if (const auto* quantize = std::get_if<Quantize>(&op)) {
      result.quant = quantize->quant;
    } else if (auto quant = carried_quant(op, types[0]->quant)) {
      result.quant = std::move(*quant);
    } else {
      refuse(
          {"cannot work on values that are quantized by channel", "", "", "pt2.operand.quantized"});
    }
  }
  return ok_;
}

// Values that depend on no input of the model

std::optional<std::vector<float>> Call::known_numbers(ValueId v) {
  if (!ok_ || v < 0 || !is_derived_from_constants(v)) return std::nullopt;
  return state_.numbers_of_known(v);
}

ValueId Call::known_value(Type type, std::span<const float> numbers, std::string_view suffix) {
  const auto converted = [&]<class T>(T) {
    std::vector<T> data;
    for (const float x : numbers) data.push_back(static_cast<T>(x));
    return constant_of(std::move(data));
  };
  const DType d = type.dtype;
  Constant data = d == DType::s64   ? converted(i64{})
                  : d == DType::s32 ? converted(i32{})
                  : d == DType::b8  ? converted(u8{})
                                    : converted(float{});
  return constant_value(name(suffix), std::move(type), std::move(data));
}

static bool is_integer(const Type& t) {
  return t.dtype == DType::b8 || t.dtype == DType::s32 || t.dtype == DType::s64;
}

static i64 elements_of(std::span<const Type> types) {
  i64 elements = 0;
  for (const Type& type : types) elements += type.elements();
  return elements;
}

// Integers and masks that the model computes from constants are known at once: positions, masks and
// sizes steer what is imported, and are small.
bool Call::is_computed_now(std::span<const ValueId> inputs, std::span<const Type> types) const {
  constexpr i64 kMostKnown = i64{1} << 22;
  const auto is_plain = [](const Type& t) {
    return t.quant.empty() && (t.dtype == DType::f32 || is_integer(t));
  };
  bool integers = std::any_of(types.begin(), types.end(), is_integer);
  for (const ValueId v : inputs) {
    const Type& type = state_.graph.type(v);
    if (!state_.derived_from_constants[v] || state_.broken[v] || !is_plain(type)) return false;
    integers = integers || is_integer(type);
  }
  return integers && !inputs.empty() && std::all_of(types.begin(), types.end(), is_plain) &&
         elements_of(types) <= kMostKnown;
}

// The host computes with float32 numbers: integers that those cannot hold stay calls.
std::optional<std::vector<ValueId>> Call::computed_now(const Op& op,
                                                       const std::vector<ValueId>& inputs,
                                                       const std::vector<Type>& types,
                                                       std::string_view suffix) {
  if (!is_computed_now(inputs, types)) return std::nullopt;
  const auto fits = [&](const Type& t, const std::vector<float>& numbers) {
    return !is_integer(t) || std::all_of(numbers.begin(), numbers.end(),
                                         [](float x) { return std::abs(x) < kExactIntegers; });
  };
  std::vector<std::vector<float>> data;
  for (const ValueId v : inputs) {
    data.push_back(state_.numbers_of_known(v));
    if (!fits(state_.graph.type(v), data.back())) return std::nullopt;
  }
  std::vector<const Type*> pointers;
  for (const Type& type : types) pointers.push_back(&type);
  const std::vector<std::vector<float>> results = state_.computed(op, inputs, data, pointers);
  std::vector<ValueId> values;
  for (size_t k = 0; k < types.size(); ++k)
    if (!fits(types[k], results[k])) return std::nullopt;
  for (size_t k = 0; k < types.size(); ++k)
    values.push_back(known_value(types[k], results[k], suffix));
  return values;
}

std::vector<ValueId> Call::add_all(Op op, std::vector<ValueId> inputs, std::string_view suffix) {
  for (const ValueId v : inputs)
    if (v < 0) ok_ = false;
  std::vector<Type> types;
  if (!ok_ || !take_types(op, inputs, types) || !may_compute(inputs, types)) return {};
  if (auto known = computed_now(op, inputs, types, suffix)) return *known;
  bool derived = true, is_broken = false;
  for (const ValueId v : inputs)
    derived = derived && state_.derived_from_constants[v],
    is_broken = is_broken || state_.broken[v];
  const size_t results = types.size();
  state_.graph.add_node(std::move(op), std::move(inputs), std::move(types), name(suffix),
                        {source_});
  state_.derived_from_constants.insert(state_.derived_from_constants.end(), results, derived);
  state_.broken.insert(state_.broken.end(), results, is_broken);
  return state_.graph.nodes.back().outputs;
}

ValueId Call::add(Op op, std::vector<ValueId> inputs, std::string_view suffix) {
  const std::vector<ValueId> results = add_all(std::move(op), std::move(inputs), suffix);
  return results.empty() ? -1 : results[0];
}

std::vector<ValueId> Call::add_call(KernelCall call, std::vector<ValueId> inputs,
                                    std::vector<Type> types) {
  bool derived = true;
  for (const ValueId v : inputs) {
    if (v < 0 || state_.broken[v]) ok_ = false;
    if (!ok_) return {};
    derived = derived && state_.derived_from_constants[v];
    const Type& type = state_.graph.type(v);
    if (!type.quant.empty())
      refuse({"works on quantized values, for which there is no kernel", to_text(type), "f32",
              "pt2.operand.quantized"});
  }
  std::vector<const Type*> in, out;
  for (const Type& type : types) {
    if (!has_size(type.shape, 0)) return {};
    out.push_back(&type);
  }
  if (const auto fault = fault_of_call(call, state_.graph.types(inputs, in), TypeView(out)))
    refuse({fmt::format("has no int8 form, and the portable kernel {}.{} does not take it: {}",
                        call.name, call.overload, *fault),
            "", "", "pt2.leftover.call"});
  if (!ok_ || !may_compute(inputs, types)) return {};
  if (auto known = computed_now(call, inputs, types, {})) return *known;
  const size_t results = types.size();
  state_.graph.add_node(std::move(call), std::move(inputs), std::move(types), name(), {source_});
  state_.derived_from_constants.insert(state_.derived_from_constants.end(), results, derived);
  state_.broken.insert(state_.broken.end(), results, false);
  return state_.graph.nodes.back().outputs;
}

bool Call::may_make(i64 elements) {
  const i64 made = state_.made_elements + elements;
  require(made <= kMostMadeElements,
          "the model makes constants of too many elements, from nothing or by repeating others",
          std::to_string(made), std::to_string(kMostMadeElements), "pt2.constant.total");
  if (ok_) state_.made_elements = made;
  return ok_;
}

bool Call::may_compute(std::span<const ValueId> inputs, std::span<const Type> results) {
  i64 made = elements_of(results);
  if (is_computed_now(inputs, results)) return may_make(made);
  const std::set<ValueId> operands(inputs.begin(),
                                   inputs.end());  // one that is read twice is there once
  for (const ValueId v : operands) {
    if (!state_.derived_from_constants[v]) return true;
    made -= type(v).elements();
  }
  return made <= 0 || may_make(made);
}

ValueId Call::permute(ValueId x, Axes perm, std::string_view suffix) {
  if (!ok_ || x < 0 || is_identity(perm)) return ok_ ? x : -1;
  if (!is_derived_from_constants(x)) return add(Permute{std::move(perm)}, {x}, suffix);
  // Parameters that several operators share are permuted once.
  for (const auto& [key, node] : state_.parameter_permutes) {
    if (key.first != x || key.second != perm) continue;
    Node& known = state_.graph.nodes[node];
    known.origin = merge(known.origin, {source_});
    return known.outputs[0];
  }
  const ValueId y = add(Permute{perm}, {x}, suffix);
  if (y >= 0)
    state_.parameter_permutes.push_back(
        {{x, std::move(perm)}, static_cast<NodeId>(state_.graph.nodes.size()) - 1});
  return y;
}

ValueId Call::reshape(ValueId x, Shape to, std::string_view suffix) {
  if (!ok_ || x < 0) return -1;
  if (to == shape(x)) return x;
  if (!has_size(to, 0)) return -1;
  return add(Reshape{std::move(to)}, {x}, suffix);
}

// Results

// Integers computed from constants by an operator that knows only float32: positions and sizes.
// Anything else is left as it is.
ValueId Call::known_integers(ValueId v, DType dtype) {
  if ((dtype != DType::s64 && dtype != DType::s32) || type(v).dtype != DType::f32 ||
      state_.broken[v])
    return v;
  const std::optional<std::vector<float>> numbers = known_numbers(v);
  if (!numbers) return v;
  for (const float x : *numbers)
    if (!(std::abs(x) < kExactIntegers) || x != std::trunc(x)) return v;
  return known_value({dtype, shape(v), {}}, *numbers);
}

void Call::result(size_t index, ValueId v) {
  if (!ok_ || v < 0) {
    ok_ = false;
    return;
  }
  if (index >= node_.outputs.size())
    return refuse({"has fewer results in the model", "", "", "pt2.graph.result"});
  const auto it = state_.program.tensors.find(node_.outputs[index]);
  if (it == state_.program.tensors.end() && !state_.declares_results) {
    outcomes_[index].value = v;
    return;
  }
  if (it == state_.program.tensors.end())
    return refuse({"its result has no shape in the model", "", "", "pt2.graph.shape"});
  const TensorMeta& declared = it->second;
  if (declared.dtype && declared.dtype != type(v).dtype) v = known_integers(v, *declared.dtype);
  const Type& type = state_.graph.type(v);
  if (!check_declared_shape(index, type.shape)) return;
  if (part_ != Part::none && declared.dtype_code == kComplex64 && type.dtype == DType::f32) {
    (part_ == Part::real ? outcomes_[index].value : outcomes_[index].imaginary) = v;
    return;
  }
  const bool is_shifted = type.dtype == DType::s8 && !type.quant.empty() &&
                          declared.dtype == DType::u8;  // quantization.cpp
  if (declared.dtype != type.dtype && !is_shifted) {
    give_up_if_broken(v);
    return refuse({"the dtype of its result cannot be computed", std::string(name_of(type.dtype)),
                   name_of_code(declared.dtype_code), "pt2.graph.dtype"},
                  "keep the model in float32");
  }
  outcomes_[index].value = v;
}

bool Call::is_read(size_t index) const {
  if (index >= node_.outputs.size()) return false;
  if (!declares_results()) return true;  // whoever calls without a program asks for what it reads
  const std::string& name = node_.outputs[index];
  const auto reads = [&name](const Argument& a) {
    return a.text == name || std::find(a.names.begin(), a.names.end(), name) != a.names.end();
  };
  for (const ProgramNode& node : state_.program.nodes)
    for (const auto& argument : node.arguments)
      if (reads(argument.second)) return true;
  return std::any_of(state_.program.outputs.begin(), state_.program.outputs.end(),
                     [&name](const ProgramOutput& o) { return o.name == name; });
}

void Call::identity(std::string_view argument) {
  const ValueId v = any_tensor(argument);
  result(v);
  const Argument* a = find(argument);
  if (!ok_ || !a) return;
  outcomes_[0].user_axes = state_.meanings.find(a->text)->second.user_axes;
}

}  // namespace deuteron::pt2
