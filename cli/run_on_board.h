// SPDX-License-Identifier: Apache-2.0
// --on of the verbs that run a program: on an emulated board, or on a chip behind a GDB server.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/data/inputs.h"
#include "base/diagnostic.h"
#include "boards/emulate.h"
#include "cli/command_line.h"
#include "cli/program_file.h"
#include "cli/verb.h"

namespace deuteron {

struct Where {
  std::string on = "host", memory, caches;  // of a chip behind a GDB server
  bool writes_flash = false;
  bool is_host() const { return on == "host"; }
  bool is_emulated() const { return on.starts_with("qemu:"); }
  // of an emulated one its name
  std::string board() const { return is_emulated() ? on.substr(5) : on; }
};
std::string check_on(const std::string& on);  // "", or what is wrong with it
void add_where(Verb& verb, Where& where);
std::string check_where(const Where& where);  // "", or what does not go together

struct BoardRun {
  std::vector<std::vector<std::byte>> outputs;  // as of run_on_host()
  EmulatedRun run;
  std::string core, clock, found;  // behind a GDB server: as of ProbeRun
};
// Of samples in the program's storage order. `run` says whether it went well; `outputs` is empty.
BoardRun run_stored(const ProgramFile& file, const Where& where, const EmulateOptions& options,
                    std::span<const Sample> samples);
std::optional<BoardRun> run_on_board(const ProgramFile& file, const Where& where,
                                     const EmulateOptions& options,
                                     std::span<const InputSeries> inputs, i64 samples,
                                     Diagnostics& diagnostics);

// run_on_host() or that, for verbs that want the outputs alone. A board's program goes on from
// sample to sample: one with state is refused there where each sample is to begin anew.
std::optional<std::vector<std::vector<std::byte>>> run_anywhere(
    const ProgramFile& file, const Where& where, double timeout,
    std::span<const InputSeries> inputs, i64 samples, RunSeconds* seconds, bool resets_state,
    const std::string& json, Diagnostics& diagnostics);

}  // namespace deuteron
