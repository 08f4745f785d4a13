// See emulate.h. The job goes in and the outputs come back through nameless files that QEMU inherits; text comes over a pipe.
#include "tools/emulate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <optional>

#include "runtime/deuteron.h"
#include "tools/board_images.h"
#include "tools/board_symbols.h"
#include "tools/watched_process.h"

namespace deuteron {
namespace {

constexpr Board kBoards[] = {
    {"mps3-an547", "Cortex-M55", "mve", "256 MB DDR"},
    {"mps2-an505", "Cortex-M33", "dsp", "16 MB PSRAM, 3 MB SSRAM"},
    {"mps2-an386", "Cortex-M4", "dsp", "16 MB PSRAM, 3 MB SSRAM"},
    {"mps2-an385", "Cortex-M3", "scalar", "16 MB PSRAM, 3 MB SSRAM"},
};

// A sample may take this long on a busy machine. Emulation does 30 to 300 million instructions a second; a multiply-add takes up to ten.
constexpr double kBaseSeconds = 30, kSecondsPerMultiplyAdd = 1e-6;

std::span<const uint8_t> image_of(std::string_view board) {
  for (int i = 0; i < deuteron_board_image_count; i++) {
    const deuteron_board_image& image = deuteron_board_images[i];
    if (board == image.name) return {image.begin, image.end};
  }
  return {};
}

// The words of one line that the runner wrote: "@key word word ...".
class Words {
 public:
  explicit Words(std::string_view line) : rest_(line) {}
  std::string_view next() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(' '), rest_.size()));
    const std::string_view word = rest_.substr(0, rest_.find(' '));
    rest_.remove_prefix(word.size());
    return word;
  }
  uint64_t number() {
    std::string_view w = next();
    const int base = w.starts_with("0x") ? 16 : 10;
    if (base == 16) w.remove_prefix(2);
    uint64_t v = 0;
    std::from_chars(w.data(), w.data() + w.size(), v, base);
    return v;
  }
  uint64_t number_after(std::string_view key) {
    for (std::string_view w = next(); !w.empty(); w = next())
      if (w == key) return number();
    return 0;
  }
  std::string_view rest() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(' '), rest_.size()));
    return rest_;
  }

 private:
  std::string_view rest_;
};

// What the board has said, gathered while it runs.
struct Answer {
  std::string trouble;        // the first line that reports one
  std::string emulator_text;  // lines that are not the runner's
  std::string entered;        // by step: "3 cortex_m::pad", the last call that was started
  bool booted = false, loaded = false;
  std::vector<uint64_t> output_bytes;
  std::vector<StepCount> steps;
};

// True when the board has got further by a sample.
bool take_line(std::string_view line, Answer& answer, EmulatedRun& run) {
  if (!line.starts_with('@')) {
    if (line.find("has no peer") == line.npos && answer.emulator_text.size() < 2000)  // a board's network device, always said
      answer.emulator_text += (answer.emulator_text.empty() ? "" : "; ") + std::string(line);
    return false;
  }
  Words words(line);
  const std::string_view key = words.next();
  if (key == "@board") {
    answer.booted = true;
  } else if (key == "@needs") {
    words.next();
    run.planned_bytes = words.number();
    words.next();
    run.tables_bytes = words.number();
  } else if (key == "@load") {
    run.load_instructions = words.number();
    answer.loaded = true;
    return true;
  } else if (key == "@output") {
    words.next();
    answer.output_bytes.push_back(words.number());
  } else if (key == "@enter") {
    answer.entered = words.rest();
  } else if (key == "@step") {
    words.next();
    const uint64_t n = words.number();
    answer.steps.push_back({std::string(words.rest()), n});
    return true;
  } else if (key == "@sample") {
    words.next();
    run.instructions.push_back(words.number());
    if (!answer.steps.empty()) run.steps.push_back(std::exchange(answer.steps, {}));
    return true;
  } else if (key == "@stack" && line.find("overflowed") == line.npos) {
    run.stack_used_bytes = words.number();
    run.stack_bytes = words.number();
  } else if (answer.trouble.empty()) {
    answer.trouble = line;
  }
  return false;
}

