// SPDX-License-Identifier: Apache-2.0
// See emulate.h. The job goes in and the outputs come back through nameless files that QEMU inherits; text comes over a pipe.
#include "boards/emulate.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>

#include "backends/neutron_delegate/calls.h"
#include "backends/neutron_delegate/delegate.h"
#include "boards/board.h"
#include "boards/report.h"
#include "boards/watched_process.h"
#include "runtime/deuteron.h"

namespace deuteron {
namespace {

// A sample may take this long on a busy machine. Emulation does 30 to 300 million instructions a second; a multiply-add takes up to ten.
constexpr double kBaseSeconds = 30, kSecondsPerMultiplyAdd = 1e-6;

// Multiply-adds of one run, roughly and rather too many; 0 when the program does not load here.
double estimate_work(std::span<const uint8_t> program) {
  constexpr uint32_t kMost = 1u << 30;
  std::vector<uint64_t> file((program.size() + 7) / 8 + 2);  // 16-aligned copy: `new` aligns to 16
  std::ranges::copy(program, reinterpret_cast<uint8_t*>(file.data()));
  const File view{file.data(), program.size()};
  Needs needs;
  if (!measure(view, kAllKernels, &needs).ok() || needs.planned_bytes > kMost || needs.tables_bytes > kMost) return 0;
  std::vector<uint64_t> tables(needs.tables_bytes / 8 + 2), planned(needs.planned_bytes / 8 + 2);
  Program p;
  if (!p.load(view, kAllKernels, {tables.data(), needs.tables_bytes}, {planned.data(), needs.planned_bytes}).ok()) return 0;
  double work = 0;
  for (int32_t k = 0; k < p.instruction_count(); k++) {
    const Program::Step step = p.step(k);
    double out = 0, taps = 1, depth = 1;
    int computed = 0;
    for (int32_t i = 0; i < step.count; i++) {
      if (step.args[i]->kind != Kind::tensor) continue;
      const Tensor& t = *step.args[i]->tensor;
      if (!t.constant) {
        computed++;
        out = std::max(out, static_cast<double>(t.numel));
        for (int d = 0; d < t.rank; d++) depth = std::max(depth, static_cast<double>(t.sizes[d]));
      } else if (t.rank >= 2) {  // weights: [out, ...], depthwise [1, ..., out]
        const int32_t channels = t.sizes[0] > 1 ? t.sizes[0] : t.sizes[t.rank - 1];
        taps = std::max(taps, static_cast<double>(t.numel) / std::max(channels, 1));
      }
    }
    if (step.delegate) {  // at most 64 multiply-adds a cycle of the machine, and some housekeeping
      work += 50 * static_cast<double>(estimate_cycles(neutron_payload(*step.delegate)));
      continue;
    }
    const std::string_view op = step.op ? step.op : "";
    const bool product = computed > 2 && (op.find("matmul") != op.npos || op.find("mm") != op.npos);
    work += out * (50 + taps + (product ? depth : 0));
  }
  p.unload();
  return work;
}

bool append_padded(MemoryFile& file, std::span<const uint8_t> bytes) {
  static constexpr uint8_t kZeros[16] = {};
  return file.append(bytes) && file.append({kZeros, (16 - bytes.size() % 16) % 16});
}

bool write_job(MemoryFile& file, Job job, std::span<const uint8_t> program, std::span<const Sample> samples) {
  std::vector<uint8_t> head(sizeof job);
  std::memcpy(head.data(), &job, sizeof job);
  for (uint32_t i = 0; i < job.inputs; i++) {
    const auto bytes = static_cast<uint32_t>(samples[0][i].size());
    head.insert(head.end(), reinterpret_cast<const uint8_t*>(&bytes), reinterpret_cast<const uint8_t*>(&bytes) + sizeof bytes);
  }
  if (!append_padded(file, head) || !append_padded(file, program)) return false;
  for (const Sample& s : samples)
    for (const std::vector<uint8_t>& input : s)
      if (!file.append(input)) return false;
  return true;
}

// All samples must look like the first; more is checked on the board, by the program.
std::optional<Diagnostic> check_samples(std::string_view board, std::span<const Sample> samples) {
  for (size_t k = 0; k < samples.size(); k++) {
    if (samples[k].size() != samples[0].size())
      return board_trouble(board, fmt::format("sample {} has {} inputs, sample 0 has {}", k, samples[k].size(), samples[0].size()),
                           "board.job");
    for (size_t i = 0; i < samples[k].size(); i++)
      if (samples[k][i].size() != samples[0][i].size())
        return board_trouble(
            board, fmt::format("input {} of sample {} has {} bytes, of sample 0 {}", i, k, samples[k][i].size(), samples[0][i].size()),
            "board.job");
  }
  return std::nullopt;
}

// Cuts the output file into samples and outputs. False: it has another length.
bool split_outputs(std::span<const uint8_t> bytes, const std::vector<uint64_t>& sizes, size_t samples, EmulatedRun& run) {
  uint64_t each = 0;
  for (uint64_t s : sizes) each += s;
  if (bytes.size() != each * samples) return false;
  for (size_t k = 0; k < samples; k++) {
    run.outputs.emplace_back();
    for (uint64_t s : sizes) {
      run.outputs.back().emplace_back(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(s));
      bytes = bytes.subspan(s);
    }
  }
  return true;
}

// Semihosting could run a command on the host (SYS_SYSTEM): the emulator may not start processes. It is ended when its image asks for one.
constexpr const char* kSandbox = "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny";
std::atomic<bool> qemu_has_sandbox = true;  // until one says that it was built without

// sleep=off: else the board's clock follows the host's until its processor starts, and counts differ by some instructions from run to run.
std::vector<std::string> emulator_command(std::string_view board, const EmulateOptions& options, bool sandbox) {
  std::vector<std::string> command = {options.qemu,
                                      "-M",
                                      std::string(board),
                                      "-kernel",
                                      "/proc/self/fd/3",
                                      "-icount",
                                      "shift=0,sleep=off",
                                      "-nodefaults",
                                      "-no-user-config",
                                      "-display",
                                      "none",
                                      "-monitor",
                                      "none",
                                      "-serial",
                                      "null",
                                      "-parallel",
                                      "null",
                                      "-semihosting-config",
                                      "enable=on,target=native,arg=/proc/self/fd/4,arg=/proc/self/fd/5,arg=/proc/self/fd/6"};
  if (sandbox) command.insert(command.end(), {"-sandbox", kSandbox});
  if (options.count_blocks) command.insert(command.end(), {"-plugin", "file=/proc/self/fd/7,fd=8"});
  return command;
}

EmulatedRun run_job(const Board& board, Job job, std::span<const uint8_t> program, std::span<const Sample> samples, double limit_seconds,
                    const EmulateOptions& options) {
  EmulatedRun run;
  const auto start = std::chrono::steady_clock::now();
  MemoryFile image("deuteron-board"), input("deuteron-job"), output("deuteron-outputs"), profile("deuteron-profile"),
      plugin("deuteron-plugin"), blocks("deuteron-blocks");
  const std::span<const uint8_t> runner = options.image.empty() ? board.image : options.image;
  job.program_bytes = static_cast<uint32_t>(program.size());
  job.profile_events = options.profile_events;
  job.profile_clock = options.clock;
  job.clock_argument = options.clock_argument;
  if (output.descriptor() < 0 || profile.descriptor() < 0 || blocks.descriptor() < 0 || !image.append(runner) ||
      !write_job(input, job, program, samples) || (options.count_blocks && !plugin.append(block_counts_plugin()))) {
    run.error = board_trouble(board.name, fmt::format("the job cannot be written to memory: {}", std::strerror(errno)), "board.job_memory");
    return run;
  }
  BoardReport answer;
  const int descriptors[] = {image.descriptor(),   input.descriptor(),  output.descriptor(),
                             profile.descriptor(), plugin.descriptor(), blocks.descriptor()};
  const bool restart = options.timeout_seconds <= 0;
  const auto emulate = [&](bool sandbox) {
    return run_watched(
        emulator_command(board.name, options, sandbox), descriptors, limit_seconds,
        [&](std::string_view line) { return take_line(line, answer, run) && restart; }, HostFiles::read_only);
  };
  // Our own runner asks the host for nothing but its files; another image never runs without the sandbox.
  const bool sandbox = qemu_has_sandbox || !options.image.empty();
  ProcessEnd end = emulate(sandbox);
  if (sandbox && options.image.empty() && end.exit_code == 1 && answer.emulator_text.find("-sandbox") != answer.emulator_text.npos) {
    qemu_has_sandbox = false;
    answer = {};
    end = emulate(false);
  }
  run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (end.start_error != 0 || end.timed_out || end.exit_code != 0) {
    run.error = describe_end(board.name, runner, end, answer, options, limit_seconds);
    return run;
  }
  const std::vector<uint8_t> bytes = output.content();
  run.profile = profile.content();
  run.blocks = blocks.content();
  if (job.kind == JobKind::run) {
    run.ok = run.instructions.size() == samples.size() && answer.loaded && split_outputs(bytes, answer.output_bytes, samples.size(), run);
  } else {
    run.ok = answer.booted;
    if (job.kind == JobKind::echo) run.outputs = {{bytes}};
  }
  if (!run.ok)
    run.error = board_trouble(
        board.name,
        fmt::format("the board ended early: {} of {} samples, {} output bytes", run.instructions.size(), samples.size(), bytes.size()),
        "board.incomplete");
  return run;
}

// Null, with `problem`: there is no such board, or no runner for it.
const Board* board_to_run(std::string_view name, Diagnostic& problem) {
  const Board* board = find_board(emulated_boards(), name);
  if (board && !board->image.empty()) return board;
  if (board)
    problem = board_trouble(name, "this build has no runner for it", "board.not_built",
                            has_board_runners() ? "./dev build builds the runners of all boards"
                                                : "apt-get install gcc-arm-none-eabi libnewlib-arm-none-eabi, "
                                                  "and build again");
  else problem = no_board(name);
  return nullptr;
}

}  // namespace

EmulatedRun run_emulated(std::string_view name, std::span<const uint8_t> program, std::span<const Sample> samples,
                         const EmulateOptions& options) {
  EmulatedRun run;
  const Board* board = board_to_run(name, run.error);
  if (!board) return run;
  std::optional<Diagnostic> problem = check_samples(name, samples);
  if (!problem && program.size() > UINT32_MAX - 64) problem = board_trouble(name, "the program is larger than 4 GB", "board.memory");
  if (problem) {
    run.error = *problem;
    return run;
  }
  Job job;
  job.inputs = samples.empty() ? 0 : static_cast<uint32_t>(samples[0].size());
  job.samples = static_cast<uint32_t>(samples.size());
  job.steps = options.count_blocks ? Steps::marked : options.by_step ? Steps::apart : Steps::together;
  const double limit =
      options.timeout_seconds > 0 ? options.timeout_seconds : kBaseSeconds + kSecondsPerMultiplyAdd * estimate_work(program);
  run = run_job(*board, job, program, samples, limit, options);
  if (run.ok || run.error.rule != "board.fault" || job.steps != Steps::together || run.instructions.size() >= samples.size()) return run;

  // Once more from the sample that faulted, call by call, to name the operator.
  job.steps = Steps::apart;
  job.samples = 1;
  const EmulatedRun again = run_job(*board, job, program, samples.subspan(run.instructions.size(), 1), limit, options);
  if (!again.ok && again.error.rule == "board.fault") run.error = again.error;
  return run;
}

EmulatedRun run_board_self_test(std::string_view name, JobKind kind, uint32_t argument, std::span<const uint8_t> bytes,
                                const EmulateOptions& options) {
  EmulatedRun run;
  const Board* board = board_to_run(name, run.error);
  if (!board) return run;
  Job job;
  job.kind = kind;
  job.argument = argument;
  return run_job(*board, job, bytes, {}, options.timeout_seconds > 0 ? options.timeout_seconds : kBaseSeconds, options);
}

}  // namespace deuteron
