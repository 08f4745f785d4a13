// SPDX-License-Identifier: Apache-2.0
// What the binding of the packed transposed convolution refuses, and that it stays inside its
// tensors. Its results are compared where weights are packed (ops/conv_transpose2d) and on the
// boards (tests/board_kernels).
#include "kernels/conv_transpose2d/packed/kernel.h"

#include "kernels/common/kernel_test.h"
#include "kernels/common/kernels.h"
#include "kernels/common/test_spoiled_calls.h"

namespace deuteron {
namespace packed_conv_transpose2d_test {

// x [2,4,3,5], a window of 3x2 with strides of 2 and 1: two phases.
constexpr PackedConvTranspose2dArgs kArgs{2, 3, 5, 4, 5, 6, 7, 3, 2, 2, 1, 1, 0, -12, 11};
// So many channels that the stack has no room for its windows.
constexpr PackedConvTranspose2dArgs kWide{2, 3, 5, 600, 5, 6, 7, 3, 2, 2, 1, 1, 0, -12, 11};

std::string sized(const char* word, int64_t count) { return word + std::to_string(count); }

TEST(PackedConvTranspose2dKernel, Refuses) {
  for (const Packing p : {Packing::mve_4x16, Packing::dsp_4x4}) {
    const Kernel& kernel =
        p == Packing::mve_4x16 ? kPackedConvTranspose2dMve4x16 : kPackedConvTranspose2dDsp4x4;
    const auto bytes = static_cast<int32_t>(packed_conv_transpose2d_bytes(kWide, p));
    const auto make = [&] {
      Random random(5);
      TestCall call(kernel);
      random.fill(call.image(2, 3, 5, 600));
      random.fill(call.tensor(ScalarType::s8, {bytes}));
      for (const std::vector<int64_t>& pair : {std::vector<int64_t>{3, 2}, {2, 1}, {1, 0}})
        call.integers(pair);
      call.integer(-12);
      call.integer(11);
      call.tensor(ScalarType::u8,
                  {static_cast<int32_t>(packed_conv_transpose2d_scratch_bytes(kWide, p))});
      call.image(2, 5, 6, 7);
      return call;
    };
    expect_refusals(make,
                    {
                        {0, "must be stored channels-last", order(0, {0, 1, 2, 3})},
                        {1, "must have the bytes that its packing takes", elements(1, bytes - 1)},
                        {1, "must have the bytes that its packing takes", elements(1, bytes + 16)},
                        {1, "must be 4-aligned", misaligned(1, 2)},
                        {2, "must have two numbers", items(2, 1)},
                        {3, "is out of range", item(3, 0, 0)},
                        {4, "is out of range", item(4, 1, -1)},
                        {5, "must be -128..127", number(5, 128)},
                        {6, "must be -128..127", number(6, -129)},
                        {7, "must be uint8", type(7, ScalarType::s8)},
                        {7, "must hold the windows", elements(7, 0)},
                        {7, "must be 4-aligned", misaligned(7, 2)},
                        {8, "must have the batch of the input", size(8, 0, 1)},
                    });
  }
}

// The elements of a filter come to 2^64, and those of a phase too: a product of 64 bits is 0.
TEST(PackedConvTranspose2dKernel, RefusesFiltersThatNoProductHolds) {
  constexpr PackedConvTranspose2dArgs kFits{1, 3, 3, 64, 2, 2, 4, 2, 2, 1, 1, 1, 1, 0, 0};
  for (const Packing p : {Packing::mve_4x16, Packing::dsp_4x4}) {
    const auto make = [&] {
      TestCall call(p == Packing::mve_4x16 ? kPackedConvTranspose2dMve4x16
                                           : kPackedConvTranspose2dDsp4x4);
      call.image(1, 3, 3, 64);
      call.tensor(ScalarType::s8, {static_cast<int32_t>(packed_conv_transpose2d_bytes(kFits, p))});
      for (const std::vector<int64_t>& pair : {std::vector<int64_t>{2, 2}, {1, 1}, {1, 1}})
        call.integers(pair);
      call.integer(0);
      call.integer(0);
      call.tensor(ScalarType::u8,
                  {static_cast<int32_t>(packed_conv_transpose2d_scratch_bytes(kFits, p))});
      call.image(1, 2, 2, 4);
      return call;
    };
    const auto huge = [](TestCall& c) { item(2, 0, 1 << 29)(c), item(2, 1, 1 << 29)(c); };
    expect_refusals(make, {{1, "has filters of more than 2^20 elements", huge}});
  }
}

TEST(PackedConvTranspose2dKernel, StaysInsideItsTensorsWhateverTheArguments) {
  for (const Packing p : {Packing::mve_4x16, Packing::dsp_4x4}) {
    const std::string call =
        "x8:2,4,3,5:0231 " + sized("x8c:", packed_conv_transpose2d_bytes(kArgs, p)) +
        " l:3,2 l:2,1 l:1,0 i:-12 i:11 " +
        sized("xu:", packed_conv_transpose2d_scratch_bytes(kArgs, p)) + " x8:2,7,5,6:0231";
    expect_inside(
        p == Packing::mve_4x16 ? kPackedConvTranspose2dMve4x16 : kPackedConvTranspose2dDsp4x4,
        call.c_str());
  }
}

}  // namespace packed_conv_transpose2d_test
}  // namespace deuteron
