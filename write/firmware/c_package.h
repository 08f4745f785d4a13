// SPDX-License-Identifier: Apache-2.0
// C output as a library of another build system: `deuteron firmware --as arduino`. docs/firmware.md
// says what the files are.
#pragma once
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "write/firmware/c_output.h"

namespace deuteron {

using PackageFiles = std::map<std::string, std::string>;  // path in the folder, and content

// A form of C output that another build system takes as it stands. Its name is that of the first
// model. Constants are an array and no model has parts for the NPU: these builders tell the
// assembler no folder, and have no place for the vendor's library.
struct CPackage {
  std::string_view form;  // of --as
  std::string_view what;  // "an Arduino library"
  PackageFiles (*files)(const COutput&, const RuntimeSources&);
  std::string_view ending = {};  // of the one file that it may be instead of a folder: ".pack"
  std::string (*archive_name)(const COutput&) = nullptr;  // that its tools expect of such a file
  std::string (*complaint)(const COutput&) = nullptr;     // about a model that it cannot be of
};
std::span<const CPackage> c_packages();

PackageFiles arduino_files(const COutput& output, const RuntimeSources& runtime);
PackageFiles cmsis_pack_files(const COutput& output, const RuntimeSources& runtime);
std::string cmsis_pack_name(const COutput& output);  // "Deuteron.NAME.VERSION.pack"
PackageFiles mlperf_tiny_files(const COutput& output, const RuntimeSources& runtime);
std::string mlperf_tiny_complaint(const COutput& output);
PackageFiles zephyr_files(const COutput& output, const RuntimeSources& runtime);

// Shared by them. Models and kernels below src/, which is the one include folder, and the list of
// kernels by which a folder is known. A builder compiles with whatever arithmetic the compiler
// prefers: the kernels' files begin with what their library says elsewhere.
PackageFiles package_sources(const COutput& output, const RuntimeSources& runtime);
std::string package_sentence(const CProgram& program);  // "12 calls of kernels, 31 744 bytes ..."
std::string package_models(const COutput& output);      // a table of sizes
std::string zephyr_core(std::string core);              // "CPU_CORTEX_M55", of package_core()
std::string pdsc_file(std::string_view path);           // an element of a pack's description
// "Cortex-M55", by the compiler's flags; empty for a computer.
std::string package_core(const COutput& output);

}  // namespace deuteron
