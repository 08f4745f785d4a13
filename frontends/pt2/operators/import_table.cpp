// SPDX-License-Identifier: Apache-2.0
#include "frontends/pt2/operators/import_table.h"

#include <algorithm>
#include <string>

namespace deuteron::pt2 {

std::span<const ImportRows> import_tables() {
#define DEUTERON_ROWS(file) file##_rows(),
  static const ImportRows tables[] = {DEUTERON_IMPORT_FILES(DEUTERON_ROWS)};
#undef DEUTERON_ROWS
  return tables;
}

std::span<const ImportRows> complex_import_tables() {
#define DEUTERON_ROWS(file) file##_rows(),
  static const ImportRows tables[] = {DEUTERON_COMPLEX_IMPORT_FILES(DEUTERON_ROWS)};
#undef DEUTERON_ROWS
  return tables;
}

static const ImportRow* find_row(std::span<const ImportRows> tables, std::string_view target) {
  for (const ImportRows rows : tables) {
    const auto row =
        std::lower_bound(rows.begin(), rows.end(), target,
                         [](const ImportRow& r, std::string_view t) { return r.target < t; });
    if (row != rows.end() && row->target == target) return &*row;
  }
  return nullptr;
}

// "aten.relu.default" of "aten.relu_.default", "aten.__and__.Tensor" of "aten.__iand__.Tensor";
// empty of others.
static std::string not_in_place(std::string_view target) {
  constexpr std::string_view kOperator = "aten.__";
  const size_t overload = target.rfind('.');
  if (overload == std::string_view::npos || overload == 0 || target[overload - 1] != '_') return {};
  if (target.starts_with(kOperator))  // those that begin with an i change their operand
    return target[kOperator.size()] == 'i' ? std::string(target).erase(kOperator.size(), 1)
                                           : std::string();
  return std::string(target).erase(overload - 1, 1);
}

// A row of an in-place spelling itself is of one whose overload has another name.
static FoundRow find_import(std::span<const ImportRows> tables, std::string_view target) {
  const std::string other = not_in_place(target);
  if (const ImportRow* row = find_row(tables, target))
    return {row, !other.empty() && row->has_in_place_form && !row->in_place_is_view};
  const ImportRow* row = find_row(tables, other);
  return row && row->has_in_place_form ? FoundRow{row, !row->in_place_is_view} : FoundRow{};
}

FoundRow find_import(std::string_view target, bool is_complex) {
  if (!is_complex)
    if (const FoundRow found = find_import(import_tables(), target); found.row) return found;
  return find_import(complex_import_tables(), target);
}

}  // namespace deuteron::pt2
