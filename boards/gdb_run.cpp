// SPDX-License-Identifier: Apache-2.0
// See gdb_run.h. The runner's calls are in boards/runner_calls.h.
#include "boards/gdb_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "boards/board.h"
#include "boards/cortex_m.h"
#include "boards/gdb_remote.h"
#include "boards/job_bytes.h"
#include "boards/place_image.h"
#include "boards/probed_caches.h"
#include "boards/probed_memory.h"
#include "boards/report.h"
#include "boards/runner_calls.h"

namespace deuteron {
namespace {

// A small chip after reset: 8 to 64 MHz, and up to a hundred cycles for a multiply-add.
constexpr double kChipBaseSeconds = 30, kChipSecondsPerMultiplyAdd = 10e-6;
constexpr double kLookSeconds = 2;  // so often a processor that is silent is looked at

constexpr uint32_t kIsar3 = 0xe000ed6c, kMvfr0 = 0xe000ef40, kMvfr1 = 0xe000ef44,
                   kDemcr = 0xe000edfc, kDwtControl = 0xe0001000;
constexpr uint32_t kAlignment = 16;  // of a program
constexpr int kAgent = 32;           // boards/agent/deuteron_agent.h
constexpr int kR0 = 0, kR1 = 1, kSp = 13, kLr = 14, kPc = 15;
constexpr uint32_t kThumb = 1u << 24, kExceptionNumber = 0x1ff;
constexpr uint32_t kTraceEnable = 1u << 24, kCatchHardFault = 1u << 10, kNoCycleCounter = 1u << 25;

uint32_t word_of(std::span<const uint8_t> bytes, size_t k) {
  uint32_t v;
  std::memcpy(&v, bytes.data() + 4 * k, 4);
  return v;
}

class Session {
 public:
  Session(std::string_view where, std::span<const uint8_t> program, std::span<const Sample> samples,
          const ProbeOptions& options)
      : where_(where), program_(program), samples_(samples), o_(options) {}
  ProbeRun result;

  void run(Steps steps) {
    const auto start = std::chrono::steady_clock::now();
    const bool done = connect() && identify() && place() && upload() && begin(steps) && serve();
    leave(done);
    result.run.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (!done || problem_) return describe_failure();
    result.run.profile = std::move(calls_.profile);
    result.run.ok =
        result.run.instructions.size() == samples_.size() && answer_.loaded &&
        split_outputs(calls_.outputs, answer_.output_bytes, samples_.size(), result.run);
    if (!result.run.ok)
      result.run.error = board_trouble(
          where_,
          fmt::format("the board ended early: {} of {} samples, {} output bytes",
                      result.run.instructions.size(), samples_.size(), calls_.outputs.size()),
          "board.incomplete");
  }

 private:
  bool trouble(Diagnostic what) {
    if (!problem_) problem_ = std::move(what);
    return false;
  }
  bool trouble(std::string what, std::string rule, std::string fix = {}) {
    return trouble(board_trouble(where_, std::move(what), std::move(rule), std::move(fix)));
  }
  void describe_failure() {
    if (problem_) result.run.error = *problem_;
    else if (gdb_.error())
      result.run.error =
          board_trouble(where_, gdb_.error()->what, gdb_.error()->rule, gdb_.error()->fix);
    if (gdb_.error() && !result.run.instructions.empty())
      result.run.error.what += fmt::format(" ({} of {} samples were done)",
                                           result.run.instructions.size(), samples_.size());
  }

  bool connect() {
    if (where_.starts_with("serial:")) return gdb_.open_serial(where_);
    if (!gdb_.connect(where_.substr(4))) return false;
    gdb_.command("reset halt");
    return !gdb_.error();
  }

