// SPDX-License-Identifier: Apache-2.0
#include "kernels/softmax/rows.h"

namespace deuteron {

bool read_rows(const Tensor& x, int32_t most, const char* words, int32_t* rows, int32_t* columns,
               Status* why) {
  *columns = x.sizes[x.rank - 1];
  if (*columns < 1 || *columns > most) return refuse(why, 0, words);
  *rows = x.numel / *columns;
  return true;
}

}  // namespace deuteron
