// SPDX-License-Identifier: Apache-2.0
// Payloads of Neutron delegates made by hand, and a driver that runs them: what it does is easy to
// predict, and it can be told to fail at any step. For tests.
#pragma once
#include <cstring>
#include <string>
#include <vector>

#include "npu/neutron/delegate/delegate.h"
#include "npu/neutron/machine/microcode.h"
#include "npu/neutron/machine/test_machine.h"

namespace deuteron::test {

struct PayloadParts {
  std::vector<uint8_t> input_flags, output_flags, input_map, output_map;
  int arguments = 0;
  int version = 0;
  uint32_t scratch_bytes = 0, profile_bytes = 0, debug_bytes = 0, sram_bytes = 0;
  std::vector<uint32_t>
      port_bytes;  // of our own microcode: inputs, then outputs. Empty: microcode as the vendor's
  std::vector<uint8_t> weights, kernels;
  std::vector<std::vector<uint8_t>> calls;  // of the open machine model: heads and structures

  template <class T>
  void call(neutron::Kind kind, const T& structure) {
    const neutron::CallHead head = {static_cast<int32_t>(kind),
                                    static_cast<int32_t>((sizeof head + sizeof structure) / 4)};
    calls.emplace_back(sizeof head + sizeof structure);
    std::memcpy(calls.back().data(), &head, sizeof head);
    std::memcpy(calls.back().data() + sizeof head, &structure, sizeof structure);
  }
};

inline void put_word(std::vector<uint8_t>& bytes, size_t at, uint32_t value) {
  std::memcpy(&bytes.at(at), &value, 4);
}

// Where the microcode begins.
inline size_t microcode_at(const PayloadParts& p) {
  return (4 + 2 * (p.input_flags.size() + p.output_flags.size()) + 15) / 16 * 16;
}

inline std::vector<uint8_t> make_payload(const PayloadParts& p) {
  using namespace neutron;
  std::vector<uint8_t> b = {static_cast<uint8_t>(p.input_flags.size()),
                            static_cast<uint8_t>(p.output_flags.size()),
                            static_cast<uint8_t>(p.arguments)};
  for (const auto* part : {&p.input_flags, &p.output_flags, &p.input_map, &p.output_map})
    b.insert(b.end(), part->begin(), part->end());
  b.push_back(static_cast<uint8_t>(p.version));
  const auto pad = [&] { b.resize((b.size() + 15) / 16 * 16); };
  pad();
  const size_t at = b.size(), machine_words = p.port_bytes.empty() ? 0 : sizeof(Machine) / 4;
  size_t words = kHeaderWords + p.port_bytes.size() + machine_words;
  const size_t calls_at = words;
  for (const auto& c : p.calls) words += c.size() / 4;
  b.resize(at + 4 * words);
  const auto word = [&](int index, uint32_t value) {
    put_word(b, at + 4 * static_cast<size_t>(index), value);
  };
  word(kMagicWord, kMagic);
  word(kMicrocodeBytesWord, static_cast<uint32_t>(4 * words));
  word(kWeightsBytesWord, static_cast<uint32_t>(p.weights.size()));
  word(kKernelsBytesWord, static_cast<uint32_t>(p.kernels.size()));
  word(kScratchBytesWord, p.scratch_bytes);
  const auto inputs = static_cast<uint32_t>(p.input_flags.size()),
             outputs = static_cast<uint32_t>(p.output_flags.size());
  if (p.version == 0) {
    word(kSramBytesWordV0, p.sram_bytes), word(kInputsWordV0, inputs),
        word(kOutputsWordV0, outputs);
  } else {
    word(kProfileBytesWordV1, p.profile_bytes), word(kDebugBytesWordV1, p.debug_bytes),
        word(kSramBytesWordV1, p.sram_bytes);
    word(kInputsWordV1, inputs), word(kOutputsWordV1, outputs);
  }
  if (!p.port_bytes.empty()) {
    word(kTagWord, kFormatTag);
    word(kPayloadVersionWord, static_cast<uint32_t>(p.version));
    word(kIoOffsetWord, 4 * kHeaderWords);
    for (size_t i = 0; i < p.port_bytes.size(); ++i)
      word(static_cast<int>(kHeaderWords + i), p.port_bytes[i]);
    word(kMachineOffsetWord, static_cast<uint32_t>(4 * (calls_at - machine_words)));
    word(kCallsOffsetWord, static_cast<uint32_t>(4 * calls_at));
    word(kCallsWord, static_cast<uint32_t>(p.calls.size()));
    const Machine machine = n3_64();
    std::memcpy(&b[at + 4 * (calls_at - machine_words)], &machine, sizeof machine);
    size_t call_at = at + 4 * calls_at;
    for (const auto& c : p.calls) std::memcpy(&b[call_at], c.data(), c.size()), call_at += c.size();
  }
  pad();
  b.insert(b.end(), p.weights.begin(), p.weights.end());
  pad();
  b.insert(b.end(), p.kernels.begin(), p.kernels.end());
  pad();
  return b;
}

// A driver in one global, as drivers are. Output o of a run: byte i is (the sum of byte i of every
// input, repeated) + weights[0] + o, in the machine's order.
struct FakeDriver {
  int started = 0, prepared = 0, runs = 0, resumed = 0, suspended = 0, configured = 0;
  std::string fails;           // the step that fails, e.g. "run"
  int32_t error = 0x0000014b;  // component 3, category 9, code 1
  std::vector<size_t> input_bytes, output_bytes;
  PayloadParts parts;
  void* context = nullptr;
  bool aligned = true;  // all buffers of the last run
};
inline FakeDriver fake;

inline NeutronError fake_step(const char* step) {
  return fake.fails == step ? fake.error : kNeutronOk;
}

inline NeutronError fake_run(NeutronModelHandle handle, const NeutronDataConfig* d) {
  ++fake.runs;
  if (handle != fake.context) return 3 | 4 << 3;  // a bad handle
  if (const NeutronError e = fake_step("run"); e != kNeutronOk) return e;
  const size_t outputs = fake.output_bytes.size();
  std::vector<uint8_t> sum;
  for (size_t o = 0; o < outputs; ++o) {
    auto* y = static_cast<uint8_t*>(d->outputs[o]);
    for (size_t i = 0; i < fake.output_bytes[o]; ++i) {
      int total = fake.parts.weights.empty() ? 0 : fake.parts.weights[0];
      for (size_t k = 0; k < fake.input_bytes.size(); ++k)
        total += static_cast<const uint8_t*>(d->inputs[k])[i % fake.input_bytes[k]];
      y[i] = static_cast<uint8_t>(total + static_cast<int>(o));
    }
  }
  const uint32_t sizes[] = {fake.parts.scratch_bytes, fake.parts.profile_bytes,
                            fake.parts.debug_bytes};
  for (size_t k = 0; k < 3; ++k)
    std::memset(d->outputs[outputs + k], static_cast<int>(0xE0 + k), sizes[k]);
  std::memset(d->scratchWeights, 0xE9, fake.parts.sram_bytes);
  for (void* p :
       {d->outputs[outputs], d->outputs[outputs + 1], d->outputs[outputs + 2], d->scratchWeights})
    fake.aligned = fake.aligned && reinterpret_cast<uintptr_t>(p) % 16 == 0;
  return kNeutronOk;
}

inline const NeutronDriver kFakeDriver = {
    []() -> NeutronError {
      return fake.fails == "init" ? fake.error : (++fake.started, kNeutronOk);
    },
    []() -> NeutronError { return --fake.started, kNeutronOk; },
    []() -> size_t { return 40; },
    [](const NeutronModelConfig* c, NeutronModelHandle* handle) -> NeutronError {
      if (const NeutronError e = fake_step("prepare"); e != kNeutronOk) return e;
      for (const void* p : {c->microcode, c->weights, c->kernels})
        fake.aligned = fake.aligned && reinterpret_cast<uintptr_t>(p) % 16 == 0;
      std::memset(*handle, 0x11, 40);
      fake.context = *handle;
      ++fake.prepared;
      return kNeutronOk;
    },
    [](NeutronModelHandle) -> NeutronError { return --fake.prepared, kNeutronOk; },
    fake_run,
    [](NeutronConfig*) -> NeutronError { return ++fake.configured, fake_step("set fetching"); },
    []() -> NeutronError { return ++fake.resumed, fake_step("resume"); },
    []() -> NeutronError { return ++fake.suspended, fake_step("suspend"); },
    &kNeutronFetchByMemcpy,
    60,
};
inline const Backend kFakeBackend = neutron_backend(&kFakeDriver);

}  // namespace deuteron::test
