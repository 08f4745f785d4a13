// SPDX-License-Identifier: Apache-2.0
#include "cli/program_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <new>

#include "base/check.h"
#include "base/data/storage_order.h"
#include "base/files/mapped_file.h"
#include "base/files/read_file.h"
#include "base/tensor/elements.h"
#include "base/watch.h"
#include "cli/profile_run.h"
#include "cli/trust.h"
#include "cli/verb.h"
#include "kernels/common/arena_host.h"
#include "write/pte/data_file.h"
#include "write/pte/status_text.h"

namespace deuteron {

// calloc gives pages that are zero without being written, so a plan of a gigabyte costs nothing
// until it is used.
AlignedBytes::AlignedBytes(size_t bytes)
    : data_(static_cast<std::byte*>(std::calloc(bytes ? bytes : 1, 1))), size_(bytes) {
  if (!data_) throw std::bad_alloc();
  DEUTERON_CHECK(reinterpret_cast<uintptr_t>(data_.get()) % 16 == 0, "calloc");
}
void AlignedBytes::Free::operator()(std::byte* p) const { std::free(p); }

std::optional<ProgramFile> ProgramFile::open(const std::string& path, Diagnostics& diagnostics,
                                             const std::string& verify_key,
                                             const std::string& method) {
  const std::optional<std::vector<std::byte>> content = read_file(path, diagnostics);
  return content ? read(path, *content, diagnostics, verify_key, method) : std::nullopt;
}

static AlignedBytes aligned(std::span<const std::byte> bytes) {
  AlignedBytes copy(bytes.size());
  std::memcpy(copy.data(), bytes.data(), bytes.size());
  return copy;
}

// NAME.ptd beside NAME.pte, else all that lie there.
static std::vector<std::string> data_files_of(const std::string& path) {
  namespace fs = std::filesystem;
  const fs::path own = fs::path(path).replace_extension(".ptd");
  std::error_code failure;
  if (fs::is_regular_file(own, failure)) return {own.string()};
  std::vector<std::string> found;
  const fs::path folder = own.has_parent_path() ? own.parent_path() : fs::path(".");
  for (fs::directory_iterator it(folder, failure), end; !failure && it != end;
       it.increment(failure))
    if (it->path().extension() == ".ptd") found.push_back(it->path().string());
  std::ranges::sort(found);
  return found;
}

// The program whose constants lie in data files, as one file.
static std::optional<AlignedBytes> with_data_files(const std::string& path,
                                                   std::span<const std::byte> content,
                                                   const std::string& verify_key,
                                                   Diagnostics& diagnostics) {
  if (!verify_key.empty()) {
    diagnostics.error(path, "is signed, and its data files (.ptd) are not", "pte.data_file",
                      "write the program with its constants in it: external_constants=False");
    return std::nullopt;
  }
  std::vector<MappedFile> mapped;
  std::vector<DataFile> files;
  for (const std::string& name : data_files_of(path)) {
    mapped.push_back(map_file(name, diagnostics));
    if (!mapped.back().owner) return std::nullopt;
    files.push_back({name, mapped.back().bytes});
  }
  const auto merged = with_data(content, path, files, diagnostics);
  return merged ? std::optional(aligned(std::as_bytes(std::span(*merged)))) : std::nullopt;
}

std::optional<ProgramFile> ProgramFile::read(const std::string& path,
                                             std::span<const std::byte> content,
                                             Diagnostics& diagnostics,
                                             const std::string& verify_key,
                                             const std::string& method) {
  ProgramFile p{path, aligned(content), {}, method};
  if (content.size() >= 4 && std::memcmp(content.data(), "PK\3\4", 4) == 0) {
    diagnostics.error(
        path, "is a zip archive, not a program", "pte.not_a_program",
        "a model is made a program by `deuteron compile MODEL.pt2 --target T -o FILE.pte`");
    return std::nullopt;
  }
  if (!check_signature(content, path, verify_key, diagnostics)) return std::nullopt;
  Status status;
  std::optional<PteSummary> summary = summarize_pte(p.file(), &status);
  if (!summary && status.code == Code::unsupported && tensors_elsewhere(content) > 0) {
    std::optional<AlignedBytes> whole = with_data_files(path, content, verify_key, diagnostics);
    if (!whole) return std::nullopt;
    p.bytes = std::move(*whole), p.has_data_files = true;
    summary = summarize_pte(p.file(), &status);
  }
  if (!summary) {
    const std::vector<std::string> names = methods_of(p.file());
    if (!names.empty() && std::ranges::find(names, method) == names.end())
      diagnostics.error(path, fmt::format("has no method `{}`", method), "pte.method",
                        fmt::format("name one with --method: {}", fmt::join(names, ", ")));
    else diagnostics.add(describe_status(path, status));
    return std::nullopt;
  }
  p.summary = std::move(*summary);
  return p;
}

bool ProgramFile::runs_off_chip(Diagnostics& diagnostics) const {
  if (std::ranges::none_of(summary.delegates, &PteDelegate::is_vendors)) return true;
  diagnostics.error(path,
                    "has the microcode of the vendor's converter, which runs on the chip alone",
                    "pte.vendor_microcode", kRunsOffChip);
  return false;
}

// The quantized tensor that a port is; nothing for another one, or where the file does not say what
// its steps stand for.
static std::optional<Type> steps_of(const PteTensor& port) {
  return port.steps.empty() ? std::nullopt
                            : std::optional<Type>({*dtype_of(port.type), port.sizes, port.steps});
}

std::vector<InputSpec> ProgramFile::inputs() const {
  std::vector<InputSpec> specs;
  for (size_t i = 0; i < summary.inputs.size(); ++i)
    specs.push_back({fmt::format("input{}", i), *dtype_of(summary.inputs[i].type),
                     summary.inputs[i].sizes, false, steps_of(summary.inputs[i])});
  return specs;
}

std::vector<InputSeries> ProgramFile::as_numbers(std::vector<InputSeries> inputs) const {
  Diagnostics none;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ImageMap* map =
        inputs[i].dtype == DType::u8 ? byte_input(summary.byte_inputs, i) : nullptr;
    std::optional<std::vector<std::byte>> numbers;
    if (!summary.inputs[i].steps.empty()) {
      const std::vector<float> values = as_floats(summary.inputs[i], inputs[i].bytes);
      numbers = elements_of(values, {DType::f32, {static_cast<i64>(values.size())}, {}});
    }
    if (map) numbers = numbers_of_bytes(inputs[i].bytes, inputs[i].shape, *map, path, none);
    if (!numbers) continue;
    inputs[i].bytes = std::move(*numbers);
    inputs[i].dtype = DType::f32;
  }
  return inputs;
}

