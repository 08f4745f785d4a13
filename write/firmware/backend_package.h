// SPDX-License-Identifier: Apache-2.0
// `deuteron firmware --as executorch`: the backend of ExecuTorch's stock runtime with the kernels
// that parts call, as one folder for CMake, for Zephyr and as a CMSIS-Pack.
#pragma once
#include <set>
#include <string>

#include "write/firmware/c_package.h"
#include "write/firmware/kernel_list.h"

namespace deuteron {

struct BackendPackage {
  std::string target, isa, flags, version;  // "cortex-m55", "mve", "-mcpu=cortex-m55 .."
  KernelList kernels;
  std::set<std::string> forms;  // functions that the calls come to; empty: not known
};
PackageFiles backend_package(const BackendPackage& package, const RuntimeSources& runtime);

}  // namespace deuteron
