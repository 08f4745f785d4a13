// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: any bytes as the microcode of the Neutron machine model, with 4 KB of weights
// behind it. What is prepared and is no large task is run with buffers of exactly the sizes that it
// names; while the driver sleeps, it is refused. Seeds: neutron_seeds.
#include <cstring>
#include <vector>

#include "npu/neutron/machine/check.h"
#include "npu/neutron/machine/cycles.h"
#include "npu/neutron/machine/driver.h"
#include "npu/neutron/machine/test_machine.h"

namespace {

using namespace deuteron::neutron;

constexpr uint32_t kWeightBytes = 4096;
constexpr int64_t kMostCycles = 20'000'000, kMostBytes = 1 << 20;

struct alignas(16) Line {
  char bytes[16];
};
std::vector<Line> aligned(size_t bytes) { return std::vector<Line>((bytes + 15) / 16); }

bool is_small(const Layout& layout) {
  int64_t bytes =
      int64_t{layout.scratch_bytes} + layout.sram_bytes + layout.profile_bytes + layout.debug_bytes;
  for (int32_t i = 0; i < layout.inputs + layout.outputs; ++i) bytes += layout.io_bytes[i];
  int64_t cycles = 0;
  const int32_t* at = layout.first_call;
  const Machine machine = n3_64();  // ours: the input's own may count nothing for work
  for (int32_t call = 0; call < layout.calls && cycles <= kMostCycles; ++call, at += at[1]) {
    const Cost cost = cost_of(machine, static_cast<Kind>(at[0]), at + 2);
    cycles += cost.total();
    if (!name_of(cost.bound())) __builtin_trap();
  }
  return bytes <= kMostBytes && cycles <= kMostCycles;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 4 * kHeaderWords) return 0;
  uint32_t microcode_bytes, weights_bytes;
  std::memcpy(&microcode_bytes, data + 4 * kMicrocodeBytesWord, 4);
  std::memcpy(&weights_bytes, data + 4 * kWeightsBytesWord, 4);
  if (microcode_bytes > size || weights_bytes > kWeightBytes)
    return 0;  // the delegate has checked the sections
  std::vector<Line> microcode = aligned(size), weights = aligned(weights_bytes);
  std::memcpy(microcode.data(), data, size);
  for (size_t i = 0; i < weights.size() * 16; ++i)
    reinterpret_cast<char*>(weights.data())[i] = static_cast<char>(i * 37);

  std::vector<void*> context(neutronGetModelContextSize() / sizeof(void*) + 1);
  const NeutronModelConfig config = {microcode.data(), weights.data(), nullptr, 60};
  NeutronConfig callbacks = {};
  if (size % 4 >= 2)
    callbacks = {
        [](void* to, void* from, uint32_t bytes, uint32_t) { std::memcpy(to, from, bytes); },
        [](uint32_t) {}};
  if (neutronInit() != kNeutronOk || neutronSetConfig(&callbacks) != kNeutronOk) __builtin_trap();
  // the caller's memory, or the driver's
  NeutronModelHandle handle = size % 2 != 0 ? context.data() : nullptr;
  if (const NeutronError e = neutronModelPrepare(&config, &handle); e != kNeutronOk) {
    if (reason_of(e) == Reason::kNone || text_of(reason_of(e))[0] == 0)
      __builtin_trap();  // a refusal says why
    return 0;
  }
  Layout layout;
  if (read_layout(microcode.data(), &layout) != kNeutronOk) __builtin_trap();
  if (is_small(layout)) {
    std::vector<std::vector<char>> memory;
    std::vector<const void*> inputs;
    std::vector<void*> outputs;
    for (int32_t i = 0; i < layout.inputs + layout.outputs; ++i) {
      memory.emplace_back(static_cast<size_t>(layout.io_bytes[i]), static_cast<char>(i));
      void* at = memory.back().data();
      if (i < layout.inputs) inputs.push_back(at);
      else outputs.push_back(at);
    }
    std::vector<Line> scratch = aligned(static_cast<size_t>(layout.scratch_bytes)),
                      sram = aligned(static_cast<size_t>(layout.sram_bytes));
    std::vector<Line> profile = aligned(static_cast<size_t>(layout.profile_bytes)),
                      debug = aligned(static_cast<size_t>(layout.debug_bytes));
    outputs.insert(outputs.end(), {scratch.data(), profile.data(), debug.data()});
    const NeutronDataConfig run = {inputs.data(), outputs.data(), nullptr, sram.data()};
    if (neutronSuspend() != kNeutronOk || neutronRunBlocking(handle, &run) == kNeutronOk ||
        neutronResume() != kNeutronOk)
      __builtin_trap();
    const NeutronError e = neutronRunBlocking(handle, &run);
    if (e != kNeutronOk && category_of(e) != kNeutronTimeout)
      __builtin_trap();  // a prepared model cannot fail
  }
  if (neutronModelUnprepare(handle) != kNeutronOk || neutronDeinit() != kNeutronOk)
    __builtin_trap();
  return 0;
}
