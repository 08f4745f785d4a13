// The complete table of kernels. A firmware links a generated table instead, with only the kernels that its models call.
#include "backends/portable/kernels.h"
#include "ops/kernels.h"

namespace deuteron {
namespace {

const Kernel* const kKernels[] = {
    &kQuantizePerTensor,
    &kDequantizePerTensor,
    &kQuantizedAdd,
    &kQuantizedMul,
    &kQuantizedDiv,
    &kQuantizedActivation,
    &kMinimum,
    &kMaximum,
    &kQuantizedLinear,
    &kSoftmax,
    &kTranspose,
    &kPad,
    &kQuantizedConv2d,
    &kQuantizedDepthwiseConv2d,
    &kQuantizedTransposeConv2d,
    &kQuantizedAvgPool2d,
    &kQuantizedMaxPool2d,
    &kQuantizedBatchMatmul,
    // portable
    &kAtenAbs,
    &kAtenAdd,
    &kAtenCat,
    &kAtenClamp,
    &kAtenClone,
    &kAtenCos,
    &kAtenDiv,
    &kAtenElu,
    &kAtenExp,
    &kAtenExpandCopy,
    &kAtenFlip,
    &kAtenFloor,
    &kAtenFmod,
    &kAtenGt,
    &kAtenHardtanh,
    &kAtenIndexSelect,
    &kAtenLeakyRelu,
    &kAtenLog1p,
    &kAtenMul,
    &kAtenNeg,
    &kAtenPermuteCopy,
    &kAtenPow,
    &kAtenReciprocal,
    &kAtenRelu,
    &kAtenRepeat,
    &kAtenRound,
    &kAtenRsqrt,
    &kAtenSelectCopy,
    &kAtenSin,
    &kAtenSliceCopy,
    &kAtenSplitWithSizesCopy,
    &kAtenSqueezeCopy,
    &kAtenSub,
    &kAtenUnsqueezeCopy,
    &kAtenViewCopy,
    &kAtenWhere,
    &kDimOrderCloneDimOrder,
    &kDimOrderToDimOrderCopy,
};

}  // namespace

extern const KernelTable kAllKernels = {kKernels, sizeof kKernels / sizeof kKernels[0]};

}  // namespace deuteron
