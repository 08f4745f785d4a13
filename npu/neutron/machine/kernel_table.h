// SPDX-License-Identifier: Apache-2.0
/* The kernels of the machine model as a table that the linker can replace: a firmware that links
   the table which the compiler writes for its models (`kernel selection`) holds only the kernels
   named there. Index: the kernel kind of microcode.h; null: not linked. */
#ifndef DEUTERON_NEUTRON_KERNEL_TABLE_H
#define DEUTERON_NEUTRON_KERNEL_TABLE_H
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* `call`: the structure of the call; `memory`: a deuteron::neutron::Memory. Returns 0: a call that
 * was checked cannot fail. */
typedef int32_t (*NeutronKernel)(const void* call, const void* memory);
enum {
  kNeutronKernelKinds = 1
#define NEUTRON_KIND(value, name, call, folder) +1
#include "npu/neutron/machine/kinds.inc"
};
extern const NeutronKernel neutron_kernel_table[kNeutronKernelKinds];
/* The names of those that are linked, "neutron::<kind>" each with its zero: whoever looks at an
 * image finds them (compile --firmware-ops). */
extern const char neutron_kernel_list[];

/* The kernels, a function each: neutron_kernel_<name of the kind>. */
#define NEUTRON_KIND(value, name, type, folder) \
  int32_t neutron_kernel_##name(const void* call, const void* memory);
#include "npu/neutron/machine/kinds.inc"

#ifdef __cplusplus
}
#endif
#endif
