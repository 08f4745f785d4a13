// SPDX-License-Identifier: Apache-2.0
// deuteron run: a program on this machine, on an emulated board or on a chip. deuteron profile: the
// same, for the times alone.
#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/data/npy.h"
#include "base/files/read_file.h"
#include "base/files/temporary_path.h"
#include "base/files/write_file.h"
#include "boards/board.h"
#include "boards/emulate.h"
#include "cli/cycles.h"
#include "cli/ends.h"
#include "cli/options.h"
#include "cli/output_paths.h"
#include "cli/profile_run.h"
#include "cli/program_file.h"
#include "cli/run_on_board.h"
#include "cli/trust.h"

namespace deuteron {
namespace {

struct RunOptions {
  std::string program, method = "forward", output_dir, json;
  Where where;
  std::string profile,
      clock = "board",
      runner;  // where the profile goes; boards: what times it, another image of the runner
  std::string verify_key;  // "": who made the program does not matter
  std::string cycles;      // boards: of which core; "": none
  uint32_t profile_events = 0;
  std::vector<std::string> inputs;
  double timeout = 0;
  bool resets_state = false;
  ImageMap image;
};

// What a run gave: outputs in the user's order, all samples one after the other, and the figures
// for the JSON.
struct RunResult {
  std::vector<std::vector<std::byte>> outputs;
  Json figures = Json::object();
  std::string summary;
  std::vector<uint8_t> profile;
};

// The figures of a profile, and what the user should know of it.
void describe_profile(RunResult& r, uint64_t events, uint64_t dropped, bool hides_kernels,
                      const std::string& path, Diagnostics& diagnostics) {
  r.figures["profile"] = {{"events", events}, {"dropped", dropped}, {"bytes", r.profile.size()}};
  if (dropped > 0)
    diagnostics.warning(
        path,
        fmt::format("the profile has the first {} events; {} more did not fit", events, dropped),
        "profile.full", "fewer samples, or a larger --profile-events");
  if (hides_kernels)
    diagnostics.add({Severity::note, path,
                     "the profile does not show the kernels inside the NPU's parts", "", "",
                     "profile.npu", "compile the program with --profile"});
}

std::optional<RunResult> run_here(const ProgramFile& file, const RunOptions& o,
                                  std::span<const InputSeries> inputs, i64 samples,
                                  Diagnostics& diagnostics) {
  const TimeLimit limit = limit_run(o.timeout, o.program, o.json);
  RunSeconds seconds;
  Needs needs;
  HostProfile profile;
  profile.most_events = o.profile_events;
  std::optional<std::vector<std::vector<std::byte>>> outputs =
      run_on_host(file, inputs, samples, &seconds, &needs, diagnostics,
                  o.profile.empty() ? nullptr : &profile, o.resets_state);
  if (!outputs) return std::nullopt;
  RunResult r{std::move(*outputs),
              {{"planned_bytes", needs.planned_bytes},
               {"tables_bytes", needs.tables_bytes},
               {"inference_seconds", seconds.all},
               {"fastest_inference_seconds", seconds.fastest}},
              "",
              std::move(profile.dump)};
  if (!o.profile.empty())
    describe_profile(r, profile.events, profile.dropped, profile.hides_kernels, file.path,
                     diagnostics);
  const std::string time = seconds.all < 1 ? fmt::format("{:.3f} ms", 1e3 * seconds.all)
                                           : fmt::format("{:.3f} s", seconds.all);
  r.summary =
      fmt::format("{} on the host in {}; planned memory {} bytes, tables {} bytes",
                  counted(samples, "sample"), time, needs.planned_bytes, needs.tables_bytes);
  return r;
}

constexpr std::pair<std::string_view, JobClock> kClocks[] = {{"board", JobClock::board},
                                                             {"dwt", JobClock::dwt},
                                                             {"pmu", JobClock::pmu},
                                                             {"systick", JobClock::systick}};

// "systick:4999" is one that wraps every 5000 cycles.
void choose_clock(const std::string& text, EmulateOptions& options) {
  const std::string name = text.substr(0, text.find(':'));
  for (const auto& [known, clock] : kClocks)
    if (name == known) options.clock = clock;
  options.clock_argument = name.size() < text.size()
                               ? static_cast<uint32_t>(std::stoul(text.substr(name.size() + 1)))
                               : 0xffffff;
}
std::string check_clock(const std::string& text) {
  const std::string name = text.substr(0, text.find(':')),
                    rest = name.size() < text.size() ? text.substr(name.size() + 1) : "";
  const bool known = std::any_of(std::begin(kClocks), std::end(kClocks),
                                 [&](const auto& c) { return c.first == name; });
  if (!known) return "the clocks are board, systick, dwt and pmu";
  if (name.size() == text.size()) return "";
  const bool number =
      !rest.empty() && rest.size() <= 8 && rest.find_first_not_of("0123456789") == rest.npos;
  if (name != "systick" || !number || std::stoul(rest) < 999 || std::stoul(rest) > 0xffffff)
    return "what systick counts down from is 999 to 16777215";
  return "";
}

bool add_cycles(RunResult& r, const CoreModel& core, const RunOptions& o, const EmulatedRun& run,
                const EmulateOptions& options, Diagnostics& diagnostics) {
  const std::span<const uint8_t> image =
      options.image.empty() ? find_board(emulated_boards(), o.where.board())->image : options.image;
  const std::optional<CycleEstimate> estimate = estimate_cycles(core, image, run, diagnostics);
  if (!estimate) return false;
  r.figures["estimated_cycles"] = json_of(core, *estimate);
  r.summary += "\n" + text_of(core, *estimate);
  r.summary.pop_back();  // the caller ends the line
  return true;
}

// How to run it there. nullopt: with a diagnostic.
std::optional<EmulateOptions> options_for_board(const ProgramFile& file, const RunOptions& o,
                                                i64 samples, bool& hides_kernels,
                                                Diagnostics& diagnostics) {
  EmulateOptions options;
  options.timeout_seconds = o.timeout;
  if (o.profile.empty()) return options;
  const std::unique_ptr<HostProgram> here = HostProgram::load(file, diagnostics);
  if (!here) return std::nullopt;
  const uint64_t all = std::min<uint64_t>(
      events_of_run(here->program()) * static_cast<uint64_t>(samples), UINT32_MAX);
  options.profile_events = o.profile_events > 0 ? o.profile_events : static_cast<uint32_t>(all);
  hides_kernels = hides_npu_kernels(here->program());
  choose_clock(o.clock, options);
  return options;
}

// What the user is told of it, in the JSON and in a line.
void describe_run(RunResult& r, const RunOptions& o, const BoardRun& there, i64 samples) {
  const EmulatedRun& run = there.run;
  const uint64_t first = run.instructions.empty() ? 0 : run.instructions[0],
                 npu = run.npu_instructions.empty() ? 0 : run.npu_instructions[0];
  r.figures = {{"planned_bytes", run.planned_bytes},
               {"tables_bytes", run.tables_bytes},
               {"stack_used_bytes", run.stack_used_bytes}};
  const std::string memory = fmt::format("planned memory {} bytes, tables {} bytes, stack {} bytes",
                                         run.planned_bytes, run.tables_bytes, run.stack_used_bytes);
  if (o.where.is_emulated()) {
    r.figures.update({{"instructions", first},
                      {"instructions_by_sample", run.instructions},
                      {"npu_simulation_instructions", npu},
                      {"load_instructions", run.load_instructions},
                      {"emulation_seconds", run.seconds}});
    const std::string simulation = npu > 0 ? fmt::format(", plus {} to simulate the NPU", npu) : "";
    r.summary = fmt::format("{} on {}: {} instructions each (first sample){}, {} to load; {}",
                            counted(samples, "sample"), o.where.on, first, simulation,
                            run.load_instructions, memory);
    return;
  }
  r.figures.update({{"core", there.core}, {"seconds_on_board", run.seconds}});
  std::string time = "nothing counts cycles there";
  if (first > 0) {
    r.figures.update({{"clock", there.clock},
                      {"cycles", first},
                      {"cycles_by_sample", run.instructions},
                      {"load_cycles", run.load_instructions}});
    time = fmt::format("{} cycles each (first sample, {}), {} to load", first, there.clock,
                       run.load_instructions);
  }
  r.summary = fmt::format("{} on {}, a {}: {}; {}", counted(samples, "sample"), o.where.on,
                          there.core + there.found, time, memory);
}

std::optional<RunResult> run_there(const ProgramFile& file, const RunOptions& o,
                                   std::span<const InputSeries> inputs, i64 samples,
                                   Diagnostics& diagnostics) {
  bool hides_kernels = false;
  std::optional<EmulateOptions> options =
      options_for_board(file, o, samples, hides_kernels, diagnostics);
  if (!options) return std::nullopt;
  const CoreModel* core = nullptr;
  if (!o.cycles.empty() && !(core = core_for(o.where.board(), o.cycles, diagnostics)))
    return std::nullopt;
  options->count_blocks = core != nullptr;
  std::optional<std::vector<std::byte>> runner;
  if (!o.runner.empty()) {
    if (!(runner = read_file(o.runner, diagnostics))) return std::nullopt;
    options->image = {reinterpret_cast<const uint8_t*>(runner->data()), runner->size()};
  }
  std::optional<BoardRun> there =
      run_on_board(file, o.where, *options, inputs, samples, diagnostics);
  if (!there) return std::nullopt;
  RunResult r;
  r.outputs = std::move(there->outputs);
  describe_run(r, o, *there, samples);
  if (core && !add_cycles(r, *core, o, there->run, *options, diagnostics)) return std::nullopt;
  if (!o.profile.empty()) {
    r.profile = std::move(there->run.profile);
    describe_profile(r, there->run.profile_events, there->run.profile_dropped, hides_kernels,
                     file.path, diagnostics);
  }
  return r;
}

// A folder that this run made is taken away again when the run fails.
class OutputFolder {
 public:
  bool make(const std::string& path, Diagnostics& diagnostics) {
    std::error_code ec;
    if (std::filesystem::exists(path, ec) && !std::filesystem::is_directory(path, ec))
      return diagnostics.error(path, "is a file where --output-dir wants a folder",
                               "output.folder"),
             false;
    made_.emplace(
        [&] { return std::filesystem::create_directories(path, ec) ? path : std::string(); });
    if (ec)
      return diagnostics.error(path, "the folder cannot be made: " + ec.message(), "output.folder"),
             false;
    return true;
  }
  void keep() { made_.reset(); }
  ~OutputFolder() {
    std::error_code ec;
    if (made_) std::filesystem::remove(made_->path(), ec);
  }

