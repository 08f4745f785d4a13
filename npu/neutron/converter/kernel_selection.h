// SPDX-License-Identifier: Apache-2.0
// The NPU kernels that models need, as a C file: linked into a firmware it takes the place of the
// driver's table of all kernels (npu/neutron/machine/kernel_table.h), and the linker leaves the
// others out. Files of several models merge into one.
#pragma once
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "base/diagnostic.h"
#include "base/tensor/type.h"
#include "npu/neutron/machine/microcode.h"

namespace deuteron::neutron {

struct KernelSelection {
  // of the machine and its microcode; files of different versions do not mix
  uint32_t version = kFormatTag;
  std::set<Kind> kinds;
  bool operator==(const KernelSelection&) const = default;
};

std::string write_kernel_selection(const KernelSelection& selection);
std::optional<KernelSelection> read_kernel_selection(std::string_view text, const std::string& file,
                                                     Diagnostics& diagnostics);

// `files`: their names, for messages; as many as selections.
std::optional<KernelSelection> merge_kernel_selections(std::span<const KernelSelection> selections,
                                                       std::span<const std::string> files,
                                                       Diagnostics& diagnostics);

}  // namespace deuteron::neutron
