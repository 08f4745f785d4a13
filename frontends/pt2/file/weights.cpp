// SPDX-License-Identifier: Apache-2.0
#include "frontends/pt2/file/weights.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <numeric>

#include "base/tensor/elements.h"
#include "frontends/pt2/file/storage_order.h"

namespace deuteron::pt2 {

// An expanded tensor (stride 0) can be far larger than its blob; nothing on a microcontroller is.
static constexpr i64 kMaxGatheredBytes = 64 << 20;

namespace {

bool fits_blob(const TensorMeta& m, i64 elements_in_blob) {
  if (numel(m.sizes) == 0) return true;
  i64 last = m.offset;
  for (size_t k = 0; k < m.sizes.size(); ++k) {
    last += (m.sizes[k] - 1) * m.strides[k];
    if (last >= elements_in_blob) return false;
  }
  return last < elements_in_blob;
}

// Copies element by element, in the user's order. `item` is the element size in bytes.
Constant gather(const TensorMeta& m, std::span<const std::byte> blob, i64 item) {
  const i64 count = numel(m.sizes);
  // aligned for any dtype
  auto owner = std::make_shared<std::vector<uint64_t>>((count * item + 7) / 8);
  std::byte* out = reinterpret_cast<std::byte*>(owner->data());
  Shape index(m.sizes.size(), 0);
  for (i64 i = 0; i < count; ++i) {
    i64 at = m.offset;
    for (size_t k = 0; k < index.size(); ++k) at += index[k] * m.strides[k];
    std::memcpy(out + i * item, blob.data() + at * item, item);
    for (size_t k = index.size(); k-- > 0;) {
      if (++index[k] < m.sizes[k]) break;
      index[k] = 0;
    }
  }
  return {owner, {out, static_cast<size_t>(count * item)}};
}

// Index of the first value that is not finite, or -1. Minus infinity may be meant: a mask
// (import.cpp, write_minus_infinity).
i64 first_not_finite(std::span<const float> values) {
  constexpr uint32_t kExponent = 0x7f800000, kMinusInfinite = 0xff800000;
  for (size_t i = 0; i < values.size(); ++i)
    if (const auto bits = std::bit_cast<uint32_t>(values[i]);
        (bits & kExponent) == kExponent && bits != kMinusInfinite)
      return static_cast<i64>(i);
  return -1;
}

// IEEE 754 binary16.
float from_half(uint16_t bits) {
  const int exponent = (bits >> 10) & 31, fraction = bits & 1023;
  const float magnitude = exponent == 0 ? std::ldexp(static_cast<float>(fraction), -24)
                          : exponent == 31
                              ? (fraction ? NAN : INFINITY)
                              : std::ldexp(static_cast<float>(1024 + fraction), exponent - 25);
  return bits & 0x8000 ? -magnitude : magnitude;
}

// Minus infinity may be a mask: import.cpp, write_minus_infinity.
std::optional<float> finite(float v) {
  return std::isfinite(v) || v == -INFINITY ? std::optional(v) : std::nullopt;
}

template <class T, class F>
std::optional<Constant> convert(const Constant& data, F&& to_float) {
  const auto values = data.as<T>();
  std::vector<float> result(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    const std::optional<float> v = to_float(values[i]);
    if (!v) return std::nullopt;
    result[i] = *v;
  }
  return constant_of(std::move(result));
}

template <class T>
std::optional<Constant> convert_integers(const Constant& data) {
  constexpr i64 kExact = static_cast<i64>(kExactIntegers);  // itself too
  return convert<T>(data, [](T v) -> std::optional<float> {
    const i64 wide = static_cast<i64>(v);
    if (wide > kExact || wide < -kExact) return std::nullopt;
    return static_cast<float>(v);
  });
}

}  // namespace

std::optional<Weight> read_weight(const Archive& archive, const WeightEntry& entry,
                                  const std::string& name, Diagnostics& diagnostics) {
  const auto refuse = [&](std::string what, std::string measured, std::string limit,
                          std::string rule, std::string fix = {}) {
    diagnostics.add({Severity::error, fmt::format("{}: parameter `{}`", archive.name, name),
                     std::move(what), std::move(measured), std::move(limit), std::move(rule),
                     std::move(fix)});
    return std::nullopt;
  };
  const TensorMeta& m = entry.meta;
  if (!m.dtype)
    return refuse("has a dtype that is not supported: " + name_of_code(m.dtype_code), "", "",
                  "pt2.weights.dtype");
  if (m.dynamic) return refuse("has a dynamic size", "", "", "pt2.weights.dynamic");
  const ArchiveEntry* blob = find_entry(archive, entry.blob);
  if (!blob)
    return refuse(fmt::format("lies in entry `{}`, which is missing", entry.blob), "", "",
                  "pt2.weights.missing");
  const i64 item = bytes_of(*m.dtype), blob_bytes = static_cast<i64>(blob->bytes.size());
  if (blob_bytes % item != 0 || !fits_blob(m, blob_bytes / item))
    return refuse(
        fmt::format("reaches outside of entry `{}`: shape {}, strides {}, offset {}, {} bytes each",
                    entry.blob, to_text(m.sizes), to_text(m.strides), m.offset, item),
        "", "", "pt2.weights.size");
  if (!is_intact(archive, *blob))
    return refuse(fmt::format("is damaged: the checksum of entry `{}` does not match", entry.blob),
                  "", "", "pt2.weights.checksum");

  Weight w;
  w.order = storage_order(m.sizes, m.strides);
  const i64 count = numel(m.sizes);
  const std::byte* first = blob->bytes.data() + (count == 0 ? 0 : m.offset * item);
  const bool is_aligned = reinterpret_cast<uintptr_t>(first) % static_cast<uintptr_t>(item) == 0;
  if (is_dense(m.sizes, m.strides, w.order) && is_aligned) {
    w.data = {archive.owner, {first, static_cast<size_t>(count * item)}};
  } else {
    if (count * item > kMaxGatheredBytes)
      return refuse("would be too large once its repeated elements are written out",
                    fmt::format("{} bytes", count * item),
                    fmt::format("{} bytes", kMaxGatheredBytes), "pt2.weights.expanded");
    std::iota(w.order.begin(), w.order.end(), 0);
    w.data = gather(m, blob->bytes, item);
  }
  w.type = {*m.dtype, permuted(m.sizes, w.order), {}};
  if (*m.dtype == DType::f32) {
    const auto values = w.data.as<float>();
    if (const i64 bad = first_not_finite(values); bad >= 0)
      return refuse(
          fmt::format("holds a value that is not finite: element {} is {}", bad, values[bad]), "",
          "", "pt2.weights.finite", "look for a training step that diverged");
  }
  return w;
}

std::optional<Constant> as_float(const Constant& data, DType dtype) {
  switch (dtype) {
    case DType::f32:
      return data;
    case DType::f64:
      return convert<double>(data, [](double v) { return finite(static_cast<float>(v)); });
    case DType::f16:
      return convert<uint16_t>(data, [](uint16_t v) { return finite(from_half(v)); });
    case DType::bf16:
      return convert<uint16_t>(
          data, [](uint16_t v) { return finite(std::bit_cast<float>(uint32_t{v} << 16)); });
    case DType::s8:
      return convert_integers<int8_t>(data);
    case DType::u8:
      return convert_integers<uint8_t>(data);
    case DType::b8:
      return convert<uint8_t>(data,
                              [](uint8_t v) -> std::optional<float> { return v ? 1.0f : 0.0f; });
    case DType::s16:
      return convert_integers<int16_t>(data);
    case DType::s32:
      return convert_integers<int32_t>(data);
    case DType::s64:
      return convert_integers<i64>(data);
  }
  return std::nullopt;
}

}  // namespace deuteron::pt2
