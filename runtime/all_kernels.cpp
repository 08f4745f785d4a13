// The complete table of kernels. A firmware links a generated table instead, with only the kernels that its models call.
#include "backends/portable/kernels.h"
#include "ops/kernels.h"

namespace deuteron {
namespace {

#define DEUTERON_ADDRESS(name) &name,
const Kernel* const kKernels[] = {DEUTERON_DIALECT_KERNELS(DEUTERON_ADDRESS) DEUTERON_OWN_KERNELS(DEUTERON_ADDRESS)
                                       DEUTERON_PORTABLE_KERNELS(DEUTERON_ADDRESS)};
#undef DEUTERON_ADDRESS

}  // namespace

extern const KernelTable kAllKernels = {kKernels, sizeof kKernels / sizeof kKernels[0]};

}  // namespace deuteron