Diagnostic trouble(std::string_view board, std::string what, std::string rule, std::string fix = {}) {
  Diagnostic d;
  d.where = fmt::format("qemu:{}", board);
  d.what = std::move(what);
  d.rule = std::move(rule);
  d.fix = std::move(fix);
  return d;
}

std::string during(const Answer& a) {
  if (!a.booted) return "before the runner started";
  if (!a.loaded) return "while the program was loaded";
  if (!a.entered.empty()) return fmt::format("in call {}", a.entered);
  return "while the program ran";
}

std::string reason_of_fault(uint32_t cfsr) {
  struct Bit {
    int bit;
    const char* name;
  };
  // Configurable fault status register, Armv8-M ARM (DDI 0553).
  static constexpr Bit kBits[] = {{0, "instruction fetch not allowed"},
                                  {1, "data access not allowed"},
                                  {4, "stacking failed"},
                                  {8, "instruction fetch failed"},
                                  {9, "data access failed"},
                                  {10, "imprecise data access failed"},
                                  {12, "stacking failed"},
                                  {16, "undefined instruction"},
                                  {17, "not a Thumb address"},
                                  {18, "bad return"},
                                  {19, "no such coprocessor"},
                                  {20, "stack limit passed"},
                                  {24, "unaligned access"},
                                  {25, "division by zero"}};
  std::string text;
  for (const Bit& b : kBits)
    if (cfsr >> b.bit & 1) text += (text.empty() ? "" : ", ") + std::string(b.name);
  return text.empty() ? "no reason given" : text;
}

Diagnostic describe_fault(std::string_view board, const Answer& a) {
  Words words(a.trouble);
  words.next();
  const std::string_view kind = words.next();
  const auto pc = static_cast<uint32_t>(words.number_after("pc")), lr = static_cast<uint32_t>(words.number_after("lr"));
  const auto cfsr = static_cast<uint32_t>(words.number_after("cfsr")), hfsr = static_cast<uint32_t>(words.number_after("hfsr"));
  const auto address = static_cast<uint32_t>(words.number_after("address"));
  if (a.trouble.ends_with("stack overflowed"))
    return trouble(board, fmt::format("the stack overflowed {} ({}, CFSR {:#010x})", during(a), kind, cfsr), "board.stack_overflow");
  const std::string function = function_at(image_of(board), pc), caller = function_at(image_of(board), lr);
  return trouble(board,
                 fmt::format("{} {}: {} at PC {:#010x}{}, LR {:#010x}{}, address {:#010x}, CFSR {:#010x}, HFSR {:#010x}", kind, during(a),
                             reason_of_fault(cfsr), pc, function.empty() ? "" : " `" + function + "`", lr,
                             caller.empty() ? "" : " `" + caller + "`", address, cfsr, hfsr),
                 "board.fault", "this is a fault of the runtime or of a kernel: please report it with the program file");
}

Diagnostic describe_status(std::string_view board, const Answer& a) {
  Words words(a.trouble);
  words.next();
  const std::string code(words.next());
  words.next();
  const std::string instruction(words.next());
  words.next();
  const std::string argument(words.next());
  words.next();
  const uint64_t needed = words.number();
  words.next();
  const std::string op(words.next());
  words.next();
  std::string what = fmt::format("the runtime refuses the program: {}", code);
  if (op != "-") what += fmt::format(", `{}`", op);
  if (instruction != "-1") what += fmt::format(", instruction {}", instruction);
  if (argument != "-1") what += fmt::format(", argument {}", argument);
  if (needed != 0) what += fmt::format(", {} bytes needed", needed);
  if (words.rest() != "-") what += fmt::format(": {}", words.rest());
  const char* fix = "";
  if (code == "wrong_isa") fix = "compile for the core of this board, or choose the board of the program's core (`deuteron targets`)";
  if (code == "missing_kernel") fix = "no kernel of that name is built in; `deuteron ops` lists what is";
  return trouble(board, what, "board.load." + code, fix);
}

