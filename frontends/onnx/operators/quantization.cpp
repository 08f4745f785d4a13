// SPDX-License-Identifier: Apache-2.0
// QuantizeLinear and DequantizeLinear. uint8 constants become int8 by subtracting 128 from elements
// and zero point, which changes no real value; computed uint8 steps become int8 in the same way
// where torch's operators are imported.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "frontends/onnx/operators/compose.h"
#include "frontends/onnx/operators/import_table.h"
#include "frontends/onnx/operators/steps.h"

namespace deuteron::onnx {
namespace {

constexpr i64 kShift = 128;  // from uint8 to int8

// What the type holds, `Element::undefined` for one of a byte or more.
void set_range(Steps& s, Element width) {
  if (width == Element::s4 || width == Element::u4)
    s.low = width == Element::s4 ? -8 : 0, s.high = s.low + 15;
  else if (s.dtype == DType::s32) s.low = INT32_MIN, s.high = INT32_MAX;
  else s.low = s.dtype == DType::s8 ? -kShift : 0, s.high = s.low + 255;
}

bool is_steps(DType dtype) {
  return dtype == DType::s8 || dtype == DType::u8 || dtype == DType::s32;
}

Args parameters(Call& c, const Operand& x, const Steps& s, i64 axis) {
  Args args{{"input", x}};
  if (s.by_channel()) {
    const Shape count{static_cast<i64>(s.scale.size())};
    args.emplace_back("scales", c.numbers("scales", count, s.scale));
    args.emplace_back("zero_points", c.known("zero_points", {DType::s64, count, {}}, s.zero));
    args.emplace_back("axis", axis);
  } else {
    args.emplace_back("scale", s.scale.empty() ? 1.0 : static_cast<double>(s.scale[0]));
    args.emplace_back("zero_point", s.zero.empty() ? 0 : s.zero[0]);
  }
  args.insert(args.end(),
              {{"quant_min", s.low}, {"quant_max", s.high}, {"dtype", Arg::dtype(s.dtype)}});
  return args;
}

// One for each index of an axis of the tensor.
void check_channels(Call& c, const Operand& x, const Steps& s, i64 axis) {
  if (!c.ok() || !s.by_channel()) return;
  const Shape shape = c.shape(x);
  const bool fits = axis >= 0 && axis < static_cast<i64>(shape.size()) &&
                    shape[axis] == static_cast<i64>(s.scale.size());
  c.require(fits, "scales do not fit the axis", std::to_string(s.scale.size()), to_text(shape),
            "onnx.quantize.channels");
}

// Which of the scales each element has.
size_t channel_of(size_t element, i64 inner, const Steps& s) {
  return s.by_channel() ? static_cast<size_t>(static_cast<i64>(element) / inner) % s.scale.size()
                        : 0;
}
i64 inner_of(const Shape& shape, const Steps& s, i64 axis) {
  i64 inner = 1;
  for (size_t k = static_cast<size_t>(axis) + 1; s.by_channel() && k < shape.size(); ++k)
    inner *= shape[k];
  return std::max<i64>(inner, 1);
}

// Steps of eight bits as int8. Weights with a zero point are weights without one where int8 holds
// the differences, as it does those of seven bits: kernels of convolutions want none. Nothing where
// they stay as they are, so that large ones are not read.
std::optional<std::vector<int8_t>> moved_steps(const Constant& data, bool is_unsigned,
                                               const Shape& shape, Steps& s, i64 axis) {
  const i64 inner = inner_of(shape, s, axis), shift = is_unsigned ? kShift : 0;
  for (i64& z : s.zero) z -= shift;
  s.dtype = DType::s8;
  const auto step = [&](size_t k) {
    const auto byte = static_cast<u8>(data.bytes[k]);
    return is_unsigned ? byte - shift : i64{static_cast<int8_t>(byte)};
  };
  const auto difference = [&](size_t k) { return step(k) - s.zero[channel_of(k, inner, s)]; };
  const size_t count = data.bytes.size();
  bool is_moved =
      shape.size() >= 2 && std::any_of(s.zero.begin(), s.zero.end(), [](i64 z) { return z != 0; });
  for (size_t k = 0; is_moved && k < count; ++k)
    is_moved = difference(k) >= -kShift && difference(k) < kShift;
  if (is_moved) {
    std::vector<int8_t> moved(count);
    for (size_t k = 0; k < count; ++k) moved[k] = static_cast<int8_t>(difference(k));
    s.zero.assign(s.zero.size(), 0);
    return moved;
  }
  if (!is_unsigned) return std::nullopt;
  std::vector<int8_t> lower(count);
  for (size_t k = 0; k < count; ++k) lower[k] = static_cast<int8_t>(step(k));
  return lower;
}

// Of known numbers: at once, in float32 and with ties to even, as the standard says.
Operand quantized_now(Call& c, const Operand& x, const std::vector<float>& numbers, const Steps& s,
                      i64 axis, std::string_view suffix) {
  const Shape shape = c.shape(x);
  const i64 inner = inner_of(shape, s, axis);
  std::vector<i64> data;
  for (size_t k = 0; k < numbers.size(); ++k) {
    const size_t channel = channel_of(k, inner, s);
    const double step = std::nearbyint(static_cast<double>(numbers[k] / s.scale[channel])) +
                        static_cast<double>(s.zero[channel]);
    data.push_back(static_cast<i64>(
        std::clamp(step, static_cast<double>(s.low), static_cast<double>(s.high))));
  }
  return c.known(suffix, {s.dtype, shape, {}}, data);
}

// A number for each index of an axis of x.
Operand by_axis(Call& c, const Operand& x, i64 axis, const std::vector<float>& numbers,
                std::string_view suffix) {
  Shape shape(c.shape(x).size(), 1);
  shape[axis] = static_cast<i64>(numbers.size());
  return c.numbers(suffix, shape, numbers);
}

// Computed values have one scale for all channels: steps by channel are steps of 1 of values that
// were divided by the scales. What stands beside them takes the factors where it can.
Steps steps_of_one(const Steps& s) {
  Steps one = s;
  one.scale = {1}, one.zero = {s.zero[0]};
  return one;
}
// How far the zero point of each channel lies from the first one's; empty: nowhere.
std::vector<float> zero_offsets(const Steps& s) {
  std::vector<float> offsets;
  for (const i64 zero : s.zero) offsets.push_back(static_cast<float>(zero - s.zero[0]));
  const bool differ = std::any_of(offsets.begin(), offsets.end(), [](float o) { return o != 0; });
  return differ ? offsets : std::vector<float>();
}
Operand divided_by_scales(Call& c, const Operand& x, const Steps& s, i64 axis) {
  const Operand divided =
      c.torch("aten.div.Tensor", {{"self", x}, {"other", by_axis(c, x, axis, s.scale, "scales")}},
              "divided");
  const std::vector<float> offsets = zero_offsets(s);
  return offsets.empty() ? divided
                         : sum(c, divided, by_axis(c, x, axis, offsets, "zeros"), "offset");
}
Operand times_scales(Call& c, const Operand& x, const Steps& s, i64 axis, std::string_view suffix) {
  const std::vector<float> offsets = zero_offsets(s);
  const Operand moved =
      offsets.empty() ? x : difference(c, x, by_axis(c, x, axis, offsets, "zeros"), "offset");
  return product(c, moved, by_axis(c, x, axis, s.scale, "scales"), suffix);
}

}  // namespace

Steps read_steps(Call& c, size_t scale, size_t zero, DType otherwise, Element width) {
  Steps s;
  const Operand given = c.operand(scale);
  const auto scales = c.known_numbers(given);
  c.require(!c.ok() || (scales && !scales->empty() && c.rank(given) <= 1),
            "has scales that are computed, or of more than one axis", "", "",
            "onnx.quantize.scale");
  if (!c.ok()) return s;
  s.scale = *scales;
  for (const float v : s.scale)
    c.require(std::isfinite(v) && v >= std::numeric_limits<float>::min(),
              "has a scale that is not positive and finite", fmt::format("{:g}", v), "above 0",
              "onnx.quantize.scale");
  s.zero.assign(s.scale.size(), 0);
  s.dtype = otherwise;
  set_range(s, width);
  if (!c.has(zero)) return s;
  const Operand zeros = c.operand(zero);
  const auto known = c.known_integers(zeros);
  if (c.ok()) s.dtype = c.dtype(zeros);
  c.require(!c.ok() || (known && known->size() == s.scale.size()),
            "has zero points that are computed, or do not fit the scales",
            known ? std::to_string(known->size()) : "none", std::to_string(s.scale.size()),
            "onnx.quantize.zero_point");
  c.require(!c.ok() || is_steps(s.dtype), "is quantized to a type that is not supported",
            "16 bits, or floats", "INT8, UINT8, INT32", "onnx.quantize.type");
  if (!c.ok()) return s;
  s.zero = *known;
  const auto narrow = c.state().four_bits.find(zeros.name);
  set_range(s, narrow == c.state().four_bits.end() ? Element::undefined : narrow->second);
  return s;
}

Operand quantized(Call& c, const Operand& x, const Steps& s, i64 axis, std::string_view suffix) {
  check_channels(c, x, s, axis);
  if (!c.ok()) return {};
  if (const auto numbers = c.known_numbers(x))
    return quantized_now(c, x, *numbers, s, axis, suffix);
  const Operand steps = s.by_channel() ? divided_by_scales(c, x, s, axis) : x;
  c.state().has_steps_by_channel |= s.by_channel();
  return c.torch("quantized_decomposed.quantize_per_tensor.default",
                 parameters(c, steps, s.by_channel() ? steps_of_one(s) : s, axis), suffix);
}

Operand dequantized(Call& c, const Operand& q, const Steps& given, i64 axis,
                    std::string_view suffix) {
  check_channels(c, q, given, axis);
  if (!c.ok()) return {};
  Steps s = given;
  Operand x = q;
  if (const Constant* known = c.integer_constant(q)) {
    s.dtype = c.dtype(q);
    if (s.dtype == DType::u8 || s.dtype == DType::s8) {
      auto moved = moved_steps(*known, s.dtype == DType::u8, c.shape(q), s, axis);
      if (moved) x = c.known("steps", {DType::s8, c.shape(q), {}}, constant_of(std::move(*moved)));
    }
    set_range(s, Element::undefined);
  } else if (const Quant computed = c.steps(q); !computed.empty()) {  // a Clip may have narrowed it
    const i64 shift = s.dtype == DType::u8 ? kShift : 0;
    s.low = computed.low + shift, s.high = computed.high + shift;
  }
  if (s.by_channel() && !c.integer_constant(q)) {
    const Operand ones = c.torch("quantized_decomposed.dequantize_per_tensor.default",
                                 parameters(c, x, steps_of_one(s), axis), "ones");
    return times_scales(c, ones, s, axis, suffix);
  }
  const char* target = s.by_channel() ? "quantized_decomposed.dequantize_per_channel.default"
                                      : "quantized_decomposed.dequantize_per_tensor.default";
  return c.torch(target, parameters(c, x, s, axis), suffix);
}

// The type of the steps is that of the zero points, or an attribute's.
static void import_quantize(Call& c) {
  const Operand x = c.operand(0);
  const Element said = static_cast<Element>(c.integer("output_dtype", 0));
  const bool is_narrow = said == Element::s4 || said == Element::u4;
  const auto dtype = said == Element::undefined ? DType::u8
                     : is_narrow                ? DType::s8
                                                : dtype_of(said).value_or(DType::f32);
  c.require(is_steps(dtype), "is quantized to a type that is not supported", name_of(said),
            "INT4, UINT4, INT8, UINT8, INT32", "onnx.quantize.type");
  c.require(c.integer("block_size", 0) == 0, "is quantized by blocks, which is not supported",
            std::to_string(c.integer("block_size", 0)), "0", "onnx.quantize.block");
  const Steps s = read_steps(c, 1, 2, dtype, said);
  const i64 axis = s.by_channel() ? c.axis(c.integer("axis", 1), c.rank(x)) : 0;
  c.result(quantized(c, x, s, axis, ""));
}

static void import_dequantize(Call& c) {
  const Operand q = c.operand(0);
  if (const i64 block = c.integer("block_size", 0); block != 0)
    return c.result(dequantized_blocks(c, q, block));
  const Steps s = read_steps(c, 1, 2, c.steps_dtype(q));
  const i64 axis = s.by_channel() ? c.axis(c.integer("axis", 1), c.rank(q)) : 0;
  c.result(dequantized(c, q, s, axis, ""));
}

static constexpr ImportRow kQuantizationRows[] = {
    {"DequantizeLinear", import_dequantize},
    {"QuantizeLinear", import_quantize},
    {"DequantizeLinear", import_dequantize, kMicrosoft},
    {"QuantizeLinear", import_quantize, kMicrosoft},
};
ImportRows quantization_rows() { return kQuantizationRows; }

}  // namespace deuteron::onnx
