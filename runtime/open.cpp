// SPDX-License-Identifier: Apache-2.0
// Opens a program file: its prefix, its segments and the parts of one method.
// Format: ExecuTorch schema/program.fbs and extended_header; offsets 8 to 40 of the file hold the
// extended header.
#include "runtime/plan.h"

namespace deuteron {
namespace {

// Objects, not literals: literals of the loader are messages, which an image may leave out
// (runtime/ports/messages.ld).
constexpr char kIdentifier[] = "ET12", kExtendedHeader[] = "eh00", kMethod[] = "forward";

constexpr size_t kSmallestFile = 64;  // the stock loader reads as much before it looks at anything
constexpr uint32_t kMagicAt = 8, kLengthAt = 12, kProgramSizeAt = 16, kBaseAt = 24,
                   kDataSizeAt = 32;
constexpr uint32_t kOldHeaderBytes = 24,
                   kHeaderBytes = 32;  // without and with the size of the segments' data

bool is_text(const uint8_t* bytes, const char* four) {
  return __builtin_memcmp(bytes, four, 4) == 0;
}

bool same_text(const char* a, const char* b) {
  while (*a && *a == *b) ++a, ++b;
  return *a == *b;
}

// Limits reader.size to the FlatBuffer and finds where segments lie.
bool read_header(Plan* plan) {
  FlatReader& r = plan->reader;
  const uint64_t file_bytes = r.size;
  plan->segment_end = file_bytes;
  if (!is_text(r.bytes + kMagicAt, kExtendedHeader)) return true;
  const uint32_t length = r.load<uint32_t>(kLengthAt);
  if (length < kOldHeaderBytes || length > file_bytes - kMagicAt)
    return r.corrupt("the extended header has an impossible length"), false;
  const uint64_t program_size = r.load<uint64_t>(kProgramSizeAt);
  const uint64_t base = r.load<uint64_t>(kBaseAt);
  const uint64_t data_size = length >= kHeaderBytes ? r.load<uint64_t>(kDataSizeAt) : 0;
  if (program_size > file_bytes)
    return r.corrupt("the file is shorter than its header says: it was cut"), false;
  if (program_size < kMagicAt + length)
    return r.corrupt("the header's program size is too small"), false;
  if (base > file_bytes || data_size > file_bytes - base)
    return r.corrupt("the segments end beyond the file: it was cut"), false;
  if (base != 0 && base < program_size) return r.corrupt("the segments overlap the program"), false;
  if (base == 0 && data_size != 0) return r.corrupt("the segments have no base"), false;
  plan->segment_base = base;
  if (data_size != 0) plan->segment_end = base + data_size;
  r.size = static_cast<uint32_t>(program_size);
  return true;
}

// A table of offsets into one segment: where that lies in the file, and its bytes.
bool find_subsegments(Plan* plan, FlatTable table, FlatVector* offsets, uint64_t* at,
                      uint64_t* bytes) {
  FlatReader& r = plan->reader;
  *offsets = r.vector(table, 1, 8);
  if (r.fault) return false;
  if (offsets->count <= 1) return true;  // entry 0 is a placeholder
  const uint32_t index = r.scalar<uint32_t>(table, 0);
  if (index >= plan->segments.count)
    return r.corrupt("the constants are in a segment that does not exist"), false;
  const FlatTable segment = r.table(plan->segments, index);
  const uint64_t offset = r.scalar<uint64_t>(segment, 0), size = r.scalar<uint64_t>(segment, 1);
  if (r.fault) return false;
  if (plan->segment_base == 0)
    return r.corrupt("there are constants but the header gives no place for segments"), false;
  const uint64_t room = plan->segment_end - plan->segment_base;
  if (offset > room || size > room - offset)
    return r.corrupt("the constants lie outside the file"), false;
  *at = plan->segment_base + offset;
  *bytes = size;
  return true;
}

bool find_constants(Plan* plan, FlatTable program) {
  FlatReader& r = plan->reader;
  plan->segments = r.vector(program, 4, 4);
  plan->inline_payloads = r.vector(program, 3, 4);
  if (!find_subsegments(plan, r.table(program, 5), &plan->constant_offsets, &plan->constants_at,
                        &plan->constants_bytes))
    return false;
  const FlatVector states = r.vector(program, 6, 4);
  if (states.count > 1)
    return r.fail(Code::unsupported, "the states begin with the contents of more than one segment"),
           false;
  if (r.fault || states.count == 0) return !r.fault;
  return find_subsegments(plan, r.table(states, 0), &plan->state_offsets, &plan->states_at,
                          &plan->states_bytes);
}

// A second method of the name would never be reached by other loaders, so it is refused.
FlatTable find_method(FlatReader& r, FlatVector methods, const char* wanted) {
  FlatTable found;
  for (uint32_t i = 0; i < methods.count && !r.fault; ++i) {
    const FlatTable method = r.table(methods, i);
    const char* name = r.string(method, 0);
    if (r.fault) break;
    if (!name) return r.corrupt("a method has no name"), FlatTable{};
    if (!same_text(name, wanted)) continue;
    if (found) return r.corrupt("two methods have this name"), FlatTable{};
    found = method;
  }
  if (!r.fault && !found)
    r.fail(methods ? Code::unsupported : Code::corrupt, "the program has no method of this name");
  return r.fault ? FlatTable{} : found;
}

bool sum_planned_buffers(Plan* plan) {
  FlatReader& r = plan->reader;
  if (plan->buffer_sizes.count == 0)
    return r.corrupt("the list of planned buffer sizes is missing"), false;
  uint64_t sum = 0;
  for (uint32_t i = 1; i < plan->buffer_sizes.count; ++i) {  // entry 0 is reserved
    const int64_t bytes = r.item<int64_t>(plan->buffer_sizes, i);
    if (bytes < 0) return r.corrupt("a planned buffer has a negative size"), false;
    if (bytes > INT32_MAX - 15)
      return r.fail(Code::unsupported, "a planned buffer is larger than 2 GiB"), false;
    sum += (static_cast<uint64_t>(bytes) + 15) / 16 * 16;
    if (sum > INT32_MAX)
      return r.fail(Code::unsupported, "the planned buffers are larger than 2 GiB"), false;
  }
  plan->file_planned_bytes = plan->ports_end = plan->planned_bytes = static_cast<uint32_t>(sum);
  return true;
}

bool check_devices(FlatReader& r, FlatVector devices) {
  for (uint32_t i = 0; i < devices.count && !r.fault; ++i)
    if (r.scalar<int8_t>(r.table(devices, i), 1) != 0)
      r.fail(Code::unsupported, "a planned buffer lies on another device than the CPU");
  return !r.fault;
}

}  // namespace

bool open_program(File file, Plan* plan, FlatTable* program) {
  FlatReader& r = plan->reader;
  if (!file.data || file.bytes < kSmallestFile)
    return r.fail(Code::not_a_program, "shorter than any program (64 bytes)"), false;
  if (reinterpret_cast<uintptr_t>(file.data) % 16 != 0)
    return r.fail(Code::bad_input, "the file must lie at an address that is a multiple of 16"),
           false;
  r.bytes = static_cast<const uint8_t*>(file.data);
  if (!is_text(r.bytes + 4, kIdentifier))
    return r.fail(Code::not_a_program, "the identifier `ET12` is missing"), false;
  if (file.bytes > INT32_MAX)
    return r.fail(Code::unsupported, "the file is larger than 2 GiB"), false;
  r.size = static_cast<uint32_t>(file.bytes);
  r.tables_left = max_load_steps(r.size);
  if (!read_header(plan)) return false;
  *program = r.table_at(r.load<uint32_t>(0));
  return r.fault == nullptr;
}

bool open_plan(File file, Plan* plan) {
  FlatReader& r = plan->reader;
  FlatTable program;
  if (!open_program(file, plan, &program)) return false;
  const FlatTable method =
      find_method(r, methods_of(r, program), file.method ? file.method : kMethod);
  if (r.fault || !find_constants(plan, program)) return false;

  plan->values = r.vector(method, 2, 4);
  plan->inputs = r.vector(method, 3, 4);
  plan->outputs = r.vector(method, 4, 4);
  const FlatVector chains = r.vector(method, 5, 4);
  plan->operators = r.vector(method, 6, 4);
  plan->delegates = r.vector(method, 7, 4);
  plan->buffer_sizes = r.vector(method, 8, 8);
  const FlatVector devices = r.vector(method, 9, 4);
  if (r.fault) return false;
  if (!plan->values || !plan->inputs || !plan->outputs || !plan->delegates || chains.count == 0)
    return r.corrupt("the method lacks its values, inputs, outputs, delegates or chains"), false;
  if (chains.count > 1)
    return r.fail(Code::unsupported, "the method has more than one chain of instructions"), false;
  plan->instructions = r.vector(r.table(chains, 0), 2, 4);
  if (r.fault) return false;
  if (!plan->instructions) return r.corrupt("the chain has no list of instructions"), false;
  return sum_planned_buffers(plan) && check_devices(r, devices);
}

}  // namespace deuteron
