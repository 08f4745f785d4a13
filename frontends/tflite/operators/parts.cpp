// SPDX-License-Identifier: Apache-2.0
#include "frontends/tflite/operators/parts.h"

#include <fmt/format.h>

#include <numeric>

namespace deuteron::tflite {

// Positions are written out one by one, so a small file may not ask for many.
static constexpr i64 kMostPositions = 1 << 24;
bool can_pick(Call& c, i64 count) {
  c.require(count <= kMostPositions, "picks along an axis that is too long", std::to_string(count),
            std::to_string(kMostPositions), "tflite.axis.extent");
  return c.ok();
}

ValueId picked(Call& c, ValueId x, i64 axis, Axes index, std::string_view suffix) {
  if (!c.ok() || !can_pick(c, c.shape(x)[axis])) return -1;
  Axes all(static_cast<size_t>(c.shape(x)[axis]));
  std::iota(all.begin(), all.end(), 0);
  return index == all ? x : c.add(Gather{axis, std::move(index)}, {x}, suffix);
}

// Elements start, start + step, .. of an axis; step may be negative.
ValueId part(Call& c, ValueId x, i64 axis, i64 start, i64 count, i64 step,
             std::string_view suffix) {
  if (!c.ok()) return -1;
  if (count == c.shape(x)[axis] && step == 1) return x;
  if (step > 0) return c.add(Slice{axis, start, count, step}, {x}, suffix);
  if (!can_pick(c, count)) return -1;
  Axes index;
  for (i64 k = 0; k < count; ++k) index.push_back(start + k * step);
  return picked(c, x, axis, std::move(index), suffix);
}

i64 scalar(Call& c, size_t operand) {
  const std::vector<i64> values = c.integers(operand);
  c.require(values.size() == 1, fmt::format("operand {} is not one number", operand),
            std::to_string(values.size()), "1", "tflite.operand.scalar");
  return c.ok() ? values[0] : 0;
}

ValueId as_int16(Call& c, size_t operand, Quant& quant) {
  const Type& declared = c.declared(operand);
  quant = declared.quant;
  if (!c.ok() || declared.dtype == DType::s16) return c.real(operand);
  const size_t scales = quant.scale.size();
  c.require(declared.dtype == DType::s8 && scales == 1 && quant.zero_point[0] == 0,
            "takes int16 beside another type",
            fmt::format("{}, scales {}, zero point {}", name_of(declared.dtype), scales,
                        scales ? quant.zero_point[0] : 0),
            "INT16; or INT8, scales 1, zero point 0", "tflite.tensor.int16");
  if (!c.ok()) return -1;
  quant = per_tensor(quant.scale[0], 0, -32768, 32767);
  const std::string name = fmt::format("operand{}_int16", operand);
  if (!c.is_constant(operand)) return c.rounded(c.real(operand), quant, name);
  const std::span<const int8_t> steps = c.steps(operand);
  const Constant wide = constant_of(std::vector<int16_t>(steps.begin(), steps.end()));
  return c.add(Dequantize{}, {c.constant(name, {DType::s16, declared.shape, quant}, wide)},
               name + ".real");
}

void require_int16_scale(Call& c) {
  const Type& y = c.declared_result(0);
  if (y.dtype == DType::s16 && !y.quant.empty())
    c.require(y.quant.scale[0] == 0x1p-15f, "has an int16 result of another scale than its table",
              fmt::format("{:g}", y.quant.scale[0]), fmt::format("{:g}", 0x1p-15f),
              "tflite.operator.scale");
}

void require_int16_zero(Call& c) {
  const Type& y = c.declared_result(0);
  if (y.dtype == DType::s16 && !y.quant.empty())
    c.require(y.quant.zero_point[0] == 0, "has an int16 result with a zero point",
              std::to_string(y.quant.zero_point[0]), "0", "tflite.tensor.int16");
}

}  // namespace deuteron::tflite
