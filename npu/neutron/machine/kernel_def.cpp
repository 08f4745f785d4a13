// SPDX-License-Identifier: Apache-2.0
#include "npu/neutron/machine/kernel_def.h"

#include "npu/neutron/machine/traffic.h"

namespace deuteron::neutron {

const KernelDef* def_of(Kind kind) {
  switch (kind) {
#define NEUTRON_KIND(value, name, call, folder) \
  case Kind::k##name:                           \
    return &folder##_kernel;
#include "npu/neutron/machine/kinds.inc"
    case Kind::kProfileDump:
      break;
  }
  return nullptr;
}

Cost cost_of(const Machine& machine, Kind kind, const void* call) {
  const KernelDef* def = def_of(kind);
  return def != nullptr ? def->cost(machine, kind, call) : Cost{};
}

int64_t bytes_of(Kind kind, const void* call) {
  const KernelDef* def = def_of(kind);
  return def != nullptr ? def->bytes(kind, call) : 0;
}

}  // namespace deuteron::neutron
