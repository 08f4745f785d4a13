// SPDX-License-Identifier: Apache-2.0
// See external_converter.h. Options: NXP's public examples call the tool with --input, --output and
// --target.
#include "npu/neutron/vendor/external_converter.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "base/files/temporary_folder.h"

namespace deuteron::neutron {
namespace {

constexpr size_t kMostLines = 12, kLongestLine = 300;  // of the tool's text, in a message
constexpr size_t kMostText = size_t{1} << 28;          // that is read for the map
constexpr uintmax_t kMostBytes = uintmax_t{1} << 30;   // of its result
constexpr double kVersionSeconds = 60;                 // for `--version`
// What the NPU takes (backends/nxp of ExecuTorch 1.5) is what the flow takes that came with this
// version; older ones abort on it.
constexpr int kOldest[] = {3, 1, 2};
constexpr const char* kOldestText = "3.1.2 or newer";
constexpr const char* kSelectionFile = "_kernel_selection.c";

std::vector<u8> read_bytes(const std::filesystem::path& path, size_t bytes) {
  std::vector<u8> data(bytes);
  std::ifstream f(path, std::ios::binary);
  f.read(reinterpret_cast<char*>(data.data()), static_cast<std::streamsize>(bytes));
  if (!f) data.clear();
  return data;
}

bool is_too_old(const std::string& version) {
  std::string_view rest = version;
  for (const int least : kOldest) {
    int number = 0;
    while (!rest.empty() && rest.front() != '.')
      number = std::min(number * 10 + (rest.front() - '0'), 1 << 20), rest.remove_prefix(1);
    if (!rest.empty()) rest.remove_prefix(1);
    if (number != least) return number < least;
  }
  return false;
}

class Conversion {
 public:
  Conversion(std::span<const u8> neutron_ir, const ExternalConverter& tool, const RunTool& run,
             const std::string& text_file, Diagnostics& diagnostics)
      : ir_(neutron_ir),
        tool_(tool),
        run_(run),
        text_file_(text_file),
        diagnostics_(diagnostics),
        where_(fmt::format("Neutron converter `{}`", tool.path)) {}

  std::optional<ExternallyConverted> convert() {
    if (!can_start() || !write_input() || !check_version() || !convert_file() || !read_result() ||
        !check_result())
      return std::nullopt;
    read_map();
    result_.log.assign(log_.begin(), log_.end());
    return std::move(result_);
  }

 private:
  bool fail(std::string what, const char* rule, std::string fix = {}, std::string measured = {},
            std::string limit = {}) {
    diagnostics_.add({Severity::error, where_, std::move(what), std::move(measured),
                      std::move(limit), rule, std::move(fix)});
    return false;
  }
  std::string printed() const {
    if (log_.empty()) return "it printed nothing";
    std::string text = "it printed:";
    for (const std::string& l : log_) text += "\n      " + l;
    return text;
  }

  bool can_start() {
    std::error_code error;
    if (!std::filesystem::exists(tool_.path, error))
      return fail("start: there is no such file", "neutron.external.missing",
                  "give the path of the vendor's neutron-converter to --neutron-converter");
    if (std::filesystem::is_directory(tool_.path, error) || access(tool_.path.c_str(), X_OK) != 0)
      return fail("start: the file cannot be executed", "neutron.external.not_executable",
                  "chmod +x, or give another path to --neutron-converter");
    // it works in a folder of its own
    program_ = std::filesystem::absolute(tool_.path, error).string();
    return true;
  }

  bool write_input() {
    if (!folder_.ok())
      return fail(fmt::format("writing its input: no temporary folder: {}", std::strerror(errno)),
                  "neutron.external.folder", "set TMPDIR to a folder that can be written");
    std::ofstream f(folder_ / kInput, std::ios::binary);
    f.write(reinterpret_cast<const char*>(ir_.data()), static_cast<std::streamsize>(ir_.size()));
    f.close();
    return f ? true
             : fail(fmt::format("writing its input: {}", std::strerror(errno)),
                    "neutron.external.folder", "set TMPDIR to a folder with room");
  }

