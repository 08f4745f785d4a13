// SPDX-License-Identifier: Apache-2.0
// The default table: every kernel. Weak, so that a table of the application's own replaces it.
#include "npu/neutron/machine/kernel_table.h"

#include "npu/neutron/machine/microcode.h"

static_assert(kNeutronKernelKinds == deuteron::neutron::kKinds);

__attribute__((weak)) extern const NeutronKernel neutron_kernel_table[kNeutronKernelKinds] = {
    nullptr,
#define NEUTRON_KIND(value, name, call, folder) neutron_kernel_##name,
#include "npu/neutron/machine/kinds.inc"
};

__attribute__((weak)) extern const char neutron_kernel_list[] = "\0"
#define NEUTRON_KIND(value, name, call, folder) "neutron::" #name "\0"
#include "npu/neutron/machine/kinds.inc"
    ;

namespace {

// A row's place in the table is its value.
constexpr int kValues[] = {
    0,
#define NEUTRON_KIND(value, name, call, folder) value,
#include "npu/neutron/machine/kinds.inc"
};
constexpr bool in_order() {
  for (int i = 0; i < kNeutronKernelKinds; ++i)
    if (kValues[i] != i) return false;
  return true;
}
static_assert(in_order(), "the rows of kinds.inc are out of order, or a value is left out");

}  // namespace
