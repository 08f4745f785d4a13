// SPDX-License-Identifier: Apache-2.0
#include "emit/load_plan.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "base/check.h"
#include "ops/device/kernels_with_arguments.h"
#include "runtime/load_plan.h"
#include "runtime/signature.h"

namespace deuteron {
namespace {

using Words = std::vector<uint32_t>;

struct alignas(16) AlignedBlock {
  std::byte bytes[16];
};
std::vector<AlignedBlock> aligned(size_t bytes) { return std::vector<AlignedBlock>(bytes / sizeof(AlignedBlock) + 1); }

// A program in memory of its own.
struct Loaded {
  std::vector<AlignedBlock> file, tables, planned;
  size_t file_bytes = 0;
  Needs needs;
  Program program;
};

bool load(const std::vector<uint8_t>& file, const KernelTable& kernels, Loaded* l) {
  l->file = aligned(file.size());
  l->file_bytes = file.size();
  std::memcpy(l->file.data(), file.data(), file.size());
  if (!measure({l->file.data(), file.size()}, kernels, &l->needs).ok()) return false;
  l->tables = aligned(l->needs.tables_bytes);
  l->planned = aligned(l->needs.planned_bytes);
  return l->program
      .load({l->file.data(), file.size()}, kernels, {l->tables.data(), l->needs.tables_bytes}, {l->planned.data(), l->needs.planned_bytes})
      .ok();
}

void append_bytes(Words& words, const void* data, size_t bytes) {
  const size_t at = words.size();
  words.resize(at + (bytes + 3) / 4);
  if (bytes > 0) std::memcpy(words.data() + at, data, bytes);
}

// Equal parts once, in the order in which they are first met.
template <class T>
struct Unique {
  std::map<T, uint32_t> index;
  std::vector<T> items;
  uint32_t add(const T& item) {
    const auto [it, added] = index.emplace(item, static_cast<uint32_t>(items.size()));
    if (added) items.push_back(item);
    return it->second;
  }
};

struct PlanWriter {
  const Loaded& loaded;
  const KernelTable& table;
  Unique<Words> shapes = {};
  Unique<std::tuple<uint32_t, uint32_t, int, int>> tensors = {};  // offset, shape, type, place
  std::vector<uint32_t> kernels = {};                             // their indexes in the table, in order
  std::map<Words, uint32_t> detail_at = {};                       // the word of `details` where it stands
  Words ports = {}, details = {}, calls = {};
  CallSize most = {}, size = {};
  uint32_t constants_begin = std::numeric_limits<uint32_t>::max(), constants_end = 0;
  uint32_t most_rank = 0;
  bool can = true;  // a plan can hold it

  // Rank, elements, sizes and order; tensor_words() makes them equally long.
  uint32_t shape(const Tensor& t) {
    Words w{t.rank, static_cast<uint32_t>(t.numel)};
    most_rank = std::max(most_rank, uint32_t{t.rank});
    append_bytes(w, t.sizes, size_t{4} * t.rank);
    append_bytes(w, t.dim_order, t.rank);
    return shapes.add(w);
  }

  // In the file or in the planned memory.
  uint32_t offset_of(const Tensor& t) {
    if (!t.data) return 0;
    const void* base = t.constant ? loaded.file.data() : loaded.planned.data();
    const auto offset = static_cast<uint32_t>(static_cast<const std::byte*>(t.data) - static_cast<const std::byte*>(base));
    const uint32_t bytes = static_cast<uint32_t>(t.numel) * element_bytes(t.type);
    if (t.constant) constants_begin = std::min(constants_begin, offset), constants_end = std::max(constants_end, offset + bytes);
    return offset;
  }

  uint32_t tensor(const Tensor& t) {
    const Place place = !t.data ? Place::nowhere : t.constant ? Place::constant : Place::planned;
    return tensors.add({offset_of(t), shape(t), static_cast<int>(t.type), static_cast<int>(place)});
  }

  static uint32_t word(LoadPlanKind kind, uint32_t number) { return static_cast<uint32_t>(kind) | number << 4; }

  void detail(LoadPlanKind kind, const Words& w) {
    const auto [it, added] = detail_at.emplace(w, static_cast<uint32_t>(details.size()));
    if (added) details.insert(details.end(), w.begin(), w.end());
    calls.push_back(word(kind, it->second));
  }
  void number(LoadPlanKind kind, const void* eight_bytes) {
    Words w;
    append_bytes(w, eight_bytes, 8);
    detail(kind, w);
  }