  // False: it could not be run to its end.
  bool run(const std::vector<std::string>& arguments, double seconds, const char* step) {
    std::vector<std::string> command{program_};
    command.insert(command.end(), arguments.begin(), arguments.end());
    text_.clear();
    log_.clear();
    end_ = run_(command, folder_.path(), seconds, [&](std::string_view line) {
      if (text_.size() < kMostText) text_.append(line) += '\n';
      log_.emplace_back(line.substr(0, kLongestLine));
      if (log_.size() > kMostLines) log_.pop_front();
    });
    if (end_.start_error != 0)
      return fail(fmt::format("start: {}", std::strerror(end_.start_error)),
                  "neutron.external.start",
                  "run it by hand on this machine: a script needs the interpreter that its first "
                  "line names, a program its loader");
    if (end_.timed_out)
      return fail(fmt::format("{}: it did not end in time and was stopped", step),
                  "neutron.external.timeout", printed(), "still running",
                  fmt::format("{:g} s", seconds));
    return true;
  }

  // A converter that does not answer is asked no further: its result is checked in any case.
  bool check_version() {
    if (!run({"--version"}, std::min(kVersionSeconds, tool_.limit_seconds),
             "asking for its version"))
      return false;
    version_ = end_.exit_code == 0 ? version_in(text_) : "";
    return version_.empty() || !is_too_old(version_) ||
           fail("its version is too old for the operators that it would get",
                "neutron.external.version",
                "install a newer eIQ Neutron SDK, and link its driver and firmware", version_,
                kOldestText);
  }

  bool convert_file() {
    std::vector<ConverterOption> options{{"target", "imxrt700"}};
    for (const ConverterOption& o : default_converter_options()) set_option(options, o);
    if (tool_.fetch_constants_to_sram) set_option(options, {"fetchConstantsToSRAM", "true"});
    if (tool_.profile) set_option(options, {"useProfiling", "true"});
    if (tool_.kernel_selection) set_option(options, {"dumpKernelSelectionCode", "true"});
    for (const ConverterOption& o : tool_.options) set_option(options, o);
    std::vector<std::string> arguments{"--input", (folder_ / kInput).string(), "--output",
                                       (folder_ / kOutput).string()};
    for (std::string& a : arguments_of(options)) arguments.push_back(std::move(a));
    const bool has_ended = run(arguments, tool_.limit_seconds, "conversion");
    if (!keep_text() || !has_ended) return false;
    if (end_.signal != 0)
      return fail("conversion: a signal ended it", "neutron.external.crash", printed(),
                  strsignal(end_.signal), "an exit");
    return end_.exit_code == 0 || fail("conversion: it failed", "neutron.external.failed",
                                       printed(), fmt::format("exit code {}", end_.exit_code), "0");
  }

  bool keep_text() {
    if (text_file_.empty()) return true;
    std::ofstream f(text_file_, std::ios::binary);
    f << text_;
    f.close();
    return f ? true
             : fail(fmt::format("keeping its text in {}: {}", text_file_, std::strerror(errno)),
                    "neutron.external.folder", "give --intermediates a folder with room");
  }

  bool read_result() {
    std::error_code error;
    const uintmax_t bytes = std::filesystem::file_size(folder_ / kOutput, error);
    if (error)
      return fail("reading its result: it wrote none", "neutron.external.no_result", printed());
    if (bytes == 0 || bytes > kMostBytes)
      return fail("reading its result: size of the file", "neutron.external.result_size", printed(),
                  fmt::format("{} bytes", bytes), fmt::format("1..{}", kMostBytes));
    result_.model = read_bytes(folder_ / kOutput, static_cast<size_t>(bytes));
    if (result_.model.empty())
      return fail("reading its result: the file cannot be read", "neutron.external.no_result",
                  printed());
    if (tool_.kernel_selection) {
      std::ifstream selection(folder_ / kSelectionFile);
      result_.kernel_selection.assign(std::istreambuf_iterator<char>(selection), {});
    }
    return true;
  }

