// SPDX-License-Identifier: Apache-2.0
#include "npu/neutron/converter/operation_def.h"

namespace deuteron::neutron {

std::span<const OperationDef* const> operation_defs() {
  static constexpr const OperationDef* kAll[] = {
#define NEUTRON_OPERATION(folder) &folder##_operation,
#include "npu/neutron/machine/kinds.inc"
  };
  return kAll;
}

}  // namespace deuteron::neutron
