// SPDX-License-Identifier: Apache-2.0
// The backend over the driver that is linked in: the vendor's library, or `neutron_model`.
#include "npu/neutron/delegate/delegate.h"

#ifdef DEUTERON_NEUTRON_DRIVER
namespace deuteron {
namespace {

const NeutronDriver kDriver = {
    neutronInit,
    neutronDeinit,
    neutronGetModelContextSize,
    neutronModelPrepare,
    neutronModelUnprepare,
    neutronRunBlocking,
    neutronSetConfig,
#ifdef DEUTERON_NEUTRON_POWER_GATING
    neutronResume,
    neutronSuspend,
#else
    nullptr,
    nullptr,
#endif
    &kNeutronFetchByMemcpy,
    60,  // seconds, as the stock runtime
};

}  // namespace

extern const Backend kNeutronBackend = neutron_backend(&kDriver);

}  // namespace deuteron
#endif
