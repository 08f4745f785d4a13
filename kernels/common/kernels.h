// SPDX-License-Identifier: Apache-2.0
// Every kernel of the cortex_m dialect that this project has, and of the project's own dialect
// (docs/kernels.md), one symbol each. The runtime's table lists them; a firmware's generated table
// names only those that its models call, so that the linker drops the rest. Each is defined in a
// bind.cpp.
#pragma once
#include "runtime/kernel.h"

namespace deuteron {

#define DEUTERON_DIALECT_KERNELS(K) \
  K(kQuantizePerTensor)             \
  K(kDequantizePerTensor)           \
  K(kQuantizedAdd)                  \
  K(kQuantizedMul)                  \
  K(kQuantizedDiv)                  \
  K(kQuantizedActivation)           \
  K(kMinimum)                       \
  K(kMaximum)                       \
  K(kQuantizedLinear)               \
  K(kSoftmax)                       \
  K(kTranspose)                     \
  K(kPad)                           \
  K(kQuantizedConv2d)               \
  K(kQuantizedDepthwiseConv2d)      \
  K(kQuantizedTransposeConv2d)      \
  K(kQuantizedAvgPool2d)            \
  K(kQuantizedMaxPool2d)            \
  K(kQuantizedBatchMatmul)          \
  K(kQuantizedConv2dNhwc)           \
  K(kQuantizedDepthwiseConv2dNhwc)  \
  K(kQuantizedTransposeConv2dNhwc)  \
  K(kQuantizedAvgPool2dNhwc)        \
  K(kQuantizedMaxPool2dNhwc)

// Operators that the dialect lacks.
#define DEUTERON_OWN_KERNELS(K) \
  K(kCumsum)                    \
  K(kGru)                       \
  K(kLayerNorm)                 \
  K(kLstm)                      \
  K(kShiftIn)                   \
  K(kSum)                       \
  K(kResize2d)                  \
  K(kRnn)

// What stands in the place of calls of the dialect: on packed weights (kernels/dense/packing.h), a
// symbol for each packing, additions in one step, quantization of inputs that are bytes, and rows
// kept from band to band.
#define DEUTERON_PACKED_KERNELS(K) \
  K(kPackedConv2dMve4x16)          \
  K(kPackedConv2dDsp4x4)           \
  K(kPackedConv2dScalar1x4)        \
  K(kPackedConv2dShiftsMve4x16)    \
  K(kPackedConv2dShiftsDsp4x4)     \
  K(kPackedLinearMve4x16)          \
  K(kPackedLinearDsp4x4)           \
  K(kPackedConv2dW4Mve4x16)        \
  K(kPackedConv2dW4Dsp4x4)         \
  K(kPackedConv2dAddMve4x16)       \
  K(kPackedConv2dAddDsp4x4)        \
  K(kPackedConv2dAddScalar1x4)     \
  K(kPackedConv2dAddShiftsMve4x16) \
  K(kPackedConv2dAddShiftsDsp4x4)  \
  K(kPackedConvTranspose2dMve4x16) \
  K(kPackedConvTranspose2dDsp4x4)  \
  K(kLinearAdd)                    \
  K(kLinearAddQ21)                 \
  K(kQuantizeBytes)                \
  K(kQuantizeChannels)             \
  K(kDequantizeChannels)           \
  K(kCopy)

// Of int8 operators that only TFLite has, or rounds so.
#define DEUTERON_TFLITE_KERNELS(K) \
  K(kAvgPool2dHalvesUp)            \
  K(kL2Normalize)                  \
  K(kLinearOnce)                   \
  K(kRescaleS32)                   \
  K(kResize2dBytes)                \
  K(kSequenceLstm)                 \
  K(kSoftmaxS8Wide)                \
  K(kSvdf)                         \
  K(kSvdfBytes)

// int16 activations, which stock firmware lacks too (ops/int16.h).
#define DEUTERON_INT16_KERNELS(K) \
  K(kConv2dS16)                   \
  K(kConv2dS8S16)                 \
  K(kDepthwiseConv2dS16)          \
  K(kDepthwiseConv2dS8S16)        \
  K(kAddS16)                      \
  K(kAvgPool2dS16)                \
  K(kGruS16)                      \
  K(kLookupS16)                   \
  K(kLstmS16)                     \
  K(kMatmulS16)                   \
  K(kMaxPool2dS16)                \
  K(kMaximumS16)                  \
  K(kMinimumS16)                  \
  K(kMulS16)                      \
  K(kResize2dS16)                 \
  K(kSoftmaxS16)                  \
  K(kRequantizeS8)                \
  K(kRequantizeS16)

// The same with TFLite's arithmetic, for models that came from there.
#define DEUTERON_INT16X8_KERNELS(K) \
  K(kAdd16x8)                       \
  K(kCompared16x8)                  \
  K(kConv2d16x8)                    \
  K(kConvTranspose2d16x8)           \
  K(kDiv16x8)                       \
  K(kLinear16x8)                    \
  K(kMatmul16x8)                    \
  K(kMul16x8)                       \
  K(kProd16x8)                      \
  K(kRescale16x8)                   \
  K(kShiftedAdd16x8)                \
  K(kSigmoid16x8)                   \
  K(kSoftmax16x8)                   \
  K(kSqrt16x8)                      \
  K(kSum16x8)

#define DEUTERON_DECLARE_KERNEL(name) extern const Kernel name;
DEUTERON_DIALECT_KERNELS(DEUTERON_DECLARE_KERNEL)
DEUTERON_OWN_KERNELS(DEUTERON_DECLARE_KERNEL)
DEUTERON_PACKED_KERNELS(DEUTERON_DECLARE_KERNEL)
DEUTERON_TFLITE_KERNELS(DEUTERON_DECLARE_KERNEL)
DEUTERON_INT16_KERNELS(DEUTERON_DECLARE_KERNEL)
DEUTERON_INT16X8_KERNELS(DEUTERON_DECLARE_KERNEL)
#undef DEUTERON_DECLARE_KERNEL

}  // namespace deuteron
