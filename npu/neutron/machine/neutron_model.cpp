// SPDX-License-Identifier: Apache-2.0
// The driver's C interface over the open machine model.
#include <cstring>
#include <initializer_list>

#include "npu/neutron/machine/check.h"
#include "npu/neutron/machine/cycles.h"
#include "npu/neutron/machine/driver.h"
#include "npu/neutron/machine/handle_memory.h"
#include "npu/neutron/machine/kernel_table.h"
#include "npu/neutron/machine/memory.h"
#include "npu/neutron/machine/simulation.h"

namespace {

using namespace deuteron::neutron;

constexpr uint32_t kPrepared = 0x4E4D4844;  // a handle that is prepared

// What a handle points to.
struct Model {
  uint32_t state;
  bool owns_memory;
  uint32_t timeout_seconds;
  const int8_t* weights;
  Layout layout;
};

// Of the machine, not of a model.
NeutronConfig callbacks = {nullptr, nullptr};
bool suspended = false;

bool is_aligned(const void* p, uintptr_t to) { return reinterpret_cast<uintptr_t>(p) % to == 0; }

// A profile record: facts, section 6.1.
struct Event {
  uint8_t event, op, function, timestamp;
  uint32_t time;
};
constexpr uint8_t kCallArgs = 6;  // op code of a kernel's call

void record(int8_t* profile, int32_t index, uint8_t op, uint8_t function, int64_t from,
            int64_t to) {
  if (profile == nullptr) return;
  const Event events[2] = {{0, op, function, 0, static_cast<uint32_t>(from)},
                           {0, op, function, 0, static_cast<uint32_t>(to)}};
  static_assert(sizeof events == kProfileRecordBytes);
  std::memcpy(profile + int64_t{index} * kProfileRecordBytes, events, sizeof events);
}

// The pointers that a run of this model needs are there and aligned.
NeutronError check_data(const Layout& layout, const NeutronDataConfig* data) {
  const auto invalid = [](Reason reason) { return error(kNeutronInvalidArgument, reason); };
  if (data == nullptr) return invalid(Reason::kNullPointer);
  if (layout.inputs > 0 && data->inputs == nullptr) return invalid(Reason::kNullPointer);
  const bool buffers =
      layout.scratch_bytes > 0 || layout.profile_bytes > 0 || layout.debug_bytes > 0;
  if ((layout.outputs > 0 || buffers) && data->outputs == nullptr)
    return invalid(Reason::kNullPointer);
  for (int32_t i = 0; i < layout.inputs; ++i)
    if (layout.io_bytes[i] > 0 && data->inputs[i] == nullptr) return invalid(Reason::kNullPointer);
  for (int32_t i = 0; i < layout.outputs; ++i)
    if (layout.io_bytes[layout.inputs + i] > 0 && data->outputs[i] == nullptr)
      return invalid(Reason::kNullPointer);
  const int32_t sizes[] = {layout.scratch_bytes, layout.profile_bytes, layout.debug_bytes};
  for (int32_t i = 0; i < 3; ++i)
    if (sizes[i] > 0 && data->outputs[layout.outputs + i] == nullptr)
      return invalid(Reason::kNullPointer);
  if (layout.sram_bytes > 0 && data->scratchWeights == nullptr)
    return invalid(Reason::kNullPointer);
  return kNeutronOk;
}

// What a microcode reads before it has written it, or never writes, is zero: no result depends on
// what the memory held before.
void clear(const Layout& layout, const NeutronDataConfig& data, const Memory& memory) {
  if (layout.scratch_bytes > 0)
    std::memset(memory.scratch, 0, static_cast<size_t>(layout.scratch_bytes));
  if (layout.sram_bytes > 0)
    std::memset(data.scratchWeights, 0, static_cast<size_t>(layout.sram_bytes));
  for (int32_t i = 0; i < layout.outputs; ++i)
    if (const int32_t bytes = layout.io_bytes[layout.inputs + i]; bytes > 0)
      std::memset(data.outputs[i], 0, static_cast<size_t>(bytes));
}

// A run whose arguments have been checked: all that the machine would do.
NeutronError run_calls(const Model* model, const NeutronDataConfig* data) {
  const Layout& layout = model->layout;
  const auto buffer = [&](int32_t size, int32_t index) {
    return size > 0 ? static_cast<int8_t*>(data->outputs[layout.outputs + index]) : nullptr;
  };
  Memory memory = {data->inputs,
                   data->outputs,
                   buffer(layout.scratch_bytes, 0),
                   model->weights,
                   static_cast<int8_t*>(data->scratchWeights),
                   callbacks.copy,
                   callbacks.wait};
  int8_t *profile = buffer(layout.profile_bytes, 1), *debug = buffer(layout.debug_bytes, 2);
  clear(layout, *data, memory);
  if (debug != nullptr) {
    std::memset(debug, 0, static_cast<size_t>(layout.debug_bytes));
    std::memcpy(debug, layout.words, 4 * kHeaderWords);
  }

  const int64_t limit = int64_t{model->timeout_seconds} * layout.machine.clock_hz;
  int64_t now = 0;
  const int32_t* at = layout.first_call;
  for (int32_t call = 0; call < layout.calls; ++call, at += at[1]) {
    const int32_t* structure = at + sizeof(CallHead) / 4;
    const int64_t start = now,
                  cycles = cost_of(layout.machine, static_cast<Kind>(at[0]), structure).total();
    now += cycles;
    if (model->timeout_seconds != 0 && now > limit)
      return error(kNeutronTimeout, Reason::kNone, call + 1);
    neutron_kernel_table[at[0]](structure, &memory);
    record(profile, call, kCallArgs, static_cast<uint8_t>(at[0]), start, now);
    if (debug != nullptr) std::memcpy(debug + 4 * kHeaderWords + int64_t{8} * call, &cycles, 8);
  }
  record(profile, layout.calls, 0, static_cast<uint8_t>(Kind::kProfileDump), now, now);
  return kNeutronOk;
}

struct Simulation {
  const Model* model;
  const NeutronDataConfig* data;
  NeutronError result;
};
void simulate(void* argument) {
  auto* s = static_cast<Simulation*>(argument);
  s->result = run_calls(s->model, s->data);
}

}  // namespace

