// SPDX-License-Identifier: Apache-2.0
// Bilinear resizing as a call of our dialect: where the neighbours lie is known, so the kernel gets
// tables of it.
#include <algorithm>
#include <bit>
#include <cmath>

#include "kernels/resize2d/kernel.h"
#include "ops/common/int16.h"
#include "ops/common/refusals.h"
#include "ops/resize2d/int16.h"
#include "ops/resize2d/resize2d.h"

namespace deuteron {

static constexpr i32 kOne = 1 << kResizeBits;

// {first, weight}, the weight to the nearest step.
static std::vector<i32> positions(const Resize2d& a, i64 in, i64 out) {
  std::vector<i32> table;
  for (const ResizedElement& e : sources_of(a, in, out)) {
    const i32 weight = e.first == e.second
                           ? 0
                           : static_cast<i32>(std::lround(e.weight * static_cast<float>(kOne)));
    table.insert(table.end(), {static_cast<i32>(e.first), weight});
  }
  return table;
}

// As TFLite's reference has them: positions are multiples of a step that is itself rounded to
// 1/1024.
static std::vector<i32> tflite_positions(const Resize2d& a, i64 in, i64 out) {
  constexpr i64 kPart = 1024;
  i64 step = (kPart * in + out / 2) / out;
  if (a.align_corners && out > 1) step = (kPart * (in - 1) + (out - 1) / 2) / (out - 1);
  std::vector<i32> table;
  for (i64 o = 0; o < out; ++o) {
    i64 at = o * step;
    if (a.half_pixel) at += step / 2 - kPart / 2;
    at = std::clamp<i64>(at, 0, kPart * (in - 1));
    const i64 first = at / kPart;
    table.insert(table.end(), {static_cast<i32>(first),
                               static_cast<i32>((at - first * kPart) * (kOne / kPart))});
  }
  return table;
}

// As TFLite's reference has them of bytes: in float32. A position before the first element or
// behind the last one keeps its distance.
static std::vector<i32> tflite_float_positions(const Resize2d& a, i64 in, i64 out) {
  float step = static_cast<float>(in) / static_cast<float>(out);
  if (a.align_corners && out > 1) step = static_cast<float>(in - 1) / static_cast<float>(out - 1);
  std::vector<i32> table;
  for (i64 o = 0; o < out; ++o) {
    const auto k = static_cast<float>(o);
    const float at = a.half_pixel ? (k + 0.5f) * step - 0.5f : k * step;
    const i64 first = std::clamp<i64>(static_cast<i64>(std::floor(at)), 0, in - 1);
    table.insert(table.end(),
                 {static_cast<i32>(first), std::bit_cast<i32>(at - static_cast<float>(first))});
  }
  return table;
}

// Types fit: the caller's.
static Result<Lowered> bilinear_call(const char* name, const Resize2d& a, const LowerContext& c,
                                     std::vector<i32> (*table)(const Resize2d&, i64, i64)) {
  const Type &x = c.in[0], &y = c.out[0];
  CallBuilder call(name, c.in.size(), 1);
  call.in(0, channels_last_face(x.shape));
  call.constant(DType::s32, {a.size.h, 2}, table(a, x.shape[1], a.size.h));
  call.constant(DType::s32, {a.size.w, 2}, table(a, x.shape[2], a.size.w));
  call.out(0, channels_last_face(y.shape));
  return call.done();
}

Result<Lowered> deuteron_call(const Resize2d& a, const LowerContext& c) {
  if (a.mode != Resize2d::kBilinear)
    return Refusal{"nearest resizing is copies", "", "", "cortex_m.resize2d.kernel"};
  if (auto r = require_int8(c.in[0], "x", "cortex_m.resize2d.dtype")) return *r;
  if (auto r = require_same_quant(c.in[0], c.out[0], "cortex_m.resize2d.quant")) return *r;
  if (a.of_bytes && is_reference(c.rounding))
    return bilinear_call("deuteron::resize2d_bytes", a, c, tflite_float_positions);
  return bilinear_call("deuteron::resize2d", a, c,
                       is_reference(c.rounding) ? tflite_positions : positions);
}

Result<Lowered> int16_form(const Resize2d& a, const LowerContext& c) {
  if (a.mode != Resize2d::kBilinear)
    return Refusal{"nearest resizing is copies", "", "", "int16.resize2d.kernel"};
  if (auto why = require_int16(c)) return *why;
  if (auto r = require_same_quant(c.in[0], c.out[0], "int16.resize2d.quant")) return *r;
  return bilinear_call("deuteron::resize2d_s16", a, c,
                       is_reference(c.rounding) ? tflite_positions : positions);
}

}  // namespace deuteron
