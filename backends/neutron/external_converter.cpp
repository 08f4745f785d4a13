// See external_converter.h. Options: NXP's public examples call the tool with --input, --output and --target.
#include "backends/neutron/external_converter.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "data/temporary_path.h"

namespace deuteron::neutron {
namespace {

constexpr size_t kMostLines = 12, kLongestLine = 300;  // of the tool's text, in a message
constexpr uintmax_t kMostBytes = uintmax_t{1} << 30;   // of its result

// A folder of our own; gone with everything in it at the end of the scope.
class TemporaryFolder {
 public:
  TemporaryFolder() : listed_(make) {}
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    if (ok()) std::filesystem::remove_all(listed_.path(), ignored);
  }
  bool ok() const { return !listed_.path().empty(); }
  std::filesystem::path operator/(const char* name) const { return std::filesystem::path(listed_.path()) / name; }

 private:
  static std::string make() {
    std::error_code error;
    std::string pattern = (std::filesystem::temp_directory_path(error) / "deuteron-neutron-XXXXXX").string();
    return !error && mkdtemp(pattern.data()) ? pattern : "";
  }
  TemporaryPath listed_;
};

std::string printed(const std::vector<std::string>& lines) {
  if (lines.empty()) return "it printed nothing";
  std::string text = "it printed:";
  for (const std::string& l : lines) text += "\n      " + l;
  return text;
}

}  // namespace

std::optional<ExternallyConverted> convert_externally(std::span<const u8> neutron_ir, i64 inputs, i64 outputs,
                                                      const ExternalConverter& tool, const RunTool& run, Diagnostics& diagnostics) {
  const std::string where = fmt::format("Neutron converter `{}`", tool.path);
  const auto fail = [&](std::string what, const char* rule, std::string fix = {}, std::string measured = {}, std::string limit = {}) {
    diagnostics.add({Severity::error, where, std::move(what), std::move(measured), std::move(limit), rule, std::move(fix)});
    return std::optional<ExternallyConverted>();
  };
  std::error_code error;
  if (!std::filesystem::exists(tool.path, error))
    return fail("start: there is no such file", "neutron.external.missing",
                "give the path of the vendor's neutron-converter to --neutron-converter");
  if (std::filesystem::is_directory(tool.path, error) || access(tool.path.c_str(), X_OK) != 0)
    return fail("start: the file cannot be executed", "neutron.external.not-executable",
                "chmod +x, or give another path to --neutron-converter");

  TemporaryFolder folder;
  if (!folder.ok())
    return fail(fmt::format("writing its input: no temporary folder: {}", std::strerror(errno)), "neutron.external.folder",
                "set TMPDIR to a folder that can be written");
  const auto in = folder / "partition.tflite", out = folder / "converted.tflite";
  {
    std::ofstream f(in, std::ios::binary);
    f.write(reinterpret_cast<const char*>(neutron_ir.data()), static_cast<std::streamsize>(neutron_ir.size()));
    f.close();
    if (!f)
      return fail(fmt::format("writing its input: {}", std::strerror(errno)), "neutron.external.folder",
                  "set TMPDIR to a folder with room");
  }
  std::vector<std::string> command{tool.path, "--input", in.string(), "--output", out.string(), "--target", tool.target};
  if (tool.fetch_constants_to_sram) command.push_back("--fetch-constants-to-sram");
  if (tool.profile) command.push_back("--use-profiling");
  command.insert(command.end(), tool.arguments.begin(), tool.arguments.end());

  ExternallyConverted r;
  const ToolEnd end = run(command, tool.limit_seconds, [&](std::string_view line) {
    if (r.log.size() < kMostLines) r.log.emplace_back(line.substr(0, kLongestLine));
  });
  if (end.start_error != 0) return fail(fmt::format("start: {}", std::strerror(end.start_error)), "neutron.external.start");
  if (end.timed_out)
    return fail("conversion: it did not end in time and was stopped", "neutron.external.timeout", printed(r.log), "still running",
                fmt::format("{:g} s", tool.limit_seconds));
  if (end.signal != 0)
    return fail("conversion: a signal ended it", "neutron.external.crash", printed(r.log), strsignal(end.signal), "an exit");
  if (end.exit_code != 0)
    return fail("conversion: it failed", "neutron.external.failed", printed(r.log), fmt::format("exit code {}", end.exit_code), "0");

  const uintmax_t bytes = std::filesystem::file_size(out, error);
  if (error) return fail("reading its result: it wrote none", "neutron.external.no-result", printed(r.log));
  if (bytes == 0 || bytes > kMostBytes)
    return fail("reading its result: size of the file", "neutron.external.result-size", printed(r.log), fmt::format("{} bytes", bytes),
                fmt::format("1..{}", kMostBytes));
  r.model.resize(static_cast<size_t>(bytes));
  std::ifstream f(out, std::ios::binary);
  f.read(reinterpret_cast<char*>(r.model.data()), static_cast<std::streamsize>(bytes));
  if (!f) return fail("reading its result: the file cannot be read", "neutron.external.no-result", printed(r.log));

  const size_t before = diagnostics.list().size();
  auto extracted = extract(r.model, where + ": reading its result", diagnostics);
  if (!extracted) {
    if (!r.log.empty() && diagnostics.list().size() > before)
      diagnostics.add({Severity::note, where, printed(r.log), {}, {}, "neutron.external.text", {}});
    return std::nullopt;
  }
  if (extracted->model_inputs != inputs || static_cast<i64>(extracted->output_map.size()) != outputs)
    return fail("reading its result: inputs and outputs are not those of the model that it was given", "neutron.external.ports",
                printed(r.log), fmt::format("{}, {}", extracted->model_inputs, extracted->output_map.size()),
                fmt::format("{}, {}", inputs, outputs));
  r.extracted = std::move(*extracted);
  return r;
}

}  // namespace deuteron::neutron