  void argument(const Value& v) {
    ++size.values;
    switch (v.kind) {
      case Kind::none:
        return calls.push_back(word(LoadPlanKind::none, 0));
      case Kind::boolean:
        return calls.push_back(word(v.boolean ? LoadPlanKind::yes : LoadPlanKind::no, 0));
      case Kind::tensor:
        ++size.tensors;
        return calls.push_back(word(LoadPlanKind::tensor, tensor(*v.tensor)));
      case Kind::integer:
        if (v.integer >= -(1 << 27) && v.integer < 1 << 27)
          return calls.push_back(word(LoadPlanKind::small, static_cast<uint32_t>(v.integer)));
        return number(LoadPlanKind::wide, &v.integer);
      case Kind::real:
        return number(LoadPlanKind::real, &v.real);
      case Kind::int_list: {
        Words w{static_cast<uint32_t>(v.list.count)};
        append_bytes(w, v.list.data, 8 * static_cast<size_t>(v.list.count));
        return detail(LoadPlanKind::integers, w);
      }
      case Kind::tensor_list: {
        Words w{static_cast<uint32_t>(v.list.count)};
        size.items += w[0], size.values += w[0], size.tensors += w[0];
        for (int32_t i = 0; i < v.list.count; ++i) {
          can = can && v.list.items[i]->kind == Kind::tensor;
          w.push_back(can ? tensor(*v.list.items[i]->tensor) : 0);
        }
        return detail(LoadPlanKind::tensors, w);
      }
      default:
        can = false;
    }
  }

  uint32_t kernel_of(int32_t k) const {
    const CallName name = loaded.program.name_of_call(k);
    const std::string full = name.overload ? std::string(name.op) + "." + name.overload : name.op;
    for (int32_t i = 0; i < table.count; ++i)
      if (full == table.kernels[i]->name) return static_cast<uint32_t>(i);
    DEUTERON_CHECK(false, full);
  }

  // A call of a kernel that has ready calls: false where this one is none, as one without elements.
  bool ready_call(const Kernel& kernel, const Program::Step& step, Isa isa) {
    Words words(kernel.ready.words, ~uint32_t{0});
    std::vector<AlignedBlock> memory = aligned(1 << 12);
    Arena arena{reinterpret_cast<uint8_t*>(memory.data()), memory.size() * sizeof(AlignedBlock), 0};
    Call call{step.args, step.count, &arena, isa};
    call.ready_words = words.data();
    Prepared prepared;
    const bool elements = step.args[step.count - 1]->tensor->numel > 0;
    if (!kernel.prepare(call, &prepared).ok() || !elements) return false;
    uint32_t operands = 0;
    for (int32_t i = 0; i < step.count; ++i) {
      if (step.args[i]->kind != Kind::tensor) continue;
      const Tensor& t = *step.args[i]->tensor;
      const auto bytes = static_cast<uint32_t>(t.numel) * element_bytes(t.type);
      calls.push_back(offset_of(t) | (t.constant ? kConstantOperand : 0));
      calls.push_back(bytes);
      ++operands;
    }
    DEUTERON_CHECK(operands == std::strlen(kernel.ready.operands), kernel.name);
    size.args = size.values = size.tensors = operands;
    calls.insert(calls.end(), words.begin(), words.end());
    return true;
  }

  void write_calls(Isa isa) {
    const int32_t count = loaded.program.instruction_count();
    for (int32_t k = 0; k < count; ++k) kernels.push_back(kernel_of(k));
    // By name, as in the tables of firmware (firmware/kernel_list.h): there each is found at first sight.
    const auto before = [&](uint32_t a, uint32_t b) { return std::strcmp(table.kernels[a]->name, table.kernels[b]->name) < 0; };
    std::sort(kernels.begin(), kernels.end(), before);
    kernels.erase(std::unique(kernels.begin(), kernels.end()), kernels.end());
    for (int32_t k = 0; k < count; ++k) {
      const Program::Step step = loaded.program.step(k);
      const size_t at = calls.size();
      size = {};
      size.args = static_cast<uint32_t>(step.count);
      calls.push_back(0);
      const Kernel& kernel = *table.kernels[kernel_of(k)];
      const uint32_t ready = kernel.ready.words == 0 ? 0 : kReadyCall | static_cast<uint32_t>(std::strlen(kernel.ready.operands)) << 8;
      if (ready) can = can && ready_call(kernel, step, isa);
      else
        for (int32_t i = 0; i < step.count; ++i) argument(*step.args[i]);
      const size_t arguments = calls.size() - at - 1;
      can = can && arguments <= 0xffff && size.tensors <= kMostPlannedTensors;
      const auto place = std::find(kernels.begin(), kernels.end(), kernel_of(k)) - kernels.begin();
      calls[at] = static_cast<uint32_t>(place) | ready | static_cast<uint32_t>(arguments) << 16;
      for (uint32_t CallSize::*m : {&CallSize::args, &CallSize::values, &CallSize::tensors, &CallSize::items})
        most.*m = std::max(most.*m, size.*m), can = can && most.*m <= 0xffff;
    }
  }

