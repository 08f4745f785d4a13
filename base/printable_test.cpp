// SPDX-License-Identifier: Apache-2.0
#include "base/printable.h"

#include <gtest/gtest.h>

#include "base/diagnostic.h"

namespace deuteron {
namespace {

TEST(Printable, KeepsTextAndEscapesWhatATerminalObeys) {
  struct Row {
    std::string_view text, lines_kept, lines_escaped;
  };
  using namespace std::string_view_literals;
  const Row rows[] = {
      {"conv 3x3 `größe` 大小 \xf0\x9f\x98\x80", "conv 3x3 `größe` 大小 \xf0\x9f\x98\x80",
       "conv 3x3 `größe` 大小 \xf0\x9f\x98\x80"},
      {"a,b\r\nc\r", "a,b\r\nc\\x0d", "a,b\\x0d\\x0ac\\x0d"},
      {"a\nb\tc", "a\nb\tc", "a\\x0ab\tc"},
      {"\x1b[31mred\x1b[0m\r"sv, "\\x1b[31mred\\x1b[0m\\x0d", "\\x1b[31mred\\x1b[0m\\x0d"},
      {"a\0b\x7f"sv, "a\\x00b\\x7f", "a\\x00b\\x7f"},
      {"\xc2\x9b\x32\x4a"sv, "\\xc2\\x9b2J", "\\xc2\\x9b2J"},  // the one-byte form of ESC [
      {"\x9b\xff\xc0\xaf\xed\xa0\x80"sv, "\\x9b\\xff\\xc0\\xaf\\xed\\xa0\\x80",
       "\\x9b\\xff\\xc0\\xaf\\xed\\xa0\\x80"},  // not UTF-8
      {"x\xe2\x80\xae y\xe2\x81\xa6"sv, "x\\xe2\\x80\\xae y\\xe2\\x81\\xa6",
       "x\\xe2\\x80\\xae y\\xe2\\x81\\xa6"},  // right to left
      {"cut \xe5\xa4", "cut \\xe5\\xa4", "cut \\xe5\\xa4"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(printable(row.text, Lines::kept), row.lines_kept);
    EXPECT_EQ(printable(row.text, Lines::escaped), row.lines_escaped);
  }
}

TEST(Printable, EveryPartOfADiagnosticIs) {
  const Diagnostic d{Severity::error, "a\x1b.pt2",         "has\nlines", "\x07", "1",
                     "rule",          "one\n      two\x1b"};
  EXPECT_EQ(format_diagnostic(d),
            "a\\x1b.pt2: error: has\\x0alines: \\x07, limit 1  [rule]\n    one\n      two\\x1b");
}

}  // namespace
}  // namespace deuteron
