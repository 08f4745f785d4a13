// deuteron firmware --as c|arduino: programs as C that share their kernels, or as a library of Arduino.
#pragma once
#include <string>
#include <vector>

#include "tools/emit_c.h"

namespace deuteron {

struct FirmwareAs {
  std::vector<std::string> models;
  std::string board, output, json, form;  // "c", "arduino"
  COptions c;
  std::string verify_key;  // "": who made the programs does not matter
};
int firmware_as(const FirmwareAs& options);

}  // namespace deuteron
