// SPDX-License-Identifier: Apache-2.0
// Which of the runtime's sources a firmware needs: those of its kernels, and what they include.
#pragma once
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "write/firmware/kernel_list.h"

namespace deuteron {

struct SourceFile {
  std::string_view path, text;
};
// The path of a quoted include with which the text begins: from the root.
std::optional<std::string> included(std::string_view text);
struct KernelSource {
  std::string_view symbol, path;  // "kQuantizedAdd", "kernels/add/bind.cpp"
};
struct RuntimeSources {
  std::vector<SourceFile> files;  // headers and sources
  // of the CPU, by name: "cortex_m::quantized_add.out"
  std::map<std::string, KernelSource, std::less<>> kernels = {};
};

// What a firmware is for, as boards.txt has it.
struct FirmwareBoard {
  std::string_view name, isa;  // "scalar", "dsp", "mve"
  std::string_view cores;      // "cortex_m": its start-up is in runtime/ports/cortex_m
  bool emulated = true;
};
std::string port_folder(std::string_view board,
                        bool emulated);  // "boards/emulated": port.cpp and build.cmake

// A header asks for the source beside it of the same name, and a kernel's header also for the
// kernels of the instruction set of the board. A kernel that the runtime does not have is left out:
// the caller has compared. `npu`: the delegate and its driver's interface; `npu_model`: the open
// machine model too.
std::set<std::string> needed_sources(const RuntimeSources& runtime, const KernelList& kernels,
                                     const FirmwareBoard& board, bool npu, bool npu_model);

// What runs parts in ExecuTorch's runtime, without a board and without the NPU's driver.
std::set<std::string> backend_sources(const RuntimeSources& runtime, const KernelList& kernels,
                                      std::string_view isa);
// And what runs parts that are C, without their kernels.
std::set<std::string> compiled_backend_sources(const RuntimeSources& runtime, std::string_view isa);

// Without the runtime, for C programs: the headers `ops/<operator>/kernel.h` of these kernels
// ("cortex_m::quantized_add.out"), and all that such headers lead to on a core of the instruction
// set; "": on a computer.
std::set<std::string> kernel_headers(const RuntimeSources& runtime,
                                     const std::set<std::string>& kernels);
std::set<std::string> sources_of(const RuntimeSources& runtime,
                                 const std::set<std::string>& headers, std::string_view isa);
// What the checks and the loops of these kernels need, for C programs that make calls ready
// themselves.
std::set<std::string> kept_sources(const RuntimeSources& runtime,
                                   const std::set<std::string>& kernels, std::string_view isa);

// The delegate of the NPU and, with `model`, the open model of the machine with these of its
// kernels.
std::set<std::string> npu_sources(const RuntimeSources& runtime,
                                  const std::set<std::string>& kernels, std::string_view isa,
                                  bool model);

}  // namespace deuteron
