// SPDX-License-Identifier: Apache-2.0
// A reader of FlatBuffers that trusts no offset: every access is checked for bounds and alignment
// against the whole buffer. A fault is remembered (the first one) and answered with zero or
// emptiness, so that callers may look at `fault` when it suits them. The number of tables read is
// limited, so that a hostile file cannot keep a board busy for ever. Rules of the format:
// https://flatbuffers.dev/internals
#pragma once
#include <cstddef>
#include <cstdint>

#include "runtime/status.h"

namespace deuteron {

struct FlatTable {
  uint32_t at = 0;      // 0: absent (no table can begin at 0)
  uint32_t vtable = 0;  // position of the vtable
  uint16_t slots_end = 0, bytes = 0;
  explicit operator bool() const { return at != 0; }
};

struct FlatVector {
  uint32_t at = 0;  // position of the first element; 0: absent
  uint32_t count = 0;
  explicit operator bool() const { return at != 0; }
};

// The widths of a table's first fields, and the vtables last found good for them: writers share
// vtables, so most tables of a type need no second look. An entry is for tables at one position
// modulo 8, on which the alignment of their fields depends.
struct FlatShape {
  const uint8_t* widths;
  uint32_t count;
  struct Known {
    uint32_t key;  // position of the vtable, its lowest bit: the table lies at 4 modulo 8
    uint16_t slots_end, bytes;
  } known[8] = {};
};

struct FlatReader {
  const uint8_t* bytes = nullptr;  // 16-aligned
  uint32_t size = 0;               // below 2^31
  uint32_t tables_left = 1u << 24;
  Code code = Code::ok;
  const char* fault = nullptr;

  void fail(Code c, const char* detail);
  void corrupt(const char* detail);

  // `at` lies inside and is a multiple of sizeof(T): proved by the caller.
  template <class T>
  T load(uint32_t at) const {
    T value;
    __builtin_memcpy(&value, __builtin_assume_aligned(bytes + at, sizeof(T)), sizeof(T));
    return value;
  }

  FlatTable table_at(uint32_t at);
  // What the offset at `field` refers to; nothing if `field` is 0.
  FlatTable table_from(uint32_t field);
  // The same, and the fields of the table are checked, so that the known_ functions below may read
  // them.
  FlatTable table_from(uint32_t field, FlatShape& shape);
  FlatVector vector_from(uint32_t field, uint32_t width);
  // The position of the field in `slot`, 0 if it is absent.
  uint32_t field(FlatTable t, int slot, uint32_t width);
  template <class T>
  T scalar(FlatTable t, int slot, T absent = T{}) {
    const uint32_t at = field(t, slot, sizeof(T));
    return at ? load<T>(at) : absent;
  }
  // What the offset stored at `at` points to, 0 if outside.
  uint32_t follow(uint32_t at);
  FlatTable table(FlatTable t, int slot);
  FlatVector vector(FlatTable t, int slot, uint32_t width);
  // index < v.count: proved by the caller.
  template <class T>
  T item(FlatVector v, uint32_t index) const {
    return load<T>(v.at + index * static_cast<uint32_t>(sizeof(T)));
  }
  FlatTable table(FlatVector v, uint32_t index);
  // Null if absent.
  const char* string(FlatTable t, int slot);
  // Pays for `count` steps of a loop that reads no tables by itself.
  bool charge(uint32_t count);

  // The same without checks, for what has been read with checks before (a file does not change
  // while it is loaded).
  FlatTable known_table_at(uint32_t at) const {
    FlatTable t;
    t.at = at;
    t.vtable = at - load<uint32_t>(at);
    t.slots_end = load<uint16_t>(t.vtable);
    return t;
  }
  uint32_t known_field(FlatTable t, int slot) const {
    const uint32_t entry = 4u + 2u * static_cast<uint32_t>(slot);
    const uint32_t offset = entry < t.slots_end ? load<uint16_t>(t.vtable + entry) : 0;
    return offset ? t.at + offset : 0;
  }
  template <class T>
  T known_scalar(FlatTable t, int slot) const {
    const uint32_t at = known_field(t, slot);
    return at ? load<T>(at) : T{};
  }
  FlatTable known_table(FlatTable t, int slot) const {
    const uint32_t at = known_field(t, slot);
    return at ? known_table_at(at + load<uint32_t>(at)) : FlatTable{};
  }
  FlatTable known_table(FlatVector v, uint32_t index) const {
    const uint32_t at = v.at + 4 * index;
    return known_table_at(at + load<uint32_t>(at));
  }
  FlatVector known_vector(FlatTable t, int slot) const {
    const uint32_t field = known_field(t, slot);
    if (!field) return {};
    const uint32_t at = field + load<uint32_t>(field);
    return {at + 4, load<uint32_t>(at)};
  }
};

}  // namespace deuteron
