// SPDX-License-Identifier: Apache-2.0
// Programs as C or as a C++ header: what `compile --emit c`, `--emit hpp` and `firmware --as` have
// in common.
#pragma once
#include <optional>
#include <span>
#include <string>

#include "cli/options.h"
#include "cli/program_file.h"
#include "targets/target.h"
#include "write/firmware/c_output.h"

namespace deuteron {

struct COptions {
  std::string form, name;
  bool blob = false, host = false, force = false;
  bool is_c = false;  // of `executorch`: parts as C
  // "c,blob,host": one of the forms, how constants lie, and whose code it is. What is wrong with
  // the text; empty: nothing.
  std::string read(std::string_view text, std::span<const std::string> forms);
};
void add_c_options(Verb& verb, COptions& options);  // the name, and --force

// The core that the C is for: of a target, or a computer.
COutput c_output_for(const COptions& options, const Target& target);

// C has one arena. False with a diagnostic.
bool lies_in_one_memory(const PteSummary& summary, const std::string& from,
                        Diagnostics& diagnostics);

// Adds a program of `target`, which is loaded on this machine for it. `from`: the user's file.
// False with a diagnostic.
bool add_c_program(const COptions& options, const ProgramFile& file, const Target& target,
                   const std::string& from, COutput& output, Diagnostics& diagnostics);

// Writes the folder, whole or not at all.
bool write_c_folder(const COptions& options, const COutput& output, const std::string& folder,
                    Diagnostics& diagnostics);
// Writes one C++ header instead. Refuses parts for the NPU, whose driver is no header.
bool write_cpp_header(const COutput& output, const std::string& file, Diagnostics& diagnostics);
Json c_report(const COutput& output, const std::string& form);  // "c", "hpp"
std::string c_summary(const COutput& output, const std::string& path, std::string_view what = "C");
std::string cpp_summary(const COutput& output, const std::string& file);

}  // namespace deuteron
