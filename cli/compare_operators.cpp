// SPDX-License-Identifier: Apache-2.0
#include "cli/compare_operators.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "base/check.h"
#include "explain/inspect/tap_values.h"
#include "targets/target.h"
#include "write/pte/status_text.h"

namespace deuteron {
namespace {

constexpr size_t kMostTaps = 100;  // of one program: an NPU part has at most 255 outputs

struct Way {
  const char *layout, *dialect;
};
constexpr Way kWays[] = {{"", ""},      {",contiguous", ""},
                         {"", "stock"}, {",contiguous", "stock"},
                         {"", "plain"}, {",contiguous", "plain"}};

bool is_on_npu(const ProgramFile& file) { return !file.summary.delegates.empty(); }

// Those whose kernels the program has.
std::vector<const char*> targets_of(const ProgramFile& file) {
  if (is_on_npu(file)) return {"imxrt700cm", "imxrt700"};
  if (file.summary.isa == "mve") return {"cortex-m55"};
  if (file.summary.isa == "dsp") return {"cortex-m33", "imxrt700cm"};
  if (file.summary.isa == "scalar") return {"cortex-m3"};
  return {};
}

bool gives(const CompiledModel& model, const ProgramFile& file) {
  return std::ranges::equal(std::as_bytes(std::span(model.compilation.pte)),
                            std::span(file.bytes.data(), file.bytes.size()));
}

std::optional<ProgramFile> program_of(const std::string& name, std::span<const uint8_t> pte,
                                      Diagnostics& diagnostics) {
  ProgramFile program{name, AlignedBytes(pte.size()), {}};
  std::memcpy(program.bytes.data(), pte.data(), pte.size());
  Status status;
  std::optional<PteSummary> summary = summarize_pte(program.file(), &status);
  if (!summary) return diagnostics.add(describe_status(name + " with taps", status)), std::nullopt;
  program.summary = std::move(*summary);
  return program;
}

// Runs both, and keeps what the taps give; their own outputs must be the same bytes.
std::optional<std::vector<std::vector<std::vector<std::byte>>>> run_tapped(
    const ProgramFile& file, const ProgramFile& tapped, std::span<const InputSeries> inputs,
    i64 samples, Diagnostics& diagnostics) {
  const std::unique_ptr<HostProgram> own = HostProgram::load(file, diagnostics),
                                     with_taps = HostProgram::load(tapped, diagnostics);
  if (!own || !with_taps) return std::nullopt;
  const size_t outputs = file.summary.outputs.size();
  std::vector<std::vector<std::vector<std::byte>>> found;
  for (i64 s = 0; s < samples; ++s) {
    const auto expected = own->run(file.stored_inputs(inputs, s), diagnostics);
    auto values = with_taps->run(tapped.stored_inputs(inputs, s), diagnostics);
    if (!expected || !values) return std::nullopt;
    DEUTERON_CHECK(std::equal(expected->begin(), expected->end(), values->begin()),
                   fmt::format("{}: other outputs for sample {} with taps", file.path, s));
    values->erase(values->begin(), values->begin() + static_cast<std::ptrdiff_t>(outputs));
    found.push_back(std::move(*values));
  }
  return found;
}

// All int8 values of the program.
struct Tapped {
  std::vector<Tap> taps;
  std::vector<std::vector<std::vector<std::byte>>> found;  // [sample][tap]
};

std::optional<Tapped> tap_all(const ProgramFile& file, const ModelOptions& options,
                              const Target& target, std::span<const InputSeries> inputs,
                              i64 samples, Diagnostics& diagnostics) {
  ModelOptions until = options;
  until.stop_after = "int8-ports";
  const std::optional<CompiledModel> before = compile_model(until, false, diagnostics);
  if (!before) return std::nullopt;
  Tapped all{{}, {static_cast<size_t>(samples), std::vector<std::vector<std::byte>>()}};
  for (size_t first = 0;; first += kMostTaps) {
    const auto tapped =
        tap_values(before->compilation, target, options.compile, first, kMostTaps, diagnostics);
    if (!tapped) return std::nullopt;
    if (tapped->taps.empty()) return all;
    const std::optional<ProgramFile> program = program_of(file.path, tapped->pte, diagnostics);
    auto found = program ? run_tapped(file, *program, inputs, samples, diagnostics) : std::nullopt;
    if (!found) return std::nullopt;
    all.taps.insert(all.taps.end(), tapped->taps.begin(), tapped->taps.end());
    for (size_t s = 0; s < found->size(); ++s)
      std::ranges::move((*found)[s], std::back_inserter(all.found[s]));
  }
}

}  // namespace

// As --io has it.
static std::string io_of(const ProgramFile& file) {
  bool has_steps = false, has_floats = false;
  for (const std::vector<PteTensor>* ports : {&file.summary.inputs, &file.summary.outputs})
    for (const PteTensor& t : *ports)
      has_steps |= !t.steps.empty(), has_floats |= t.type == ScalarType::f32;
  return !has_steps ? "float" : has_floats ? "model" : "int8";
}

std::optional<ModelOptions> options_of(const ProgramFile& file, const ModelOptions& given,
                                       std::optional<CompiledModel>* model) {
  std::vector<std::string> targets{given.target};
  if (given.target.empty()) {
    const std::vector<const char*> likely = targets_of(file);
    targets.assign(likely.begin(), likely.end());
  }
  for (const std::string& target : targets)
    for (const Way& way : kWays) {
      ModelOptions options = given;
      options.target = target;
      options.compile.npu.converter.path.clear();  // the program runs here
      options.io = io_of(file) + way.layout;
      options.dialect = way.dialect;
      options.compile.byte_inputs = file.summary.byte_inputs;
      for (const std::optional<ImageMap>& map : file.summary.byte_inputs)
        if (map) options.image = *map;
      for (const PteDelegate& d : file.summary.delegates)
        if (d.neutron) {
          options.compile.npu.profile |= d.neutron->profile_bytes > 0;
          options.compile.npu.fetch_constants |= d.neutron->sram_bytes > 0;
        }
      Diagnostics silent;
      *model = compile_model(options, false, silent);
      if (*model && gives(**model, file)) return options;
    }
  return std::nullopt;
}

std::optional<std::vector<LayerError>> compare_operators(const ProgramFile& file,
                                                         const ModelOptions& options,
                                                         const CompiledModel& model,
                                                         std::span<const InputSeries> inputs,
                                                         Diagnostics& diagnostics) {
  const Samples samples = to_samples(file.as_numbers({inputs.begin(), inputs.end()}));
  const std::optional<Tapped> tapped =
      tap_all(file, options, model.target, inputs, static_cast<i64>(samples.size()), diagnostics);
  if (!tapped) return std::nullopt;
  std::vector<LayerError> layers = compare_taps(model.compilation, tapped->taps, samples,
                                                tapped->found, options.compile.threads);
  if (is_on_npu(file)) return layers;
  for (LayerError& layer :
       compare_layers(model.compilation, samples, options.compile.threads))  // what is in float
    if (layer.low == layer.high) layers.push_back(std::move(layer));
  return layers;
}

}  // namespace deuteron