Diagnostic describe_memory(std::string_view board, const Answer& a) {
  Words words(a.trouble);
  words.next();
  const std::string_view part = words.next();
  const uint64_t bytes = words.number(), program = words.number_after("program"), planned = words.number_after("planned");
  const uint64_t tables = words.number_after("tables");
  words.next();
  uint64_t total = 0;
  std::string regions;
  for (std::string w(words.next()); !w.empty(); w = words.next()) {
    regions += (regions.empty() ? "" : " + ") + w;
    total += std::stoull(w);
  }
  Diagnostic d = trouble(
      board,
      fmt::format("the {} does not fit into the board's memory ({} bytes for it alone; program {}, planned {}, tables {}; memory {})", part,
                  bytes, program, planned, tables, regions),
      "board.memory", "mps3-an547 has the most memory: 256 MB");
  d.measured = fmt::format("{} bytes", program + planned + tables);
  d.limit = fmt::format("{} bytes", total);
  return d;
}

Diagnostic describe_end(std::string_view board, const ProcessEnd& end, const Answer& a, const EmulateOptions& options,
                        double limit_seconds) {
  const std::string text = a.emulator_text.empty() ? "" : ": " + a.emulator_text;
  if (end.start_error == ENOENT)
    return trouble(board, fmt::format("`{}` is not installed", options.qemu), "board.qemu_missing", "apt-get install qemu-system-arm");
  if (end.start_error != 0)
    return trouble(board, fmt::format("`{}` cannot be started: {}", options.qemu, std::strerror(end.start_error)), "board.qemu_start");
  if (end.timed_out) {
    Diagnostic d = trouble(board, fmt::format("no end {}; the emulator was stopped", during(a)), "board.timeout",
                           "--timeout SECONDS sets another limit");
    d.measured = fmt::format("more than {:.1f} s", limit_seconds);
    d.limit = fmt::format("{:.1f} s{}", limit_seconds, options.timeout_seconds > 0 ? "" : " for a sample");
    return d;
  }
  if (end.signal != 0)
    return trouble(board, fmt::format("the emulator was ended by signal {} {}{}", end.signal, during(a), text), "board.emulator");
  switch (static_cast<BoardExit>(end.exit_code)) {
    case BoardExit::fault:
      return describe_fault(board, a);
    case BoardExit::load_failed:
      return describe_status(board, a);
    case BoardExit::does_not_fit:
      return describe_memory(board, a);
    case BoardExit::stack_overflow:
      return trouble(board, "the stack overflowed " + during(a), "board.stack_overflow");
    case BoardExit::bad_job:
      return trouble(board, a.trouble.starts_with("@job ") ? a.trouble.substr(5) : a.trouble, "board.job",
                     "`deuteron inspect` shows what the program takes");
    case BoardExit::file_error:
      return trouble(board, a.trouble.starts_with("@file ") ? a.trouble.substr(6) : a.trouble, "board.file");
    default:
      return trouble(board, fmt::format("the emulator ended with code {} {}{}", end.exit_code, during(a), text), "board.emulator");
  }
}

