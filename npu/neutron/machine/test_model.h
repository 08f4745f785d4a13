// SPDX-License-Identifier: Apache-2.0
// Builds a microcode call by call, prepares it and runs it. Host only, for tests and benches.
#pragma once
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "npu/neutron/machine/check.h"
#include "npu/neutron/machine/driver.h"
#include "npu/neutron/machine/microcode.h"
#include "npu/neutron/machine/test_machine.h"

namespace deuteron::neutron::test {

using Bytes = std::vector<int8_t>;

struct alignas(16) Line {
  int8_t bytes[16];
};
// A copy of bytes that starts at a multiple of 16.
class Aligned {
 public:
  explicit Aligned(size_t size) : lines_((size + 15) / 16), size_(size) {}
  Aligned(const void* from, size_t size) : Aligned(size) {
    if (size > 0) std::memcpy(lines_.data(), from, size);
  }
  int8_t* data() { return reinterpret_cast<int8_t*>(lines_.data()); }
  Bytes bytes() { return size_ == 0 ? Bytes() : Bytes(data(), data() + size_); }

 private:
  std::vector<Line> lines_;
  size_t size_;
};

struct Random {
  std::mt19937 engine;
  explicit Random(uint32_t seed) : engine(seed) {}
  int32_t in(int32_t low, int32_t high) {
    return std::uniform_int_distribution<int32_t>(low, high)(engine);
  }
  Bytes bytes(int64_t count) {
    Bytes b(static_cast<size_t>(count));
    for (int8_t& v : b) v = static_cast<int8_t>(in(-128, 127));
    return b;
  }
  int32_t multiplier() { return in(1 << 30, INT32_MAX); }
};

struct Outcome {
  NeutronError prepared = kNeutronOk, ran = kNeutronOk;
  std::vector<Bytes> outputs;
  Bytes profile, debug;
};

struct Model {
  std::vector<int32_t> input_bytes, output_bytes;
  Bytes weights;
  int32_t scratch_bytes = 0, sram_bytes = 0;
  bool profiles = false, debugs = false;
  uint32_t timeout_seconds = 60;
  Machine machine = n3_64();
  std::vector<int32_t> calls;
  int32_t number_of_calls = 0;

  Operand input(int64_t bytes) {
    input_bytes.push_back(static_cast<int32_t>(bytes));
    return operand(Region::kInput, 0, static_cast<int32_t>(input_bytes.size()) - 1);
  }
  Operand output(int64_t bytes) {
    output_bytes.push_back(static_cast<int32_t>(bytes));
    return operand(Region::kOutput, 0, static_cast<int32_t>(output_bytes.size()) - 1);
  }
  Operand constant(const Bytes& bytes) {
    weights.resize((weights.size() + 15) / 16 * 16);
    const Operand at = operand(Region::kWeights, static_cast<int32_t>(weights.size()));
    weights.insert(weights.end(), bytes.begin(), bytes.end());
    return at;
  }
  // Bias, multiplier, shift of each channel.
  Operand params(const std::vector<int32_t>& words) {
    Bytes bytes(words.size() / 3 * kParamBytes);
    for (size_t c = 0; c < words.size() / 3; ++c) {
      std::memcpy(&bytes[c * kParamBytes], &words[3 * c], 8);
      bytes[c * kParamBytes + 8] = static_cast<int8_t>(words[3 * c + 2]);
    }
    return constant(bytes);
  }

  template <class Call>
  void call(Kind kind, const Call& record) {
    const CallHead head = {static_cast<int32_t>(kind),
                           static_cast<int32_t>((sizeof(CallHead) + sizeof(Call)) / 4)};
    const size_t at = calls.size();
    calls.resize(at + static_cast<size_t>(head.words));
    std::memcpy(calls.data() + at, &head, sizeof head);
    std::memcpy(calls.data() + at + 2, &record, sizeof record);
    ++number_of_calls;
  }

