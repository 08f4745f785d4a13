// SPDX-License-Identifier: Apache-2.0
// Programs whose planned buffers lie in several memories, and constants that are read from a copy
// in one of them.
#include "runtime/plan.h"

namespace deuteron {

uint32_t buffer_at(const Plan& plan, uint32_t id) {
  uint32_t at = 0;
  for (uint32_t i = 1; i < id; ++i)
    at += static_cast<uint32_t>((plan.reader.item<int64_t>(plan.buffer_sizes, i) + 15) / 16 * 16);
  return at;
}

uint8_t* planned_address(const Plan& plan, uint32_t offset) {
  if (const SeveralMemories* m = plan.several)
    for (uint32_t k = m->elsewhere_count; k-- > 0;)
      if (offset >= m->elsewhere[k].begin)
        return m->elsewhere[k].data + (offset - m->elsewhere[k].begin);
  return plan.planned + offset;
}

#ifndef DEUTERON_ONE_MEMORY

static bool read_number(const char** text, char end, uint32_t* number) {
  uint64_t n = 0;
  const char* at = *text;
  if (*at < '0' || *at > '9') return false;
  for (; *at >= '0' && *at <= '9'; ++at)
    if ((n = 10 * n + static_cast<uint64_t>(*at - '0')) > INT32_MAX) return false;
  if (*at != end) return false;
  *text = at + (end != 0);
  *number = static_cast<uint32_t>(n);
  return true;
}

bool read_copy(Plan& plan, const char* text) {
  FlatReader& r = plan.reader;
  uint32_t buffer, at, from, bytes;
  if (!read_number(&text, ',', &buffer) || !read_number(&text, ',', &at) ||
      !read_number(&text, ',', &from) || !read_number(&text, 0, &bytes))
    return r.corrupt("a copy of constants is not four numbers"), false;
  if (buffer == 0 || buffer >= plan.buffer_sizes.count || !r.charge(buffer))
    return r.corrupt("constants are copied to a planned buffer that does not exist"), false;
  const int64_t room = r.item<int64_t>(plan.buffer_sizes, buffer);
  if (at % 16 != 0 || at > room || bytes > room - at)
    return r.corrupt("constants are copied beyond their planned buffer"), false;
  if (from % 16 != 0 || from > plan.constants_bytes || bytes > plan.constants_bytes - from)
    return r.corrupt("constants are copied that the file does not have"), false;
  const uint32_t begin = buffer_at(plan, buffer) + at;
  SeveralMemories& m = *plan.several;
  if (m.copy_count == kMostMemories)
    return r.fail(Code::unsupported, "constants are copied to more than 4 places"), false;
  if (is_copy_at(plan, begin, begin + bytes))
    return r.corrupt("two copies of constants overlap"), false;
  m.copies[m.copy_count++] = {begin, static_cast<uint32_t>(plan.constants_at) + from, bytes};
  return true;
}

bool is_copy_at(const Plan& plan, uint32_t begin, uint32_t end) {
  for (uint32_t k = 0; plan.several && k < plan.several->copy_count; ++k) {
    const ConstantCopy& c = plan.several->copies[k];
    if (begin < c.at + c.bytes && c.at < end) return true;
  }
  return false;
}

void copy_constants(Plan& plan) {
  if (!plan.several) return;
  for (uint32_t k = 0; k < plan.several->copy_count; ++k) {
    const ConstantCopy& c = plan.several->copies[k];
    __builtin_memcpy(planned_address(plan, c.at), plan.reader.bytes + c.from, c.bytes);
  }
  plan.several->are_copied = true;
}

bool has_several_memories(const Plan& plan) {
  return plan.buffer_sizes.count > 2 || (plan.several && plan.several->copy_count > 0);
}

void keep_several_memories(Arena& arena, Plan& plan) {
  SeveralMemories* const kept =
      has_several_memories(plan) ? arena.make<SeveralMemories>() : nullptr;
  if (kept) *kept = *plan.several;
  plan.several = kept;
}

#else

bool read_copy(Plan&, const char*) { return true; }  // they are read where they lie
bool is_copy_at(const Plan&, uint32_t, uint32_t) { return false; }
void copy_constants(Plan&) {}
void keep_several_memories(Arena&, Plan&) {}

#endif

// By differences, which do not wrap.
static bool overlap(Memory a, Memory b) {
  const auto x = reinterpret_cast<uintptr_t>(a.data), y = reinterpret_cast<uintptr_t>(b.data);
  return x && y && a.bytes && b.bytes && (x < y ? y - x < a.bytes : x - y < b.bytes);
}

const char* why_not_memory(File file, Memory tables, const Memory* planned, int32_t memories) {
  if (reinterpret_cast<uintptr_t>(tables.data) % 16 != 0)
    return "the tables must lie at an address that is a multiple of 16";
  const Memory of_file{const_cast<void*>(file.data), file.bytes};
  bool apart = !overlap(of_file, tables);
  for (int32_t k = 0; k < memories && static_cast<uint32_t>(k) < kMostMemories; ++k)
    apart = apart && !overlap(planned[k], of_file) && !overlap(planned[k], tables);
  return apart ? nullptr : "the file, the tables and the planned memory must not overlap";
}

static Status unfit(Code code, const char* detail, uint32_t bytes_needed) {
  Status s;
  s.code = code;
  s.detail = detail;
  s.bytes_needed = bytes_needed;
  return s;
}

Status take_memories(Plan& plan, const Memory* planned, int32_t count) {
  if (count < 1 || static_cast<uint32_t>(count) > kMostMemories ||
      (count > 1 && static_cast<uint32_t>(count) >= plan.buffer_sizes.count))
    return unfit(Code::bad_input, "there are more memories than planned buffers", 0);
  for (int32_t k = 0; k < count; ++k) {
    const Memory& m = planned[k];
    const uint32_t begin = k == 0 ? 0 : buffer_at(plan, static_cast<uint32_t>(k) + 1);
    const uint32_t end =
        k + 1 == count ? plan.planned_bytes : buffer_at(plan, static_cast<uint32_t>(k) + 2);
    if (reinterpret_cast<uintptr_t>(m.data) % 16 != 0)
      return unfit(Code::bad_input,
                   "the planned buffer must lie at an address that is a multiple of 16", 0);
    if (m.bytes < end - begin || (!m.data && end != begin))
      return unfit(Code::out_of_memory, "the planned buffer is too small", end - begin);
    auto* data = static_cast<uint8_t*>(m.data);
    for (int32_t other = 0; other < k; ++other) {
      const auto* from = static_cast<const uint8_t*>(planned[other].data);
      if (data < from + planned[other].bytes && from < data + m.bytes)
        return unfit(Code::bad_input, "two memories of the program overlap", 0);
    }
    if (k == 0) plan.planned = data;
    else plan.several->elsewhere[plan.several->elsewhere_count++] = {begin, data};
  }
  return Status{};
}

#ifndef DEUTERON_ONE_MEMORY
Status measure_memories(File file, const Needs& needs, MemoryNeeds* memories) {
  *memories = {};
  Plan plan;
  if (!open_plan(file, &plan)) return unfit(plan.reader.code, plan.reader.fault, 0);
  const uint32_t buffers = plan.buffer_sizes.count - 1;
  memories->count = static_cast<int32_t>(buffers < 1               ? 1
                                         : buffers > kMostMemories ? kMostMemories
                                                                   : buffers);
  for (int32_t k = 0; k < memories->count; ++k) {
    const uint32_t begin = buffer_at(plan, static_cast<uint32_t>(k) + 1);
    memories->bytes[k] =
        (k + 1 == memories->count ? needs.planned_bytes
                                  : buffer_at(plan, static_cast<uint32_t>(k) + 2)) -
        begin;
  }
  return Status{};
}
#endif

}  // namespace deuteron
