/* The kernels of the machine model as a table that the linker can replace: a firmware that links the table which the compiler writes for
   its models (`kernel selection`) holds only the kernels named there. Index: the kernel kind of microcode.h; null: not linked. */
#ifndef DEUTERON_NEUTRON_KERNEL_TABLE_H
#define DEUTERON_NEUTRON_KERNEL_TABLE_H
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* `call`: the structure of the call; `memory`: a deuteron::neutron::Memory. Returns 0: a call that was checked cannot fail. */
typedef int32_t (*NeutronKernel)(const void* call, const void* memory);
enum { kNeutronKernelKinds = 36 };
extern const NeutronKernel neutron_kernel_table[kNeutronKernelKinds];
/* The names of those that are linked, "neutron::<kind>" each with its zero: whoever looks at an image finds them (compile --firmware-ops). */
extern const char neutron_kernel_list[];

/* The kernels, a function each: neutron_kernel_<name of the kind>. */
#define DEUTERON_NEUTRON_KERNEL_NAMES(X)                                                                                                   \
  X(Conv2DStandardV1)                                                                                                                      \
  X(Conv2DStandardV2)                                                                                                                      \
  X(Conv2DPointwise)                                                                                                                       \
  X(Conv2DDepthwiseV1)                                                                                                                     \
  X(Conv2DDepthwiseV2) X(Conv2DDepthwiseDense) X(FullyConnected) X(Conv2DTransposed) X(BatchMatMul) X(MaxPool) X(AvgPool) X(GlobalAvgPool) \
      X(ReduceMean) X(ReduceSum) X(ReduceMax) X(ReduceMin) X(Softmax) X(Add) X(Sub) X(Mul) X(Maximum) X(Minimum) X(Prelu)                  \
          X(GlobalBiasScale) X(Table) X(Pad) X(Slice) X(StridedSliceConcat) X(TransposeCHW) X(ResizeNearest) X(ResizeBilinear) X(MemCpy)  \
              X(Conv2DStandardV1Pool) X(Conv2DStandardV2Pool) X(Conv2DPointwisePool)
#define DEUTERON_DECLARE(name) int32_t neutron_kernel_##name(const void* call, const void* memory);
DEUTERON_NEUTRON_KERNEL_NAMES(DEUTERON_DECLARE)
#undef DEUTERON_DECLARE

#ifdef __cplusplus
}
#endif
#endif
