// Every kernel of the cortex_m dialect that this project has, one symbol each. The runtime's table lists them; a firmware's generated
// table names only those that its models call, so that the linker drops the rest. Each is defined in ops/<operator>/bind.cpp.
#pragma once
#include "runtime/kernel.h"

namespace deuteron {

extern const Kernel kQuantizePerTensor;
extern const Kernel kDequantizePerTensor;
extern const Kernel kQuantizedAdd;
extern const Kernel kQuantizedMul;
extern const Kernel kQuantizedDiv;
extern const Kernel kQuantizedActivation;
extern const Kernel kMinimum;
extern const Kernel kMaximum;
extern const Kernel kQuantizedLinear;
extern const Kernel kSoftmax;
extern const Kernel kTranspose;
extern const Kernel kPad;
extern const Kernel kQuantizedConv2d;
extern const Kernel kQuantizedDepthwiseConv2d;
extern const Kernel kQuantizedTransposeConv2d;
extern const Kernel kQuantizedAvgPool2d;
extern const Kernel kQuantizedMaxPool2d;
extern const Kernel kQuantizedBatchMatmul;

}  // namespace deuteron
