// SPDX-License-Identifier: Apache-2.0
// The kernels of the dialect: each keeps to its tensors whatever its arguments
// (test_spoiled_calls.h), and has the dialect's name. Our own kernels (ops/operators.inc) have the
// same test in their folders.
#include "kernels/common/kernels.h"

#include "kernels/common/test_spoiled_calls.h"

namespace deuteron {
namespace {

struct Template {
  const Kernel* kernel;
  const char* arguments;
};
const Template kTemplates[] = {
    {&kQuantizePerTensor, "xf:2,3,4,5:0231 f:0.05 i:3 i:-128 i:127 i:1 x8:2,3,4,5:0231"},
    {&kQuantizePerTensor, "xf:7,3 f:0.05 i:300 i:-30000 i:32767 i:2 x16:7,3"},
    {&kDequantizePerTensor, "x8:2,3,4,5:0231 f:0.05 i:3 i:-128 i:127 i:1 xf:2,3,4,5:0231"},
    {&kDequantizePerTensor, "x16:9 f:0.05 i:300 i:-30000 i:32767 i:2 xf:9"},
    {&kQuantizedAdd,
     "x8:2,3,4,5:0231 i:-128 i:1118190138 i:-2 x8:2,3,4,5:0231 i:31 i:1073741824 i:0 i:14 "
     "i:2051533446 i:-19 i:-128 i:127 x8:2,3,4,5:0231"},
    {&kQuantizedAdd,
     "x8:1,3,1,1:0231 i:-128 i:1118190138 i:-2 x8:2,3,4,5:0231 i:31 i:1073741824 i:0 i:14 "
     "i:2051533446 i:-19 i:-128 i:127 x8:2,3,4,5:0231"},
    {&kQuantizedMul,
     "x8:2,3,4,5:0231 i:-49 x8:1,3,1,1:0123 i:-128 i:-115 i:1197340606 i:-6 x8:2,3,4,5:0231"},
    {&kQuantizedMul, "x8:6,5 i:-49 x8:6,5 i:-300 i:-115 i:1197340606 i:-6 x8:6,5"},
    {&kQuantizedDiv, "x8:6,5 i:-49 x8:6,5 i:-12 i:-115 f:1.5 x8:6,5"},
    {&kQuantizedActivation, "x8:2,3,4,5:0231 x8c:256 x8:2,3,4,5:0231"},
    {&kMinimum, "x8:2,3,4,5:0231 x8:3,1,5:012 x8:2,3,4,5:0123"},
    {&kMaximum, "x8:2,3,4,5:0231 x8:2,3,4,5:0231 x8:2,3,4,5:0231"},
    {&kQuantizedLinear,
     "x8:3,2,9 x8c:6,9 x32c:6 n i:-120 i:0 i:-128 l:1231339291 l:-7 i:127 i:-128 x8:3,2,6"},
    {&kQuantizedLinear,
     "x8:4,9 x8c:6,9 n x32c:1,6 i:-120 i:5 i:-128 l:1231339291 l:-7 i:127 i:-128 x8:4,6"},
    {&kSoftmax, "x8:4,9 i:-1 i:5 i:-128 i:1080227072 i:24 i:-124 x8:4,9"},
    {&kSoftmax, "x8:2,5,3,4:0231 i:1 i:5 i:-128 i:1080227072 i:24 i:-124 x8:2,5,3,4:0231"},
    {&kTranspose, "x8:2,3,4,5:0231 l:0,2,3,1 x8:2,4,5,3:0123"},
    {&kTranspose, "x8:3,4,5 l:2,0,1 x8:5,3,4"},
    {&kPad, "x8:2,3,4,5:0231 l:0,1,2,0 l:0,3,1,0 i:84 x8:2,3,8,8:0231"},
    {&kPad, "x8:4,5 l:0,0,1,2 l:0,0,3,1 i:84 x8:8,8"},
    {&kQuantizedConv2d,
     "x8:2,4,6,7:0231 x8c:6,3,3,2 x32c:6 l:1,1 l:1,1 l:1,1 i:12 i:11 x32c:6 x32c:6 i:-128 i:127 "
     "xu:0 x8:2,6,6,7:0231"},
    {&kQuantizedConv2d,
     "x8:1,3,5,6:0231 x8c:4,1,1,3 n l:2,2 l:0,0 l:1,1 i:12 i:11 x32c:4 x32c:4 i:-128 i:127 xu:8 "
     "x8:1,4,3,3:0231"},
    {&kQuantizedDepthwiseConv2d,
     "x8:1,4,6,7:0231 x8c:1,3,3,8 x32c:8 l:1,2 l:1,0 l:1,1 i:2 i:1 i:12 x32c:8 x32c:8 i:-128 i:127 "
     "xu:0 x8:1,8,6,3:0231"},
    {&kQuantizedDepthwiseConv2d,
     "x8:1,5,6,7:0231 x8c:1,3,2,5 n l:1,1 l:1,1 l:2,1 i:1 i:1 i:12 x32c:5 x32c:5 i:-128 i:127 xu:0 "
     "x8:1,5,4,8:0231"},
    {&kQuantizedTransposeConv2d,
     "x8:1,4,4,5:0231 x8c:3,2,2,4 x32c:3 l:2,2 l:0,0 l:0,0 l:1,1 i:2 i:-21 x32c:3 x32c:3 i:-128 "
     "i:127 xu:8 xu:0 x8:1,3,8,10:0231"},
    {&kQuantizedAvgPool2d,
     "x8:2,3,7,9:0231 l:3,3 l:2,2 l:1,1 b:0 i:-128 i:1830453504 i:-4 xu:0 x8:2,3,4,5:0231"},
    {&kQuantizedMaxPool2d,
     "x8:2,3,7,9:0231 l:3,3 l:2,2 l:1,1 l:1,1 b:0 i:-34 i:-34 i:-128 i:127 x8:2,3,4,5:0231"},
    {&kQuantizedConv2dNhwc,
     "x8:2,6,7,4 x8c:6,3,3,2 x32c:6 l:1,1 l:1,1 l:1,1 i:12 i:11 x32c:6 x32c:6 i:-128 i:127 xu:0 "
     "x8:2,6,7,6"},
    {&kQuantizedDepthwiseConv2dNhwc,
     "x8:1,6,7,4 x8c:1,3,3,8 x32c:8 l:1,2 l:1,0 l:1,1 i:2 i:1 i:12 x32c:8 x32c:8 i:-128 i:127 xu:0 "
     "x8:1,6,3,8"},
    {&kQuantizedTransposeConv2dNhwc,
     "x8:1,4,5,4 x8c:3,2,2,4 x32c:3 l:2,2 l:0,0 l:0,0 l:1,1 i:2 i:-21 x32c:3 x32c:3 i:-128 i:127 "
     "xu:8 xu:0 x8:1,8,10,3"},
    {&kQuantizedAvgPool2dNhwc,
     "x8:2,7,9,3 l:3,3 l:2,2 l:1,1 b:0 i:-128 i:1830453504 i:-4 xu:0 x8:2,4,5,3"},
    {&kQuantizedMaxPool2dNhwc,
     "x8:2,7,9,3 l:3,3 l:2,2 l:1,1 l:1,1 b:0 i:-34 i:-34 i:-128 i:127 x8:2,4,5,3"},
    {&kQuantizedBatchMatmul, "x8:2,4,6 i:41 x8:2,5,6 i:4 i:41 i:1109366862 i:-6 xu:0 x8:2,4,5"},
};

TEST(Kernels, StayInsideTheirTensorsWhateverTheArguments) {
  for (const Template& t : kTemplates) expect_inside(*t.kernel, t.arguments);
}

TEST(Kernels, HaveTheNamesOfTheDialect) {
  const char* const names[] = {"quantize_per_tensor",
                               "dequantize_per_tensor",
                               "quantized_add",
                               "quantized_mul",
                               "quantized_div",
                               "quantized_activation",
                               "minimum",
                               "maximum",
                               "quantized_linear",
                               "softmax",
                               "transpose",
                               "pad",
                               "quantized_conv2d",
                               "quantized_depthwise_conv2d",
                               "quantized_transpose_conv2d",
                               "quantized_avg_pool2d",
                               "quantized_max_pool2d",
                               "quantized_batch_matmul",
                               "quantized_conv2d_nhwc",
                               "quantized_depthwise_conv2d_nhwc",
                               "quantized_transpose_conv2d_nhwc",
                               "quantized_avg_pool2d_nhwc",
                               "quantized_max_pool2d_nhwc"};
#define DEUTERON_ADDRESS(name) &name,
  const Kernel* const kernels[] = {DEUTERON_DIALECT_KERNELS(DEUTERON_ADDRESS)};
#undef DEUTERON_ADDRESS
  ASSERT_EQ(std::size(kernels), std::size(names));
  for (size_t i = 0; i < std::size(names); ++i)
    EXPECT_EQ(kernels[i]->name, "cortex_m::" + std::string(names[i]) + ".out");
}

}  // namespace
}  // namespace deuteron