  void write_ports() {
    std::vector<uint16_t> indexes;
    const auto port = [&](const Tensor& t) { indexes.push_back(static_cast<uint16_t>(tensor(t))); };
    for (int32_t i = 0; i < loaded.program.input_count(); ++i) port(loaded.program.input(i));
    for (int32_t i = 0; i < loaded.program.output_count(); ++i) port(loaded.program.output(i));
    append_bytes(ports, indexes.data(), 2 * indexes.size());
  }

  Words kernel_records() const {
    Words words;
    for (const uint32_t index : kernels) {
      const std::string name = table.kernels[index]->name;
      const size_t dot = name.find('.');
      std::string text = name.substr(0, dot) + '\0';
      LoadPlanKernel record{table.kernels[index]->id, static_cast<uint16_t>(index), 0, 0};
      if (dot != name.npos) record.overload_at = static_cast<uint8_t>(text.size()), text += name.substr(dot + 1) + '\0';
      record.words = static_cast<uint8_t>(2 + (text.size() + 3) / 4);
      append_bytes(words, &record, sizeof record);
      append_bytes(words, text.data(), text.size());
    }
    return words;
  }

  Words tensor_words() const {
    Words words;
    for (const auto& [offset, shape, type, place] : tensors.items) {
      const Words& s = shapes.items[shape];
      const uint32_t rank = s[0];
      const bool constant = place == static_cast<int>(Place::constant);
      const LoadPlanTensor t{offset, s[1], static_cast<uint8_t>(rank), static_cast<uint8_t>(type), constant, static_cast<uint8_t>(place)};
      append_bytes(words, &t, sizeof t);
      words.insert(words.end(), s.begin() + 2, s.begin() + 2 + rank);
      words.resize(words.size() + most_rank - rank);
      words.insert(words.end(), s.begin() + 2 + rank, s.end());
      words.resize(words.size() + (most_rank + 3) / 4 - (rank + 3) / 4);
    }
    return words;
  }

  std::optional<Words> write(Isa isa) {
    write_calls(isa);
    write_ports();
    const Program& p = loaded.program;
    if (!can || kernels.size() > kMostPlannedKernels || tensors.items.size() > 0xffff || p.instruction_count() > 0xffff ||
        details.size() >= 1u << 28)
      return std::nullopt;
    LoadPlanHeader h{};
    Words words(sizeof h / 4);
    const auto add = [&](const Words& part, uint32_t& at) {
      at = static_cast<uint32_t>(4 * words.size());
      words.insert(words.end(), part.begin(), part.end());
    };
    add(kernel_records(), h.kernels_at);
    add(tensor_words(), h.tensors_at);
    add(ports, h.ports_at);
    add(details, h.details_at);
    add(calls, h.calls_at);
    h.magic = kLoadPlanMagic;
    h.bytes = static_cast<uint32_t>(4 * words.size() + sizeof(LoadPlanEnd));
    h.file_bytes = static_cast<uint32_t>(loaded.file_bytes) + h.bytes;
    h.planned_bytes = loaded.needs.planned_bytes;
    h.constants_begin = std::min(constants_begin, constants_end), h.constants_end = constants_end;
    h.isa = static_cast<uint32_t>(isa);
    h.most_rank = static_cast<uint16_t>(most_rank);
    h.kernels = static_cast<uint16_t>(kernels.size());
    h.tensors = static_cast<uint16_t>(tensors.items.size()), h.calls = static_cast<uint16_t>(p.instruction_count());
    h.inputs = static_cast<uint16_t>(p.input_count()), h.outputs = static_cast<uint16_t>(p.output_count());
    h.most_args = static_cast<uint16_t>(most.args), h.most_values = static_cast<uint16_t>(most.values);
    h.most_tensors = static_cast<uint16_t>(most.tensors), h.most_items = static_cast<uint16_t>(most.items);
    std::memcpy(words.data(), &h, sizeof h);
    return finished(words, h);
  }

