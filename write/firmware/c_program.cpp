// SPDX-License-Identifier: Apache-2.0
#include "write/firmware/c_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <deque>
#include <map>

#include "base/check.h"
#include "npu/neutron/delegate/delegate.h"
#include "ops/kernel_call/called_kernels.h"
#include "runtime/schema.h"
#include "write/firmware/isa_called.h"

namespace deuteron {
namespace {

uint64_t bytes_in(const Tensor& t) {
  return uint64_t{static_cast<uint32_t>(t.numel)} * element_bytes(t.type);
}

bool is_written(const char* schema, int32_t argument) {
  return schema == nullptr || is_out(schema[argument]) || schema[argument] == 'W';
}

// f(tensor, whether it is written). `schema`: null for a delegate, that may write to all.
template <class F>
void for_each_tensor(const Program::Step& step, const char* schema, F f) {
  for (int32_t i = 0; i < step.count; ++i) {
    const Value& v = *step.args[i];
    if (v.kind == Kind::tensor) f(*v.tensor, is_written(schema, i));
    if (v.kind != Kind::tensor_list) continue;
    for (int32_t k = 0; k < v.list.count; ++k)
      if (v.list.items[k] != nullptr && v.list.items[k]->kind == Kind::tensor)
        f(*v.list.items[k]->tensor, is_written(schema, i));
  }
}

// The constants that calls point to, by address. Each gets a place when it is first used, or has it
// in the file, where that is not empty.
struct Constants {
  struct Entry {
    uint64_t bytes;
    std::optional<uint64_t> offset;
  };
  std::map<const std::byte*, Entry> known;
  std::vector<std::byte> used;
  std::span<const std::byte> file;

  void add(const Tensor& t) {
    if (!t.constant || t.numel == 0) return;
    Entry& e = known[static_cast<const std::byte*>(t.data)];
    e.bytes = std::max(e.bytes, bytes_in(t));
  }
  void add_bytes(const void* data, uint64_t bytes) {
    known[static_cast<const std::byte*>(data)].bytes = bytes;
  }
  std::optional<uint64_t> offset_of(const std::byte* p) {
    auto at = known.upper_bound(p);
    if (at == known.begin()) return std::nullopt;
    --at;
    Entry& e = at->second;
    if (p >= at->first + e.bytes) return std::nullopt;
    if (!file.empty()) return static_cast<uint64_t>(p - file.data());
    if (!e.offset) {
      used.resize((used.size() + 15) / 16 * 16);
      e.offset = used.size();
      used.insert(used.end(), at->first, at->first + e.bytes);
    }
    return *e.offset + static_cast<uint64_t>(p - at->first);
  }
};

// An input that the calls of a part read where the caller has it.
struct OutsideInput {
  const std::byte* data;  // where the program has it
  uint64_t bytes;
  bool is_copied;        // a call of an earlier reading could not be told apart
  bool is_gone = false;  // something else lies there now
  bool is_read = false;  // by the call that is asked

  bool has(const std::byte* p) const { return p >= data && p < data + bytes; }
  bool overlaps(const Tensor& t) const {
    const auto* p = static_cast<const std::byte*>(t.data);
    return p < data + bytes && p + bytes_in(t) > data;
  }
  bool is_there() const { return !is_copied && !is_gone; }
};

struct Reader {
  CProgram program;
  Constants constants;
  const std::byte* planned = nullptr;
  uint64_t planned_bytes = 0;
  std::vector<OutsideInput> inputs;
  uint64_t arena_bytes = 0;  // that something lies in
  std::string op;            // of the call that is asked
  std::vector<CCall> calls;  // that it has told
  bool lost = false;

  CPlace place_of(const void* pointer, bool is_read = false) {
    const auto* p = static_cast<const std::byte*>(pointer);
    if (p == nullptr) return {};
    for (size_t i = 0; is_read && i < inputs.size(); ++i)
      if (inputs[i].is_there() && inputs[i].has(p)) {
        inputs[i].is_read = true;
        return {CPlace::input, static_cast<uint64_t>(p - inputs[i].data), i};
      }
    if (p >= planned && p <= planned + planned_bytes)
      return {CPlace::arena, static_cast<uint64_t>(p - planned)};
    if (const std::optional<uint64_t> at = constants.offset_of(p)) return {CPlace::constants, *at};
    lost = true;
    return {};
  }

  void use(const Tensor& t) {
    const auto* p = static_cast<const std::byte*>(t.data);
    if (t.numel > 0 && !t.constant && p >= planned && p < planned + planned_bytes)
      arena_bytes = std::max(arena_bytes, static_cast<uint64_t>(p - planned) + bytes_in(t));
  }