 private:
  std::optional<TemporaryPath> made_;
};

std::string output_path(const std::string& folder, size_t k) {
  return (std::filesystem::path(folder) / fmt::format("output{}.npy", k)).native();
}

// All outputs or none.
bool write_outputs(const ProgramFile& file, const RunResult& result, i64 samples, bool series,
                   const std::string& folder, Json& list, Diagnostics& diagnostics) {
  std::vector<std::string> written;
  for (size_t o = 0; o < result.outputs.size(); ++o) {
    const PteTensor& t = file.summary.outputs[o];
    Shape shape = t.sizes;
    if (series) shape.insert(shape.begin(), samples);
    const std::string path = output_path(folder, o);
    if (!write_file(path, npy_bytes(element_of(*dtype_of(t.type)), shape, result.outputs[o]),
                    diagnostics)) {
      std::error_code ec;
      for (const std::string& w : written) std::filesystem::remove(w, ec);
      return false;
    }
    written.push_back(path);
    list.push_back({{"file", path}, {"dtype", name_of(t.type)}, {"shape", shape}});
  }
  return true;
}

// Of one sample, the outputs that are short enough to read: what they are for a person.
std::string small_outputs(const ProgramFile& file, const RunResult& result) {
  constexpr i64 kMostNumbers = 16;
  std::string text;
  for (size_t o = 0; o < result.outputs.size(); ++o) {
    const PteTensor& t = file.summary.outputs[o];
    const Array array{element_of(*dtype_of(t.type)), t.sizes, result.outputs[o]};
    if (array.elements() == 0 || array.elements() > kMostNumbers) continue;
    std::string list;
    i64 largest = 0;
    for (i64 i = 0; i < array.elements(); ++i) {
      const double value = element_as_double(array, i);
      if (value > element_as_double(array, largest)) largest = i;
      list += fmt::format("{}{:.4g}", i == 0 ? "" : " ", value);
    }
    text += fmt::format("output{}: {}{}\n", o, list,
                        array.elements() > 1 ? fmt::format("; largest at {}", largest) : "");
  }
  return text;
}

// How many outputs the folder gets is known when the program is.
bool check_paths(const RunOptions& o, size_t outputs, Diagnostics& diagnostics) {
  std::vector<NamedPath> read = {{"the program", o.program},
                                 {"--runner", o.runner},
                                 {"--verify-key", o.verify_key}},
                         written = {{"the profile", o.profile}};
  add_paths(read, "--input", o.inputs);
  for (size_t k = 0; k < outputs && !o.output_dir.empty(); ++k)
    written.push_back({"--output-dir", output_path(o.output_dir, k)});
  written.push_back({"--json", o.json});
  return check_outputs(read, written, diagnostics);
}

int run(const RunOptions& o) {
  Diagnostics diagnostics;
  if (!check_paths(o, 0, diagnostics)) return finish("", diagnostics, {}, "");
  if (const std::string problem = check_where(o.where); !problem.empty())
    return refuse_usage(problem);
  if (!o.cycles.empty() && !o.where.is_emulated())
    return refuse_usage("--cycles is for emulated boards: --on qemu:BOARD");
  if (!o.runner.empty() && !o.where.is_emulated())
    return refuse_usage("--runner is for emulated boards: --on qemu:BOARD");
  if (!o.cycles.empty() && !o.profile.empty())
    return refuse_usage("--cycles and --profile run a program in different ways: give one");
  if (o.resets_state && !o.where.is_host())
    return refuse_usage(
        "--reset-state is for the host; a board's program goes on from sample to sample");
  if (o.method != "forward" && !o.where.is_host())
    return refuse_usage("--method is for the host; a board runs `forward`");
  Json json = {{"program", o.program}, {"on", o.where.on}};
  const auto fail = [&] { return finish(o.json, diagnostics, json, ""); };
  const std::optional<ProgramFile> file =
      ProgramFile::open(o.program, diagnostics, o.verify_key, o.method);
  if (!file || !file->runs_off_chip(diagnostics)) return fail();
  if (!check_paths(o, file->summary.outputs.size(), diagnostics))
    return finish("", diagnostics, {}, "");
  const std::optional<std::vector<InputSeries>> inputs =
      read_inputs(o.inputs, file->inputs(), {"--input", o.image}, diagnostics);
  if (!inputs) return fail();
  const i64 samples = inputs->empty() ? 1 : (*inputs)[0].count;
  bool series = false;
  for (const InputSeries& i : *inputs) series |= i.series;
  OutputFolder folder;
  const bool keeps_outputs = !o.output_dir.empty();
  if (keeps_outputs && !folder.make(o.output_dir, diagnostics)) return fail();
  const std::optional<RunResult> result = o.where.is_host()
                                              ? run_here(*file, o, *inputs, samples, diagnostics)
                                              : run_there(*file, o, *inputs, samples, diagnostics);
  if (!result) return fail();
  Json list = Json::array();
  if (keeps_outputs &&
      !write_outputs(*file, *result, samples, series, o.output_dir, list, diagnostics))
    return fail();
  folder.keep();
  if (!o.profile.empty() && !write_file(o.profile, result->profile, diagnostics)) return fail();
  json.update(result->figures);
  json["samples"] = samples;
  json["outputs"] = std::move(list);
  json["seconds"] = seconds_of_process();
  std::string summary = result->summary + "\n";
  if (samples == 1) summary += small_outputs(*file, *result);
  if (keeps_outputs)
    summary +=
        fmt::format("wrote {} to {}\n", counted(static_cast<i64>(result->outputs.size()), "output"),
                    o.output_dir);
  else if (o.profile.empty()) summary += "no outputs are kept: --output-dir D writes them\n";
  if (!o.profile.empty())
    summary +=
        fmt::format("wrote a profile of {} to {}\n",
                    counted(result->figures["profile"]["events"].get<i64>(), "event"), o.profile);
  return finish(o.json, diagnostics, std::move(json), summary);
}

// What both verbs have.
void add_run_options(Verb& verb, RunOptions* o) {
  verb.option("program", o->program, "the program (.pte)").value("P").required();
  add_method(verb, o->method);
  add_files(verb, "--input", o->inputs,
            "input data: an array, images or a folder of either; once for each input, in order, or "
            "one .npz for all inputs");
  add_where(verb, o->where);
  add_timeout(verb, o->timeout);
  verb.option("--profile-events", o->profile_events,
              "keep only the first N events of a profile; default: all")
      .value("N")
      .positive();
  verb.option("--profile-clock", o->clock,
              "on boards: the clock of a profile: board (default; exact instructions when "
              "emulated), systick, systick:RELOAD, dwt or pmu")
      .value("C")
      .check(check_clock);
  verb.option("--runner", o->runner,
              "on boards: use this image of the runner instead of the built-in one")
      .value("ELF");
  add_verify_key(verb, o->verify_key);
  add_image_options(verb, o->image);
  add_json(verb, o->json);
}

}  // namespace

void add_run(CommandLine& line) {
  RunOptions* o = nullptr;
  Verb verb = add_verb<RunOptions>(
      line, "run", "run a program on this machine, an emulated board or your own board",
      "deuteron run model.pte --input x.npy --output-dir out/\n  deuteron run "
      "model.pte --input x.npy "
      "--output-dir out/ --on qemu:mps3-an547",
      run, o);
  verb.option("-o,--output-dir", o->output_dir,
              "folder for output0.npy, output1.npy, ..., created if missing; default: outputs are "
              "not kept")
      .value("D");
  verb.option("--profile", o->profile, "also write the time of every kernel to this file (ETDump)")
      .value("FILE");
  verb.option("--cycles", o->cycles,
              "on emulated boards: estimate the cycles on this core with LLVM's model; `board`: on "
              "the board's own core")
      .value("CORE");
  verb.flag("--reset-state", o->resets_state,
            "on the host: reset the program's state before each sample; by default the samples are "
            "the steps of one sequence");
  add_run_options(verb, o);
}

void add_profile(CommandLine& line) {
  RunOptions* o = nullptr;
  Verb verb = add_verb<RunOptions>(
      line, "profile", "time every kernel of a program, on this machine or on a board",
      "deuteron profile model.pte --input x.npy -o trace.etdp --on qemu:mps2-an505", run, o);
  verb.option("-o,--output", o->profile, "the profile to write (ETDump)").value("FILE").required();
  verb.option("--output-dir", o->output_dir, "also write the outputs to this folder").value("D");
  add_run_options(verb, o);
}

}  // namespace deuteron
