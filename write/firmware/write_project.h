// SPDX-License-Identifier: Apache-2.0
// A firmware project as files: the runtime's sources that the models need, one table of kernels,
// the models as constants, a main program and what builds them with Debian's cross compiler.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "write/firmware/kernel_list.h"
#include "write/firmware/sources.h"

namespace deuteron {

// A planned buffer of a model whose tensors lie in several memories.
struct FirmwareBuffer {
  std::string memory;  // of the target: a region of the board's linker script has this name, or an
                       // alias of one
  uint64_t bytes = 0, copied_bytes = 0;
};

struct FirmwareModel {
  std::string name;  // of its file, without the ending: letters, digits and _
  std::string from;  // the path that the user gave, for the README
  std::vector<uint8_t> program;
  std::vector<std::vector<uint8_t>> inputs;      // one sample, in storage order
  std::vector<std::vector<uint8_t>> inputs_npy;  // the same as files for `deuteron run`
  std::vector<uint64_t> expected;                // FNV-1a of the outputs; empty: not known
  uint64_t planned_bytes = 0, tables_bytes = 0;
  std::vector<FirmwareBuffer> buffers;  // empty: all that is planned lies in one memory
  bool npu_reads = false;               // the NPU reads constants where they lie in the program
};

// The board's family of cores, as boards/cores.txt has it.
struct FirmwareCores {
  std::string name = "cortex_m", compiler_prefix, packages, headers, emulator, emulator_package;
};

struct FirmwareProject {
  std::string board, isa, flags;  // flags of the compiler, with spaces between them
  FirmwareCores cores;
  std::string machine;   // options that name an emulated board to the emulator
  bool emulated = true;  // the board
  bool vendor_driver = false;
  bool npu = false;             // a model has delegates for it
  uint64_t npu_calls = 0;       // of delegates, in the model that has most
  bool tables_measured = true;  // on the board; false: on the host, whose pointers are larger
  KernelList kernels;
  // Functions that the calls of all models come to on the board; nothing: not known, as where
  // kernels for later models are linked too.
  std::optional<std::set<std::string>> forms = std::set<std::string>();
  std::vector<FirmwareModel> models;
};

// FNV-1a, 64 bits: what the firmware prints of each output (write/firmware/project/main.cpp).
uint64_t checksum_of(std::span<const uint8_t> bytes);

struct FirmwareMemory {
  uint64_t models_bytes = 0, inputs_bytes = 0, tables_bytes = 0, planned_bytes = 0;
  uint64_t buffers_bytes = 0;  // planned too: of models that lie in several memories
  // of models that lie in the flash and are copied to where the NPU reads them
  uint64_t copied_bytes = 0;
  bool models_in_pool = false, planned_in_pool = false;
  std::map<std::string, std::string> region;  // by memory of the models' buffers
};
// nullopt, with a diagnostic: the board has too little memory.
std::optional<FirmwareMemory> place(const FirmwareProject& project, const RuntimeSources& runtime,
                                    Diagnostics& diagnostics);

// Bytes of a memory of a board, "CODE", "RAM" or "POOL"; 0: it has none.
uint64_t board_region(const RuntimeSources& runtime, std::string_view board,
                      std::string_view region);

// Path in the project, and content.
std::map<std::string, std::string> firmware_files(const FirmwareProject& project,
                                                  const FirmwareMemory& memory,
                                                  const RuntimeSources& runtime);

// A table of these kernels, `kFirmwareKernels`; `header`: what declares it.
std::string kernel_table(const KernelList& kernels, bool npu, std::string_view header,
                         const RuntimeSources& runtime);
// What DEUTERON_FORMS is defined as (kernels/common/record_call.h): those of convolutions, whose
// bindings read it.
std::string forms_text(const std::set<std::string>& forms);

// The folder whole or not at all. One that is there is refused unless it is empty, or was made by
// this and `force` says so.
bool write_folder(const std::string& folder, const std::map<std::string, std::string>& files,
                  bool force, Diagnostics& diagnostics);

inline constexpr const char* kSelectionFile = "firmware.sel";

}  // namespace deuteron
