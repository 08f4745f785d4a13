// SPDX-License-Identifier: Apache-2.0
// The kernels of a firmware, for the CPU and for the NPU, as one text file (a selection): read by
// people, by `deuteron firmware --kernels` and by `compile --firmware-ops`. Files of several models
// merge into one.
//
//   # Kernels of a firmware ...
//   neutron machine 00030001                   the machine and microcode that the NPU kernels are
//   of cortex_m::pad.out  # resnet8 digits        behind #: the models that call it
//   neutron::Conv2DPointwise  # resnet8
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "base/diagnostic.h"
#include "npu/neutron/machine/microcode.h"

namespace deuteron {

struct KernelList {
  using Users = std::set<std::string>;
  std::map<std::string, Users> cpu;  // "cortex_m::pad.out"
  std::map<std::string, Users>
      npu;  // "Conv2DPointwise": a kernel of npu/neutron/machine/microcode.h
  std::optional<uint32_t>
      machine;  // neutron::kFormatTag; without it nothing is known about the NPU
  bool operator==(const KernelList&) const = default;
};

std::string write_kernel_list(const KernelList& list);
// Also a plain list, a kernel's name a line, # begins a comment.
std::optional<KernelList> read_kernel_list(std::string_view text, const std::string& file,
                                           Diagnostics& diagnostics);
bool is_kernel_list(std::string_view text);  // written by write_kernel_list

// Adds `from` (of the file `file`) to `into`. False, with a diagnostic: they are for different
// machines.
bool merge_kernel_list(KernelList& into, const KernelList& from, const std::string& file,
                       Diagnostics& diagnostics);

std::optional<neutron::Kind> npu_kernel(std::string_view name);  // by its name

}  // namespace deuteron