  bool identify() {
    CoreRegisters r;
    const std::optional<uint32_t> cpuid = gdb_.read_word(kCpuidAddress);
    if (!cpuid) return is_locked();
    r.cpuid = *cpuid;
    core_ = core_of(r);
    if (core_.architecture >= 7) {
      const std::optional<uint32_t> isar3 = gdb_.read_word(kIsar3), mvfr0 = gdb_.read_word(kMvfr0),
                                    mvfr1 = gdb_.read_word(kMvfr1);
      if (!mvfr1) return false;
      r.isar3 = *isar3, r.mvfr0 = *mvfr0, r.mvfr1 = *mvfr1;
      core_ = core_of(r);
    }
    result.core = core_.name;
    if (!core_.is_known()) return trouble(unknown_core(where_, r.cpuid));
    if (!o_.memory.core.empty() && o_.memory.core != core_.target)
      return trouble(fmt::format("the processor is a {}, {} has a {}", core_.name, o_.memory.chip,
                                 o_.memory.core),
                     "gdb.core", "name the chip that is there with --memory");
    const std::string_view target = runner_for(core_, o_.isa);
    if (target.empty())
      return trouble(
          fmt::format(
              "the processor is a {}{}, the program is for the instruction set {}", core_.name,
              core_.architecture >= 7 && !core_.has_fpu ? " without floating point" : "", o_.isa),
          "gdb.core",
          fmt::format("compile the program with --target {}",
                      own_isa(core_) == "scalar" ? runner_for(core_, "") : core_.target));
    for (const Board& b : emulated_boards())
      if (b.target == target) parts_ = b.parts;
    if (parts_.empty())
      return trouble("this build has no runners", "board.not_built",
                     how_to_build_runners(emulated_boards().front().cores));
    return is_outside_exceptions();
  }

  // Each Cortex-M has what could not be read.
  bool is_locked() {
    if (const std::optional<GdbLine::Error> e = gdb_.take_error())
      gdb_.fail(e->what, e->rule,
                "a locked chip answers so: unlock it with your probe's own tool, which erases it");
    return false;
  }

  // A handler that it happened to be in ends when it goes on; what had to be reset may not have
  // been yet. What stays in one is not ours to take out: a debugger cannot on every core.
  bool is_outside_exceptions() {
    constexpr int kLooks = 20;
    constexpr double kSeconds = 0.05;
    uint32_t exception = 0;
    for (int look = 0; look < kLooks; ++look) {
      if (look > 0) {
        if (!gdb_.resume()) return false;
        const GdbRemote::Stop stop = gdb_.wait(kSeconds);
        if (stop == GdbRemote::Stop::failed) return false;
        if (stop == GdbRemote::Stop::running && !gdb_.interrupt()) return false;
      }
      const std::optional<uint32_t> xpsr = gdb_.read_register(gdb_.number_of_xpsr());
      if (!xpsr) return false;
      exception = *xpsr & kExceptionNumber;
      if (exception == 0 && (*xpsr & kThumb) != 0) return true;
      if (!gdb_.write_register(gdb_.number_of_xpsr(), kThumb)) return false;
      const std::optional<uint32_t> again = gdb_.read_register(gdb_.number_of_xpsr());
      if (!again) return false;
      if ((*again & kExceptionNumber) == 0) return true;
    }
    return trouble(fmt::format("the processor stands inside exception {}", exception), "gdb.state",
                   "reset the board, and try again");
  }

  // The runner in the first RAM, or in flash, and what is left for the program and its tensors.
  bool place() {
    if (o_.memory.ram.empty())
      return trouble("nobody says where the chip has RAM", "gdb.memory",
                     "--memory ram=0x20000000+128K, or a chip's name (`deuteron targets --chips`)");
    if (o_.writes_flash && o_.memory.flash.empty())
      return trouble("nobody says where the chip has flash", "gdb.memory",
                     "--memory ram=...,flash=0x08000000+512K");
    const ChipMemory::Piece& ram = o_.memory.ram[0];
    const ChipMemory::Piece code = o_.writes_flash ? o_.memory.flash[0] : ram;
    // measure() takes 4.5 KB of it and what calls it 2; a product of matrices 8.5 KB in all.
    const uint32_t stack =
        ram.bytes > 20 * 1024 ? std::clamp(ram.bytes / 8, 9216u, 65536u) & ~7u : 7168;
    std::string problem;
    std::optional<PlacedImage> image = place_image(
        parts_, o_.kernels, {code.base, ram.base, stack, o_.run.profile_events > 0}, problem);
    if (!image)
      return trouble("the runner cannot be linked: the object " + problem, "board.incomplete",
                     "please report it with the program file");
    image_ = std::move(*image);
    const uint64_t end = uint64_t{ram.base} + ram.bytes,
                   code_end = uint64_t{code.base} + code.bytes;
    if (image_.data_end > end || image_.code_end > code_end) {
      const bool in_ram = image_.data_end > end;
      trouble(fmt::format("the runner with the kernels of this program does not fit into {}",
                          in_ram ? "RAM" : "flash"),
              "gdb.memory",
              fmt::format("{} bytes are missing{}",
                          in_ram ? image_.data_end - end : image_.code_end - code_end,
                          o_.writes_flash || gdb_.is_serial()
                              ? ""
                              : "; with --flash and flash= of --memory its code lies in flash"));
      problem_->measured = fmt::format(
          "{} bytes", in_ram ? image_.data_end - ram.base : image_.code_end - code.base);
      problem_->limit = fmt::format("{} bytes", in_ram ? ram.bytes : code.bytes);
      return false;
    }
    pool_ = {{static_cast<uint32_t>((image_.data_end + 15) & ~uint64_t{15}), 0}};
    pool_[0].bytes = pool_[0].base < end ? static_cast<uint32_t>(end - pool_[0].base) : 0;
    for (size_t k = 1; k < o_.memory.ram.size() && k < kRegions; k++)
      pool_.push_back(o_.memory.ram[k]);
    if (o_.writes_flash && image_.code_end + program_.size() <= code_end)
      program_at_ = static_cast<uint32_t>(image_.code_end);
    return look_for_program() && choose_clock();
  }

