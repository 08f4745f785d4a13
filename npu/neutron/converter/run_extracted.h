// SPDX-License-Identifier: Apache-2.0
// Runs what extract() gives on the driver that is linked: for tests, which link the machine model.
#pragma once
#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "npu/neutron/converter/extract.h"
#include "npu/neutron/machine/driver.h"
#include "npu/neutron/machine/microcode.h"

namespace deuteron::neutron {

// Bytes at an address that is a multiple of 16.
class AlignedBytes {
 public:
  explicit AlignedBytes(i64 bytes, u8 fill = 0)
      : blocks_(static_cast<size_t>(bytes + 15) / 16 + 1) {
    std::memset(data(), fill, blocks_.size() * 16);
  }
  explicit AlignedBytes(const std::vector<u8>& bytes)
      : AlignedBytes(static_cast<i64>(bytes.size())) {
    std::copy(bytes.begin(), bytes.end(), data());
  }
  u8* data() { return blocks_[0].bytes; }

 private:
  struct alignas(16) Block {
    u8 bytes[16];
  };
  std::vector<Block> blocks_;
};

struct RunResult {
  NeutronError error = kNeutronOk;
  bool prepared = false;
  std::vector<std::vector<u8>> outputs;  // in the order of the model's outputs
  std::vector<u8> profile;
};

// Memory that nobody has written holds 0xA5. `inputs`: of the model, in its order.
inline RunResult run_extracted(const Extracted& e, const std::vector<std::vector<u8>>& inputs) {
  RunResult r;
  constexpr u8 kUnwritten = 0xA5;
  AlignedBytes microcode(e.sections.microcode), weights(e.sections.weights),
      kernels(e.sections.kernels);
  const NeutronModelConfig config{microcode.data(), weights.data(), kernels.data(), 60};
  AlignedBytes context(static_cast<i64>(neutronGetModelContextSize()));
  NeutronModelHandle handle = context.data();
  r.error = neutronModelPrepare(&config, &handle);
  if (r.error != kNeutronOk) return r;
  r.prepared = true;
  const auto word = [&](size_t i) {
    i32 v;
    std::memcpy(&v, e.sections.microcode.data() + i * 4, 4);
    return v;
  };
  std::vector<i64> bytes;  // of the outputs, from the I/O table
  for (size_t i = 0; i < e.output_map.size(); ++i)
    bytes.push_back(word(static_cast<size_t>(word(kIoOffsetWord)) / 4 + e.input_map.size() + i));
  std::vector<AlignedBytes> in, out;
  for (size_t i = 0; i < e.input_map.size(); ++i) {
    const std::vector<u8>& given = inputs[e.input_map[i]];
    const auto size = static_cast<size_t>(word(static_cast<size_t>(word(kIoOffsetWord)) / 4 + i));
    in.emplace_back(static_cast<i64>(size));
    std::copy_n(given.begin(), std::min(size, given.size()), in.back().data());
  }
  for (const i64 b : bytes) out.emplace_back(b, kUnwritten);
  for (const i64 b : {e.facts.scratch_bytes, e.facts.profile_bytes, e.facts.debug_bytes})
    out.emplace_back(b, kUnwritten);
  std::vector<const void*> ins;
  std::vector<void*> outs;
  for (AlignedBytes& m : in) ins.push_back(m.data());
  for (AlignedBytes& m : out) outs.push_back(m.data());
  AlignedBytes sram(e.facts.sram_bytes, kUnwritten);
  const NeutronDataConfig data{ins.data(), outs.data(), nullptr, sram.data()};
  r.error = neutronRunBlocking(handle, &data);
  neutronModelUnprepare(handle);
  if (r.error != kNeutronOk) return r;
  r.outputs.resize(bytes.size());
  for (size_t i = 0; i < bytes.size(); ++i)
    r.outputs[e.output_map[i]].assign(out[i].data(), out[i].data() + bytes[i]);
  AlignedBytes& profile = out[bytes.size() + 1];
  r.profile.assign(profile.data(), profile.data() + e.facts.profile_bytes);
  return r;
}

}  // namespace deuteron::neutron
