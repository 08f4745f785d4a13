#include "frontends/tflite/summary.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <regex>
#include <set>

#include "frontends/tflite_operators/import_table.h"
#include "tests/paths.h"

namespace deuteron::tflite {
namespace {

// The builtins in the table of the document.
std::set<std::string> documented() {
  std::ifstream file(std::string(kSourceFolder) + "/docs/formats-tflite.md");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const size_t from = text.find("## Builtins"), to = text.find("`frontends/tflite/summary_test.cpp`");
  const std::string table = text.substr(from, to - from);
  const std::regex name("`([A-Z0-9_]+)`");
  std::set<std::string> names;
  for (std::sregex_iterator it(table.begin(), table.end(), name), end; it != end; ++it) names.insert((*it)[1]);
  return names;
}

TEST(TfliteSummary, TheDocumentHasTheBuiltins) {
  const std::vector<std::string> imported = imported_tflite_builtins();
  EXPECT_EQ(documented(), std::set<std::string>(imported.begin(), imported.end()));
  EXPECT_EQ(imported.size(), documented().size()) << "a builtin has two rows";
}

TEST(TfliteSummary, EveryRowIsFound) {
  for (const ImportRows rows : import_tables())
    for (const ImportRow& row : rows) EXPECT_EQ(find_import(static_cast<i32>(row.builtin)), &row);
}

}  // namespace
}  // namespace deuteron::tflite
