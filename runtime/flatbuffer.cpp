// SPDX-License-Identifier: Apache-2.0
// The checks behind every access to a FlatBuffer.
#include "runtime/flatbuffer.h"

namespace deuteron {

void FlatReader::fail(Code c, const char* detail) {
  if (fault) return;
  code = c;
  fault = detail;
}

void FlatReader::corrupt(const char* detail) { fail(Code::corrupt, detail); }

bool FlatReader::charge(uint32_t count) {
  if (count > tables_left)
    return fail(Code::unsupported, "the program is too large to be checked"), false;
  tables_left -= count;
  return true;
}

FlatTable FlatReader::table_at(uint32_t at) {
  if (at % 4 != 0 || at < 4 || at > size - 4)
    return corrupt("a table lies outside the file or is not aligned"), FlatTable{};
  if (tables_left == 0)
    return fail(Code::unsupported, "the program is too large to be checked"), FlatTable{};
  --tables_left;
  // The vtable lies soffset bytes before the table, modulo 2^32: a position outside comes out as
  // one beyond the end.
  const uint32_t vtable = at - load<uint32_t>(at);
  if (vtable < 4 || vtable % 2 != 0 || vtable > size - 4)
    return corrupt("a vtable lies outside the file"), FlatTable{};
  FlatTable t;
  t.at = at;
  t.vtable = vtable;
  t.slots_end = load<uint16_t>(vtable);
  t.bytes = load<uint16_t>(vtable + 2);
  if (t.slots_end < 4 || t.slots_end % 2 != 0 || vtable + t.slots_end > size || t.bytes < 4 ||
      at + t.bytes > size)
    return corrupt("a table or vtable has an impossible size"), FlatTable{};
  return t;
}

uint32_t FlatReader::field(FlatTable t, int slot, uint32_t width) {
  const uint32_t entry = 4u + 2u * static_cast<uint32_t>(slot);
  if (entry >= t.slots_end) return 0;  // 0 for an absent table
  const uint32_t offset = load<uint16_t>(t.vtable + entry);
  if (offset == 0) return 0;
  if (offset < 4 || offset + width > t.bytes || ((t.at + offset) & (width - 1)) != 0)
    return corrupt("a field lies outside its table"), 0;
  return t.at + offset;
}

uint32_t FlatReader::follow(uint32_t at) {
  const uint32_t offset = load<uint32_t>(at);
  if (offset == 0 || offset > size - 4 - at) return corrupt("an offset points outside the file"), 0;
  return at + offset;
}

FlatTable FlatReader::table_from(uint32_t field) {
  const uint32_t at = field ? follow(field) : 0;
  return at ? table_at(at) : FlatTable{};
}

FlatTable FlatReader::table_from(uint32_t field, FlatShape& shape) {
  const uint32_t at = field ? follow(field) : 0;
  if (!at) return {};
  if (at % 4 != 0 || at > size - 4) return table_at(at);  // which says what is wrong
  const uint32_t vtable = at - load<uint32_t>(at), key = vtable | (at >> 2 & 1);
  // An entry that was never filled has key 0, which only a vtable inside the file's first bytes can
  // match.
  FlatShape::Known& known = shape.known[(vtable >> 1 ^ (at >> 2 & 1)) & 7];
  if (known.key == key && vtable >= 4 && vtable % 2 == 0 && at + known.bytes <= size &&
      tables_left != 0) {
    --tables_left;
    return {at, vtable, known.slots_end, known.bytes};
  }
  const FlatTable t = table_at(at);
  if (!t) return t;
  const uint32_t present = (t.slots_end - 4u) / 2;
  for (uint32_t slot = 0; slot < shape.count && slot < present; ++slot) {
    const uint32_t offset = load<uint16_t>(t.vtable + 4 + 2 * slot), width = shape.widths[slot];
    if (offset == 0) continue;
    if (offset < 4 || offset + width > t.bytes || ((at + offset) & (width - 1)) != 0)
      return corrupt("a field lies outside its table"), FlatTable{};
  }
  known = {key, t.slots_end, t.bytes};
  return t;
}

FlatVector FlatReader::vector_from(uint32_t field, uint32_t width) {
  const uint32_t at = field ? follow(field) : 0;
  if (!at) return {};
  if (at % 4 != 0) return corrupt("a vector is not aligned"), FlatVector{};
  const uint32_t count = load<uint32_t>(at);
  if (uint64_t{count} * width > size - 4 - at)
    return corrupt("a vector runs past the end of the file"), FlatVector{};
  if (count != 0 && ((at + 4) & (width - 1)) != 0)
    return corrupt("a vector's elements are not aligned"), FlatVector{};
  return {at + 4, count};
}

FlatTable FlatReader::table(FlatTable t, int slot) { return table_from(field(t, slot, 4)); }

FlatTable FlatReader::table(FlatVector v, uint32_t index) { return table_from(v.at + 4 * index); }

FlatVector FlatReader::vector(FlatTable t, int slot, uint32_t width) {
  return vector_from(field(t, slot, 4), width);
}

const char* FlatReader::string(FlatTable t, int slot) {
  const FlatVector v = vector(t, slot, 1);
  if (!v) return nullptr;
  if (v.at + v.count >= size || bytes[v.at + v.count] != 0)
    return corrupt("a string has no end"), nullptr;
  return reinterpret_cast<const char*>(bytes + v.at);
}

}  // namespace deuteron
