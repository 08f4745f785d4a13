// SPDX-License-Identifier: Apache-2.0
#include "backends/neutron/kernels/table/call.h"
#include "backends/neutron_model/kernel.h"
#include "kernels/unary/kernel.h"

DEUTERON_NEUTRON_KERNEL(Table, deuteron::lookup_s8(a.count, memory.read(a.table), memory.read(a.x), memory.write(a.y)))