  // With its end, and the hash of all.
  static Words finished(Words words, LoadPlanHeader h) {
    const LoadPlanEnd end{h.bytes, kLoadPlanMagic};
    append_bytes(words, &end, sizeof end);
    h.hash = load_plan_hash(words.data() + 2, static_cast<uint32_t>(words.size()) - 2);
    std::memcpy(words.data(), &h, sizeof h);
    return words;
  }
};

bool has_memories(File file) {
  FilePlan plan;
  return open_plan(file, &plan) && check_values(plan) && has_several_memories(plan);
}

constexpr size_t kHeaderAt = 8, kBaseAt = 24, kDataSizeAt = 32;  // of the extended header: docs/formats-pte.md

// Whether it loads from the plan alone, in the memory that it needs without one.
bool loads_from_plan(const std::vector<uint8_t>& file, const Needs& needs, const KernelTable& kernels) {
  std::vector<AlignedBlock> copy = aligned(file.size()), tables = aligned(needs.tables_bytes), planned = aligned(needs.planned_bytes);
  std::memcpy(copy.data(), file.data(), file.size());
  std::memset(copy.data(), 0xff, 4);  // where the FlatBuffer begins
  Program program;
  return program.load({copy.data(), file.size()}, kernels, {tables.data(), needs.tables_bytes}, {planned.data(), needs.planned_bytes}).ok();
}

// What the extended header says of the segments' end: the end of the file.
void set_data_bytes(std::vector<uint8_t>& file) {
  uint64_t base = 0;
  std::memcpy(&base, file.data() + kBaseAt, sizeof base);
  const uint64_t data_bytes = file.size() - base;
  std::memcpy(file.data() + kDataSizeAt, &data_bytes, sizeof data_bytes);
}

// The plan's words without its hash and the kernels' places in the table, which another version may have elsewhere.
Words plan_text(const std::vector<uint8_t>& file, uint32_t plan_bytes) {
  Words words(plan_bytes / 4);
  std::memcpy(words.data(), &file[file.size() - plan_bytes], plan_bytes);
  LoadPlanHeader h;
  std::memcpy(&h, words.data(), sizeof h);
  words[offsetof(LoadPlanHeader, hash) / 4] = 0;
  uint32_t at = h.kernels_at / 4;
  for (uint32_t i = 0; i < h.kernels && at < h.tensors_at / 4; ++i) {
    LoadPlanKernel k;
    std::memcpy(&k, &words[at], sizeof k);
    k.index = 0;
    std::memcpy(&words[at], &k, sizeof k);
    at += k.words;
  }
  return words;
}

}  // namespace

const char* add_load_plan(std::vector<uint8_t>& file, Isa isa, const KernelTable& kernels) {
  if (file.size() < 64 || std::memcmp(file.data() + kHeaderAt, "eh00", 4) != 0) return "it has no constants";
  std::vector<uint8_t> longer = file;
  longer.resize((file.size() + 15) / 16 * 16);
  const UnopenedBackends unopened(kernels);
  const KernelTable table{kernels.kernels, kernels.count, unopened.pointers.data(), kernels.backend_count};
  Loaded loaded;
  if (!load(longer, table, &loaded)) return "it does not load on this machine";
  for (int32_t k = 0; k < loaded.program.instruction_count(); ++k)
    if (loaded.program.delegate(k)) return loaded.program.unload(), "it calls the NPU";
  if (loaded.program.state_count() != 0) return "it keeps states";
  if (has_memories({loaded.file.data(), loaded.file_bytes}))
    return loaded.program.unload(), "its tensors or constants are placed in several memories";
  PlanWriter writer{loaded, kernels};
  const std::optional<Words> words = writer.write(isa);
  if (!words) return "it has a call whose arguments no plan can hold";
  const auto* bytes = reinterpret_cast<const uint8_t*>(words->data());
  longer.insert(longer.end(), bytes, bytes + 4 * words->size());
  set_data_bytes(longer);
  if (!loads_from_plan(longer, loaded.needs, kernels)) return "its tensors lie in more separate pieces of memory than a plan can follow";
  file = std::move(longer);
  return nullptr;
}

bool has_load_plan(const std::vector<uint8_t>& file) {
  std::vector<AlignedBlock> copy = aligned(file.size());
  if (!file.empty()) std::memcpy(copy.data(), file.data(), file.size());
  return find_load_plan({copy.data(), file.size()}) != nullptr;
}

bool agrees_with_load_plan(const std::vector<uint8_t>& whole, std::string_view isa, const KernelTable& kernels) {
  if (!has_load_plan(whole)) return true;
  const File program = without_signature({whole.data(), whole.size()});
  const std::vector<uint8_t> file(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(program.bytes));
  LoadPlanEnd end;
  std::memcpy(&end, &file[file.size() - sizeof end], sizeof end);
  std::vector<uint8_t> again(file.begin(), file.end() - end.bytes);
  set_data_bytes(again);
  LoadPlanHeader h;
  std::memcpy(&h, &file[again.size()], sizeof h);
  if (!isa.empty() && isa != name_of(static_cast<Isa>(h.isa))) return false;
  if (add_load_plan(again, static_cast<Isa>(h.isa), kernels) != nullptr || again.size() != file.size()) return false;
  return plan_text(again, end.bytes) == plan_text(file, end.bytes);
}

}  // namespace deuteron
