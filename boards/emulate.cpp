// SPDX-License-Identifier: Apache-2.0
// See emulate.h. The job goes in and the outputs come back through nameless files that QEMU
// inherits; text comes over a pipe.
#include "boards/emulate.h"

#include <fmt/format.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <sstream>

#include "boards/board.h"
#include "boards/job_bytes.h"
#include "boards/report.h"
#include "boards/symbols.h"
#include "boards/watched_process.h"

namespace deuteron {
namespace {

// A sample may take this long on a busy machine. Emulation does 30 to 300 million instructions a
// second; a multiply-add takes up to ten.
constexpr double kBaseSeconds = 30, kSecondsPerMultiplyAdd = 1e-6;

// Semihosting could run a command on the host (SYS_SYSTEM): the emulator may not start processes.
// It is ended when its image asks for one.
constexpr const char* kSandbox =
    "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny";
std::atomic<bool> qemu_has_sandbox = true;  // until one says that it was built without

// sleep=off: else the board's clock follows the host's until its processor starts, and counts
// differ by some instructions from run to run.
std::vector<std::string> emulator_command(const Board& board, const EmulateOptions& options,
                                          bool sandbox) {
  std::vector<std::string> command = {options.qemu.empty() ? std::string(board.cores.emulator)
                                                           : options.qemu};
  std::istringstream words{std::string(board.machine)};
  for (std::string word; words >> word;) command.push_back(word);
  command.insert(
      command.end(),
      {"-kernel", "/proc/self/fd/3", "-icount", "shift=0,sleep=off", "-nodefaults",
       "-no-user-config", "-display", "none", "-monitor", "none", "-serial", "null", "-parallel",
       "null", "-semihosting-config",
       "enable=on,target=native,arg=/proc/self/fd/4,arg=/proc/self/fd/5,arg=/proc/self/fd/6"});
  if (sandbox) command.insert(command.end(), {"-sandbox", kSandbox});
  if (!options.count_blocks) return command;
  std::string plugin = "file=/proc/self/fd/7,fd=8";
  if (const auto& w = options.waits)
    plugin += fmt::format(",waits={}:{}:{}:{}", w->constants.cycles, w->constants.line_bytes,
                          w->variables.cycles, w->variables.line_bytes);
  command.insert(command.end(), {"-plugin", std::move(plugin)});
  return command;
}

// What the plugin says of each call, which has its own count of instructions.
void add_waits(EmulatedRun& run) {
  std::istringstream text(std::string(run.blocks.begin(), run.blocks.end()));
  size_t sample = 0, call = 0;
  uint64_t cycles = 0;
  for (std::string line; std::getline(text, line);) {
    if (line.starts_with("wait ")) cycles = std::strtoull(line.c_str() + 5, nullptr, 10);
    if (line != "end" || sample >= run.steps.size()) continue;
    run.steps[sample].at(call).instructions += cycles;
    run.instructions.at(sample) += cycles;
    if (++call == run.steps[sample].size()) sample++, call = 0;
  }
}

// Takes apart what a board wrote that came to its end.
void take_outputs(const Board& board, JobKind kind, size_t samples, const BoardReport& answer,
                  const std::vector<uint8_t>& bytes, EmulatedRun& run) {
  if (kind == JobKind::run) {
    run.ok = run.instructions.size() == samples && answer.loaded &&
             split_outputs(bytes, answer.output_bytes, samples, run);
  } else {
    run.ok = answer.booted;
    if (kind == JobKind::echo) run.outputs = {{bytes}};
  }
  if (!run.ok)
    run.error =
        board_trouble(board.name,
                      fmt::format("the board ended early: {} of {} samples, {} output bytes",
                                  run.instructions.size(), samples, bytes.size()),
                      "board.incomplete");
}

EmulatedRun run_job(const Board& board, Job job, std::span<const uint8_t> program,
                    std::span<const Sample> samples, double limit_seconds,
                    const EmulateOptions& options) {
  EmulatedRun run;
  const auto start = std::chrono::steady_clock::now();
  MemoryFile image("deuteron-board"), input("deuteron-job"), output("deuteron-outputs"),
      profile("deuteron-profile"), plugin("deuteron-plugin"), blocks("deuteron-blocks");
  const std::span<const uint8_t> runner = options.image.empty() ? board.image : options.image;
  job.program_bytes = static_cast<uint32_t>(program.size());
  job.profile_events = options.profile_events;
  job.profile_clock = options.clock;
  job.clock_argument = options.clock_argument;
  if (output.descriptor() < 0 || profile.descriptor() < 0 || blocks.descriptor() < 0 ||
      !image.append(runner) ||
      !write_job([&](std::span<const uint8_t> bytes) { return input.append(bytes); }, job, program,
                 samples) ||
      (options.count_blocks && !plugin.append(block_counts_plugin()))) {
    run.error = board_trouble(
        board.name, fmt::format("the job cannot be written to memory: {}", std::strerror(errno)),
        "board.job_memory");
    return run;
  }
  BoardReport answer;
  const int descriptors[] = {image.descriptor(),   input.descriptor(),  output.descriptor(),
                             profile.descriptor(), plugin.descriptor(), blocks.descriptor()};
  const bool restart = options.timeout_seconds <= 0;
  const auto emulate = [&](bool sandbox) {
    return run_watched(
        emulator_command(board, options, sandbox), descriptors, limit_seconds,
        [&](std::string_view line) { return take_line(line, answer, run) && restart; },
        HostFiles::read_only);
  };
  // Our own runner asks the host for nothing but its files; another image never runs without the
  // sandbox.
  const bool sandbox = qemu_has_sandbox || !options.image.empty();
  ProcessEnd end = emulate(sandbox);
  if (sandbox && options.image.empty() && end.exit_code == 1 &&
      answer.emulator_text.find("-sandbox") != answer.emulator_text.npos) {
    qemu_has_sandbox = false;
    answer = {};
    end = emulate(false);
  }
  run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (end.start_error != 0 || end.timed_out || end.exit_code != 0) {
    run.error = describe_end(
        board.name, [&](uint32_t at) { return function_at(runner, at); }, end, answer, options,
        limit_seconds);
    return run;
  }
  run.profile = profile.content();
  run.blocks = blocks.content();
  take_outputs(board, job.kind, samples.size(), answer, output.content(), run);
  if (run.ok && options.waits) add_waits(run);
  return run;
}

// Null, with `problem`: there is no such board, or no runner for it.
const Board* board_to_run(std::string_view name, Diagnostic& problem) {
  const Board* board = find_board(emulated_boards(), name);
  if (board && !board->image.empty()) return board;
  if (board)
    problem = board_trouble(name, "this build has no runner for it", "board.not_built",
                            how_to_build_runners(board->cores));
  else problem = no_board(name);
  return nullptr;
}

}  // namespace

EmulatedRun run_emulated(std::string_view name, std::span<const uint8_t> program,
                         std::span<const Sample> samples, const EmulateOptions& options) {
  EmulatedRun run;
  const Board* board = board_to_run(name, run.error);
  if (!board) return run;
  std::optional<Diagnostic> problem = check_samples(name, samples);
  if (!problem && program.size() > UINT32_MAX - 64)
    problem = board_trouble(name, "the program is larger than 4 GB", "board.memory");
  if (problem) {
    run.error = *problem;
    return run;
  }
  Job job;
  job.inputs = samples.empty() ? 0 : static_cast<uint32_t>(samples[0].size());
  job.samples = static_cast<uint32_t>(samples.size());
  job.steps = options.count_blocks ? Steps::marked
              : options.by_step    ? Steps::apart
                                   : Steps::together;
  const double limit = options.timeout_seconds > 0
                           ? options.timeout_seconds
                           : kBaseSeconds + kSecondsPerMultiplyAdd * estimate_work(program);
  run = run_job(*board, job, program, samples, limit, options);
  if (run.ok || run.error.rule != "board.fault" || job.steps != Steps::together ||
      run.instructions.size() >= samples.size())
    return run;

  // Once more from the sample that faulted, call by call, to name the operator.
  job.steps = Steps::apart;
  job.samples = 1;
  const EmulatedRun again =
      run_job(*board, job, program, samples.subspan(run.instructions.size(), 1), limit, options);
  if (!again.ok && again.error.rule == "board.fault") run.error = again.error;
  return run;
}

EmulatedRun run_board_self_test(std::string_view name, JobKind kind, uint32_t argument,
                                std::span<const uint8_t> bytes, const EmulateOptions& options) {
  EmulatedRun run;
  const Board* board = board_to_run(name, run.error);
  if (!board) return run;
  Job job;
  job.kind = kind;
  job.argument = argument;
  return run_job(*board, job, bytes, {},
                 options.timeout_seconds > 0 ? options.timeout_seconds : kBaseSeconds, options);
}

}  // namespace deuteron
