// Which kernels a firmware has, so that a program that would not load there is refused on the host.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "ir/diagnostic.h"
#include "passes/compile.h"

namespace deuteron {

class FirmwareOps {
 public:
  // A list (one "namespace::operator.overload" a line, # begins a comment), or an ELF image linked with our runtime, whose kernels carry
  // their names.
  static std::optional<FirmwareOps> read(const std::string& path, Diagnostics& diagnostics);
  bool has(const std::string& kernel) const;  // "cortex_m::quantized_add.out"

 private:
  std::string path_;
  std::vector<std::string> listed_;
  std::string image_;  // of an ELF
};

// One error for each kernel that the program calls and the firmware lacks, with the operators that need it.
void check_firmware(const Compilation& compilation, const FirmwareOps& firmware, const std::string& path, Diagnostics& diagnostics);

}  // namespace deuteron