std::vector<std::vector<std::byte>> ProgramFile::stored_inputs(std::span<const InputSeries> inputs,
                                                               i64 sample) const {
  std::vector<std::vector<std::byte>> stored;
  for (size_t i = 0; i < inputs.size(); ++i)
    stored.push_back(to_storage_order(inputs[i].sample(sample), summary.inputs[i].sizes,
                                      summary.inputs[i].order,
                                      element_bytes(summary.inputs[i].type)));
  return stored;
}

std::vector<std::byte> ProgramFile::user_output(size_t output,
                                                std::span<const std::byte> stored) const {
  const PteTensor& t = summary.outputs[output];
  return to_user_order(stored, t.sizes, t.order, element_bytes(t.type));
}

std::unique_ptr<HostProgram> HostProgram::load(const ProgramFile& file, Diagnostics& diagnostics,
                                               Trace* trace) {
  auto host = std::make_unique<HostProgram>();
  host->path_ = file.path;
  host->trace_ = trace;
  static const Status started = start_backends(kAllKernels);  // once; the process ends with them
  Status status = started;
  const uint64_t began = trace ? trace->now() : 0;
  const HostArena asking;
  if (status.ok()) status = measure(file.file(), kAllKernels, &host->needs_);
  if (trace) trace->check = {began, trace->now()};
  if (status.ok()) {
    host->tables_ = AlignedBytes(host->needs_.tables_bytes);
    host->planned_ = AlignedBytes(host->needs_.planned_bytes);
    host->host_kernels_ = AlignedBytes(asking.bytes());
    const HostArena lent(host->host_kernels_.memory());
    const Memory tables = host->tables_.memory(), planned = host->planned_.memory();
    status = trace ? load_traced(host->program_, file.file(), kAllKernels, tables, planned, *trace)
                   : host->program_.load(file.file(), kAllKernels, tables, planned);
  }
  if (status.ok()) return host;
  diagnostics.add(describe_status(file.path, status));
  return nullptr;
}

