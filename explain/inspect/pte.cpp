// SPDX-License-Identifier: Apache-2.0
// Reads through the loader's own checked view of the file, so that what is printed is what would be
// loaded.
#include "explain/inspect/pte.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "explain/inspect/foreign_parts.h"
#include "npu/neutron/converter/converter.h"
#include "npu/neutron/delegate/calls.h"
#include "runtime/plan.h"
#include "runtime/schema.h"

namespace deuteron {
namespace {

constexpr std::string_view kIsaMarker = "deuteron:isa=", kMemoriesMarker = "deuteron:memories=";
constexpr uint32_t kMostItems = 32;  // of a list are printed

Status fault_of(const FlatReader& r) {
  Status s;
  s.code = r.code == Code::ok ? Code::corrupt : r.code;
  s.detail = r.fault;
  return s;
}

bool is_plain(const Axes& order) {
  for (size_t k = 0; k < order.size(); ++k)
    if (order[k] != static_cast<i64>(k)) return false;
  return true;
}

// The text of a string value that the checks have passed.
const char* known_string(const FlatReader& r, FlatTable payload) {
  const uint32_t at = r.known_field(payload, 0);
  return reinterpret_cast<const char*>(r.bytes) + at + r.load<uint32_t>(at) + 4;
}

PteTensor tensor_at(const Plan& plan, uint32_t index, FlatTable payload) {
  PteTensor t;
  Tensor tensor{};
  known_tensor(plan, index, payload, &tensor);
  t.value = index;
  t.type = tensor.type;
  t.sizes = sizes_of(tensor);
  t.order = order_of(tensor);
  t.constant = tensor.constant;
  t.offset = known_place(plan, index, payload).offset;
  t.bytes = i64{tensor.numel} * element_bytes(tensor.type);
  return t;
}

// An input or output. An output may be none: as for the loader, it is a tensor without elements.
PteTensor port_at(const Plan& plan, uint32_t index) {
  const ValueView v = known_value(plan, index);
  if (v.tag == ValueTag::tensor) return tensor_at(plan, index, v.payload);
  return {.value = index, .type = ScalarType::u8, .sizes = {0}, .order = {0}};
}

std::string text_of(Plan& plan, uint32_t index, int depth = 0) {
  FlatReader& r = plan.reader;
  if (index >= plan.values.count)
    return r.corrupt("an argument refers to a value that does not exist"), "";
  const ValueView v = known_value(plan, index);
  if (r.fault) return "";
  const auto items = [&]<class Index>(Index) {
    const FlatVector list = r.known_vector(v.payload, 0);
    std::string text = "[";
    for (uint32_t i = 0; i < list.count && !r.fault; ++i) {
      if (i == kMostItems || depth > 1) {
        text += ", ...";
        break;
      }
      const i64 item = r.item<Index>(list, i);
      text += (i ? ", " : "") + (item < 0 ? std::string("none")
                                          : text_of(plan, static_cast<uint32_t>(item), depth + 1));
    }
    return text + "]";
  };
  switch (v.tag) {
    case ValueTag::none:
    case ValueTag::null:
      return "none";
    case ValueTag::integer:
      return fmt::format("{}", r.known_scalar<i64>(v.payload, 0));
    case ValueTag::boolean:
      return r.known_scalar<uint8_t>(v.payload, 0) ? "true" : "false";
    case ValueTag::real:
      return fmt::format("{}", r.known_scalar<double>(v.payload, 0));
    case ValueTag::string:
      return fmt::format("\"{}\"", known_string(r, v.payload));
    case ValueTag::tensor: {
      const PteTensor t = tensor_at(plan, index, v.payload);
      return fmt::format("{} {} {}", to_text(t.type, t.sizes, t.order),
                         t.constant ? "constant @" : "@", t.offset);
    }
    case ValueTag::int_list:
      return items(i64{});
    case ValueTag::tensor_list:
    case ValueTag::optional_tensor_list:
      return items(int32_t{});
    case ValueTag::real_list:
      return "[real list]";
    case ValueTag::bool_list:
      return "[bool list]";
  }
  return "";
}

// The schema of a kernel of ours, or none.
const char* schema_of(const std::string& op) {
  for (int32_t i = 0; i < kAllKernels.count; ++i)
    if (const Kernel& kernel = *kAllKernels.kernels[i]; op == kernel.name) return kernel.schema;
  return nullptr;
}

// A tensor, or those of a list; an item may be none. A list that many calls share costs each of
// them all of it.
void add_tensors(Plan& plan, uint32_t value, std::vector<PteTensor>& list) {
  FlatReader& r = plan.reader;
  const auto add = [&](uint32_t index) {
    if (index >= plan.values.count) return;
    const ValueView v = known_value(plan, index);
    if (v.tag == ValueTag::tensor) list.push_back(tensor_at(plan, index, v.payload));
  };
  if (value >= plan.values.count) return;
  const ValueView v = known_value(plan, value);
  if (v.tag != ValueTag::tensor_list && v.tag != ValueTag::optional_tensor_list) return add(value);
  const FlatVector items = r.known_vector(v.payload, 0);
  constexpr uint32_t kStepsOfATensor = 16;  // of a check: what it takes to copy its shape and steps
  if (items.count > UINT32_MAX / kStepsOfATensor || !r.charge(kStepsOfATensor * items.count))
    return;
  for (uint32_t i = 0; i < items.count; ++i) add(r.item<uint32_t>(items, i));
}

// What a call reads, writes and has as scratch. `count`: of its arguments. Of a Neutron
// delegate an argument that no input maps to is scratch (npu/neutron/delegate/payload.h).
void add_tensors(Plan& plan, const CallView& call, uint32_t count, PteCall& c,
                 const std::optional<NeutronPayload>& neutron) {
  const char* schema = call.delegate ? nullptr : schema_of(c.op);
  if (schema && std::strlen(schema) != count) schema = nullptr;
  const auto writes = [&](uint32_t i) {
    return schema    ? (kinds_of(schema[i]) & kWrites) != 0
           : neutron ? i >= static_cast<uint32_t>(neutron->arguments)
                     : i + 1 == count;
  };
  const auto is_scratch = [&](uint32_t i) {
    if (schema) return (kinds_of(schema[i]) & kIsScratch) != 0;
    return neutron && !writes(i) &&
           std::count(neutron->input_map, neutron->input_map + neutron->inputs, i) == 0;
  };
  for (uint32_t i = 0; i < count; ++i)
    add_tensors(plan, plan.reader.item<uint32_t>(call.args, i),
                is_scratch(i) ? c.scratch
                : writes(i)   ? c.writes
                              : c.reads);
}

// What strings that no call refers to say of the program. Gives the names of its memories.
std::string read_notes(const Plan& plan, PteSummary& s, PortNotes& ports) {
  std::string memories;
  for (uint32_t i = 0; i < plan.values.count; ++i) {
    const ValueView v = known_value(plan, i);
    if (plan.reader.fault || v.tag != ValueTag::string) continue;
    const std::string_view text = known_string(plan.reader, v.payload);
    if (text.starts_with(kIsaMarker) && s.isa.empty()) s.isa = text.substr(kIsaMarker.size());
    if (text.starts_with(kMemoriesMarker) && memories.empty())
      memories = text.substr(kMemoriesMarker.size());
    read_note(text, ports);
  }
  return memories;
}

void enter_steps(std::span<const Quant> noted, std::vector<PteTensor>& ports) {
  for (size_t i = 0; i < std::min(noted.size(), ports.size()); ++i)
    if (ports[i].type == ScalarType::s8 || ports[i].type == ScalarType::s16)
      ports[i].steps = noted[i];
}

// names: of the buffers, as the note has them.
std::vector<PteMemory> memories_of(const Plan& plan, std::string names) {
  const uint32_t buffers = plan.buffer_sizes.count - 1;
  std::vector<PteMemory> list;
  if (!has_several_memories(plan)) return list;
  for (uint32_t b = 1; b <= buffers; ++b) {
    const size_t comma = std::min(names.find(','), names.size());
    PteMemory m{names.substr(0, comma), buffer_at(plan, b),
                plan.reader.item<int64_t>(plan.buffer_sizes, b), 0};
    names.erase(0, comma + 1);
    if (m.name.empty()) m.name = fmt::format("buffer {}", b);
    for (uint32_t k = 0; k < plan.several->copy_count; ++k) {
      const ConstantCopy& c = plan.several->copies[k];
      if (c.at >= m.begin && c.at < m.begin + m.bytes) m.copied_bytes += c.bytes;
    }
    list.push_back(std::move(m));
  }
  return list;
}

std::string text_of_option(const uint8_t* bytes, uint32_t count) {
  std::string text;
  if (std::all_of(bytes, bytes + count, [](uint8_t c) { return c >= ' ' && c < 127; }))
    return std::string(bytes, bytes + count);
  for (uint32_t i = 0; i < count && i < kMostItems; ++i) text += fmt::format("{:02x}", bytes[i]);
  return "0x" + text + (count > kMostItems ? "..." : "");
}

std::optional<PteSummary> summarize(File file, bool is_part, Status* status);

// A part for DeuteronBackend (runtime/executorch) is a file like the one that it lies in.
void look_into(File part, PteDelegate& d) {
  Status status;
  const std::optional<PteSummary> s = summarize(part, true, &status);
  if (!s) return d.fault = status.detail, void();
  d.planned_bytes = s->planned_bytes;
  d.program = part;
  for (const PteCall& call : s->calls) d.kernels.push_back(call.op);
}

PteDelegate delegate_at(const Plan& plan, uint32_t index, bool is_part) {
  const FlatReader& r = plan.reader;
  const Payload payload = known_payload(plan, index);
  PteDelegate d;
  d.id = payload.id;
  d.payload_bytes = payload.bytes;
  const FlatTable table = r.known_table(plan.delegates, index);
  d.is_inline = r.known_scalar<int8_t>(r.known_table(table, 1), 0) == 0;
  const FlatVector specs = r.known_vector(table, 2);
  for (uint32_t k = 0; k < specs.count; ++k) {
    const FlatTable spec = r.known_table(specs, k);
    const FlatVector value = r.known_vector(spec, 1);
    d.options.push_back({known_string(r, spec), text_of_option(r.bytes + value.at, value.count)});
  }
  if (d.id == "DeuteronBackend" && !is_part) look_into({payload.data, payload.bytes}, d);
  if (d.id != kNeutronBackendId) {
    ForeignPart part = read_foreign_part(d.id, {payload.data, payload.bytes});
    if (!part.calls.empty()) d.kernels = std::move(part.calls);
    if (!part.fault.empty()) d.fault = std::move(part.fault);
    d.bytes_of = std::move(part.bytes);
    return d;
  }
  NeutronPayload p;
  if (const Status s = read_payload(payload.data, payload.bytes, &p); !s.ok())
    return d.fault = s.detail, d;
  d.neutron = p;
  uint32_t tag = 0;
  std::memcpy(&tag, p.microcode + size_t{4} * neutron::kTagWord, sizeof tag);
  d.is_vendors = ((tag ^ neutron::kFormatTag) & neutron::kFormatTagName) != 0;
  NeutronCalls calls(p);
  for (NeutronKernelCall call; calls.next(&call);) {
    d.kernels.push_back(neutron::name_of(call.kind));
    d.assumed_kernels += neutron::is_assumed(call.kind) ? 1 : 0;
  }
  return d;
}

bool open_checked(File file, FilePlan& plan) {
  return open_plan(file, &plan) && check_values(plan) && check_inputs_and_outputs(plan) &&
         check_delegates(plan) && check_operators(plan);
}

// Of a call's arguments: without a kernel's return value.
uint32_t shown_arguments(const CallView& call) {
  return call.args.count - (call.delegate ? 0 : call.args.count > 0);
}

std::optional<PteSummary> summarize(File file, bool is_part, Status* status) {
  FilePlan plan;
  FlatReader& r = plan.reader;
  if (!open_checked(file, plan)) return *status = fault_of(r), std::nullopt;
  PteSummary s;
  s.methods = methods_of(file);
  s.file_bytes = static_cast<i64>(file.bytes);
  s.planned_bytes = plan.planned_bytes;
  s.constants_bytes = static_cast<i64>(plan.constants_bytes);
  s.values = plan.values.count;
  for (uint32_t i = 0; plan.states > 0 && i < plan.values.count; ++i)
    if (is_state(plan, i)) s.state_bytes += tensor_at(plan, i, known_value(plan, i).payload).bytes;
  for (uint32_t i = 0; i < plan.delegates.count; ++i)
    s.delegates.push_back(delegate_at(plan, i, is_part));
  PortNotes ports;
  s.memories = memories_of(plan, read_notes(plan, s, ports));
  for (uint32_t i = 0; i < plan.inputs.count + plan.outputs.count; ++i) {
    const bool input = i < plan.inputs.count;
    const uint32_t index = input ? r.item<uint32_t>(plan.inputs, i)
                                 : r.item<uint32_t>(plan.outputs, i - plan.inputs.count);
    (input ? s.inputs : s.outputs).push_back(port_at(plan, index));
  }
  enter_steps(ports.input_steps, s.inputs);
  enter_steps(ports.output_steps, s.outputs);
  s.byte_inputs = std::move(ports.byte_inputs);
  for (uint32_t k = 0; k < plan.instructions.count; ++k) {
    CallView call;
    Status where;
    if (!read_call(plan, k, &call, &where)) {
      *status = fault_of(r);
      status->instruction = static_cast<int32_t>(k);
      status->op = where.op;
      return std::nullopt;
    }
    PteCall c;
    c.op = fmt::format("{}{}{}", call.op, call.overload && *call.overload ? "." : "",
                       call.overload ? call.overload : "");
    for (uint32_t i = 0; i < shown_arguments(call); ++i)
      c.args.push_back(text_of(plan, r.item<uint32_t>(call.args, i)));
    if (call.delegate) c.delegate = static_cast<i64>(call.op_index);
    s.calls.push_back(std::move(c));
  }
  if (r.fault) return *status = fault_of(r), std::nullopt;
  return s;
}

}  // namespace

std::vector<std::string> methods_of(File file) {
  FilePlan plan;
  FlatReader& r = plan.reader;
  FlatTable program;
  std::vector<std::string> names;
  if (!open_program(file, &plan, &program)) return names;
  const FlatVector methods = methods_of(r, program);
  for (uint32_t i = 0; i < methods.count && !r.fault; ++i)
    if (const char* name = r.string(r.table(methods, i), 0)) names.push_back(name);
  return names;
}

std::optional<PteSummary> summarize_pte(File file, Status* status) {
  return summarize(file, false, status);
}

Status read_call_tensors(File file, PteSummary& s) {
  FilePlan plan;
  FlatReader& r = plan.reader;
  if (!open_checked(file, plan)) return fault_of(r);
  for (uint32_t k = 0; k < plan.instructions.count && !r.fault; ++k) {
    CallView call;
    Status where;
    if (!read_call(plan, k, &call, &where)) break;
    add_tensors(plan, call, shown_arguments(call), s.calls[k],
                call.delegate ? s.delegates[call.op_index].neutron : std::nullopt);
  }
  return r.fault ? fault_of(r) : Status{};
}

const char* name_of(ScalarType t) {
  switch (t) {
    case ScalarType::u8:
      return "u8";
    case ScalarType::s8:
      return "s8";
    case ScalarType::s16:
      return "s16";
    case ScalarType::s32:
      return "s32";
    case ScalarType::s64:
      return "s64";
    case ScalarType::f16:
      return "f16";
    case ScalarType::f32:
      return "f32";
    case ScalarType::f64:
      return "f64";
    case ScalarType::b8:
      return "b8";
  }
  return "?";
}
std::optional<DType> dtype_of(ScalarType t) { return dtype_named(name_of(t)); }

std::string to_text(ScalarType type, const Shape& sizes, const Axes& order) {
  const std::string text = fmt::format("{}[{}]", name_of(type), to_text(sizes));
  return is_plain(order) ? text : fmt::format("{} order {}", text, to_text(order));
}

Shape sizes_of(const Tensor& t) { return Shape(t.sizes, t.sizes + t.rank); }
Axes order_of(const Tensor& t) { return Axes(t.dim_order, t.dim_order + t.rank); }

}  // namespace deuteron
