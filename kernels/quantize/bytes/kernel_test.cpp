// SPDX-License-Identifier: Apache-2.0
// deuteron::quantize_bytes and its binding against its formula: every byte, tables for one channel
// and for several, in both orders of axes; and what prepare() refuses.
#include "kernels/quantize/bytes/kernel.h"

#include "kernels/common/kernel_test.h"
#include "kernels/common/kernels.h"
#include "kernels/common/test_spoiled_calls.h"

namespace deuteron {
namespace quantize_bytes_test {

enum { kX, kTable, kRun, kOut };

struct Case {
  const char* name;
  std::vector<int32_t> sizes;
  std::vector<uint8_t> order;
  int32_t channels, run;
};

// The bytes go up and round, so that each is met; tables are random.
TestCall call_of(const Case& k, Random& random) {
  TestCall call(kQuantizeBytes);
  Tensor& x = call.tensor(ScalarType::u8, k.sizes, k.order);
  for (int32_t i = 0; i < x.numel; ++i) data_of<uint8_t>(x)[i] = static_cast<uint8_t>(3 * i + 1);
  if (k.channels == 0) call.none();
  else random.fill(call.tensor(ScalarType::s8, {k.channels, kByteValues}));
  call.integer(k.run);
  call.tensor(ScalarType::s8, k.sizes, k.order);
  return call;
}

std::vector<int8_t> expected_of(const Case& k, TestCall& call) {
  std::vector<int8_t> y;
  const Tensor& x = call.tensor_at(kX);
  for (int32_t i = 0; i < x.numel; ++i) {
    const uint8_t byte = data_of<uint8_t>(x)[i];
    if (k.channels == 0) y.push_back(static_cast<int8_t>(int{byte} - 128));
    else y.push_back(data_of<int8_t>(call.tensor_at(kTable))[i / k.run % k.channels * 256 + byte]);
  }
  return y;
}

TEST(QuantizeBytesKernel, EqualsItsFormula) {
  KernelCases cases;
  Random random(1);
  for (const Case& k :
       {Case{"every byte, no table", {256}, {}, 0, 256},
        Case{"a rest behind the last word", {7, 37}, {}, 0, 259},
        Case{"fewer than a word", {3}, {}, 0, 3}, Case{"one table", {2, 5, 33}, {}, 1, 330},
        Case{"three channels, channels-last", {1, 3, 11, 13}, {0, 2, 3, 1}, 3, 1},
        Case{"three channels, dense", {2, 3, 11, 13}, {}, 3, 143},
        Case{"four channels of one pixel", {1, 4, 1, 1}, {}, 4, 1},
        Case{"nothing", {1, 3, 0, 5}, {}, 3, 1}}) {
    TestCall call = call_of(k, random);
    cases.run(k.name, call);
    cases.expect(kOut, expected_of(k, call));
  }
}

TEST(QuantizeBytesKernel, Refuses) {
  const auto make = [] {
    Random random(2);
    return call_of({"", {1, 3, 4, 5}, {0, 2, 3, 1}, 3, 1}, random);
  };
  expect_refusals(make,
                  {
                      {kX, "must be uint8", type(kX, ScalarType::s8)},
                      {kOut, "must be int8", type(kOut, ScalarType::u8)},
                      {kOut, "must have the sizes and the order of the input", size(kOut, 1, 2)},
                      {kRun, "is out of range", number(kRun, 0)},
                      {kRun, "is out of range", number(kRun, int64_t{1} << 31)},
                      {kRun, "must divide the input by channels", number(kRun, 7)},
                      {kTable, "must be int8", type(kTable, ScalarType::u8)},
                      {kTable, "has the wrong rank", rank(kTable, 1)},
                      {kTable, "must have 256 entries for each channel", size(kTable, 1, 255)},
                      {kTable, "must have 256 entries for each channel", size(kTable, 0, 0)},
                  });
}

}  // namespace quantize_bytes_test
}  // namespace deuteron
