// SPDX-License-Identifier: Apache-2.0
// See payload.h.
#include "npu/neutron/converter/payload.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "npu/neutron/delegate/payload.h"
#include "npu/neutron/machine/microcode.h"

namespace deuteron::neutron {
namespace {

constexpr size_t kAlignment = 16;
constexpr size_t kMostPorts = 255;  // counts are bytes

size_t aligned(size_t n) { return (n + kAlignment - 1) / kAlignment * kAlignment; }

struct Report {
  const std::string& where;
  Diagnostics& diagnostics;
  bool fail(std::string what, const char* rule, std::string measured = {}, std::string limit = {}) {
    diagnostics.add(
        {Severity::error, where, std::move(what), std::move(measured), std::move(limit), rule, {}});
    return false;
  }
  bool equal(const char* what, const char* rule, i64 measured, i64 expected) {
    return measured == expected ||
           fail(what, rule, fmt::format("{}", measured), fmt::format("{}", expected));
  }
};

// Every entry below `end`, none twice.
bool is_map(std::span<const u8> map, size_t end) {
  std::vector<bool> seen(end);
  for (const u8 v : map) {
    if (v >= end || seen[v]) return false;
    seen[v] = true;
  }
  return true;
}

void append(std::vector<u8>& to, std::span<const u8> bytes) {
  to.insert(to.end(), bytes.begin(), bytes.end());
  to.resize(aligned(to.size()), 0);
}

}  // namespace

std::optional<MicrocodeFacts> read_facts(std::span<const u8> microcode, u8 version,
                                         const std::string& where, Diagnostics& diagnostics) {
  Report report{where, diagnostics};
  const size_t words = version == 0 ? 13 : 15;  // that the runtime reads
  if (microcode.size() < words * 4) {
    report.fail("the microcode is too short for its header", "neutron.microcode.size",
                fmt::format("{} bytes", microcode.size()), fmt::format("{} bytes", words * 4));
    return std::nullopt;
  }
  const auto word = [&](int i) {
    uint32_t v;
    std::memcpy(&v, microcode.data() + i * 4, 4);
    return v;
  };
  if (word(kMagicWord) != kMagic) {
    report.fail("wrong magic of the microcode", "neutron.microcode.magic",
                fmt::format("{:08x}", word(kMagicWord)), fmt::format("{:08x}", kMagic));
    return std::nullopt;
  }
  MicrocodeFacts f;
  f.microcode_bytes = word(kMicrocodeBytesWord), f.weights_bytes = word(kWeightsBytesWord),
  f.kernels_bytes = word(kKernelsBytesWord);
  f.scratch_bytes = word(kScratchBytesWord);
  if (version == 0) {
    f.sram_bytes = word(kSramBytesWordV0), f.inputs = word(kInputsWordV0),
    f.outputs = word(kOutputsWordV0);
  } else {
    f.profile_bytes = word(kProfileBytesWordV1) & kProfileBytesMask,
    f.debug_bytes = word(kDebugBytesWordV1);
    f.sram_bytes = word(kSramBytesWordV1), f.inputs = word(kInputsWordV1),
    f.outputs = word(kOutputsWordV1);
  }
  return f;
}

bool check_sections(const Sections& s, u8 version, i64 inputs, i64 outputs,
                    const std::string& where, Diagnostics& diagnostics) {
  Report report{where, diagnostics};
  if (version > 1)
    return report.fail("unknown version", "neutron.payload.version", fmt::format("{}", version),
                       "0 or 1");
  const auto f = read_facts(s.microcode, version, where, diagnostics);
  if (!f) return false;
  const auto bytes = [](const std::vector<u8>& v) { return static_cast<i64>(v.size()); };
  // The sections may have been padded on the way.
  const auto matches = [&](const char* what, const char* rule, i64 has, i64 says) {
    return (has >= says && has <= static_cast<i64>(aligned(static_cast<size_t>(says)))) ||
           report.fail(what, rule, fmt::format("{} bytes", has), fmt::format("{} bytes", says));
  };
  // Word 8 is not one that the vendor's runtime reads: no size of the kernels to compare with.
  return matches("the microcode section is not as long as the microcode says",
                 "neutron.microcode.bytes", bytes(s.microcode), f->microcode_bytes) &&
         matches("the weights section is not as long as the microcode says",
                 "neutron.weights.bytes", bytes(s.weights), f->weights_bytes) &&
         report.equal("the microcode has another number of inputs than the delegate",
                      "neutron.microcode.inputs", f->inputs, inputs) &&
         report.equal("the microcode has another number of outputs than the delegate",
                      "neutron.microcode.outputs", f->outputs, outputs);
}

std::optional<std::vector<u8>> make_payload(const PayloadHeader& h, const Sections& s,
                                            const std::string& where, Diagnostics& diagnostics) {
  Report report{where, diagnostics};
  const size_t inputs = h.input_map.size(), outputs = h.output_map.size();
  if (inputs > kMostPorts || outputs > kMostPorts) {
    report.fail("inputs and outputs of a delegate", "neutron.payload.count",
                fmt::format("{}, {}", inputs, outputs), fmt::format("{}", kMostPorts));
    return std::nullopt;
  }
  if (h.input_flags.size() != inputs || h.output_flags.size() != outputs ||
      !is_map(h.input_map, h.arguments) || !is_map(h.output_map, outputs)) {
    report.fail("flags or maps do not fit the inputs and outputs", "neutron.payload.map");
    return std::nullopt;
  }
  if (!check_sections(s, h.version, static_cast<i64>(inputs), static_cast<i64>(outputs), where,
                      diagnostics))
    return std::nullopt;
  std::vector<u8> bytes{static_cast<u8>(inputs), static_cast<u8>(outputs), h.arguments};
  for (const auto* part : {&h.input_flags, &h.output_flags, &h.input_map, &h.output_map})
    bytes.insert(bytes.end(), part->begin(), part->end());
  bytes.push_back(h.version);
  append(bytes, {});
  append(bytes, s.microcode);
  append(bytes, s.weights);
  append(bytes, s.kernels);
  NeutronPayload read;
  if (const Status status = read_payload(bytes.data(), static_cast<uint32_t>(bytes.size()), &read);
      !status.ok()) {
    report.fail(fmt::format("the runtime would refuse the payload: {}", status.detail),
                "neutron.payload.refused");
    return std::nullopt;
  }
  return bytes;
}

}  // namespace deuteron::neutron
