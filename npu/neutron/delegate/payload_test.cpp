// SPDX-License-Identifier: Apache-2.0
// Reading payloads: good ones of both versions, each kind of damage, and every byte changed in
// every way that matters.
#include "npu/neutron/delegate/payload.h"

#include <gtest/gtest.h>

#include <functional>

#include "npu/neutron/delegate/test_payload.h"
#include "runtime/test_program.h"

namespace deuteron {
namespace {
using namespace test;
using namespace neutron;

PayloadParts good() {
  PayloadParts p;
  p.input_flags = {1, 0, 0};
  p.output_flags = {0, 1};
  p.input_map = {4, 0, 2};
  p.output_map = {1, 0};
  p.arguments = 5;
  p.version = 1;
  p.scratch_bytes = 100;
  p.profile_bytes = 48;
  p.debug_bytes = 20;
  p.sram_bytes = 33;
  p.port_bytes = {30, 7, 12, 9, 24};
  p.weights = {5, 6, 7};
  p.kernels = {1};
  return p;
}

struct Read {
  Block block;
  NeutronPayload p;
  Status status;
  explicit Read(const std::vector<uint8_t>& bytes) : block(bytes) {
    status = read_payload(block.data(), static_cast<uint32_t>(block.size()), &p);
  }
};

TEST(NeutronPayload, BothVersions) {
  const Read one(make_payload(good()));
  ASSERT_TRUE(one.status.ok()) << one.status.detail;
  EXPECT_EQ(one.p.inputs, 3);
  EXPECT_EQ(one.p.outputs, 2);
  EXPECT_EQ(one.p.arguments, 5);
  EXPECT_EQ(one.p.version, 1);
  EXPECT_EQ(one.p.input_flags[0], 1);
  EXPECT_EQ(one.p.output_flags[1], 1);
  EXPECT_EQ(one.p.input_map[2], 2);
  EXPECT_EQ(one.p.output_map[0], 1);
  EXPECT_EQ(one.p.scratch_bytes, 100u);
  EXPECT_EQ(one.p.profile_bytes, 48u);
  EXPECT_EQ(one.p.debug_bytes, 20u);
  EXPECT_EQ(one.p.sram_bytes, 33u);
  EXPECT_EQ(one.p.weights[1], 6);
  EXPECT_EQ(one.p.kernels[0], 1);
  EXPECT_EQ((one.p.weights - one.p.microcode) % 16, 0);
  EXPECT_EQ((one.p.kernels - one.p.weights) % 16, 0);
  ASSERT_TRUE(one.p.is_open_model);
  EXPECT_EQ(one.p.bytes_of_port(4), 24u);
  EXPECT_EQ(workspace_bytes(one.p, 64), 112u + 48 + 32 + 48 + 64);

  PayloadParts parts = good();
  parts.version = 0;
  parts.port_bytes.clear();
  const Read zero(make_payload(parts));
  ASSERT_TRUE(zero.status.ok()) << zero.status.detail;
  EXPECT_EQ(zero.p.profile_bytes, 0u);
  EXPECT_EQ(zero.p.debug_bytes, 0u);
  EXPECT_EQ(zero.p.sram_bytes, 33u);
  EXPECT_FALSE(zero.p.is_open_model);
}

TEST(NeutronPayload, TheTopBitOfTheProfileSizeIsNotASize) {
  std::vector<uint8_t> b = make_payload(good());
  put_word(b, microcode_at(good()) + 4 * kProfileBytesWordV1, 0x80000030);
  const Read r(b);
  ASSERT_TRUE(r.status.ok());
  EXPECT_EQ(r.p.profile_bytes, 48u);
}

TEST(NeutronPayload, DamageIsNamed) {
  struct Case {
    const char* detail;
    Code code;
    std::function<void(std::vector<uint8_t>&, size_t)>
        damage;  // the bytes, and where the microcode begins
  };
  const auto word = [](int index, uint32_t value) {
    return [=](std::vector<uint8_t>& b, size_t at) {
      put_word(b, at + 4 * static_cast<size_t>(index), value);
    };
  };
  const auto byte = [](size_t at, uint8_t value) {
    return [=](std::vector<uint8_t>& b, size_t) { b[at] = value; };
  };
  const Case cases[] = {
      {"magic word", Code::corrupt, word(kMagicWord, 0x64434D6F)},
      {"version that this runtime does not know", Code::unsupported, byte(13, 2)},
      {"number of inputs", Code::corrupt, word(kInputsWordV1, 4)},
      {"number of outputs", Code::corrupt, word(kOutputsWordV1, 1)},
      {"ends within the microcode", Code::corrupt, word(kMicrocodeBytesWord, 0x7FFFFFFF)},
      {"ends within the microcode", Code::corrupt, word(kMicrocodeBytesWord, 0xFFFFFFFF)},
      {"microcode is shorter", Code::corrupt, word(kMicrocodeBytesWord, 56)},
      {"ends within the weights", Code::corrupt, word(kWeightsBytesWord, 49)},
      {"ends within the weights", Code::corrupt, word(kWeightsBytesWord, 0xFFFFFFFF)},
      {"another version than the payload", Code::corrupt, word(kPayloadVersionWord, 0)},
      {"table of inputs and outputs", Code::corrupt, word(kIoOffsetWord, 132)},
      {"table of inputs and outputs", Code::corrupt, word(kIoOffsetWord, 62)},
      {"flag", Code::corrupt, byte(3, 2)},
      {"flag", Code::corrupt, byte(7, 255)},
      {"input map", Code::corrupt, byte(8, 5)},
      {"output map", Code::corrupt, byte(11, 2)},
      {"output map", Code::corrupt, byte(11, 0)},
      {"no outputs", Code::corrupt, byte(1, 0)},
      {"shorter than its header", Code::corrupt,
       [](std::vector<uint8_t>& b, size_t) { b.resize(15); }},
      {"ends within the microcode", Code::corrupt,
       [](std::vector<uint8_t>& b, size_t at) { b.resize(at + 56); }},
      {"shorter than its header", Code::corrupt, byte(0, 255)},
  };
  for (const Case& c : cases) {
    std::vector<uint8_t> b = make_payload(good());
    c.damage(b, microcode_at(good()));
    const Read r(b);
    EXPECT_EQ(r.status.code, c.code) << c.detail;
    EXPECT_NE(std::string(r.status.detail ? r.status.detail : "").find(c.detail), std::string::npos)
        << c.detail << ": " << r.status.detail;
  }
  const std::vector<uint8_t> b = make_payload(good());
  const Block shifted(b.size() + 8);
  std::memcpy(shifted.data() + 8, b.data(), b.size());
  NeutronPayload p;
  EXPECT_EQ(read_payload(shifted.data() + 8, static_cast<uint32_t>(b.size()), &p).code,
            Code::corrupt)
      << "alignment";
}

// Whatever passes names memory inside the payload only (the sanitizers look on).
TEST(NeutronPayload, NoByteLeadsOutside) {
  const std::vector<uint8_t> whole = make_payload(good());
  int passed = 0;
  const auto touch = [&](const std::vector<uint8_t>& b) {
    const Read r(b);
    if (!r.status.ok()) return;
    ++passed;
    volatile uint8_t sum = 0;
    const auto all = [&](const uint8_t* at, uint32_t count) {
      for (uint32_t i = 0; i < count; ++i) sum = static_cast<uint8_t>(sum + at[i]);
    };
    all(r.p.microcode, r.p.microcode_bytes), all(r.p.weights, r.p.weights_bytes),
        all(r.p.kernels, r.p.kernels_bytes);
    for (int i = 0; r.p.is_open_model && i < r.p.inputs + r.p.outputs; ++i)
      sum = static_cast<uint8_t>(r.p.bytes_of_port(i));
    for (int i = 0; i < r.p.inputs; ++i) EXPECT_LT(r.p.input_map[i], r.p.arguments);
  };
  for (size_t n = 0; n <= whole.size(); ++n)
    touch({whole.begin(), whole.begin() + static_cast<long>(n)});
  for (size_t at = 0; at < whole.size(); ++at)
    for (int value = 0; value < 256; ++value) {
      std::vector<uint8_t> b = whole;
      b[at] = static_cast<uint8_t>(value);
      touch(b);
    }
  EXPECT_GT(passed, 1000);
}

}  // namespace
}  // namespace deuteron
