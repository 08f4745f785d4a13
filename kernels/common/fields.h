// SPDX-License-Identifier: Apache-2.0
// The fields of a kernel's argument struct by name, for what prints a call of the kernel
// (write/firmware/c_*.h). Beside the check that fills the struct:
//
//   DEUTERON_FIELDS(MulArgs, count, period, x_zero, other_zero, y_zero, multiplier, shift)
//
// A call whose struct has no list, or one that leaves a field out, does not compile. Nothing of it
// is in a core's program, and its headers are a third of what a core's compiler would read for a
// kernel.
#pragma once
#include "runtime/instruction_set.h"

#if defined(DEUTERON_MICROCONTROLLER)
#define DEUTERON_FIELDS(...)
#else
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

namespace deuteron {

enum class FieldKind : uint8_t { boolean, integer, real, pointer, record };
struct RecordShape;
struct FieldShape {
  std::string_view name, c_type;  // "x", "const int8_t *"; of an array, its elements'
  FieldKind kind;
  uint32_t offset, bytes, align;  // of one element
  uint32_t count;                 // of an array; 0: it is none
  const RecordShape* record;
};
struct RecordShape {
  std::string_view name;  // "MulArgs"
  uint32_t bytes, align;
  const FieldShape* fields;
  uint32_t count;
};

template <class T>
struct Fields;  // DEUTERON_FIELDS

template <class T>
constexpr std::string_view c_type_of() {
  if constexpr (std::is_same_v<T, bool>) return "bool";
  else if constexpr (std::is_same_v<T, int8_t>) return "int8_t";
  else if constexpr (std::is_same_v<T, int16_t>) return "int16_t";
  else if constexpr (std::is_same_v<T, int32_t>) return "int32_t";
  else if constexpr (std::is_same_v<T, int64_t>) return "int64_t";
  else if constexpr (std::is_same_v<T, float>) return "float";
  else if constexpr (std::is_same_v<T, const int8_t*>) return "const int8_t *";
  else if constexpr (std::is_same_v<T, const uint8_t*>) return "const uint8_t *";
  else if constexpr (std::is_same_v<T, const int16_t*>) return "const int16_t *";
  else if constexpr (std::is_same_v<T, const int32_t*>) return "const int32_t *";
  else if constexpr (std::is_same_v<T, const int64_t*>) return "const int64_t *";
  else if constexpr (std::is_same_v<T, const float*>) return "const float *";
  else if constexpr (std::is_same_v<T, int8_t*>) return "int8_t *";
  else if constexpr (std::is_same_v<T, int16_t*>) return "int16_t *";
  else if constexpr (std::is_same_v<T, int32_t*>) return "int32_t *";
  else if constexpr (std::is_same_v<T, float*>) return "float *";
  else if constexpr (std::is_same_v<T, void*>) return "void *";
  else if constexpr (std::is_same_v<T, const void*>) return "const void *";
  else
    static_assert(!std::is_same_v<T, T>, "a type that no kernel had before: give it a name here");
}

constexpr uint32_t initializers_of(const FieldShape* fields, size_t count) {
  uint32_t n = 0;
  for (size_t i = 0; i < count; ++i) n += fields[i].count > 0 ? fields[i].count : 1;
  return n;
}
// One behind the other, as the compiler lays them out.
constexpr bool fields_follow(const FieldShape* fields, size_t count, uint32_t bytes,
                             uint32_t align) {
  uint32_t at = 0;
  for (size_t i = 0; i < count; ++i) {
    at = (at + fields[i].align - 1) / fields[i].align * fields[i].align;
    if (fields[i].offset != at) return false;
    at += fields[i].bytes * (fields[i].count > 0 ? fields[i].count : 1);
  }
  return (at + align - 1) / align * align == bytes;
}

struct AnyField {
  template <class T>
  operator T() const;  // never defined
};
template <size_t>
using AnyFieldAt = AnyField;
template <class T, class Indices, class = void>
inline constexpr bool kTakes = false;
template <class T, size_t... i>
inline constexpr bool
    kTakes<T, std::index_sequence<i...>, std::void_t<decltype(T{AnyFieldAt<i>{}...})> > = true;

template <class T>
constexpr RecordShape shape_of_record() {
  constexpr size_t kCount = sizeof Fields<T>::kList / sizeof(FieldShape);
  static_assert(fields_follow(Fields<T>::kList, kCount, sizeof(T), alignof(T)),
                "DEUTERON_FIELDS leaves a field out, or turns two round");
  constexpr size_t kInitializers = initializers_of(Fields<T>::kList, kCount);
  static_assert(kTakes<T, std::make_index_sequence<kInitializers> > &&
                    !kTakes<T, std::make_index_sequence<kInitializers + 1> >,
                "DEUTERON_FIELDS leaves a field out");
  return {Fields<T>::kName, sizeof(T), alignof(T), Fields<T>::kList, kCount};
}
template <class T>
inline constexpr RecordShape kRecordShape = shape_of_record<T>();

template <class T>
constexpr FieldShape shape_of_field(std::string_view name, size_t offset) {
  using E = std::remove_extent_t<T>;
  FieldShape f{name,      {},         FieldKind::record, static_cast<uint32_t>(offset),
               sizeof(E), alignof(E), std::extent_v<T>,  nullptr};
  if constexpr (std::is_class_v<E>) {
    f.record = &kRecordShape<E>;
    f.c_type = f.record->name;
  } else {
    f.c_type = c_type_of<E>();
    f.kind = std::is_pointer_v<E>          ? FieldKind::pointer
             : std::is_same_v<E, bool>     ? FieldKind::boolean
             : std::is_floating_point_v<E> ? FieldKind::real
                                           : FieldKind::integer;
  }
  return f;
}

#define DEUTERON_AGAIN ()
#define DEUTERON_EXPAND(...) DEUTERON_EXPAND3(DEUTERON_EXPAND3(DEUTERON_EXPAND3(__VA_ARGS__)))
#define DEUTERON_EXPAND3(...) DEUTERON_EXPAND2(DEUTERON_EXPAND2(DEUTERON_EXPAND2(__VA_ARGS__)))
#define DEUTERON_EXPAND2(...) DEUTERON_EXPAND1(DEUTERON_EXPAND1(DEUTERON_EXPAND1(__VA_ARGS__)))
#define DEUTERON_EXPAND1(...) __VA_ARGS__
#define DEUTERON_EACH_FIELD(T, f, ...)                \
  shape_of_field<decltype(T::f)>(#f, offsetof(T, f)), \
      __VA_OPT__(DEUTERON_EACH_FIELD_AGAIN DEUTERON_AGAIN(T, __VA_ARGS__))
#define DEUTERON_EACH_FIELD_AGAIN() DEUTERON_EACH_FIELD
#define DEUTERON_FIELDS(T, ...)                                                                   \
  template <>                                                                                     \
  struct Fields<T> {                                                                              \
    static constexpr std::string_view kName = #T;                                                 \
    static constexpr FieldShape kList[] = {DEUTERON_EXPAND(DEUTERON_EACH_FIELD(T, __VA_ARGS__))}; \
  };

}  // namespace deuteron
#endif
