// Which of the runtime's sources a firmware needs: those of its kernels, and what they include.
#pragma once
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "firmware/kernel_list.h"

namespace deuteron {

struct SourceFile {
  std::string_view path, text;
};

// Headers and sources. A header asks for the source beside it of the same name, and a kernel's header also for the kernels of the
// instruction set (`isa`: "scalar", "dsp", "mve"). A kernel that no source defines is left out: the caller has compared with the runtime's
// table. `npu`: the delegate and its driver's interface; `npu_model`: the open machine model too.
std::set<std::string> needed_sources(std::span<const SourceFile> all, const KernelList& kernels, std::string_view board,
                                     std::string_view isa, bool npu, bool npu_model);

// "kQuantizedAdd" for "cortex_m::quantized_add.out": the name that its source gives it; empty: no source defines it.
std::string symbol_of_kernel(std::span<const SourceFile> all, const std::string& kernel);

}  // namespace deuteron
