// SPDX-License-Identifier: Apache-2.0
#include "cli/run_on_board.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/data/option_number.h"
#include "base/watch.h"
#include "boards/board.h"
#include "boards/gdb_run.h"
#include "cli/ends.h"

namespace deuteron {
namespace {

std::string check_memory(const std::string& text) {
  std::string problem;
  parse_memory(text, problem);
  return problem;
}

// Each call's name once.
std::vector<std::string> kernels_of(const ProgramFile& file) {
  std::vector<std::string> names;
  for (const PteCall& call : file.summary.calls)
    if (std::ranges::find(names, call.op) == names.end()) names.push_back(call.op);
  return names;
}

}  // namespace

std::string check_on(const std::string& on) {
  if (on == "host" || (on.starts_with("qemu:") && on.size() > 5)) return {};
  if (on.starts_with("gdb:")) {
    const std::string port = on.substr(on.rfind(':') + 1);
    if (on.rfind(':') > 3 && complaint_of({true, 1, 65535}, port).empty()) return {};
    return "`" + on + "` is not `gdb:HOST:PORT`";
  }
  if (on.starts_with("serial:")) {
    const size_t comma = on.find(',');
    const std::string baud = comma == on.npos ? "115200" : on.substr(comma + 1);
    const bool is_baud = complaint_of({true, 0, 9999999}, baud).empty();
    if (is_baud && on.size() > 7 && comma != 7) return {};
    return "`" + on + "` is not `serial:DEVICE` or `serial:DEVICE,BAUD`";
  }
  if (on.starts_with("/dev/") || on.starts_with("COM"))
    return "`" + on + "` is a device: `serial:" + on + "` names it";
  return "`" + on + "` is neither `host` nor `qemu:BOARD`, `gdb:HOST:PORT` or `serial:DEVICE`";
}

void add_where(Verb& verb, Where& where) {
  verb.option(
          "--on", where.on,
          "where to run: host (default); emulated boards: " + list_of(emulated_boards(), "qemu:") +
              "; your own board: gdb:HOST:PORT, through a debug probe's GDB server, or "
              "serial:DEVICE[,BAUD], with deuteron_agent.h in its firmware")
      .value("WHERE")
      .check(check_on);
  verb.option("--memory", where.memory,
              "with gdb: the chip's name (`deuteron targets --chips`), or where its RAM is, and "
              "for --flash its flash: ram=0x20000000+128K,flash=0x08000000+512K")
      .value("M")
      .check(check_memory);
  verb.flag("--flash", where.writes_flash,
            "with gdb: write the runner and the program to flash, replacing the chip's firmware; "
            "by default only RAM is written");
  verb.option(
          "--caches", where.caches,
          "with gdb: switch the core's caches on for the run; by default they are left as they are")
      .value("on")
      .one_of({"on"});
}

std::string check_where(const Where& where) {
  const bool is_gdb = where.on.starts_with("gdb:"),
             is_chip = is_gdb || where.on.starts_with("serial:");
  if (is_chip && where.memory.empty())
    return "--on " + where.on +
           " wants --memory: the chip (`deuteron targets --chips`), or where it has RAM, as "
           "ram=0x20000000+128K";
  if (!is_chip && !where.memory.empty())
    return "--memory is for chips: --on gdb:HOST:PORT, --on serial:DEVICE";
  if (!is_gdb && (where.writes_flash || !where.caches.empty()))
    return fmt::format("--{} is for chips behind a GDB server: --on gdb:HOST:PORT",
                       where.writes_flash ? "flash" : "caches");
  return {};
}

BoardRun run_stored(const ProgramFile& file, const Where& where, const EmulateOptions& options,
                    std::span<const Sample> samples) {
  const std::span<const uint8_t> program{reinterpret_cast<const uint8_t*>(file.bytes.data()),
                                         file.bytes.size()};
  BoardRun r;
  if (where.is_emulated()) {
    r.run = run_emulated(where.board(), program, samples, options);
    return r;
  }
  ProbeOptions probe;
  std::string problem;
  probe.run = options;
  probe.memory = parse_memory(where.memory, problem).value_or(ChipMemory{});
  probe.writes_flash = where.writes_flash;
  probe.caches_on = !where.caches.empty();
  probe.isa = file.summary.isa;
  probe.kernels = kernels_of(file);
  ProbeRun run = run_on_probe(where.on, program, samples, probe);
  return {{}, std::move(run.run), std::move(run.core), std::move(run.clock), std::move(run.found)};
}

std::optional<BoardRun> run_on_board(const ProgramFile& file, const Where& where,
                                     const EmulateOptions& options,
                                     std::span<const InputSeries> inputs, i64 samples,
                                     Diagnostics& diagnostics) {
  std::vector<Sample> stored(static_cast<size_t>(samples));
  for (i64 s = 0; s < samples; ++s)
    for (const std::vector<std::byte>& bytes : file.stored_inputs(inputs, s)) {
      const auto* data = reinterpret_cast<const uint8_t*>(bytes.data());
      stored[s].emplace_back(data, data + bytes.size());
    }
  note_progress("running on " + where.on, 0, 0);
  BoardRun r = run_stored(file, where, options, stored);
  if (!r.run.ok) {
    Diagnostic d = r.run.error;
    d.where = file.path + " on " + d.where;
    return diagnostics.add(std::move(d)), std::nullopt;
  }
  r.outputs.resize(file.summary.outputs.size());
  for (const auto& sample : r.run.outputs)
    for (size_t o = 0; o < r.outputs.size(); ++o) {
      const PteTensor& t = file.summary.outputs[o];
      if (static_cast<i64>(sample[o].size()) != t.bytes) {
        diagnostics.add(
            {Severity::error, file.path, fmt::format("the board gave output {} of another size", o),
             std::to_string(sample[o].size()), std::to_string(t.bytes), "board.output", ""});
        return std::nullopt;
      }
      const std::vector<std::byte> user = file.user_output(o, std::as_bytes(std::span(sample[o])));
      r.outputs[o].insert(r.outputs[o].end(), user.begin(), user.end());
    }
  return r;
}

std::optional<std::vector<std::vector<std::byte>>> run_anywhere(
    const ProgramFile& file, const Where& where, double timeout,
    std::span<const InputSeries> inputs, i64 samples, RunSeconds* seconds, bool resets_state,
    const std::string& json, Diagnostics& diagnostics) {
  if (where.is_host()) {
    const TimeLimit limit = limit_run(timeout, file.path, json);
    Needs needs;
    return run_on_host(file, inputs, samples, seconds, &needs, diagnostics, nullptr, resets_state);
  }
  if (resets_state && samples > 1 && file.summary.state_bytes > 0) {
    diagnostics.error(
        file.path, "the program has state, which goes on from sample to sample on a board",
        "board.state",
        "give one sample, or --stream where the samples are the steps of one sequence");
    return std::nullopt;
  }
  EmulateOptions options;
  options.timeout_seconds = timeout;
  std::optional<BoardRun> run = run_on_board(file, where, options, inputs, samples, diagnostics);
  if (!run) return std::nullopt;
  seconds->all = run->run.seconds;
  return std::move(run->outputs);
}

}  // namespace deuteron