  void find_places(const FieldShape& f, const std::byte* bytes) {
    const uint32_t count = std::max(f.count, 1u);
    for (uint32_t i = 0; i < count; ++i, bytes += f.bytes) {
      if (f.kind == FieldKind::record)
        for (uint32_t k = 0; k < f.record->count; ++k)
          find_places(f.record->fields[k], bytes + f.record->fields[k].offset);
      if (f.kind != FieldKind::pointer) continue;
      const void* pointer = nullptr;
      std::memcpy(&pointer, bytes, sizeof pointer);
      calls.back().places.push_back(place_of(pointer, f.c_type.starts_with("const ")));
    }
  }

  static void record(void* context, const KernelShape& kernel, const void* const* arguments) {
    Reader& r = *static_cast<Reader*>(context);
    CCall& call = r.calls.emplace_back();
    call.op = r.op;
    call.kernel = kernel.name;
    call.parameters = {kernel.parameters, kernel.count};
    for (uint32_t i = 0; i < kernel.count; ++i) {
      const auto* bytes = static_cast<const std::byte*>(arguments[i]);
      call.arguments.emplace_back(bytes, bytes + kernel.parameters[i].bytes);
      r.find_places(kernel.parameters[i], bytes);
    }
  }
};

const Kernel* find_kernel(const KernelTable& kernels, const std::string& name) {
  for (int32_t i = 0; i < kernels.count; ++i)
    if (name == kernels.kernels[i]->name) return kernels.kernels[i];
  return nullptr;
}

struct alignas(16) AlignedBlock {
  std::byte bytes[16] = {};
};

CPort port_of(const Tensor& t, Reader& reader) {
  CPort p;
  p.type = t.type;
  p.sizes.assign(t.sizes, t.sizes + t.rank);
  p.order.assign(t.dim_order, t.dim_order + t.rank);
  p.bytes = bytes_in(t);
  reader.constants.add(t);
  if (p.bytes > 0) p.place = reader.place_of(t.data);
  return p;
}

// What the loader tells a backend of a delegate, kept: a backend that runs nothing. Its functions
// ask the loader, so they are called while it loads.
struct ToldDelegate {
  const uint8_t* payload = nullptr;
  uint32_t payload_bytes = 0;
  const void* workspace = nullptr;
  uint64_t state_bytes = 0;
  std::string scratch;
  std::vector<Tensor> arguments;  // what they point to lies in the file and in the program's memory
};
using ToldDelegates = std::deque<ToldDelegate>;  // their addresses stay

// Room for the handle of a vendor's driver: an assumption, as for firmware projects.
constexpr uint64_t kVendorHandle = 256;

// The state that neutron_prepare() takes; pointers of this machine are not smaller than a core's.
uint64_t delegate_state_bytes(DelegateCall call) {
  std::vector<std::byte> memory(1 << 16);
  Arena arena{
      reinterpret_cast<uint8_t*>((reinterpret_cast<uintptr_t>(memory.data()) + 15) / 16 * 16),
      memory.size() - 16, 0};
  call.context = kNeutronBackend.context;
  call.arena = &arena;
  void* state = nullptr;
  if (!neutron_prepare(call, &state).ok()) return 0;
  NeutronPayload payload;
  read_payload(call.payload, call.payload_bytes, &payload);
  return (arena.used + (payload.is_open_model ? 0 : kVendorHandle) + 15) / 16 * 16;
}

std::string scratch_of(const DelegateCall& call) {
  uint32_t count = 0;
  const uint8_t* digits = call.option(kNeutronScratchOption, &count);
  std::string text;
  for (uint32_t i = 0; digits != nullptr && i < count && std::isdigit(digits[i]); ++i)
    text += static_cast<char>(digits[i]);
  return text;
}

Status tell_delegate(DelegateCall& call, void** state) {
  ToldDelegates& all = **static_cast<ToldDelegates* const*>(call.context);
  ToldDelegate& told = all.emplace_back();
  told.payload = call.payload, told.payload_bytes = call.payload_bytes,
  told.workspace = call.workspace;
  told.state_bytes = delegate_state_bytes(call), told.scratch = scratch_of(call);
  for (int32_t i = 0; i < call.count; ++i) told.arguments.push_back(call.tensor(i));
  *state = &told;
  return Status{};
}

Backend telling_backend(ToldDelegates* const* all) {
  return {kNeutronBackendId,
          all,
          nullptr,
          neutron_check,
          neutron_use,
          tell_delegate,
          [](void*) { return Status{}; },
          [](void*) { return Status{}; },
          [](void*) {},
          nullptr};
}

void add_delegate_constants(const ToldDelegate& told, Constants& constants) {
  constants.add_bytes(told.payload, told.payload_bytes);
  for (const Tensor& t : told.arguments) constants.add(t);
}

CTensor tensor_of(const Tensor& t, Reader& reader, bool is_read = false) {
  return {t.numel > 0 ? reader.place_of(t.data, is_read) : CPlace{},
          t.type,
          {t.sizes, t.sizes + t.rank},
          {t.dim_order, t.dim_order + t.rank},
          t.numel,
          t.constant};
}

CNpuCall npu_call_of(const ToldDelegate& told, Reader& reader) {
  CNpuCall c;
  NeutronPayload payload;
  read_payload(told.payload, told.payload_bytes, &payload);
  c.is_open_model = payload.is_open_model;
  c.payload = reader.place_of(told.payload);
  c.payload_bytes = told.payload_bytes;
  c.scratch = told.scratch;
  if (c.scratch.empty()) c.workspace = reader.place_of(told.workspace);
  c.state_bytes = told.state_bytes;
  for (const Tensor& t : told.arguments) c.arguments.push_back(tensor_of(t, reader));
  return c;
}

CKeptCall::Value kept_value(const Value& v, bool is_read, Reader& reader) {
  CKeptCall::Value k{v.kind, 0, {}, {}, {}};
  switch (v.kind) {
    case Kind::none:
      break;
    case Kind::integer:
      k.number = v.integer;
      break;
    case Kind::real:
      std::memcpy(&k.number, &v.real, sizeof k.number);
      break;
    case Kind::boolean:
      k.number = v.boolean;
      break;
    case Kind::string:
      k.text = v.string;
      break;
    case Kind::tensor:
      k.tensors.push_back(tensor_of(*v.tensor, reader, is_read));
      break;
    case Kind::int_list:
    case Kind::real_list:
      for (int32_t i = 0; i < v.list.count; ++i) k.numbers.push_back(v.list.integer(i));
      break;
    case Kind::bool_list:
      for (int32_t i = 0; i < v.list.count; ++i)
        k.numbers.push_back(static_cast<const uint8_t*>(v.list.data)[i]);
      break;
    case Kind::tensor_list:
      for (int32_t i = 0; i < v.list.count; ++i) {
        const Value* item = v.list.items[i];
        const bool is_there = item != nullptr && item->kind == Kind::tensor;
        k.tensors.push_back(is_there ? std::optional(tensor_of(*item->tensor, reader, is_read))
                                     : std::nullopt);
      }
      break;
  }
  return k;
}

// What write/firmware/c_call takes of the call's memory: the arguments, and what prepare() takes
// and shares. No core needs more for any of it than this machine, whose pointers are as long as
// any.
uint32_t kept_bytes(const Program::Step& step, const Kernel& kernel, Isa isa,
                    const CKeptCall& call) {
  constexpr size_t kAlignment = alignof(std::max_align_t),
                   kValue = sizeof(Value) + sizeof(void*) + kAlignment;
  std::vector<AlignedBlock> memory(1 << 12);
  Arena arena;
  for (;; memory.resize(memory.size() * 2)) {
    arena = {reinterpret_cast<uint8_t*>(memory.data()), memory.size() * sizeof(AlignedBlock), 0};
    Call asked{step.args, step.count, &arena, isa};
    Prepared prepared;
    if (kernel.prepare(asked, &prepared).ok() && arena.fits()) break;
    DEUTERON_CHECK(memory.size() < size_t{1} << 24,
                   kernel.name);  // the loader has prepared it before
  }
  size_t bytes = arena.used + arena.shared + 2 * kAlignment;
  for (const CKeptCall::Value& v : call.arguments)
    bytes += kValue + v.tensors.size() * (kValue + sizeof(Tensor) + kAlignment);
  return static_cast<uint32_t>((bytes + 15) / 16 * 16);
}

CKeptCall kept_call_of(const Program::Step& step, const Kernel& kernel, Isa isa, Reader& reader) {
  CKeptCall call;
  call.isa = isa;
  for (int32_t i = 0; i < step.count; ++i)
    call.arguments.push_back(kept_value(*step.args[i], !is_written(kernel.schema, i), reader));
  call.memory_bytes = kept_bytes(step, kernel, isa, call);
  return call;
}

// Of all calls, before the first gets a place: two tensors may begin at one address and differ in
// length.
void add_all_constants(const Program& program, Constants& constants) {
  for (int32_t k = 0; k < program.instruction_count(); ++k) {
    const Program::Step step = program.step(k);
    if (step.delegate != nullptr) {
      add_delegate_constants(*static_cast<const ToldDelegate*>(step.delegate->state), constants);
      continue;
    }
    for_each_tensor(step, nullptr, [&](const Tensor& tensor, bool) { constants.add(tensor); });
  }
}

std::optional<CTensor> made_by(const Program::Step& step, Reader& reader) {
  if (step.made() == nullptr) return std::nullopt;
  CTensor made = tensor_of(*step.made(), reader);
  return made.place.kind == CPlace::arena ? std::optional(std::move(made)) : std::nullopt;
}

// What the call leaves of the inputs, and the memory that it wants. An input that it reads by no
// pointer of its own is copied: then it cannot be told from what is written in its place.
void follow_inputs(const Program::Step& step, const char* schema, Reader& reader) {
  for_each_tensor(step, schema, [&](const Tensor& t, bool is_written) {
    if (t.constant || t.numel == 0) return;
    bool is_outside = false;
    for (OutsideInput& i : reader.inputs) {
      const bool is_read = !is_written || schema == nullptr;
      if (!is_read || !i.is_there() || !i.overlaps(t)) continue;
      is_outside = true;
      i.is_copied = !i.is_read;
    }
    if (!is_outside) reader.use(t);
  });
  for_each_tensor(step, schema, [&](const Tensor& t, bool is_written) {
    for (OutsideInput& i : reader.inputs) i.is_gone |= is_written && i.overlaps(t);
  });
  for (OutsideInput& i : reader.inputs) i.is_read = false;
}

// One call of the program as the core would make it: calls of a kernel, a joining one for each of
// its parts; or the call as the loader has it, where its kernel tells none. Gives the kernel's
// schema; null of a delegate.
const char* read_call(const Program& program, int32_t k, const Program::Step& step,
                      const KernelTable& kernels, Isa isa, const CallRecorder& recorder,
                      Reader& reader) {
  const CallName name = program.name_of_call(k);
  reader.op =
      name.overload && *name.overload ? fmt::format("{}.{}", name.op, name.overload) : name.op;
  reader.calls.clear();
  reader.lost = false;
  CCall whole;
  whole.op = reader.op;
  whole.instruction = static_cast<size_t>(k);
  reader.program.made.push_back(made_by(step, reader));
  if (step.delegate != nullptr) {
    whole.npu = npu_call_of(*static_cast<const ToldDelegate*>(step.delegate->state), reader);
    DEUTERON_CHECK(!reader.lost && whole.npu->state_bytes > 0, whole.op);
    reader.program.calls.push_back(std::move(whole));
    return nullptr;
  }
  const Kernel* kernel = find_kernel(kernels, reader.op);
  DEUTERON_CHECK(kernel != nullptr, reader.op);
  if (!ask_step(step, *kernel, isa, recorder) && reader.calls.empty())
    return kernel->schema;  // without elements, or in its place
  if (!reader.calls.empty() && !reader.lost) {
    for (CCall& call : reader.calls) {
      call.instruction = static_cast<size_t>(k);
      reader.program.calls.push_back(std::move(call));
    }
    return kernel->schema;
  }
  reader.lost = false;
  whole.kept = kept_call_of(step, *kernel, isa, reader);
  DEUTERON_CHECK(!reader.lost, whole.op);
  reader.program.calls.push_back(std::move(whole));
  return kernel->schema;
}

// Of a program that has been loaded and not run: its states are what the first run reads. What they
// begin with is somewhere in `file`, unless that is empty.
void add_states(const Program& program, const std::byte* planned, std::span<const std::byte> file,
                CProgram& c) {
  for (int32_t i = 0; i < program.state_count(); ++i) {
    const Tensor& t = program.state(i);
    const uint64_t bytes = bytes_in(t);
    if (bytes == 0) continue;
    const auto* first = static_cast<const std::byte*>(static_cast<const void*>(t.data));
    CState s{static_cast<uint64_t>(first - planned), bytes, 0,
             std::all_of(first, first + bytes, [](std::byte b) { return b == std::byte{0}; })};
    if (!s.is_zero && !file.empty()) {
      const auto at = std::search(file.begin(), file.end(), first, first + bytes);
      DEUTERON_CHECK(at != file.end(), "a state begins with what its program has");
      s.initial = static_cast<uint64_t>(at - file.begin());
    } else if (!s.is_zero) {
      c.constants.resize((c.constants.size() + 15) / 16 * 16);
      s.initial = c.constants.size();
      c.constants.insert(c.constants.end(), first, first + bytes);
    }
    c.states.push_back(s);
  }
}

// The calls, then the ports: an output that lies where an input does is made of a copy.
void read_program(const Program& program, const KernelTable& kernels, Isa isa,
                  CallRecorder recorder, Reader& reader) {
  recorder.context = &reader;
  add_all_constants(program, reader.constants);
  for (int32_t k = 0; k < program.instruction_count(); ++k) {
    const Program::Step step = program.step(k);
    const char* const schema = read_call(program, k, step, kernels, isa, recorder, reader);
    follow_inputs(step, schema, reader);
  }
  CProgram& c = reader.program;
  for (int32_t i = 0; i < program.output_count(); ++i) {
    const Tensor& t = program.output(i);
    for (OutsideInput& in : reader.inputs) in.is_copied |= in.is_there() && in.overlaps(t);
    reader.use(t);
    c.outputs.push_back(port_of(t, reader));
  }
  for (int32_t i = 0; i < program.input_count(); ++i) {
    c.inputs.push_back(port_of(program.input(i), reader));
    if (reader.inputs[static_cast<size_t>(i)].is_copied) reader.use(program.input(i));
    else c.inputs.back().place = {CPlace::input, 0, static_cast<size_t>(i)};
  }
  for (int32_t i = 0; i < program.state_count(); ++i) reader.use(program.state(i));
}

CProgram finished(const Program& program, bool is_part, Reader& reader) {
  CProgram& c = reader.program;
  uint64_t state = 0;
  for (const CCall& call : c.calls) state = std::max(state, call.memory_bytes());
  c.state_offset = ((is_part ? reader.arena_bytes : reader.planned_bytes) + 15) / 16 * 16;
  c.arena_bytes = std::max(c.state_offset + state, uint64_t{16});
  c.constants = std::move(reader.constants.used);
  c.in_file = is_part;
  add_states(program, reader.planned, reader.constants.file, c);
  c.constants.resize((c.constants.size() + 15) / 16 * 16);
  return std::move(c);
}

}  // namespace

uint64_t state_bytes_of(const CProgram& p) {
  uint64_t bytes = 0;
  for (const CState& s : p.states) bytes += s.bytes;
  return bytes;
}

uint32_t features_of(std::string_view isa, std::string_view flags) {
  const std::optional<Isa> known = isa_called(isa);
  return known ? features_of(*known, flags.find("-mfloat-abi=hard") != flags.npos) : 0;
}

std::optional<CProgram> read_c_program(File file, const KernelTable& kernels, Isa isa,
                                       uint32_t features, Status& status, const CPart* part) {
  ToldDelegates delegates;
  ToldDelegates* const told = &delegates;
  const Backend telling = telling_backend(&told);
  const Backend* const backends[] = {&telling};
  const KernelTable table = {kernels.kernels, kernels.count, backends, 1};
  Needs needs;
  Program program;
  std::vector<AlignedBlock> tables, planned;
  status = measure(file, table, &needs);
  if (status.ok()) {
    tables.resize(needs.tables_bytes / sizeof(AlignedBlock) + 1);
    planned.resize(needs.planned_bytes / sizeof(AlignedBlock) + 1);
    status = program.load(file, table, {tables.data(), needs.tables_bytes},
                          {planned.data(), needs.planned_bytes});
  }
  if (!status.ok()) return std::nullopt;
  const auto* const first = reinterpret_cast<const std::byte*>(planned.data());
  const CallRecorder recorder{features, Reader::record, nullptr};
  std::vector<bool> copied(static_cast<size_t>(program.input_count()), true);
  for (size_t i = 0; part && i < std::min(copied.size(), part->outside.size()); ++i)
    copied[i] = !part->outside[i];
  for (;;) {
    Reader reader;
    if (part) reader.constants.file = {static_cast<const std::byte*>(file.data), file.bytes};
    reader.planned = first;
    reader.planned_bytes = needs.planned_bytes;
    for (size_t i = 0; i < copied.size(); ++i) {
      const Tensor& t = program.input(static_cast<int32_t>(i));
      reader.inputs.push_back({static_cast<const std::byte*>(t.data), bytes_in(t), copied[i]});
    }
    read_program(program, kernels, isa, recorder, reader);
    bool same = true;
    for (size_t i = 0; i < copied.size(); ++i) {
      same &= copied[i] == reader.inputs[i].is_copied;
      copied[i] = reader.inputs[i].is_copied;
    }
    if (same) return finished(program, part != nullptr, reader);
  }
}

}  // namespace deuteron
