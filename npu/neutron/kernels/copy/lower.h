// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "npu/neutron/converter/lowering.h"

namespace deuteron::neutron {

// y[along axes.stride[1]] = x[along axes.stride[0]], from the byte offsets on. Axes beyond what a
// call has are walked through by several calls.
void lower_copy(Lowering& l, Kind kind, TensorId x, i64 x_offset, TensorId y, i64 y_offset,
                StridedAxes axes);

}  // namespace deuteron::neutron