deuteron::neutron::SimulateIn deuteron::neutron::simulate_in = nullptr;

extern "C" {

NeutronError neutronInit(void) {
  asm volatile("" ::"r"(neutron_kernel_list));  // so that the linker keeps it
  suspended = false;
  return kNeutronOk;
}

NeutronError neutronDeinit(void) {
  callbacks = {nullptr, nullptr};
  suspended = false;
  return kNeutronOk;
}

size_t neutronGetModelContextSize(void) { return sizeof(Model); }

NeutronError neutronModelPrepare(const NeutronModelConfig* config, NeutronModelHandle* handle) {
  if (config == nullptr || handle == nullptr || config->microcode == nullptr)
    return error(kNeutronInvalidArgument, Reason::kNullPointer);
  for (const void* section : {config->microcode, config->weights, config->kernels})
    if (!is_aligned(section, 16)) return error(kNeutronInvalidArgument, Reason::kMisaligned);
  Layout layout;
  NeutronError result = read_layout(config->microcode, &layout);
  if (result == kNeutronOk) result = check_calls(layout);
  if (result != kNeutronOk) return result;
  if (layout.weights_bytes > 0 && config->weights == nullptr)
    return error(kNeutronInvalidArgument, Reason::kNullPointer);

  const bool owns_memory = *handle == nullptr;
  void* memory = owns_memory ? allocate_handle(sizeof(Model)) : *handle;
  if (memory == nullptr) return error(kNeutronNoMemory);
  if (!is_aligned(memory, alignof(void*)))
    return error(kNeutronInvalidArgument, Reason::kMisaligned);
  const Model model = {kPrepared, owns_memory, config->timeoutSeconds,
                       static_cast<const int8_t*>(config->weights), layout};
  std::memcpy(memory, &model, sizeof model);
  *handle = memory;
  return kNeutronOk;
}

NeutronError neutronModelUnprepare(NeutronModelHandle handle) {
  auto* model = static_cast<Model*>(handle);
  if (model == nullptr || !is_aligned(model, alignof(Model)) || model->state != kPrepared)
    return error(kNeutronBadHandle);
  model->state = 0;
  if (model->owns_memory) free_handle(model);
  return kNeutronOk;
}

NeutronError neutronRunBlocking(NeutronModelHandle handle, const NeutronDataConfig* data) {
  const auto* model = static_cast<const Model*>(handle);
  if (model == nullptr || !is_aligned(model, alignof(Model)) || model->state != kPrepared)
    return error(kNeutronBadHandle);
  if (suspended) return error(kNeutronGeneric);
  const Layout& layout = model->layout;
  const NeutronError result = check_data(layout, data);
  if (result != kNeutronOk) return result;
  Simulation simulation{model, data, kNeutronOk};
  if (simulate_in != nullptr) simulate_in(simulate, &simulation);
  else simulate(&simulation);
  return simulation.result;
}

NeutronError neutronSetConfig(NeutronConfig* config) {
  if (config == nullptr) return error(kNeutronInvalidArgument, Reason::kNullPointer);
  callbacks = *config;
  return kNeutronOk;
}

NeutronError neutronSuspend(void) {
  suspended = true;
  return kNeutronOk;
}

NeutronError neutronResume(void) {
  suspended = false;
  return kNeutronOk;
}

}  // extern "C"
