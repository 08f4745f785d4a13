// SPDX-License-Identifier: Apache-2.0
#include "frontends/tflite/summary.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>

#include "frontends/tflite/operators/import_table.h"
#include "tests/paths.h"

namespace deuteron::tflite {
namespace {

// The builtins in a table of the document, which lies between two texts.
std::set<std::string> documented(const char* begins, const char* ends) {
  std::ifstream file(std::string(kSourceFolder) + "/docs/formats.md");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const size_t from = text.find(begins), to = text.find(ends, from);
  const std::string table = text.substr(from, to - from);
  std::set<std::string> names;
  for (size_t begin = table.find('`'); begin != std::string::npos; begin = table.find('`', begin)) {
    const size_t end = std::min(table.find('`', begin + 1), table.size());
    const std::string name = table.substr(begin + 1, end - begin - 1);
    if (name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == std::string::npos)
      names.insert(name);
    begin = std::min(end + 1, table.size());
  }
  return names;
}

TEST(TfliteSummary, TheDocumentHasTheBuiltins) {
  const std::vector<std::string> imported = imported_tflite_builtins();
  const std::set<std::string> names = documented("### Builtins", "Operands that say shapes");
  EXPECT_EQ(names, std::set<std::string>(imported.begin(), imported.end()));
  EXPECT_EQ(imported.size(), names.size()) << "a builtin has two rows";
}

TEST(TfliteSummary, TheDocumentHasTheBuiltinsThatRefuseInt16) {
  std::set<std::string> refused;
  for (const ImportRows rows : import_tables())
    for (const ImportRow& row : rows)
      if (row.int16 == Int16::refused) refused.insert(EnumNameBuiltinOperator(row.builtin));
  EXPECT_EQ(documented("These builtins refuse int16", "Refused too: an LSTM"), refused);
}

TEST(TfliteSummary, EveryRowIsFound) {
  for (const ImportRows rows : import_tables())
    for (const ImportRow& row : rows) EXPECT_EQ(find_import(static_cast<i32>(row.builtin)), &row);
}

}  // namespace
}  // namespace deuteron::tflite
