// SPDX-License-Identifier: Apache-2.0
#include "base/data/array.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "base/check.h"

namespace deuteron {

std::string to_text(ElementType t) {
  if (t.kind == 'b') return "bool";
  return fmt::format("{}{}", t.kind == 'f' ? "float" : t.kind == 'i' ? "int" : "uint", t.bytes * 8);
}

ElementType element_of(DType d) {
  switch (d) {
    case DType::f32:
      return {'f', 4};
    case DType::f64:
      return {'f', 8};
    case DType::f16:
      return {'f', 2};
    case DType::s8:
      return {'i', 1};
    case DType::s16:
      return {'i', 2};
    case DType::s32:
      return {'i', 4};
    case DType::s64:
      return {'i', 8};
    case DType::u8:
      return {'u', 1};
    case DType::b8:
      return {'b', 1};
    case DType::bf16:
      break;
  }
  DEUTERON_CHECK(false, std::string(name_of(d)));
  return {};
}

float half_to_float(uint16_t half) {
  const int exponent = half >> 10 & 31, fraction = half & 1023;
  float magnitude;
  if (exponent == 31) magnitude = fraction ? NAN : INFINITY;
  else if (exponent == 0) magnitude = std::ldexp(static_cast<float>(fraction), -24);
  else magnitude = std::ldexp(static_cast<float>(fraction + 1024), exponent - 25);
  return half & 0x8000 ? -magnitude : magnitude;
}

template <class T>
static T load(const Array& a, i64 i) {
  T v;
  std::memcpy(&v, a.bytes.data() + i * static_cast<i64>(sizeof(T)), sizeof(T));
  return v;
}

double element_as_double(const Array& a, i64 i) {
  if (a.type.kind == 'f')
    return a.type.bytes == 8   ? load<double>(a, i)
           : a.type.bytes == 4 ? load<float>(a, i)
                               : half_to_float(load<uint16_t>(a, i));
  if (a.type.kind == 'u' && a.type.bytes == 8) return static_cast<double>(load<uint64_t>(a, i));
  i64 v = 0;
  element_as_integer(a, i, &v);
  return static_cast<double>(v);
}

bool element_as_integer(const Array& a, i64 i, i64* value) {
  const bool is_signed = a.type.kind == 'i';
  if (a.type.kind == 'f') return false;
  switch (a.type.bytes) {
    case 1:
      *value = is_signed ? load<int8_t>(a, i) : load<uint8_t>(a, i);
      return true;
    case 2:
      *value = is_signed ? load<int16_t>(a, i) : load<uint16_t>(a, i);
      return true;
    case 4:
      *value = is_signed ? static_cast<i64>(load<int32_t>(a, i))
                         : static_cast<i64>(load<uint32_t>(a, i));
      return true;
    default:
      break;
  }
  if (is_signed) return *value = load<int64_t>(a, i), true;
  const uint64_t v = load<uint64_t>(a, i);
  if (v > static_cast<uint64_t>(INT64_MAX)) return false;
  *value = static_cast<i64>(v);
  return true;
}

}  // namespace deuteron
