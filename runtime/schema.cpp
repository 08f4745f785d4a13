// SPDX-License-Identifier: Apache-2.0
#include "runtime/schema.h"

namespace deuteron {

namespace {

constexpr uint32_t kNumber = bit_of(Kind::integer) | bit_of(Kind::real) | bit_of(Kind::boolean),
                   kNone = bit_of(Kind::none);

constexpr uint32_t kinds_by_rule(char letter) {
  switch (letter) {
    case 'T':
      return bit_of(Kind::tensor);
    case 'O':
      return bit_of(Kind::tensor) | kWrites;
    case 'X':
      return bit_of(Kind::tensor) | kWrites | kIsScratch;
    case 't':
      return bit_of(Kind::tensor) | kNone;
    case 'I':
      return bit_of(Kind::integer);
    case 'i':
      return bit_of(Kind::integer) | kNone;
    case 'F':
      return kNumber;
    case 'f':
      return kNumber | kNone;
    case 'B':
      return bit_of(Kind::boolean);
    case 'L':
      return bit_of(Kind::int_list);
    case 'l':
      return bit_of(Kind::int_list) | kNone;
    case 'V':
    case 'v':
      return bit_of(Kind::tensor_list);
    case 'W':
      return bit_of(Kind::tensor_list) | kWrites;
    case 'd':
      return bit_of(Kind::real_list) | kNone;
    case 'S':
      return bit_of(Kind::string) | kNone;
    default:
      return 0;
  }
}

constexpr KindsOfLetters kinds_of_letters() {
  KindsOfLetters all = {};
  for (char letter = 'A'; letter <= 'z'; ++letter)
    if (const uint32_t kinds = kinds_by_rule(letter))
      all.kinds[letter & 63] = static_cast<uint16_t>(kinds);
  return all;
}

}  // namespace

constexpr KindsOfLetters kKindsOfLetters = kinds_of_letters();

const char* expected(char letter) {
  switch (letter) {
    case 'T':
      return "must be a tensor";
    case 'O':
    case 'X':
      return "must be a tensor that the call writes";
    case 't':
      return "must be a tensor or none";
    case 'I':
      return "must be an int";
    case 'i':
      return "must be an int or none";
    case 'F':
      return "must be a number";
    case 'f':
      return "must be a number or none";
    case 'B':
      return "must be a bool";
    case 'L':
      return "must be a list of ints";
    case 'l':
      return "must be a list of ints or none";
    case 'V':
    case 'v':
      return "must be a list of tensors";
    case 'W':
      return "must be a list of tensors that the call writes";
    case 'd':
      return "must be a list of floats or none";
    case 'S':
      return "must be a string or none";
    default:
      return "has a kind that the kernel's schema does not name";
  }
}

}  // namespace deuteron
