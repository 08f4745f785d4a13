// SPDX-License-Identifier: Apache-2.0
// For a runner that is linked with ExecuTorch's own NeutronBackend.cpp, which registers itself:
// only the driver has to be started.
#include <cstdio>

#include "npu/neutron/machine/driver.h"

void register_neutron() {
  if (neutronInit() != kNeutronOk) std::fprintf(stderr, "the driver cannot be initialized\n");
}
