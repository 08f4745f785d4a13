// SPDX-License-Identifier: Apache-2.0
#include "explain/inspect/stock_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/tflite/tflite_generated.h"

namespace deuteron {
namespace {

using testing::ElementsAre;

PteTensor at(i64 value, i64 offset, i64 bytes) {
  PteTensor t;
  t.value = value, t.type = ScalarType::s8, t.sizes = {bytes}, t.offset = offset, t.bytes = bytes;
  return t;
}

// Name, operands and results of each operator.
std::vector<std::string> lines_of(const std::vector<u8>& view) {
  flatbuffers::Verifier verifier(view.data(), view.size());
  EXPECT_TRUE(tflite::VerifyModelBuffer(verifier));
  const tflite::Model* model = tflite::GetModel(view.data());
  std::vector<std::string> lines;
  for (const tflite::Operator* op : *model->subgraphs()->Get(0)->operators()) {
    std::string line = model->operator_codes()->Get(op->opcode_index())->custom_code()->str();
    for (const auto* list : {op->inputs(), op->outputs()}) {
      line += list == op->outputs() ? " ->" : "";
      for (const i32 tensor : *list)
        line += " " + model->subgraphs()
                          ->Get(0)
                          ->tensors()
                          ->Get(static_cast<uint32_t>(tensor))
                          ->name()
                          ->str();
    }
    lines.push_back(line);
  }
  return lines;
}

TEST(StockView, HasAnEdgeFromEachWriteToItsReaders) {
  PteSummary s;
  s.inputs = {at(0, 0, 16)};
  PteTensor weights = at(9, 4, 4);
  weights.constant = true;
  s.calls = {
      {"one.out", {}, {at(0, 0, 16), weights}, {at(1, 16, 16)}},
      {"two.mve_4x16", {}, {at(1, 16, 16)}, {at(2, 32, 16)}},
      {"both", {}, {at(3, 16, 32)}, {at(4, 0, 8)}},  // what the first two wrote, as one
      {"late", {}, {at(0, 0, 16), at(3, 16, 32)}, {at(5, 48, 16)}},  // half of the input is gone
      {"kept", {}, {at(6, 80, 16)}, {at(6, 80, 16)}},                // a state
  };
  s.outputs = {at(5, 48, 16)};
  const std::vector<std::byte> file(16);
  EXPECT_THAT(lines_of(stock_view(s, {file.data(), file.size()})),
              ElementsAre("one input0 constant9 -> value1.0", "two value1.0 -> value2.1",
                          "view value1.0 value2.1 -> value3", "both value3 -> value4.2",
                          "view input0 value4.2 -> value0", "late value0 value3 -> value5.3",
                          "kept state6 -> value6.4"));
}

}  // namespace
}  // namespace deuteron
