// SPDX-License-Identifier: Apache-2.0
// See report.h. The lines are written by boards/runner/runner.cpp and runtime/ports/*/start.cpp.
#include "boards/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <utility>

#include "boards/board.h"
#include "npu/neutron/delegate/payload.h"
#include "targets/nearest.h"
#include "write/pte/status_text.h"

namespace deuteron {
namespace {

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

std::string in_capitals(std::string_view name) {
  std::string text(name);
  for (char& c : text) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  return text;
}

// By the first register that a core's start-up prints (runtime/ports/*/start.cpp), with a space
// behind it.
std::string reason_of_fault(std::string_view name, uint32_t value) {
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
  if (name != "cfsr") return "";  // the kind of the fault says it
  for (const Bit& b : kBits)
    if (value >> b.bit & 1) text += (text.empty() ? "" : ", ") + std::string(b.name);
  return (text.empty() ? "no reason given" : text) + " ";
}

constexpr const char* kReportIt =
    "this is a fault of the runtime or of a kernel: please report it with the program file";

std::string stack_advice(std::string_view board) {
  return is_behind_probe(board)
             ? "an eighth of the first RAM is its stack: name a larger one first in --memory"
             : kReportIt;
}

Diagnostic describe_fault(std::string_view board, const NameFunction& name_function,
                          const BoardReport& a) {
  Words words(a.trouble);
  words.next();
  const std::string_view kind = words.next();
  const auto pc = static_cast<uint32_t>(words.number_after("pc")),
             lr = static_cast<uint32_t>(words.number_after("lr"));
  // What the core says about it, by the names of its registers, up to the address.
  std::string reason, registers;
  for (std::string_view name = words.next(); !name.empty() && name != "address";
       name = words.next()) {
    const auto value = static_cast<uint32_t>(words.number());
    if (registers.empty()) reason = reason_of_fault(name, value);
    registers += fmt::format(", {} {:#010x}", in_capitals(name), value);
  }
  const auto address = static_cast<uint32_t>(words.number());
  if (a.trouble.ends_with("stack overflowed"))
    return board_trouble(board,
                         fmt::format("the stack overflowed {} ({}{})", during(a), kind,
                                     registers.substr(0, registers.find(',', 1))),
                         "board.stack_overflow", stack_advice(board));
  const std::string function = name_function ? name_function(pc) : "",
                    caller = name_function ? name_function(lr) : "";
  return board_trouble(
      board,
      fmt::format("{} {}: {}at PC {:#010x}{}, LR {:#010x}{}, address {:#010x}{}", kind, during(a),
                  reason, pc, function.empty() ? "" : " `" + function + "`", lr,
                  caller.empty() ? "" : " `" + caller + "`", address, registers),
      "board.fault", kReportIt);
}

Diagnostic describe_status(std::string_view board, BoardExit end, const BoardReport& a) {
  Words words(a.trouble);
  words.next();
  const std::string code(words.next());
  words.next();
  const std::string instruction(words.next());
  words.next();
  const std::string argument(words.next());
  words.next();
  const uint64_t needed = words.number();
  std::string step;
  int32_t error = 0;
  if (words.next() == "step") {
    step = words.next();
    words.next();
    error = static_cast<int32_t>(words.number());
    words.next();
  }
  const std::string op(words.next());
  words.next();
  std::string what = fmt::format(
      "{}: {}", step.empty() ? "the runtime refuses the program" : "a delegate fails", code);
  if (op != "-") what += fmt::format(", `{}`", op);
  if (instruction != "-1") what += fmt::format(", instruction {}", instruction);
  if (argument != "-1") what += fmt::format(", argument {}", argument);
  if (needed != 0) what += fmt::format(", {} bytes needed", needed);
  if (!step.empty()) what += fmt::format(", step `{}`", step);
  if (error != 0) what += ", " + describe_neutron_error(error);
  if (words.rest() != "-") what += fmt::format(": {}", words.rest());
  std::string fix = code == "missing_backend" || code == "delegate_failed" ? advice_for(code) : "";
  if (code == "wrong_isa")
    fix =
        "compile for the core of this board, or choose the board of the program's core (`deuteron "
        "targets`)";
  if (code == "missing_kernel")
    fix = "no kernel of that name is built in; `deuteron ops` lists what is";
  if (code == "missing_backend" && op == kNeutronBackendId && is_behind_probe(board))
    fix = "the NPU wants its vendor's driver: `deuteron firmware` writes a project with it";
  else if (code == "missing_backend" && op == kNeutronBackendId)
    fix = fmt::format("take a board with this NPU ({}), or compile the program for another target",
                      list_of(boards_with_npu(), "qemu:"));
  return board_trouble(board, what,
                       (end == BoardExit::run_failed ? "board.run." : "board.load.") + code, fix);
}

Diagnostic describe_memory(std::string_view board, const BoardReport& a) {
  Words words(a.trouble);
  words.next();
  const std::string_view part = words.next();
  const uint64_t bytes = words.number(), program = words.number_after("program"),
                 planned = words.number_after("planned");
  const uint64_t tables = words.number_after("tables");
  words.next();
  uint64_t total = 0;
  std::string regions;
  for (std::string w(words.next()); !w.empty(); w = words.next()) {
    regions += (regions.empty() ? "" : " + ") + w;
    total += std::stoull(w);
  }
  const bool is_largest = board == largest_board().name;
  const uint64_t wanted = program + planned + tables;
  const std::string on_chip = fmt::format(
      "{} bytes are missing: a smaller model{}", wanted > total ? wanted - total : bytes,
      board.starts_with("serial:")
          ? ""
          : ", or its constants in flash: `--flash` and `flash=` of --memory");
  Diagnostic d = board_trouble(
      board,
      fmt::format("{} does not fit into the board's memory ({} bytes for it alone; program {}, "
                  "planned {}, tables {}; memory {})",
                  part == "planned" ? "its planned memory" : fmt::format("the {}", part), bytes,
                  program, planned, tables, regions),
      "board.memory",
      is_behind_probe(board) ? on_chip
      : is_largest           ? "use a smaller model: no emulated board has more memory"
                             : fmt::format("{} has the most memory: {} MB", largest_board().name,
                                           largest_board().memory_mb));
  d.measured = fmt::format("{} bytes", wanted);
  d.limit = fmt::format("{} bytes", total);
  return d;
}

}  // namespace

std::string during(const BoardReport& a) {
  if (!a.booted) return "before the runner started";
  if (!a.loaded) return "while the program was loaded";
  if (!a.entered.empty()) return fmt::format("in call {}", a.entered);
  return "while the program ran";
}

Diagnostic board_trouble(std::string_view board, std::string what, std::string rule,
                         std::string fix) {
  Diagnostic d;
  d.where = is_behind_probe(board) ? std::string(board) : fmt::format("qemu:{}", board);
  d.what = std::move(what);
  d.rule = std::move(rule);
  d.fix = std::move(fix);
  return d;
}

Diagnostic no_board(std::string_view name) {
  return board_trouble(name, fmt::format("there is no board `{}`", name), "board.unknown",
                       suggestion(name, names_of(emulated_boards())));
}

Diagnostic unknown_core(std::string_view board, uint32_t cpuid) {
  return board_trouble(
      board,
      fmt::format("the processor is no Cortex-M that is known: its CPUID is {:#010x}", cpuid),
      "gdb.core", "is the chip unlocked, and does the server stop the right core?");
}

bool take_line(std::string_view line, BoardReport& answer, EmulatedRun& run) {
  if (!line.starts_with('@')) {
    if (line.find("has no peer") == line.npos &&
        answer.emulator_text.size() < 2000)  // a board's network device, always said
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
  } else if (key == "@refused") {
    run.load_instructions = words.number();  // until it was
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
    run.npu_instructions.push_back(words.next() == "npu" ? words.number() : 0);
    if (!answer.steps.empty()) run.steps.push_back(std::exchange(answer.steps, {}));
    return true;
  } else if (key == "@profile") {
    run.profile_events = words.number();
    run.profile_dropped = words.number();
  } else if (key == "@stack" && line.find("overflowed") == line.npos) {
    run.stack_used_bytes = words.number();
    run.stack_bytes = words.number();
  } else if (answer.trouble.empty()) {
    answer.trouble = line;
  }
  return false;
}

std::optional<Diagnostic> describe_exit(std::string_view board, const NameFunction& name_function,
                                        BoardExit exit, const BoardReport& a) {
  switch (exit) {
    case BoardExit::fault:
      return describe_fault(board, name_function, a);
    case BoardExit::load_failed:
    case BoardExit::run_failed:
      return describe_status(board, exit, a);
    case BoardExit::does_not_fit:
      return describe_memory(board, a);
    case BoardExit::stack_overflow:
      return board_trouble(board, "the stack overflowed " + during(a), "board.stack_overflow",
                           stack_advice(board));
    case BoardExit::bad_job:
      return board_trouble(board, a.trouble.starts_with("@job ") ? a.trouble.substr(5) : a.trouble,
                           "board.job", "`deuteron inspect` shows what the program takes");
    case BoardExit::no_clock: {
      Words words(a.trouble);
      words.next();
      const std::string clock(words.next());
      return board_trouble(board, fmt::format("the profile's clock {}: {}", clock, words.rest()),
                           "profile.clock", "choose a clock that the board has");
    }
    case BoardExit::file_error:
      return board_trouble(board, a.trouble.starts_with("@file ") ? a.trouble.substr(6) : a.trouble,
                           "board.file");
    default:
      return std::nullopt;
  }
}

Diagnostic describe_end(std::string_view board, const NameFunction& name_function,
                        const ProcessEnd& end, const BoardReport& a, const EmulateOptions& options,
                        double limit_seconds) {
  const std::string text = a.emulator_text.empty() ? "" : ": " + a.emulator_text;
  const Board* const known = find_board(emulated_boards(), board);
  const std::string emulator =
      options.qemu.empty() && known ? std::string(known->cores.emulator) : options.qemu;
  if (end.start_error == ENOENT)
    return board_trouble(
        board, fmt::format("`{}` is not installed", emulator), "board.qemu_missing",
        known ? fmt::format("apt-get install {}", known->cores.emulator_package) : "");
  if (end.start_error != 0)
    return board_trouble(
        board, fmt::format("`{}` cannot be started: {}", emulator, std::strerror(end.start_error)),
        "board.qemu_start");
  if (end.timed_out) {
    Diagnostic d =
        board_trouble(board, fmt::format("no end {}; the emulator was stopped", during(a)),
                      "board.timeout", "--timeout SECONDS sets another limit");
    d.measured = fmt::format("more than {:.3g} s", limit_seconds);
    d.limit = fmt::format("{:.3g} s{}", limit_seconds,
                          options.timeout_seconds > 0 ? "" : " for a sample");
    return d;
  }
  if (end.signal == SIGSYS)
    return board_trouble(
        board,
        fmt::format("the image asked the host to start a process or for another right {}{}",
                    during(a), text),
        "board.emulator", "an image has the files of its job, and nothing else of the host");
  if (end.signal != 0)
    return board_trouble(
        board, fmt::format("the emulator was ended by signal {} {}{}", end.signal, during(a), text),
        "board.emulator");
  if (const std::optional<Diagnostic> d =
          describe_exit(board, name_function, static_cast<BoardExit>(end.exit_code), a))
    return *d;
  return board_trouble(
      board, fmt::format("the emulator ended with code {} {}{}", end.exit_code, during(a), text),
      "board.emulator");
}

}  // namespace deuteron
