// SPDX-License-Identifier: Apache-2.0
#include "ir/cursor.h"

#include <fmt/format.h>
#include <algorithm>

#include <charconv>

#include "ir/text_constant.h"

namespace deuteron {

static bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

void Cursor::skip_blanks() {
  while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\r'))
    ++at_;
  if (at_ < text_.size() && text_[at_] == '#')
    while (at_ < text_.size() && text_[at_] != '\n') ++at_;
}

size_t Cursor::position() {
  skip_blanks();
  return at_;
}

bool Cursor::at_line_end() {
  skip_blanks();
  return at_end() || text_[at_] == '\n';
}

void Cursor::next_line() {
  const size_t end = text_.find('\n', at_);
  at_ = end == std::string_view::npos ? text_.size() : end + 1;
  line_start_ = at_;
  ++line_;
  failed_ = false;
}

bool Cursor::sees(std::string_view symbol) {
  skip_blanks();
  return !failed_ && text_.substr(at_, symbol.size()) == symbol;
}

bool Cursor::sees_digit() {
  skip_blanks();
  return !failed_ && at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9';
}

bool Cursor::accept(std::string_view symbol) {
  if (!sees(symbol)) return false;
  at_ += symbol.size();
  return true;
}

bool Cursor::accept_word(std::string_view word) {
  if (!sees(word)) return false;
  const size_t after = at_ + word.size();
  if (after < text_.size() && (is_word(text_[after]) || text_[after] == '.')) return false;
  at_ = after;
  return true;
}

void Cursor::expect(std::string_view symbol) {
  if (!accept(symbol)) fail(fmt::format("`{}`", symbol));
}

std::string_view Cursor::word(std::string_view further) {
  skip_blanks();
  if (failed_) return {};
  const size_t start = at_;
  while (at_ < text_.size() &&
         (is_word(text_[at_]) || further.find(text_[at_]) != std::string_view::npos))
    ++at_;
  return text_.substr(start, at_ - start);
}

std::string Cursor::name() {
  if (sees("\"")) return string();
  const size_t start = position();
  const std::string_view found = word(".");
  if (is_plain_name(found)) return std::string(found);
  at_ = start;
  fail("a name");
  return {};
}

static int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

std::string Cursor::string() {
  std::string result;
  const size_t start = position();
  if (!accept("\"")) {
    fail("a string in double quotes");
    return {};
  }
  while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n') {
    char c = text_[at_++];
    if (c != '\\') {
      result += c;
      continue;
    }
    c = at_ < text_.size() ? text_[at_++] : '\0';
    if (c == 'x' && at_ + 2 <= text_.size() && hex_digit(text_[at_]) >= 0 &&
        hex_digit(text_[at_ + 1]) >= 0) {
      result += static_cast<char>(hex_digit(text_[at_]) * 16 + hex_digit(text_[at_ + 1]));
      at_ += 2;
    } else if (c == 'n' || c == 't' || c == '"' || c == '\\') {
      result += c == 'n' ? '\n' : c == 't' ? '\t' : c;
    } else {
      at_ -= c == '\0' ? 0 : 1;
      fail("one of n, t, \", \\ or xHH after a backslash");
      return {};
    }
  }
  if (at_ < text_.size() && text_[at_] == '"') ++at_;
  else fail_at(start, "the string has no closing quote on its line");
  return result;
}

std::string_view Cursor::number() { return word("+-."); }

i64 Cursor::integer(i64 low, i64 high) {
  skip_blanks();
  if (failed_) return low > 0 ? low : 0;
  const size_t start = at_;
  i64 value = 0;
  const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
  if (error == std::errc::invalid_argument) {
    fail("an integer");
  } else if (error != std::errc() || value < low || value > high) {
    fail_at(start, fmt::format("expected an integer from {} to {}, found {}", low, high,
                               text_.substr(start, end - (text_.data() + start))));
  } else {
    at_ = static_cast<size_t>(end - text_.data());
    return value;
  }
  return low > 0 ? low : 0;
}

template <class T>
T Cursor::floating(const char* what) {
  skip_blanks();
  if (failed_) return 0;
  T value = 0;
  const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
  if (error != std::errc()) {
    fail(what);
    return 0;
  }
  at_ = static_cast<size_t>(end - text_.data());
  return value;
}

float Cursor::real() { return floating<float>("a number that float32 can hold, inf or -inf"); }
double Cursor::wide_real() {
  return floating<double>("a number that float64 can hold, inf or -inf");
}

void Cursor::fail(std::string_view expected) {
  if (failed_) return;
  skip_blanks();
  std::string found = "end of line";
  if (at_end()) {
    found = "end of file";
  } else if (text_[at_] != '\n') {
    size_t end = at_ + 1;
    if (is_word(text_[at_]))
      while (end < text_.size() && is_word(text_[end]) && end - at_ < 40) ++end;
    found = fmt::format("`{}`", text_.substr(at_, end - at_));
  }
  fail_at(at_, fmt::format("expected {}, found {}", expected, found));
}

void Cursor::fail_at(size_t at, const std::string& what, std::string fix, std::string rule) {
  if (failed_) return;
  failed_ = true;
  ++failures_;
  diagnostics_.error(fmt::format("{}:{}:{}", file_, line_, at - line_start_ + 1), what,
                     std::move(rule), std::move(fix));
}

std::string_view Cursor::rest_of_line() {
  const size_t end = std::min(text_.find('\n', at_), text_.size());
  const std::string_view rest = text_.substr(at_, end - at_);
  at_ = end;
  return rest;
}

}  // namespace deuteron
