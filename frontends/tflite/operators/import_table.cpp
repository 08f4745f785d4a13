// SPDX-License-Identifier: Apache-2.0
#include "frontends/tflite/operators/import_table.h"

#include <algorithm>

namespace deuteron::tflite {

std::span<const ImportRows> import_tables() {
#define DEUTERON_ROWS(file) file##_rows(),
  static const ImportRows tables[] = {DEUTERON_TFLITE_FILES(DEUTERON_ROWS)};
#undef DEUTERON_ROWS
  return tables;
}

const ImportRow* find_import(i32 builtin) {
  for (const ImportRows rows : import_tables()) {
    const auto row = std::find_if(rows.begin(), rows.end(), [&](const ImportRow& r) {
      return static_cast<i32>(r.builtin) == builtin;
    });
    if (row != rows.end()) return &*row;
  }
  return nullptr;
}

}  // namespace deuteron::tflite
