// SPDX-License-Identifier: Apache-2.0
#include "frontends/onnx/summary.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>

#include "frontends/onnx/operators/import_table.h"
#include "tests/paths.h"

namespace deuteron::onnx {
namespace {

// The operators in the table of the document.
std::set<std::string> documented() {
  std::ifstream file(std::string(kSourceFolder) + "/docs/formats.md");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const size_t from = text.find("### ONNX operators"),
               to = text.find("Operands that say shapes", from);
  const std::string table = text.substr(from, to - from);
  std::set<std::string> names;
  for (size_t begin = table.find('`'); begin != std::string::npos; begin = table.find('`', begin)) {
    const size_t end = std::min(table.find('`', begin + 1), table.size());
    names.insert(table.substr(begin + 1, end - begin - 1));
    begin = std::min(end + 1, table.size());
  }
  return names;
}

TEST(OnnxSummary, TheDocumentHasTheOperators) {
  const std::vector<std::string> imported = imported_onnx_operators();
  EXPECT_EQ(documented(), std::set<std::string>(imported.begin(), imported.end()));
  EXPECT_EQ(imported.size(), documented().size()) << "an operator has two rows";
}

TEST(OnnxSummary, EveryRowIsFound) {
  for (const ImportRows rows : import_tables())
    for (const ImportRow& row : rows) EXPECT_EQ(find_import(row.op, row.domain), &row);
}

}  // namespace
}  // namespace deuteron::onnx
