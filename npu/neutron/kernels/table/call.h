// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "npu/neutron/machine/microcode.h"

namespace deuteron::neutron {

// y[i] = table[x[i] + 128]: any function of one int8; the table has 256 bytes.
struct TableCall {
  Operand x, y, table;
  int32_t count;
};

}  // namespace deuteron::neutron
