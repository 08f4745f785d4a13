// SPDX-License-Identifier: Apache-2.0
#include "kernels/softmax/kernel.h"
#include "npu/neutron/kernels/softmax/call.h"
#include "npu/neutron/machine/kernel.h"

DEUTERON_NEUTRON_KERNEL(Softmax,
                        deuteron::softmax_s8({a.rows, a.columns, a.multiplier, a.shift, a.diff_min},
                                             memory.read(a.x), memory.write(a.y)))