  // One that the board's own firmware holds is not sent.
  bool look_for_program() {
    const uint32_t at = gdb_.program_at();
    if (at == 0) return true;
    constexpr size_t kPiece = 32768;  // so much is summed while the line is silent
    bool same = at % kAlignment == 0;
    for (size_t from = 0; same && from < program_.size(); from += kPiece) {
      const std::optional<bool> found =
          gdb_.has_bytes(at + static_cast<uint32_t>(from),
                         program_.subspan(from, std::min(kPiece, program_.size() - from)));
      if (gdb_.error()) return false;
      same = found.value_or(false);
    }
    if (same) program_at_ = at;
    result.found = same ? ", program of its firmware" : ", which holds another program";
    return true;
  }

  bool choose_clock() {
    uint32_t kind = 2;
    if (core_.has_cycle_counter) {
      const std::optional<uint32_t> debug = gdb_.read_word(kDemcr);
      if (!debug) return false;
      const uint32_t wanted[] = {*debug | kTraceEnable | kCatchHardFault};
      if (!gdb_.write(kDemcr, {reinterpret_cast<const uint8_t*>(wanted), 4})) return false;
      const std::optional<uint32_t> control = gdb_.read_word(kDwtControl);
      if (!control) return false;
      if (*control != 0 && (*control & kNoCycleCounter) == 0) kind = 1;
    }
    result.clock = kind == 1 ? "DWT cycle counter" : "SysTick";
    if (gdb_.is_serial()) {
      const std::optional<uint32_t> agent = gdb_.read_register(kAgent);
      if (!agent) return false;
      image_.set_word(image_.address_of("deuteron_agent"), *agent | 1);
      call_ = *agent & ~1u;
    }
    image_.set_word(image_.address_of("deuteron_clock_kind"), kind);
    image_.set_word(image_.address_of("deuteron_clock_hz"), o_.memory.clock_hz);
    for (uint32_t k = 0; k < pool_.size(); k++) {
      image_.set_word(image_.address_of("deuteron_pool") + 8 * k, pool_[k].base);
      image_.set_word(image_.address_of("deuteron_pool") + 8 * k + 4, pool_[k].bytes);
    }
    return true;
  }

  // Both ends of each region at once: a smaller memory shows the same bytes again.
  bool try_ram() {
    for (const ChipMemory::Piece& p : pool_) {
      if (p.bytes < 64) continue;
      const uint8_t low[] = {0xa5, 0x5a, 0x0f, 0xf0}, high[] = {0x3c, 0xc3, 0x69, 0x96};
      const uint32_t last = p.base + p.bytes - 4;
      uint8_t found[4];
      if (!memory_.put(p.base, low) || !memory_.put(last, high) || !gdb_.read(p.base, found))
        return false;
      if (std::memcmp(found, low, 4) != 0)
        return trouble(
            fmt::format("RAM at {:#010x} is smaller than {} bytes: its end is its beginning",
                        p.base, p.bytes),
            "gdb.memory", "--memory says where the chip has what");
    }
    return true;
  }