// Multiply-adds of one run, roughly and rather too many; 0 when the program does not load here.
double estimate_work(std::span<const uint8_t> program) {
  constexpr uint32_t kMost = 1u << 30;
  std::vector<uint64_t> file((program.size() + 7) / 8 + 2);  // 16-aligned copy: `new` aligns to 16
  std::memcpy(file.data(), program.data(), program.size());
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
    const std::string_view op = step.op ? step.op : "";
    const bool product = computed > 2 && (op.find("matmul") != op.npos || op.find("mm") != op.npos);
    work += out * (50 + taps + (product ? depth : 0));
  }
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
      return trouble(board, fmt::format("sample {} has {} inputs, sample 0 has {}", k, samples[k].size(), samples[0].size()), "board.job");
    for (size_t i = 0; i < samples[k].size(); i++)
      if (samples[k][i].size() != samples[0][i].size())
        return trouble(board,
                       fmt::format("input {} of sample {} has {} bytes, of sample 0 {}", i, k, samples[k][i].size(), samples[0][i].size()),
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

std::vector<std::string> emulator_command(std::string_view board, const EmulateOptions& options) {
  return {options.qemu,
          "-M",
          std::string(board),
          "-kernel",
          "/proc/self/fd/3",
          "-icount",
          "shift=0",
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
          "enable=on,target=native,arg=/proc/self/fd/4,arg=/proc/self/fd/5"};
}

EmulatedRun run_job(std::string_view board, Job job, std::span<const uint8_t> program, std::span<const Sample> samples,
                    double limit_seconds, const EmulateOptions& options) {
  EmulatedRun run;
  const auto start = std::chrono::steady_clock::now();
  MemoryFile image("deuteron-board"), input("deuteron-job"), output("deuteron-outputs");
  job.program_bytes = static_cast<uint32_t>(program.size());
  if (output.descriptor() < 0 || !image.append(image_of(board)) || !write_job(input, job, program, samples)) {
    run.error = trouble(board, fmt::format("the job cannot be written to memory: {}", std::strerror(errno)), "board.job_memory");
    return run;
  }
  Answer answer;
  const int descriptors[] = {image.descriptor(), input.descriptor(), output.descriptor()};
  const bool restart = options.timeout_seconds <= 0;
  const ProcessEnd end = run_watched(emulator_command(board, options), descriptors, limit_seconds,
                                     [&](std::string_view line) { return take_line(line, answer, run) && restart; });
  run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (end.start_error != 0 || end.timed_out || end.exit_code != 0) {
    run.error = describe_end(board, end, answer, options, limit_seconds);
    return run;
  }
  const std::vector<uint8_t> bytes = output.content();
  if (job.kind == JobKind::run) {
    run.ok = run.instructions.size() == samples.size() && answer.loaded && split_outputs(bytes, answer.output_bytes, samples.size(), run);
  } else {
    run.ok = answer.booted;
    if (job.kind == JobKind::echo) run.outputs = {{bytes}};
  }
  if (!run.ok)
    run.error = trouble(
        board,
        fmt::format("the board ended early: {} of {} samples, {} output bytes", run.instructions.size(), samples.size(), bytes.size()),
        "board.incomplete");
  return run;
}

std::optional<Diagnostic> check_board(std::string_view board) {
  std::string names;
  for (const Board& b : kBoards) {
    if (b.name == board) {
      if (!image_of(board).empty()) return std::nullopt;
      return trouble(board, "this build has no board runners", "board.not_built",
                     "apt-get install gcc-arm-none-eabi libnewlib-arm-none-eabi, and build again");
    }
    names += (names.empty() ? "" : ", ") + std::string(b.name);
  }
  return trouble(board, fmt::format("there is no board `{}`", board), "board.unknown", fmt::format("the boards are {}", names));
}

}  // namespace

std::span<const Board> all_boards() { return kBoards; }
bool has_board_runners() { return deuteron_board_image_count > 0; }

EmulatedRun run_emulated(std::string_view board, std::span<const uint8_t> program, std::span<const Sample> samples,
                         const EmulateOptions& options) {
  EmulatedRun run;
  std::optional<Diagnostic> problem = check_board(board);
  if (!problem) problem = check_samples(board, samples);
  if (!problem && program.size() > UINT32_MAX - 64) problem = trouble(board, "the program is larger than 4 GB", "board.memory");
  if (problem) {
    run.error = *problem;
    return run;
  }
  Job job;
  job.inputs = samples.empty() ? 0 : static_cast<uint32_t>(samples[0].size());
  job.samples = static_cast<uint32_t>(samples.size());
  job.by_step = options.by_step;
  const double limit =
      options.timeout_seconds > 0 ? options.timeout_seconds : kBaseSeconds + kSecondsPerMultiplyAdd * estimate_work(program);
  run = run_job(board, job, program, samples, limit, options);
  if (run.ok || run.error.rule != "board.fault" || options.by_step || run.instructions.size() >= samples.size()) return run;

  // Once more from the sample that faulted, call by call, to name the operator.
  job.by_step = 1;
  job.samples = 1;
  const EmulatedRun again = run_job(board, job, program, samples.subspan(run.instructions.size(), 1), limit, options);
  if (!again.ok && again.error.rule == "board.fault") run.error = again.error;
  return run;
}

EmulatedRun run_board_self_test(std::string_view board, JobKind kind, uint32_t argument, std::span<const uint8_t> bytes,
                                const EmulateOptions& options) {
  EmulatedRun run;
  if (const std::optional<Diagnostic> problem = check_board(board)) {
    run.error = *problem;
    return run;
  }
  Job job;
  job.kind = kind;
  job.argument = argument;
  return run_job(board, job, bytes, {}, options.timeout_seconds > 0 ? options.timeout_seconds : kBaseSeconds, options);
}

}  // namespace deuteron
