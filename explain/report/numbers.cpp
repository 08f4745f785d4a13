// SPDX-License-Identifier: Apache-2.0
#include "explain/report/numbers.h"

namespace deuteron {

std::string grouped(i64 v) {
  const std::string digits = std::to_string(v);
  std::string text;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0 && digits[i - 1] != '-') text += ' ';
    text += digits[i];
  }
  return text;
}

}  // namespace deuteron
