// SPDX-License-Identifier: Apache-2.0
// The operators of PT2E. Their parameters go into the types; uint8 becomes int8 by subtracting 128
// from values, zero point and range, which changes no real value.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "frontends/pt2/file/storage_order.h"
#include "frontends/pt2/operators/import_table.h"
#include "frontends/pt2/operators/step_ports.h"

namespace deuteron::pt2 {
namespace {

constexpr i32 kShift = 128;  // from uint8 to int8

struct Range {
  i64 low, high;
};
std::optional<Range> range_of(std::optional<DType> dtype) {
  if (dtype == DType::s8) return Range{-128, 127};
  if (dtype == DType::u8) return Range{0, 255};
  if (dtype == DType::s32) return Range{INT32_MIN, INT32_MAX};
  return std::nullopt;
}

// dtype, quant_min and quant_max; for uint8 already shifted. The zero points and scales are the
// caller's.
struct Grid {
  DType dtype = DType::s8;  // of the result of this import
  i32 shift = 0;
  Quant quant;
};
Grid read_grid(Call& c) {
  Grid g;
  const i64 code = c.integer("dtype"), low = c.integer("quant_min"), high = c.integer("quant_max");
  const auto dtype = dtype_of_code(code);
  const auto range = range_of(dtype);
  c.require(!c.ok() || range.has_value(), "is quantized to a dtype that is not supported",
            name_of_code(code), "s8, u8, s32", "pt2.quantize.dtype");
  if (!c.ok()) return g;
  c.require(low < high && low >= range->low && high <= range->high,
            "the quantized range does not fit the dtype", fmt::format("{}..{}", low, high),
            fmt::format("{}..{}", range->low, range->high), "pt2.quantize.range");
  if (!c.ok()) return g;
  g.shift = dtype == DType::u8 ? kShift : 0;
  g.dtype = dtype == DType::u8 ? DType::s8 : *dtype;
  g.quant.low = static_cast<i32>(low) - g.shift;
  g.quant.high = static_cast<i32>(high) - g.shift;
  return g;
}

void add_step(Call& c, Grid& g, double scale, i64 zero_point) {
  const float s = static_cast<float>(scale);
  c.require(!c.ok() || (s > 0 && std::isfinite(s)), "the scale is not finite and positive",
            std::to_string(scale), "above 0", "pt2.quantize.scale");
  const auto range = *range_of(g.dtype);
  const bool fits = zero_point >= range.low + g.shift && zero_point <= range.high + g.shift;
  c.require(!c.ok() || fits, "the zero point does not fit the dtype", std::to_string(zero_point),
            fmt::format("{}..{}", range.low + g.shift, range.high + g.shift),
            "pt2.quantize.zero_point");
  if (!c.ok()) return;
  g.quant.scale.push_back(s);
  g.quant.zero_point.push_back(static_cast<i32>(zero_point - g.shift));
}

Constant shifted(const Constant& data) {
  const auto bytes = data.as<uint8_t>();
  std::vector<int8_t> result(bytes.size());
  std::transform(bytes.begin(), bytes.end(), result.begin(),
                 [](uint8_t v) { return static_cast<int8_t>(v - kShift); });
  return constant_of(std::move(result));
}

void check_output(Call& c) {
  if (c.has("out_dtype"))
    c.require(dtype_of_code(c.integer("out_dtype")) == DType::f32,
              "dequantizes to another dtype than float32", "", "", "pt2.quantize.output");
}

// A constant is read with these parameters where it lies, whatever the order of its axes; the
// user's axes come after the dequantize.
void dequantize_parameter(Call& c, const Call::Stored& stored, Grid g) {
  const Weight& w = *stored.weight;
  const DType expected = g.shift ? DType::u8 : g.dtype;
  c.require(w.type.dtype == expected, "the parameter has another dtype than the operator says",
            std::string(name_of(w.type.dtype)), std::string(name_of(expected)),
            "pt2.quantize.dtype");
  if (!c.ok()) return;
  if (g.quant.per_channel())
    g.quant.axis =
        static_cast<i32>(std::find(w.order.begin(), w.order.end(), g.quant.axis) - w.order.begin());
  const ValueId q = c.parameter_value(stored, {g.dtype, w.type.shape, std::move(g.quant)},
                                      g.shift ? shifted(w.data) : w.data);
  const bool is_plain = is_identity(w.order);
  const ValueId y = c.add(Dequantize{}, {q}, is_plain ? "" : "stored");
  c.result(c.permute(y, inverse(w.order)));
}

void dequantize(Call& c, Grid g) {
  check_output(c);
  const Call::Stored stored = c.stored("input");
  if (!c.ok()) return;
  if (stored.weight) return dequantize_parameter(c, stored, std::move(g));
  const ValueId x = c.any_tensor("input");
  if (c.is_constant(x) && c.type(x).quant.empty() &&
      c.type(x).dtype == g.dtype)  // a copy of a parameter
    return c.result(
        c.add(Dequantize{}, {c.constant_value(c.name("quantized"), {g.dtype, c.shape(x), g.quant},
                                              *c.graph().values[x].constant)}));
  c.give_up_if_broken(x);
  c.require(!c.ok() || !c.type(x).quant.empty(), "dequantizes values that were not quantized",
            std::string(name_of(c.type(x).dtype)), "s8 with parameters", "pt2.quantize.operand");
  c.require(!c.ok() || c.type(x).quant == g.quant,
            "dequantizes with other parameters than the values were quantized with",
            to_text(Type{g.dtype, {}, g.quant}), to_text(Type{DType::s8, {}, c.type(x).quant}),
            "pt2.quantize.parameters");
  c.result(c.add(Dequantize{}, {x}));
}

}  // namespace

static void import_quantize_per_tensor(Call& c) {
  const ValueId x = c.tensor("input");
  Grid g = read_grid(c);
  add_step(c, g, c.number("scale"), c.integer("zero_point"));
  c.require(!c.ok() || g.dtype == DType::s8,
            "quantizes activations to a dtype that is not supported", std::string(name_of(g.dtype)),
            "s8, u8", "pt2.quantize.dtype");
  c.result(c.add(Quantize{std::move(g.quant)}, {x}));
}

static void import_dequantize_per_tensor(Call& c) {
  Grid g = read_grid(c);
  add_step(c, g, c.number("scale"), c.integer("zero_point"));
  if (c.ok()) dequantize(c, std::move(g));
}

static void import_dequantize_per_channel(Call& c) {
  Grid g = read_grid(c);
  const ValueId scales = c.tensor("scales");
  const ValueId zeros = c.has("zero_points") ? c.tensor("zero_points") : -1;
  const TensorMeta* x = c.meta("input");
  if (!c.ok()) return;
  const i64 rank = static_cast<i64>(x->sizes.size()), axis = c.axis("axis", rank);
  c.require(c.is_constant(scales) && (zeros < 0 || c.is_constant(zeros)),
            "scales and zero points have to be constants", "", "", "pt2.quantize.parameters");
  if (!c.ok() || rank == 0)
    return c.require(rank > 0, "a tensor without axes has no channels", "0", "1",
                     "pt2.quantize.axis");
  const Shape channels{x->sizes[axis]};
  c.require(c.shape(scales) == channels && (zeros < 0 || c.shape(zeros) == channels),
            "scales or zero points do not fit the channels", to_text(c.shape(scales)),
            to_text(channels), "pt2.quantize.channels");
  if (!c.ok()) return;
  const auto scale = c.graph().values[scales].constant->as<float>();
  // Zero points are small integers, which float32 holds exactly.
  const auto zero =
      zeros < 0 ? std::span<const float>() : c.graph().values[zeros].constant->as<float>();
  for (size_t i = 0; c.ok() && i < scale.size(); ++i) {
    const float z = zeros < 0 ? 0 : zero[i];
    c.require(std::abs(z) < 0x1p24f && z == std::round(z), "a zero point is not a small integer",
              std::to_string(z), "an integer", "pt2.quantize.zero_point");
    if (c.ok()) add_step(c, g, scale[i], static_cast<i64>(z));
  }
  // One channel is the whole tensor, whatever its axis becomes.
  if (channels[0] != 1) g.quant.axis = static_cast<i32>(axis);
  if (c.ok()) dequantize(c, std::move(g));
}

static ValueId added(ImportState& state, Op op, ValueId v, Type type, const std::string& name,
                     Origin origin) {
  const ValueId made =
      state.graph.add_node(std::move(op), {v}, {std::move(type)}, name, std::move(origin));
  state.derived_from_constants.resize(made + 1, false);
  state.broken.resize(made + 1, false);
  return made;
}

ValueId add_quantize(ImportState& state, ValueId v, const Quant& quant, const std::string& name,
                     Origin origin) {
  const Type type{DType::s8, state.graph.type(v).shape, quant};
  return added(state, Quantize{quant}, v, type, name + ".steps", std::move(origin));
}

ValueId add_dequantize(ImportState& state, ValueId v, const std::string& name) {
  const Type type{DType::f32, state.graph.type(v).shape, {}};
  const Origin origin = state.graph.nodes[Uses(state.graph).producer[v]].origin;
  return added(state, Dequantize{}, v, type, name + ".float", origin);
}

static constexpr ImportRow kQuantizationRows[] = {
    {"quantized_decomposed.dequantize_per_channel.default", import_dequantize_per_channel},
    {"quantized_decomposed.dequantize_per_tensor.default", import_dequantize_per_tensor},
    {"quantized_decomposed.quantize_per_tensor.default", import_quantize_per_tensor},
};
ImportRows quantization_rows() { return kQuantizationRows; }

}  // namespace deuteron::pt2
