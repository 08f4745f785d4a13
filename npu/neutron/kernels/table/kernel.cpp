// SPDX-License-Identifier: Apache-2.0
#include "kernels/unary/kernel.h"
#include "npu/neutron/kernels/table/call.h"
#include "npu/neutron/machine/kernel.h"

DEUTERON_NEUTRON_KERNEL(Table, deuteron::lookup_s8(a.count, memory.read(a.table), memory.read(a.x),
                                                   memory.write(a.y)))
