// SPDX-License-Identifier: Apache-2.0
// `deuteron firmware --as executorch`: the backend of ExecuTorch's stock runtime with the kernels
// that parts call, as one folder for CMake, for Zephyr and as a CMSIS-Pack; or with the parts
// themselves as C.
#pragma once
#include <set>
#include <string>

#include "write/firmware/c_package.h"
#include "write/firmware/kernel_list.h"

namespace deuteron {

struct CompiledCPart {
  CProgram program;  // constants in the file
  uint64_t contents = 0;
  uint64_t bytes = 0;
};

struct BackendPackage {
  std::string target, isa, flags, version;  // "cortex-m55", "mve", "-mcpu=cortex-m55 .."
  KernelList kernels;
  std::set<std::string> forms;               // functions that the calls come to; empty: not known
  std::vector<CompiledCPart> compiled = {};  // empty: parts are loaded
};
PackageFiles backend_package(const BackendPackage& package, const RuntimeSources& runtime);

}  // namespace deuteron
