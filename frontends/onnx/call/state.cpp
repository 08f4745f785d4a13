// SPDX-License-Identifier: Apache-2.0
#include "frontends/onnx/call/state.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/data/array.h"
#include "base/tensor/elements.h"

namespace deuteron::onnx {

// torch's number of a dtype.
static int code_of(DType dtype) {
  for (int code = 0; code < 32; ++code)
    if (pt2::dtype_of_code(code) == dtype) return code;
  return 0;
}

void ImportState::define(const std::string& tensor, ValueId value) {
  pt2::Meaning& meaning = torch.meanings[tensor];
  meaning = {};
  meaning.value = value;
  meaning.memory = torch.new_memory();
  declare(tensor, graph.type(value));
}

void ImportState::declare(const std::string& tensor, const Type& type) {
  pt2::TensorMeta& meta = program.tensors[tensor];
  meta.dtype = type.dtype;
  meta.dtype_code = code_of(type.dtype);
  meta.sizes = type.shape;
  meta.strides.assign(type.shape.size(), 1);
  for (size_t k = type.shape.size(); k-- > 1;)
    meta.strides[k - 1] = meta.strides[k] * type.shape[k];
}

void ImportState::pass_on() {
  for (Diagnostic d : said.list()) {
    if (d.rule.starts_with("pt2.")) d.rule.replace(0, 3, "onnx");
    d.fix.clear();
    diagnostics.add(std::move(d));
  }
  said = {};
}

void ImportState::note(const std::string& what, const std::string& rule, const std::string& fix) {
  if (noted.insert(rule + what).second)
    diagnostics.add({Severity::note, graph.name, what, "", "", rule, fix});
}

namespace {

float from_bfloat16(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

template <class From, class To, class F>
Constant converted(const Constant& data, F convert) {
  std::vector<To> result;
  for (const From v : data.as<From>()) result.push_back(convert(v));
  return constant_of(std::move(result));
}

// Elements of 4 bits, the first of a pair in the low half.
Constant unpacked(const Constant& data, i64 elements, bool is_signed) {
  std::vector<int8_t> result;
  const auto bytes = data.as<u8>();
  for (i64 k = 0; k < elements; ++k) {
    const int nibble = bytes[static_cast<size_t>(k / 2)] >> (k % 2 * 4) & 15;
    result.push_back(static_cast<int8_t>(is_signed && nibble > 7 ? nibble - 16 : nibble));
  }
  return constant_of(std::move(result));
}

template <class T>
Constant widened(const Constant& data) {
  return converted<T, i64>(data, [](T v) { return static_cast<i64>(v); });
}

bool has_only(const Constant& data, bool (*good)(float)) {
  const auto v = data.as<float>();
  return std::all_of(v.begin(), v.end(), good);
}

// Attention masks hold minus infinity on purpose; the graph's form of it is a finite float.
void settle_floats(Constant& data, Refusal& why) {
  if (has_only(data, [](float x) { return std::isfinite(x); })) return;
  if (!has_only(data, [](float x) { return std::isfinite(x) || x == -INFINITY; })) {
    why = {"has elements that are infinite or not a number", "", "", "onnx.tensor.finite"};
    return;
  }
  data = converted<float, float>(data, [](float x) { return std::isinf(x) ? kMinusInfinity : x; });
}

}  // namespace

std::optional<Elements> elements_of(const ModelTensor& t, Refusal& why) {
  Elements e{{DType::f32, t.shape, {}}, t.data};
  const auto as = [&](DType dtype, Constant data) {
    e.type.dtype = dtype, e.data = std::move(data);
  };
  switch (t.type) {
    case Element::f32:
      break;
    case Element::f16:
      as(DType::f32, converted<uint16_t, float>(t.data, half_to_float));
      break;
    case Element::bf16:
      as(DType::f32, converted<uint16_t, float>(t.data, from_bfloat16));
      break;
    case Element::f64:
      as(DType::f32,
         converted<double, float>(t.data, [](double x) { return static_cast<float>(x); }));
      break;
    case Element::u8:
      as(DType::u8, t.data);
      break;
    case Element::s8:
      as(DType::s8, t.data);
      break;
    case Element::u4:
    case Element::s4:
      as(DType::s8, unpacked(t.data, numel(t.shape), t.type == Element::s4));
      break;
    case Element::b8:
      as(DType::b8, converted<u8, u8>(t.data, [](u8 v) { return static_cast<u8>(v != 0); }));
      break;
    case Element::s32:
      as(DType::s32, t.data);
      break;
    case Element::s64:
      as(DType::s64, t.data);
      break;
    case Element::u16:
      as(DType::s64, widened<uint16_t>(t.data));
      break;
    case Element::s16:
      as(DType::s64, widened<int16_t>(t.data));
      break;
    case Element::u32:
      as(DType::s64, widened<uint32_t>(t.data));
      break;
    case Element::u64:
      as(DType::s64, widened<uint64_t>(t.data));
      break;
    default:
      why = {"has elements of a type that is not supported", name_of(t.type),
             "FLOAT, FLOAT16, BFLOAT16, DOUBLE, integers, BOOL", "onnx.tensor.type"};
      return std::nullopt;
  }
  if (e.type.dtype == DType::f32) settle_floats(e.data, why);
  if (!why.what.empty()) return std::nullopt;
  return e;
}

std::optional<DType> dtype_of(Element type) {
  switch (type) {
    case Element::f32:
    case Element::f16:
    case Element::bf16:
    case Element::f64:
      return DType::f32;
    case Element::s32:
      return DType::s32;
    case Element::s64:
      return DType::s64;
    case Element::b8:
      return DType::b8;
    case Element::s8:
      return DType::s8;
    case Element::u8:
      return DType::u8;
    default:
      return std::nullopt;
  }
}

}  // namespace deuteron::onnx
