// SPDX-License-Identifier: Apache-2.0
// Which kernels a firmware has, so that a program that would not load there is refused on the host.
#pragma once
#include <optional>
#include <string>

#include "base/diagnostic.h"
#include "write/firmware/kernel_list.h"

namespace deuteron {

struct Compilation;

class FirmwareOps {
 public:
  // A selection or a plain list (write/firmware/kernel_list.h), or an ELF image linked with our
  // runtime, whose kernels carry their names.
  static std::optional<FirmwareOps> read(const std::string& path, Diagnostics& diagnostics);
  bool has(const std::string& kernel) const;  // "cortex_m::quantized_add.out"
  bool has_backend(
      const std::string& name) const;  // of delegates; a list has none and says nothing about it
  bool has_npu(const std::string& kernel) const;  // "Conv2DPointwise"
  bool knows_npu() const;  // false: nothing is said about the NPU's kernels (a vendor's driver)

 private:
  KernelList list_;
  std::string image_;  // of an ELF
};

// One error for each kernel that the program calls and the firmware lacks, with the operators that
// need it.
void check_firmware(const Compilation& compilation, const FirmwareOps& firmware,
                    const std::string& path, Diagnostics& diagnostics);

}  // namespace deuteron
