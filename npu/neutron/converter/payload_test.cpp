// SPDX-License-Identifier: Apache-2.0
// Payloads and converted models, right and damaged.
#include "npu/neutron/converter/payload.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "base/test_diagnostics.h"
#include "base/tflite/writer.h"
#include "npu/neutron/converter/converter.h"
#include "npu/neutron/converter/extract.h"
#include "npu/neutron/delegate/payload.h"
#include "npu/neutron/machine/microcode.h"

namespace deuteron::neutron {
namespace {

using B = tflite::BuiltinOperator;
using testing::ElementsAre;
using testing::HasSubstr;

void set_word(std::vector<u8>& microcode, size_t i, uint32_t v) {
  std::memcpy(microcode.data() + i * 4, &v, 4);
}

// Sections as a converter makes them: 20 words of microcode, 40 bytes of weights.
Sections sections(u8 version, uint32_t inputs, uint32_t outputs) {
  Sections s;
  s.microcode.resize(80);
  s.weights.assign(40, 7);
  set_word(s.microcode, 0, 0x64434D6E);
  set_word(s.microcode, 6, 80);
  set_word(s.microcode, 7, 40);
  set_word(s.microcode, 9, 96);
  if (version == 0) set_word(s.microcode, 11, inputs), set_word(s.microcode, 12, outputs);
  else
    set_word(s.microcode, 10, 0x80000000u | 32), set_word(s.microcode, 13, inputs),
        set_word(s.microcode, 14, outputs);
  return s;
}
PayloadHeader header(u8 version) {
  PayloadHeader h;
  h.input_flags = {0, 1}, h.output_flags = {1}, h.input_map = {2, 0}, h.output_map = {0},
  h.arguments = 3, h.version = version;
  return h;
}

TEST(NeutronPayload, BytesAreThoseOfTheStockRuntime) {
  Diagnostics d;
  const auto bytes = make_payload(header(0), sections(0, 2, 1), "p", d);
  ASSERT_TRUE(bytes);
  // Counts, flags, maps, version; then zeros up to 16.
  EXPECT_THAT(std::vector<u8>(bytes->begin(), bytes->begin() + 16),
              ElementsAre(2, 1, 3, 0, 1, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0));
  EXPECT_EQ(bytes->size(), 16u + 80 + 48);
  EXPECT_EQ((*bytes)[16], 0x6E);
  EXPECT_EQ((*bytes)[16 + 80], 7);
}

// By the reader of the runtime, which is the host's too.
struct Read {
  NeutronPayload p;
  Status status;
  explicit Read(const std::vector<u8>& bytes) {
    status = read_payload(bytes.data(), static_cast<uint32_t>(bytes.size()), &p);
  }
};

TEST(NeutronPayload, IsReadAsItWasWritten) {
  for (const u8 version : {u8{0}, u8{1}}) {
    Diagnostics d;
    const auto bytes = make_payload(header(version), sections(version, 2, 1), "p", d);
    ASSERT_TRUE(bytes);
    const auto [p, status] = Read(*bytes);
    ASSERT_TRUE(status.ok()) << status.detail;
    const auto list = [](const u8* from, i32 n) { return std::vector<u8>(from, from + n); };
    const PayloadHeader h = header(version);
    EXPECT_EQ(list(p.input_flags, p.inputs), h.input_flags);
    EXPECT_EQ(list(p.output_flags, p.outputs), h.output_flags);
    EXPECT_EQ(list(p.input_map, p.inputs), h.input_map);
    EXPECT_EQ(list(p.output_map, p.outputs), h.output_map);
    EXPECT_EQ(p.arguments, h.arguments);
    EXPECT_EQ(p.version, version);
    EXPECT_EQ(list(p.microcode, static_cast<i32>(p.microcode_bytes)),
              sections(version, 2, 1).microcode);
    EXPECT_EQ(list(p.weights, static_cast<i32>(p.weights_bytes)), std::vector<u8>(40, 7));
    EXPECT_EQ(p.kernels_bytes, 0u);
    EXPECT_EQ(p.scratch_bytes, 96u);
    EXPECT_EQ(p.profile_bytes, version ? 32u : 0u);  // without the top bit
  }
}

TEST(NeutronPayload, EveryCutIsRefusedAndNoChangedByteLeadsOutside) {
  Diagnostics d;
  const auto bytes = *make_payload(header(1), sections(1, 2, 1), "p", d);
  const size_t end = bytes.size() - 8;  // 40 bytes of weights are padded
  for (size_t n = 0; n < end; ++n)
    EXPECT_FALSE(Read({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(n)}).status.ok())
        << n;
  for (size_t i = 0; i < bytes.size(); ++i)
    for (const u8 v : {u8{1}, u8{0x80}, u8{0xFF}}) {
      auto changed = bytes;
      changed[i] ^= v;
      const auto [p, status] = Read(changed);
      if (!status.ok()) continue;
      EXPECT_LE(p.microcode + p.microcode_bytes, changed.data() + changed.size()) << i;
      EXPECT_LE(p.weights + p.weights_bytes, changed.data() + changed.size()) << i;
      EXPECT_LE(p.kernels + p.kernels_bytes, changed.data() + changed.size()) << i;
    }
}

TEST(NeutronPayload, NamesWhatIsWrong) {
  Diagnostics d;
  const auto good = *make_payload(header(0), sections(0, 2, 1), "p", d);
  const auto detail_of = [&](size_t at, u8 value) {
    auto bytes = good;
    bytes[at] = value;
    const char* detail = Read(bytes).status.detail;
    return std::string(detail ? detail : "");
  };
  EXPECT_THAT(detail_of(3, 2), HasSubstr("flag"));
  EXPECT_THAT(detail_of(6, 3), HasSubstr("input map names an argument that does not exist"));
  EXPECT_THAT(detail_of(9, 2), HasSubstr("version"));
  EXPECT_THAT(detail_of(9, 1), HasSubstr("number of inputs"));
  EXPECT_THAT(detail_of(16, 0), HasSubstr("magic"));
  EXPECT_THAT(detail_of(16 + 24 + 3, 0x7F), HasSubstr("ends within the microcode"));
  EXPECT_THAT(detail_of(16 + 28 + 3, 0x7F), HasSubstr("ends within the weights"));
  EXPECT_THAT(detail_of(16 + 44, 3), HasSubstr("number of inputs"));
  EXPECT_THAT(detail_of(16 + 48, 2), HasSubstr("number of outputs"));
}

// Each by the rule of its own; the last by the runtime's reader.
TEST(NeutronPayload, WhatCannotBeReadIsNotWritten) {
  const auto refused_as = [](const PayloadHeader& h, const Sections& s) {
    Diagnostics d;
    EXPECT_FALSE(make_payload(h, s, "p", d));
    return rules_of(d);
  };
  PayloadHeader h = header(0);
  h.input_map = {2, 3};  // an argument that does not exist
  EXPECT_THAT(refused_as(h, sections(0, 2, 1)), ElementsAre("neutron.payload.map"));
  h.input_map = {2, 2};
  EXPECT_THAT(refused_as(h, sections(0, 2, 1)), ElementsAre("neutron.payload.map"));
  h = header(0);
  h.version = 2;
  EXPECT_THAT(refused_as(h, sections(0, 2, 1)), ElementsAre("neutron.payload.version"));
  EXPECT_THAT(refused_as(header(0), sections(0, 3, 1)), ElementsAre("neutron.microcode.inputs"));
  EXPECT_THAT(refused_as(header(0), sections(0, 2, 2)), ElementsAre("neutron.microcode.outputs"));
  Sections s = sections(0, 2, 1);
  s.microcode[0] = 0;
  EXPECT_THAT(refused_as(header(0), s), ElementsAre("neutron.microcode.magic"));
  h = header(0);
  h.input_flags = {0, 2};
  EXPECT_THAT(refused_as(h, sections(0, 2, 1)), ElementsAre("neutron.payload.refused"));
}

TEST(NeutronPayload, CountsAreBytes) {
  PayloadHeader h;
  h.input_flags.assign(256, 0), h.input_map.assign(256, 0);
  Diagnostics d;
  EXPECT_FALSE(make_payload(h, sections(0, 256, 0), "p", d));
  EXPECT_THAT(rules_of(d), ElementsAre("neutron.payload.count"));
}

TEST(NeutronPayload, SectionsThatDisagreeWithTheirMicrocode) {
  auto s = sections(0, 2, 1);
  s.weights.resize(24);
  Diagnostics d;
  EXPECT_FALSE(make_payload(header(0), s, "p", d));
  EXPECT_THAT(rules_of(d), ElementsAre("neutron.weights.bytes"));
  s = sections(0, 2, 1);
  s.microcode.resize(120);
  Diagnostics e;
  EXPECT_FALSE(make_payload(header(0), s, "p", e));
  EXPECT_THAT(rules_of(e), ElementsAre("neutron.microcode.bytes"));
}

// A converted model as the vendor's converter writes it, with a fault.
struct Faults {
  u8 version = 0;
  B code = B::CUSTOM;
  std::string custom = "NeutronGraph";
  int graphs = 1, results = 1, kernels_type = 0;
  bool leftover = false, wrong_magic = false, input_from_elsewhere = false;
  i64 scratch = 96;
};
std::vector<u8> converted_model(const Faults& f) {
  tflite::Writer w;
  w.name_custom(f.custom);
  const i32 x = w.tensor({1, 2, 3, 4}, 0.1f, 0), unused = w.tensor({3}, 0.1f, 0),
            other = w.tensor({2, 2}, 0.1f, 0), y = w.tensor({5}, 0.1f, 0);
  Sections s = sections(f.version, 2, 1);
  if (f.wrong_magic) s.microcode[0] = 0;
  const auto section = [&](const std::vector<u8>& bytes, tflite::TensorType type) {
    return w.add({static_cast<i64>(bytes.size())}, type, {}, 0, 0,
                 bytes.empty() ? 0 : w.buffer(bytes.data(), bytes.size()), "section");
  };
  const i32 m = section(s.microcode, tflite::TensorType::UINT8),
            g = section(s.weights, tflite::TensorType::UINT8);
  const i32 k = section({}, f.kernels_type ? tflite::TensorType::INT8 : tflite::TensorType::UINT8);
  const i32 scratch = w.add({f.scratch}, tflite::TensorType::UINT8, {}, 0, 0, 0, "scratch");
  std::vector<i32> results{y, scratch};
  for (int i = 1; i < f.results; ++i)
    results.push_back(w.add({16}, tflite::TensorType::UINT8, {}, 0, 0, 0, "more"));
  for (int i = 0; i < f.graphs; ++i)
    w.op(f.code, {f.input_from_elsewhere ? y : other, x, m, g, k}, results);
  if (f.leftover) w.op(B::TANH, {x}, w.tensor({1, 2, 3, 4}, 0.1f, 0));
  return w.finish({x, unused, other}, {y});
}

TEST(NeutronExtract, SectionsAndMaps) {
  for (const u8 version : {u8{0}, u8{1}}) {
    Faults f;
    f.version = version;
    f.results = version ? 3 : 1;
    Diagnostics d;
    const auto e = extract(converted_model(f), "test", d);
    ASSERT_TRUE(e) << format_diagnostic(d.list().at(0));
    EXPECT_EQ(e->version, version);
    EXPECT_THAT(e->input_map, ElementsAre(2, 0));
    EXPECT_THAT(e->output_map, ElementsAre(0));
    EXPECT_EQ(e->model_inputs, 3);
    EXPECT_EQ(e->sections.weights.size(), 40u);
    EXPECT_TRUE(e->sections.kernels.empty());
  }
}

TEST(NeutronExtract, NamesTheFault) {
  const auto rule_of = [](auto change) {
    Faults f;
    change(f);
    Diagnostics d;
    EXPECT_FALSE(extract(converted_model(f), "test", d));
    return d.list().empty() ? "" : d.list()[0].rule;
  };
  EXPECT_EQ(rule_of([](Faults& f) { f.graphs = 0; }), "neutron.extract.none");
  EXPECT_EQ(rule_of([](Faults& f) { f.custom = "SomethingElse"; }), "neutron.extract.none");
  EXPECT_EQ(rule_of([](Faults& f) { f.code = B::ADD; }), "neutron.extract.none");
  EXPECT_EQ(rule_of([](Faults& f) { f.graphs = 2; }), "neutron.extract.several");
  EXPECT_EQ(rule_of([](Faults& f) { f.leftover = true; }), "neutron.extract.leftovers");
  EXPECT_EQ(rule_of([](Faults& f) { f.results = 2; }), "neutron.extract.results");
  EXPECT_EQ(rule_of([](Faults& f) { f.wrong_magic = true; }), "neutron.microcode.magic");
  EXPECT_EQ(rule_of([](Faults& f) { f.kernels_type = 1; }), "neutron.extract.section");
  EXPECT_EQ(rule_of([](Faults& f) { f.input_from_elsewhere = true; }), "neutron.extract.map");
  EXPECT_EQ(rule_of([](Faults& f) { f.scratch = 32; }), "neutron.extract.scratch");
  EXPECT_EQ(rule_of([](Faults& f) { f.version = 1; }),
            "neutron.microcode.inputs");  // read as version 0: two results
}

TEST(NeutronExtract, DamagedModelsAreRefusedOrRead) {
  const auto model = converted_model({});
  for (size_t i = 0; i < model.size(); ++i)
    for (const u8 v : {u8{1}, u8{0x80}, u8{0xFF}}) {
      auto bytes = model;
      bytes[i] ^= v;
      Diagnostics d;
      const bool read = extract(bytes, "test", d).has_value();
      EXPECT_NE(read, d.has_errors());
    }
}

}  // namespace
}  // namespace deuteron::neutron