  // Its ports in the order of what was given.
  bool check_result() {
    const std::string step = where_ + ": reading its result";
    const size_t before = diagnostics_.list().size();
    auto extracted = extract(result_.model, step, diagnostics_);
    if (!extracted) {
      if (!log_.empty() && diagnostics_.list().size() > before)
        diagnostics_.add(
            {Severity::note, where_, "what it said", {}, {}, "neutron.external.text", printed()});
      return false;
    }
    asked_ = face_of_model(ir_);
    const auto order = match_ports(asked_, face_of_model(result_.model), step, diagnostics_);
    if (!order) return false;
    for (u8& k : extracted->input_map) k = order->inputs[k];
    for (u8& k : extracted->output_map) k = order->outputs[k];
    result_.extracted = std::move(*extracted);
    return true;
  }

  // What its text leaves open is said, and stops nothing: the payload is whole without it.
  void read_map() {
    const ConsoleDump dump = read_console_dump(text_);
    KernelMap map = map_kernels(dump, asked_, {}, tool_.fetch_constants_to_sram);
    if (dump.extracted.empty() && dump.calls.empty())
      return warn("neutron.dump.missing",
                  dump.graphs == 0
                      ? "it printed no graphs, so nobody knows which operators its kernels compute"
                      : "its text lists no kernels, so nobody knows which operators they compute",
                  version_.empty()
                      ? "a converter of 3.1.2 or newer prints them with --dump-after-import "
                        "console --dump-after-generate "
                        "console --verbose"
                      : fmt::format("its version is {}; 3.2.1 or newer prints them", version_));
    if (!map.fault.empty())
      warn("neutron.dump.model",
           "its text does not fit the model and the result, and is not used: " + map.fault,
           kOpenMeans);
    else warn_open(map);
    result_.map = std::move(map);
  }

  void warn(const char* rule, std::string what, std::string fix) {
    diagnostics_.add({Severity::warning, where_, std::move(what), {}, {}, rule, std::move(fix)});
  }

  // Kernels with their numbers in a profile, by reason.
  void warn_open(const KernelMap& map) {
    std::vector<std::pair<std::string, std::string>> by_reason;  // reason, kernels
    size_t open = 0;
    for (size_t k = 0; k < map.kernels.size(); ++k) {
      const MappedKernel& kernel = map.kernels[k];
      if (kernel.open.empty()) continue;
      ++open;
      auto at =
          std::ranges::find(by_reason, kernel.open, &std::pair<std::string, std::string>::first);
      if (at == by_reason.end()) at = by_reason.insert(at, {kernel.open, ""});
      at->second += fmt::format("{}{} {}", at->second.empty() ? "" : ", ", k, kernel.name);
    }
    if (open == 0) return;
    std::string text;
    for (const auto& [reason, kernels] : by_reason)
      text += fmt::format("{}: {}\n    ", kernels, reason);
    warn("neutron.dump.open",
         fmt::format("its text does not say of {} of {} kernels which operators they compute", open,
                     map.kernels.size()),
         text + kOpenMeans);
  }

  static constexpr const char *kInput = "partition.tflite", *kOutput = "converted.tflite";
  static constexpr const char* kOpenMeans =
      "their time in a profile belongs to no operator; --intermediates DIR keeps the text";
  std::span<const u8> ir_;
  const ExternalConverter& tool_;
  const RunTool& run_;
  const std::string& text_file_;
  Diagnostics& diagnostics_;
  const std::string where_;
  TemporaryFolder folder_{"neutron"};
  std::string program_, text_, version_;
  std::deque<std::string> log_;
  ToolEnd end_;
  ModelFace asked_;
  ExternallyConverted result_;
};

}  // namespace

std::optional<ExternallyConverted> convert_externally(std::span<const u8> neutron_ir,
                                                      const ExternalConverter& tool,
                                                      const RunTool& run,
                                                      const std::string& text_file,
                                                      Diagnostics& diagnostics) {
  return Conversion(neutron_ir, tool, run, text_file, diagnostics).convert();
}

}  // namespace deuteron::neutron