  std::vector<uint32_t> encode() const {
    const uint32_t io = 4 * kHeaderWords,
                   at_machine =
                       io + static_cast<uint32_t>(4 * (input_bytes.size() + output_bytes.size()));
    const uint32_t at_calls = at_machine + sizeof(Machine);
    std::vector<uint32_t> words(at_calls / 4 + calls.size());
    words[kMagicWord] = kMagic;
    words[kTagWord] = kFormatTag;
    words[kPayloadVersionWord] = profiles || debugs;
    words[kCallsWord] = static_cast<uint32_t>(number_of_calls);
    words[kMachineOffsetWord] = at_machine;
    words[kCallsOffsetWord] = at_calls;
    words[kMicrocodeBytesWord] = static_cast<uint32_t>(4 * words.size());
    words[kWeightsBytesWord] = static_cast<uint32_t>(weights.size());
    words[kScratchBytesWord] = static_cast<uint32_t>(scratch_bytes);
    words[kIoOffsetWord] = io;
    const auto inputs = static_cast<uint32_t>(input_bytes.size()),
               outputs = static_cast<uint32_t>(output_bytes.size());
    if (profiles || debugs) {
      words[kProfileBytesWordV1] =
          profiles ? static_cast<uint32_t>(kProfileRecordBytes * (number_of_calls + 1)) : 0;
      words[kDebugBytesWordV1] =
          debugs ? static_cast<uint32_t>(debug_bytes_of(number_of_calls)) : 0;
      words[kSramBytesWordV1] = static_cast<uint32_t>(sram_bytes);
      words[kInputsWordV1] = inputs;
      words[kOutputsWordV1] = outputs;
    } else {
      words[kSramBytesWordV0] = static_cast<uint32_t>(sram_bytes);
      words[kInputsWordV0] = inputs;
      words[kOutputsWordV0] = outputs;
    }
    size_t at = io / 4;
    for (const int32_t bytes : input_bytes) words[at++] = static_cast<uint32_t>(bytes);
    for (const int32_t bytes : output_bytes) words[at++] = static_cast<uint32_t>(bytes);
    std::memcpy(words.data() + at_machine / 4, &machine, sizeof machine);
    if (!calls.empty()) std::memcpy(words.data() + at_calls / 4, calls.data(), 4 * calls.size());
    return words;
  }

  // Prepares these words in place of encode()'s.
  NeutronError prepare(const std::vector<uint32_t>& words) const {
    Aligned microcode(words.data(), 4 * words.size()), constants(weights.data(), weights.size());
    std::vector<void*> context(neutronGetModelContextSize() / sizeof(void*) + 1);
    const NeutronModelConfig config = {microcode.data(), constants.data(), nullptr,
                                       timeout_seconds};
    NeutronModelHandle handle = context.data();
    const NeutronError e = neutronModelPrepare(&config, &handle);
    if (e == kNeutronOk) { EXPECT_EQ(neutronModelUnprepare(handle), kNeutronOk); }
    return e;
  }

  Outcome run(const std::vector<Bytes>& inputs) const {
    const std::vector<uint32_t> words = encode();
    Aligned microcode(words.data(), 4 * words.size()), constants(weights.data(), weights.size());
    std::vector<void*> context(neutronGetModelContextSize() / sizeof(void*) + 1);
    const NeutronModelConfig config = {microcode.data(), constants.data(), nullptr,
                                       timeout_seconds};
    NeutronModelHandle handle = context.data();
    Outcome outcome;
    outcome.prepared = neutronModelPrepare(&config, &handle);
    if (outcome.prepared != kNeutronOk) return outcome;
    std::vector<const void*> in;
    for (const Bytes& b : inputs) in.push_back(b.data());
    for (const int32_t bytes : output_bytes)
      outcome.outputs.emplace_back(static_cast<size_t>(bytes), int8_t{99});
    Aligned scratch(static_cast<size_t>(scratch_bytes)), sram(static_cast<size_t>(sram_bytes));
    Aligned profile(profiles ? words[kProfileBytesWordV1] : 0),
        debug(debugs ? words[kDebugBytesWordV1] : 0);
    std::vector<void*> out;
    for (Bytes& b : outcome.outputs) out.push_back(b.data());
    out.insert(out.end(), {scratch.data(), profile.data(), debug.data()});
    const NeutronDataConfig data = {in.data(), out.data(), nullptr, sram.data()};
    outcome.ran = neutronRunBlocking(handle, &data);
    outcome.profile = profile.bytes();
    outcome.debug = debug.bytes();
    EXPECT_EQ(neutronModelUnprepare(handle), kNeutronOk);
    return outcome;
  }
};

// What a result holds where no kernel writes, whatever it held before.
constexpr int8_t kCleared = 0;

// The one output of a model that must prepare and run.
inline Bytes result_of(const Model& model, const std::vector<Bytes>& inputs) {
  const Outcome outcome = model.run(inputs);
  EXPECT_EQ(outcome.prepared, kNeutronOk) << text_of(reason_of(outcome.prepared));
  EXPECT_EQ(outcome.ran, kNeutronOk);
  return outcome.outputs.empty() ? Bytes() : outcome.outputs[0];
}

// The first byte that differs, in words.
inline void expect_same(const Bytes& got, const Bytes& want) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i)
    ASSERT_EQ(int{got[i]}, int{want[i]}) << "at " << i << " of " << got.size();
}

}  // namespace deuteron::neutron::test
