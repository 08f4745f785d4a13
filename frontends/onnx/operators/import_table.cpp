// SPDX-License-Identifier: Apache-2.0
#include "frontends/onnx/operators/import_table.h"

#include <algorithm>

namespace deuteron::onnx {

std::span<const ImportRows> import_tables() {
#define DEUTERON_ROWS(file) file##_rows(),
  static const ImportRows tables[] = {DEUTERON_ONNX_FILES(DEUTERON_ROWS)};
#undef DEUTERON_ROWS
  return tables;
}

const ImportRow* find_import(std::string_view op, std::string_view domain) {
  for (const ImportRows rows : import_tables()) {
    const auto row = std::find_if(rows.begin(), rows.end(), [&](const ImportRow& r) {
      return r.op == op && r.domain == domain;
    });
    if (row != rows.end()) return &*row;
  }
  return nullptr;
}

}  // namespace deuteron::onnx
