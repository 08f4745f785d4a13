#include "runtime/schema.h"

namespace deuteron {

bool takes(char letter, Kind kind) {
  const bool none = kind == Kind::none, number = kind == Kind::integer || kind == Kind::real || kind == Kind::boolean;
  switch (letter) {
    case 'T':
    case 'O':
    case 'X':
      return kind == Kind::tensor;
    case 't':
      return kind == Kind::tensor || none;
    case 'I':
      return kind == Kind::integer;
    case 'i':
      return kind == Kind::integer || none;
    case 'F':
      return number;
    case 'f':
      return number || none;
    case 'B':
      return kind == Kind::boolean;
    case 'L':
      return kind == Kind::int_list;
    case 'l':
      return kind == Kind::int_list || none;
    case 'V':
    case 'v':
    case 'W':
      return kind == Kind::tensor_list;
    case 'd':
      return kind == Kind::real_list || none;
    case 'S':
      return kind == Kind::string || none;
    default:
      return false;
  }
}

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
