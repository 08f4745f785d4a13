// SPDX-License-Identifier: Apache-2.0
// resize2d_bytes and its binding against the contract, bit for bit; and refusals.
#include "kernels/resize2d/bytes/kernel.h"

#include <cmath>
#include <cstring>

#include "kernels/common/kernel_test.h"
#include "kernels/common/kernels.h"

namespace deuteron {
namespace resize2d_bytes_test {

int32_t bits_of(float v) {
  int32_t bits = 0;
  std::memcpy(&bits, &v, sizeof bits);
  return bits;
}
float number_of(int32_t bits) {
  float v = 0;
  std::memcpy(&v, &bits, sizeof v);
  return v;
}

// Any positions: both ends of the axis, before the first element and behind the last one.
void add_places(TestCall& call, int32_t in, int32_t out, Random& random) {
  Tensor& t = call.tensor(ScalarType::s32, {out, 2});
  auto* entry = static_cast<int32_t*>(t.data);
  for (int32_t k = 0; k < out; ++k) {
    *entry++ = k == 0 ? 0 : k == 1 ? in - 1 : random.in(0, in - 1);
    *entry++ = bits_of(k == 0 ? -0.25f : static_cast<float>(random.in(0, 999)) / 999);
  }
  t.constant = true;
}

TestCall call_of(const Resize2dArgs& a, Random& random) {
  TestCall call(kResize2dBytes);
  random.fill(call.image(a.n, a.in_h, a.in_w, a.channels));
  add_places(call, a.in_h, a.out_h, random);
  add_places(call, a.in_w, a.out_w, random);
  call.image(a.n, a.out_h, a.out_w, a.channels);
  return call;
}

std::vector<int8_t> expected_of(const Resize2dArgs& a, const int8_t* x, const int32_t* rows,
                                const int32_t* columns) {
  std::vector<int8_t> y;
  for (int64_t n = 0; n < a.n; ++n)
    for (int64_t oh = 0; oh < a.out_h; ++oh)
      for (int64_t ow = 0; ow < a.out_w; ++ow)
        for (int64_t c = 0; c < a.channels; ++c) {
          const int64_t r = rows[2 * oh], s = columns[2 * ow];
          const float h = number_of(rows[2 * oh + 1]), w = number_of(columns[2 * ow + 1]);
          const int64_t below = r == a.in_h - 1 || h < 0 ? r : r + 1,
                        right = s == a.in_w - 1 || w < 0 ? s : s + 1;
          const auto p = [&](int64_t row, int64_t column) {
            return static_cast<float>(x[((n * a.in_h + row) * a.in_w + column) * a.channels + c] +
                                      128);
          };
          const float sum = p(r, s) * (1 - h) * (1 - w) + p(below, s) * h * (1 - w) +
                            p(r, right) * (1 - h) * w + p(below, right) * h * w;
          y.push_back(static_cast<int8_t>(std::trunc(sum + 0.5f) - 128));
        }
  return y;
}

const Resize2dArgs kTable[] = {{1, 5, 3, 7, 10, 6},
                               {2, 3, 4, 1, 7, 9},
                               {1, 1, 1, 5, 4, 3},
                               {3, 2, 5, 3, 3, 11},
                               {1, 11, 13, 33, 9, 12}};

TEST(Resize2dBytesKernel, EqualsItsContract) {
  KernelCases cases;
  uint32_t seed = 1;
  for (const Resize2dArgs& a : kTable) {
    Random random(seed++);
    TestCall call = call_of(a, random);
    const std::vector<int8_t> expected =
        expected_of(a, data_of<int8_t>(call.tensor_at(0)), data_of<int32_t>(call.tensor_at(1)),
                    data_of<int32_t>(call.tensor_at(2)));
    cases.run(std::to_string(a.in_h) + " to " + std::to_string(a.out_h), call);
    cases.expect(3, expected);
  }
}

// Bytes of -1 and 0 are 127 and 128: 127.5 goes up, as no int8 of -0.5 does.
TEST(Resize2dBytesKernel, RoundsHalvesOfBytesUp) {
  const int8_t x[] = {-1, 0};
  const int32_t row[] = {0, 0},
                columns[] = {0, bits_of(0.5f), 1, bits_of(0.25f), 0, bits_of(-0.25f)};
  int8_t y[3];
  resize2d_bytes({1, 1, 2, 1, 1, 3}, x, row, columns, y);
  EXPECT_EQ(y[0], 0);
  EXPECT_EQ(y[1], 0);
  EXPECT_EQ(y[2], -1);
}

TEST(Resize2dBytesKernel, Refuses) {
  const auto make = [] {
    Random random(7);
    return call_of(kTable[0], random);
  };
  const auto entry = [](int table, int32_t k, int32_t value) {
    return [=](TestCall& c) { static_cast<int32_t*>(c.tensor_at(table).data)[k] = value; };
  };
  expect_refusals(
      make,
      {
          {0, "must be int8", type(0, ScalarType::s16)},
          {3, "must be stored channels-last", order(3, {0, 1, 2, 3})},
          {1, "must have a position and a weight for each element along the axis", size(1, 0, 9)},
          {1, "has a position outside the axis", entry(1, 0, 5)},
          {2, "has a position outside the axis", entry(2, 2, -1)},
          {1, "has a weight out of range", entry(1, 1, bits_of(1.5f))},
          {2, "has a weight out of range", entry(2, 1, bits_of(NAN))},
          {2, "must be a constant", [](TestCall& c) { c.tensor_at(2).constant = false; }},
      });
}

TEST(Resize2dBytesKernel, StaysInsideItsTensors) {
  expect_inside(kResize2dBytes, "x8:1,2,40,40:0231 x32pc:6,2 x32pc:5,2 x8:1,2,6,5:0231");
}

}  // namespace resize2d_bytes_test
}  // namespace deuteron
