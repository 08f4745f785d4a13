// Every portable kernel, one symbol each: operators outside the cortex_m dialect, in plain C++, for any memory order.
#pragma once
#include "runtime/kernel.h"

namespace deuteron {

#define DEUTERON_PORTABLE_KERNELS(K) \
  K(kAtenAbs)                        \
  K(kAtenAdaptiveAvgPool2d)          \
  K(kAtenAdd)                        \
  K(kAtenAddmm)                      \
  K(kAtenAmax)                       \
  K(kAtenArange)                     \
  K(kAtenArgmax)                     \
  K(kAtenAvgPool2d)                  \
  K(kAtenBatchNorm)                  \
  K(kAtenCat)                        \
  K(kAtenClamp)                      \
  K(kAtenClone)                      \
  K(kAtenConvolution)                \
  K(kAtenCos)                        \
  K(kAtenDiv)                        \
  K(kAtenElu)                        \
  K(kAtenExp)                        \
  K(kAtenExpandCopy)                 \
  K(kAtenFlip)                       \
  K(kAtenFloor)                      \
  K(kAtenFmod)                       \
  K(kAtenFull)                       \
  K(kAtenGt)                         \
  K(kAtenHardtanh)                   \
  K(kAtenIndexSelect)                \
  K(kAtenLeakyRelu)                  \
  K(kAtenLog1p)                      \
  K(kAtenLogSoftmax)                 \
  K(kAtenMaxPool2dWithIndices)       \
  K(kAtenMean)                       \
  K(kAtenMm)                         \
  K(kAtenMul)                        \
  K(kAtenNativeLayerNorm)            \
  K(kAtenNeg)                        \
  K(kAtenPermuteCopy)                \
  K(kAtenPow)                        \
  K(kAtenReciprocal)                 \
  K(kAtenRelu)                       \
  K(kAtenRepeat)                     \
  K(kAtenRound)                      \
  K(kAtenRsqrt)                      \
  K(kAtenScalarTensor)               \
  K(kAtenSelectCopy)                 \
  K(kAtenSin)                        \
  K(kAtenSliceCopy)                  \
  K(kAtenSplitWithSizesCopy)         \
  K(kAtenSqueezeCopy)                \
  K(kAtenSub)                        \
  K(kAtenSum)                        \
  K(kAtenUnsqueezeCopy)              \
  K(kAtenUpsampleBilinear2d)         \
  K(kAtenUpsampleNearest2d)          \
  K(kAtenVar)                        \
  K(kAtenViewCopy)                   \
  K(kAtenWhere)                      \
  K(kDimOrderCloneDimOrder)          \
  K(kDimOrderToDimOrderCopy)

#define DEUTERON_DECLARE_KERNEL(name) extern const Kernel name;
DEUTERON_PORTABLE_KERNELS(DEUTERON_DECLARE_KERNEL)
#undef DEUTERON_DECLARE_KERNEL

}  // namespace deuteron
