// SPDX-License-Identifier: Apache-2.0
// The complete table of kernels and backends. A firmware links a generated table instead, with only
// the kernels that its models call.
#include "kernels/common/kernels.h"
#include "kernels/portable/kernels.h"
#include "npu/neutron/delegate/delegate.h"

namespace deuteron {
namespace {

#define DEUTERON_ADDRESS(name) &name,
const Kernel* const kKernels[] = {
    DEUTERON_DIALECT_KERNELS(DEUTERON_ADDRESS) DEUTERON_OWN_KERNELS(DEUTERON_ADDRESS)
        DEUTERON_PACKED_KERNELS(DEUTERON_ADDRESS) DEUTERON_TFLITE_KERNELS(DEUTERON_ADDRESS)
            DEUTERON_INT16_KERNELS(DEUTERON_ADDRESS) DEUTERON_INT16X8_KERNELS(DEUTERON_ADDRESS)
                DEUTERON_PORTABLE_KERNELS(DEUTERON_ADDRESS)};
#undef DEUTERON_ADDRESS

#ifdef DEUTERON_NEUTRON_DRIVER  // a driver is linked in
const Backend* const kBackends[] = {&kNeutronBackend};
constexpr int32_t kBackendCount = 1;
#else
constexpr const Backend* const* kBackends = nullptr;
constexpr int32_t kBackendCount = 0;
#endif

}  // namespace

extern const KernelTable kAllKernels = {kKernels, sizeof kKernels / sizeof kKernels[0], kBackends,
                                        kBackendCount};

}  // namespace deuteron