  bool upload() {
    const bool in_flash = o_.writes_flash;
    if (in_flash && program_at_ != 0) {  // in one piece: a block of flash is erased whole
      std::vector<uint8_t> all = image_.code.bytes;
      all.resize(program_at_ - image_.code.address);
      all.insert(all.end(), program_.begin(), program_.end());
      return memory_.put(image_.code.address, all, true) &&
             memory_.put(image_.data.address, image_.data.bytes) && try_ram();
    }
    return memory_.put(image_.code.address, image_.code.bytes, in_flash) &&
           memory_.put(image_.data.address, image_.data.bytes) && try_ram();
  }

  bool begin(Steps steps) {
    Job job;
    job.inputs = samples_.empty() ? 0 : static_cast<uint32_t>(samples_[0].size());
    job.samples = static_cast<uint32_t>(samples_.size());
    job.steps = steps;
    job.program_bytes = static_cast<uint32_t>(program_.size());
    job.program_at = program_at_;
    job.profile_events = o_.run.profile_events;
    job.profile_clock = o_.run.clock;
    job.clock_argument = o_.run.clock_argument;
    write_job(
        [&](std::span<const uint8_t> bytes) {
          return calls_.job.insert(calls_.job.end(), bytes.begin(), bytes.end()), true;
        },
        job, program_, samples_);
    if (o_.caches_on && !caches()) return false;
    if (gdb_.is_serial())
      return gdb_.write_register(kPc, image_.address_of("deuteron_enter") & ~1u) && gdb_.resume();
    call_ = image_.address_of("deuteron_host_call") & ~1u;
    if (!gdb_.set_breakpoint(call_)) return false;
    gdb_.restart_when_released(call_, image_.address_of("deuteron_restart") & ~1u);
    return gdb_.write_register(kSp, image_.address_of("handler_stack_top")) &&
           gdb_.write_register(kPc, image_.address_of("deuteron_enter") & ~1u) && gdb_.resume();
  }

  bool caches() {
    std::string problem;
    if (!switch_caches_on(gdb_, problem))
      return problem.empty() ? false
                             : trouble(fmt::format("{}: {}", core_.name, problem), "gdb.caches",
                                       "leave --caches out");
    result.core += ", caches on";
    return true;
  }

  // Until the runner ends, or its time is up.
  bool serve() {
    const double limit =
        o_.run.timeout_seconds > 0
            ? o_.run.timeout_seconds
            : kChipBaseSeconds + kChipSecondsPerMultiplyAdd * estimate_work(program_);
    using Clock = std::chrono::steady_clock;
    const auto from_now = [&] {
      return Clock::now() +
             std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(limit));
    };
    Clock::time_point deadline = from_now();
    for (;;) {
      const double left = std::chrono::duration<double>(deadline - Clock::now()).count();
      const GdbRemote::Stop stop = gdb_.wait(std::clamp(left, 0.01, kLookSeconds));
      if (stop == GdbRemote::Stop::failed) return false;
      if (stop == GdbRemote::Stop::running && gdb_.is_serial()) {
        if (Clock::now() >= deadline) return time_is_up(limit);
        continue;
      }
      if (stop == GdbRemote::Stop::running && !gdb_.interrupt()) return false;
      const std::optional<uint32_t> pc = gdb_.read_register(kPc);
      if (!pc) return false;
      if ((*pc & ~1u) == call_) {
        bool progress = false;
        if (!answer_call(progress)) return false;
        if (calls_.end) return *calls_.end == BoardExit::done || describe_exit();
        if (progress && o_.run.timeout_seconds <= 0) deadline = from_now();
      } else if (!look_at(*pc)) return false;
      if (Clock::now() >= deadline) return time_is_up(limit);
      if (!gdb_.resume()) return false;
    }
  }

  bool is_ours(uint32_t pc) const { return pc >= image_.code.address && pc < image_.code_end; }

  // Where it stands that does not call: on its way, or somewhere that it cannot be.
  bool look_at(uint32_t pc) {
    if (is_ours(pc) || gdb_.is_serial()) return true;
    const std::optional<uint32_t> xpsr = gdb_.read_register(gdb_.number_of_xpsr()),
                                  sp = gdb_.read_register(kSp);
    if (!xpsr || !sp) return false;
    const uint32_t exception = *xpsr & kExceptionNumber;
    uint8_t frame[32];
    uint32_t before = 0;
    const ChipMemory::Piece& ram = o_.memory.ram[0];
    if (exception != 0 && *sp >= ram.base && *sp - ram.base + sizeof frame <= ram.bytes &&
        gdb_.read(*sp, frame))
      before = word_of(frame, 6);
    const std::string function = image_.function_at(before);
    if (exception == 0)
      return trouble(fmt::format("the processor has left the runner {}: it stands at {:#010x}",
                                 during(answer_), pc),
                     "gdb.left", "was the board reset, or does another debugger use it? Try again");
    return trouble(fmt::format("exception {} {} at PC {:#010x}{}", exception, during(answer_),
                               before, function.empty() ? "" : " `" + function + "`"),
                   "board.fault",
                   "is all of --memory there? If so, please report it with the program file");
  }

