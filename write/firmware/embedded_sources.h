// SPDX-License-Identifier: Apache-2.0
// What the build has put into this program, as the functions of sources.h want it. For programs
// that link it.
#pragma once
#include "runtime/kernel.h"
#include "write/firmware/embedded.h"
#include "write/firmware/sources.h"

namespace deuteron {

inline RuntimeSources embedded_sources() {
  RuntimeSources runtime;
  for (int i = 0; i < deuteron_runtime_file_count; ++i) {
    const deuteron_embedded_file& f = deuteron_runtime_files[i];
    runtime.files.push_back({f.path, {f.begin, static_cast<size_t>(f.end - f.begin)}});
  }
  std::map<const void*, const deuteron_constant*> constants;
  for (int i = 0; i < deuteron_constant_count; ++i)
    constants.emplace(deuteron_constants[i].address, &deuteron_constants[i]);
  for (int32_t k = 0; k < kAllKernels.count; ++k)
    if (const auto found = constants.find(kAllKernels.kernels[k]); found != constants.end())
      runtime.kernels.emplace(kAllKernels.kernels[k]->name,
                              KernelSource{found->second->name, found->second->path});
  return runtime;
}

}  // namespace deuteron
