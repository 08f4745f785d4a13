// SPDX-License-Identifier: Apache-2.0
// Programs whose constants lie in a data file: made whole, and whatever is damaged refused.
#include "write/pte/data_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "explain/inspect/pte.h"
#include "write/pte/data_file_generated.h"
#include "write/pte/program_generated.h"
#include "write/pte/segments.h"

namespace deuteron {
namespace {

using Bytes = std::vector<uint8_t>;
using testing::HasSubstr;

std::span<const std::byte> as_bytes(const Bytes& bytes) { return std::as_bytes(std::span(bytes)); }

Bytes finished(const flatbuffers::FlatBufferBuilder& builder) {
  return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

// A program that gives one constant, `w` of four bytes, from a data file, beside one of its own.
Bytes split_program() {
  flatbuffers::FlatBufferBuilder b;
  const auto sizes = b.CreateVector(std::vector<int32_t>{1, 4});
  const auto order = b.CreateVector(Bytes{0, 1});
  const auto extra = pte::CreateExtraTensorInfo(b, 0, b.CreateString("w"), 1);
  const auto elsewhere = pte::CreateTensor(b, 1, 0, sizes, order, false, 0, 0, 0, 0, extra);
  const auto own = pte::CreateTensor(b, 1, 0, sizes, order, false, 1);
  const std::vector<flatbuffers::Offset<pte::EValue>> values = {
      pte::CreateEValue(b, pte::ValueUnion::Tensor, elsewhere.Union()),
      pte::CreateEValue(b, pte::ValueUnion::Tensor, own.Union())};
  const auto none = b.CreateVector(std::vector<int32_t>{});
  const auto chain = pte::CreateChain(
      b, none, none, b.CreateVector(std::vector<flatbuffers::Offset<pte::Instruction>>{}));
  const auto plan = pte::CreateExecutionPlan(
      b, b.CreateString("forward"), 0, b.CreateVector(values), none,
      b.CreateVector(std::vector<int32_t>{0, 1}), b.CreateVector(&chain, 1),
      b.CreateVector(std::vector<flatbuffers::Offset<pte::Operator>>{}),
      b.CreateVector(std::vector<flatbuffers::Offset<pte::BackendDelegate>>{}),
      b.CreateVector(std::vector<int64_t>{0}));
  const auto segment = pte::CreateDataSegment(b, 0, 4);
  const auto constants =
      pte::CreateSubsegmentOffsets(b, 0, b.CreateVector(std::vector<uint64_t>{0, 0}));
  const auto plans = b.CreateVector(&plan, 1);
  const auto segments = b.CreateVector(&segment, 1);
  b.Finish(pte::CreateProgram(b, 0, plans, 0, 0, segments, constants), pte::ProgramIdentifier());
  Bytes file = finished(b);
  const size_t base = make_room(file, 4);
  std::memcpy(file.data() + base, "own.", 4);
  return file;
}

Bytes data_file_of(const std::string& name = "w", const std::string& content = "data") {
  flatbuffers::FlatBufferBuilder b;
  const auto segment = ptd::CreateDataSegment(b, 0, content.size());
  const auto named = ptd::CreateNamedData(b, b.CreateString(name), 0);
  const auto segments = b.CreateVector(&segment, 1);
  b.Finish(ptd::CreateDataFile(b, 0, segments, b.CreateVector(&named, 1)),
           ptd::DataFileIdentifier());
  Bytes file = finished(b);
  file.insert(file.begin() + 8, 48, 0);
  file[0] = static_cast<uint8_t>(file[0] + 48);
  std::memcpy(file.data() + 8, "FH01", 4);
  const uint64_t base = file.size();
  std::memcpy(file.data() + 32, &base, sizeof base);
  file.insert(file.end(), content.begin(), content.end());
  return file;
}

// What is said, or the bytes of the constants.
std::string made(const Bytes& program, const std::vector<Bytes>& data) {
  std::vector<DataFile> files;
  for (const Bytes& bytes : data) files.push_back({"d.ptd", as_bytes(bytes)});
  Diagnostics diagnostics;
  const auto whole = with_data(as_bytes(program), "p.pte", files, diagnostics);
  EXPECT_EQ(whole.has_value(), !diagnostics.has_errors());
  if (!whole) return format_diagnostic(diagnostics.list()[0]);
  EXPECT_EQ(tensors_elsewhere(as_bytes(*whole)), 0);
  Status status;
  const auto read = summarize_pte({whole->data(), whole->size()}, &status);
  if (!read) return status.detail;
  std::string text;
  for (const PteTensor& t : read->outputs)
    text.append(reinterpret_cast<const char*>(whole->data()) + t.offset,
                static_cast<size_t>(t.bytes));
  return text;
}

TEST(DataFiles, ConstantsComeFromThem) {
  EXPECT_EQ(tensors_elsewhere(as_bytes(split_program())), 1);
  EXPECT_EQ(made(split_program(), {data_file_of()}), "dataown.");
  EXPECT_EQ(made(split_program(), {data_file_of("v", "x"), data_file_of(), data_file_of()}),
            "dataown.");
}

TEST(DataFiles, WhatDoesNotFitIsNamed) {
  EXPECT_THAT(made(split_program(), {}), HasSubstr("no data file beside it has: `w`"));
  EXPECT_THAT(made(split_program(), {data_file_of("v")}),
              HasSubstr("no data file beside it has: `w`"));
  EXPECT_THAT(made(split_program(), {data_file_of("w", "datum")}),
              HasSubstr("5 bytes, limit 4 bytes"));
  EXPECT_THAT(made(split_program(), {data_file_of(), data_file_of("w", "atad")}),
              HasSubstr("other data"));
  EXPECT_THAT(made(split_program(), {split_program()}),
              HasSubstr("is not a data file of ExecuTorch"));
  Bytes cut = data_file_of();
  cut.pop_back();
  EXPECT_THAT(made(split_program(), {cut}), HasSubstr("ends before the data of `w`"));
}

TEST(DataFiles, DamageIsRefusedOrHarmless) {
  const auto spoil = [](const Bytes& good, const auto& use) {
    for (size_t at = 0; at < good.size(); ++at)
      for (const int by : {0x01, 0x10, 0x80, 0xff}) {
        Bytes spoiled = good;
        spoiled[at] = static_cast<uint8_t>(spoiled[at] ^ by);
        use(spoiled);
      }
  };
  spoil(split_program(), [](const Bytes& spoiled) {
    if (tensors_elsewhere(as_bytes(spoiled)) > 0) made(spoiled, {data_file_of()});
  });
  spoil(data_file_of(), [](const Bytes& spoiled) { made(split_program(), {spoiled}); });
}

}  // namespace
}  // namespace deuteron