  bool time_is_up(double limit) {
    trouble(fmt::format("no end {}", during(answer_)), "board.timeout",
            "--timeout SECONDS sets another limit");
    problem_->measured = fmt::format("more than {:.3g} s", limit);
    problem_->limit =
        fmt::format("{:.3g} s{}", limit, o_.run.timeout_seconds > 0 ? "" : " for a sample");
    return false;
  }
  bool describe_exit() {
    const std::optional<Diagnostic> d = deuteron::describe_exit(
        where_, [&](uint32_t at) { return image_.function_at(at); }, *calls_.end, answer_);
    problem_ = d ? *d
                 : board_trouble(where_,
                                 fmt::format("the runner ended with code {}",
                                             static_cast<uint32_t>(*calls_.end)),
                                 "board.incomplete");
    return false;
  }

  // Number in r0, address of the arguments in r1; the answer goes to r0.
  bool answer_call(bool& progress) {
    const std::optional<uint32_t> number = gdb_.read_register(kR0), block = gdb_.read_register(kR1),
                                  back = gdb_.read_register(kLr);
    if (!number || !block || !back) return false;
    const std::optional<uint32_t> answer = calls_.answer(*number, *block);
    progress = calls_.progress;
    if (!answer || calls_.end) return answer.has_value();
    return gdb_.write_register(kR0, *answer) && gdb_.write_register(kPc, *back & ~1u);
  }

  // The chip's own firmware begins anew; what was not touched goes on where it was.
  void leave(bool done) {
    if (!problem_) {  // it stays the first, whatever leaving brings
      if (const std::optional<GdbLine::Error> e = gdb_.take_error())
        trouble(e->what, e->rule, e->fix);
    }
    const bool serial = gdb_.is_serial();
    if (call_ != 0 && !gdb_.error() && (!gdb_.is_running() || (!serial && gdb_.interrupt()))) {
      if (!serial) gdb_.clear_breakpoint(call_);
      gdb_.write_register(kPc, image_.address_of("deuteron_restart") & ~1u);
      if (serial) gdb_.resume();
    }
    const bool let_go = gdb_.release();
    if (done && !let_go)
      trouble("the GDB server did not say that it lets the processor run", "gdb.silent",
              "reset the board");
  }

  static constexpr size_t kRegions = 4;  // of boards/probe/map.h

  std::string_view where_;
  std::span<const uint8_t> program_;
  std::span<const Sample> samples_;
  const ProbeOptions& o_;
  GdbRemote gdb_;
  ProbedMemory memory_{gdb_};
  Core core_;
  std::span<const uint8_t> parts_;
  PlacedImage image_;
  std::vector<ChipMemory::Piece> pool_;
  uint32_t program_at_ = 0, call_ = 0;
  BoardReport answer_;
  RunnerCalls calls_{gdb_, memory_, [this](std::string_view line) {
                       return take_line(line, answer_, result.run);
                     }};
  std::optional<Diagnostic> problem_;
};

}  // namespace

ProbeRun run_on_probe(std::string_view where, std::span<const uint8_t> program,
                      std::span<const Sample> samples, const ProbeOptions& options) {
  ProbeRun refused;
  if (const std::optional<Diagnostic> problem = check_samples(where, samples))
    return refused.run.error = *problem, refused;
  Session session(where, program, samples, options);
  session.run(options.run.by_step ? Steps::apart : Steps::together);
  EmulatedRun& run = session.result.run;
  if (run.ok || run.error.rule != "board.fault" || options.run.by_step ||
      run.instructions.size() >= samples.size())
    return session.result;
  // Once more from the sample that faulted, call by call, to name the operator.
  Session again(where, program, samples.subspan(run.instructions.size(), 1), options);
  again.run(Steps::apart);
  if (!again.result.run.ok && again.result.run.error.rule == "board.fault")
    run.error = again.result.run.error;
  return session.result;
}

}  // namespace deuteron