std::optional<std::vector<std::vector<std::byte>>> HostProgram::run(
    std::span<const std::vector<std::byte>> inputs, Diagnostics& diagnostics) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Status status =
        program_.set_input(static_cast<int32_t>(i), inputs[i].data(), inputs[i].size());
    DEUTERON_CHECK(status.ok(), status.detail ? status.detail : "set_input");
  }
  if (const Status s = run_traced(program_, trace_); !s.ok())
    return diagnostics.add(describe_status(path_, s)), std::nullopt;
  std::vector<std::vector<std::byte>> outputs;
  for (int32_t i = 0; i < program_.output_count(); ++i) {
    const Tensor& t = program_.output(i);
    const auto* data = static_cast<const std::byte*>(t.data);
    outputs.emplace_back(data, data + static_cast<size_t>(t.numel) * element_bytes(t.type));
  }
  return outputs;
}

std::optional<std::vector<std::vector<std::byte>>> run_on_host(
    const ProgramFile& file, std::span<const InputSeries> inputs, i64 samples, RunSeconds* seconds,
    Needs* needs, Diagnostics& diagnostics, HostProfile* profile, bool resets_state) {
  if (profile && !profile->begin(file.path, diagnostics)) return std::nullopt;
  const std::unique_ptr<HostProgram> host =
      HostProgram::load(file, diagnostics, profile ? &profile->trace : nullptr);
  if (!host) return std::nullopt;
  *needs = host->needs();
  if (profile) profile->make_room(host->program(), samples);
  std::vector<std::vector<std::byte>> all(file.summary.outputs.size());
  std::chrono::steady_clock::duration spent{}, fastest = std::chrono::steady_clock::duration::max();
  for (i64 s = 0; s < samples; ++s) {
    if (resets_state) host->reset_state();
    const std::vector<std::vector<std::byte>> stored = file.stored_inputs(inputs, s);
    const auto start = std::chrono::steady_clock::now();
    const auto outputs = host->run(stored, diagnostics);
    const auto took = std::chrono::steady_clock::now() - start;
    spent += took, fastest = std::min(fastest, took);
    if (!outputs) return std::nullopt;
    for (size_t o = 0; o < all.size(); ++o) {
      const std::vector<std::byte> user = file.user_output(o, (*outputs)[o]);
      all[o].insert(all[o].end(), user.begin(), user.end());
    }
    note_progress("running", s + 1, samples);
  }
  using Seconds = std::chrono::duration<double>;
  *seconds = {Seconds(spent).count(), samples > 0 ? Seconds(fastest).count() : 0};
  if (profile) profile->end(host->program(), file.file());
  return all;
}

std::vector<float> as_floats(const PteTensor& port, std::span<const std::byte> bytes) {
  if (!port.steps.empty()) {
    const DType dtype = *dtype_of(port.type);
    return numbers_of(bytes.data(),
                      {dtype, {static_cast<i64>(bytes.size()) / bytes_of(dtype)}, port.steps});
  }
  Array array{element_of(*dtype_of(port.type)), {}, {bytes.begin(), bytes.end()}};
  std::vector<float> values(static_cast<size_t>(array.elements()));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(element_as_double(array, static_cast<i64>(i)));
  return values;
}

}  // namespace deuteron
