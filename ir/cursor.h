// SPDX-License-Identifier: Apache-2.0
// A place in a text with line and column; reads words, numbers and strings. The first thing that is
// not as expected is reported once for its line; from then on every read of that line gives a
// default, so that the grammar needs no error paths.
#pragma once
#include <string>
#include <string_view>

#include "base/diagnostic.h"
#include "base/tensor/type.h"

namespace deuteron {

class Cursor {
 public:
  Cursor(std::string_view text, std::string file, Diagnostics& diagnostics)
      : text_(text), file_(std::move(file)), diagnostics_(diagnostics) {}

  bool at_end() const { return at_ >= text_.size(); }
  bool at_line_end();  // after blanks and a comment
  void next_line();    // forgets a failure
  bool failed() const { return failed_; }
  i64 failures() const { return failures_; }

  bool sees(std::string_view symbol);       // after blanks
  bool accept(std::string_view symbol);     // takes it if it is next
  bool accept_word(std::string_view word);  // the same for a word that ends there
  void expect(std::string_view symbol);
  bool sees_digit();

  // A run of letters, digits and the given further characters; empty if there is none.
  std::string_view word(std::string_view further);
  std::string name();    // plain or quoted
  std::string string();  // quoted
  i64 integer(i64 low, i64 high);
  float real();
  double wide_real();
  std::string_view number();  // the characters of a number
  std::string_view rest_of_line();

  // "expected ..., found ..." at the next character, or at the one where `from` began.
  void fail(std::string_view expected);
  void fail_at(size_t at, const std::string& what, std::string fix = {},
               std::string rule = "text.syntax");
  void give_up() { failed_ = true; }  // the line is wrong because of a line that has been reported
  size_t position();                  // after blanks

 private:
  void skip_blanks();
  template <class T>
  T floating(const char* what);

  std::string_view text_;
  std::string file_;
  Diagnostics& diagnostics_;
  size_t at_ = 0, line_start_ = 0;
  i64 line_ = 1, failures_ = 0;
  bool failed_ = false;
};

}  // namespace deuteron
