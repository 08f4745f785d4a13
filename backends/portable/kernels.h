// Every portable kernel, one symbol each: operators outside the cortex_m dialect, in plain C++, for any memory order.
#pragma once
#include "runtime/kernel.h"

namespace deuteron {

extern const Kernel kAtenAbs;
extern const Kernel kAtenAdaptiveAvgPool2d;
extern const Kernel kAtenAdd;
extern const Kernel kAtenAddmm;
extern const Kernel kAtenAmax;
extern const Kernel kAtenArange;
extern const Kernel kAtenArgmax;
extern const Kernel kAtenAvgPool2d;
extern const Kernel kAtenBatchNorm;
extern const Kernel kAtenCat;
extern const Kernel kAtenClamp;
extern const Kernel kAtenClone;
extern const Kernel kAtenConvolution;
extern const Kernel kAtenCos;
extern const Kernel kAtenDiv;
extern const Kernel kAtenElu;
extern const Kernel kAtenExp;
extern const Kernel kAtenExpandCopy;
extern const Kernel kAtenFlip;
extern const Kernel kAtenFloor;
extern const Kernel kAtenFmod;
extern const Kernel kAtenFull;
extern const Kernel kAtenGt;
extern const Kernel kAtenHardtanh;
extern const Kernel kAtenIndexSelect;
extern const Kernel kAtenLeakyRelu;
extern const Kernel kAtenLog1p;
extern const Kernel kAtenLogSoftmax;
extern const Kernel kAtenMaxPool2dWithIndices;
extern const Kernel kAtenMean;
extern const Kernel kAtenMm;
extern const Kernel kAtenMul;
extern const Kernel kAtenNativeLayerNorm;
extern const Kernel kAtenNeg;
extern const Kernel kAtenPermuteCopy;
extern const Kernel kAtenPow;
extern const Kernel kAtenReciprocal;
extern const Kernel kAtenRelu;
extern const Kernel kAtenRepeat;
extern const Kernel kAtenRound;
extern const Kernel kAtenRsqrt;
extern const Kernel kAtenScalarTensor;
extern const Kernel kAtenSelectCopy;
extern const Kernel kAtenSin;
extern const Kernel kAtenSliceCopy;
extern const Kernel kAtenSplitWithSizesCopy;
extern const Kernel kAtenSqueezeCopy;
extern const Kernel kAtenSub;
extern const Kernel kAtenSum;
extern const Kernel kAtenUnsqueezeCopy;
extern const Kernel kAtenUpsampleBilinear2d;
extern const Kernel kAtenUpsampleNearest2d;
extern const Kernel kAtenVar;
extern const Kernel kAtenViewCopy;
extern const Kernel kAtenWhere;
extern const Kernel kDimOrderCloneDimOrder;
extern const Kernel kDimOrderToDimOrderCopy;

}  // namespace deuteron
