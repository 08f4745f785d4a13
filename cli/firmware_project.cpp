// SPDX-License-Identifier: Apache-2.0
#include "cli/firmware_project.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <filesystem>
#include <random>

#include "base/data/npy.h"
#include "base/data/storage_order.h"
#include "boards/emulate.h"
#include "cli/trust.h"
#include "targets/nearest.h"
#include "write/firmware/c_program.h"
#include "write/firmware/isa_called.h"

namespace deuteron {
namespace {

// A name for files and identifiers that no other model has.
std::string name_for(const std::string& path, std::span<const FirmwareModel> others) {
  std::string name = std::filesystem::path(path).stem().native();
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  if (name.empty()) name = "model";
  const auto taken = [&](const std::string& n) {
    return std::ranges::any_of(others, [&](const FirmwareModel& m) { return m.name == n; });
  };
  std::string free = name;
  for (int k = 2; taken(free); ++k) free = fmt::format("{}_{}", name, k);
  return free;
}

// Everything that a program calls has to be in the runtime, and what it was compiled for has to be
// the board.
bool take_kernels(const ProgramFile& file, const std::string& name, FirmwareProject& project,
                  Diagnostics& diagnostics) {
  const PteSummary& s = file.summary;
  if (!s.isa.empty() && s.isa != project.isa)
    diagnostics.add(
        {Severity::error, file.path, "was compiled for another instruction set than the board's",
         s.isa, project.isa, "firmware.isa",
         fmt::format("compile it for the core of {} (`deuteron targets`)", project.board)});
  uint64_t npu_calls = 0;
  for (const PteCall& call : s.calls) {
    const bool is_delegate =
        std::ranges::any_of(s.delegates, [&](const PteDelegate& d) { return d.id == call.op; });
    if (is_delegate) ++npu_calls;
    else project.kernels.cpu[call.op].insert(name);
  }
  project.npu_calls = std::max(project.npu_calls, npu_calls);
  for (const PteDelegate& d : s.delegates) {
    const std::string where = fmt::format("{}: delegate {}", file.path, d.id);
    if (d.id != kNeutronBackendId) {
      diagnostics.error(where, "this runtime has no such backend", "pte.missing_backend",
                        "compile the program for another target");
      continue;
    }
    project.npu = true;
    if (!d.neutron) {
      diagnostics.error(where, "its payload cannot be read: " + d.fault, "pte.corrupt",
                        "compile the program again");
      continue;
    }
    if (d.neutron->is_open_model == project.vendor_driver)
      diagnostics.error(
          where,
          project.vendor_driver
              ? "its payload is for the open model of the machine, which the vendor's driver "
                "refuses"
              : "its payload is the vendor's, which the open model of the machine refuses",
          "firmware.driver",
          project.vendor_driver
              ? "compile the program with --neutron-converter, or give --driver model"
              : "give --driver vendor");
    for (const std::string& kernel : d.kernels) project.kernels.npu[kernel].insert(name);
    if (d.neutron->is_open_model) project.kernels.machine = neutron::kFormatTag;
  }
  return !diagnostics.has_errors();
}

// One sample of every input: the user's, or made up. Floats between -1 and 1; int8 of the whole
// range; other integers 0, an index of any table.
std::vector<std::vector<std::byte>> made_up(const ProgramFile& file) {
  std::mt19937 bits(kMadeUpSeed);
  std::vector<std::vector<std::byte>> sample;
  for (const InputSpec& spec : file.inputs()) {
    std::vector<std::byte> bytes(static_cast<size_t>(spec.bytes()));
    for (size_t at = 0; spec.dtype == DType::f32 && at < bytes.size(); at += 4) {
      const float v = static_cast<float>(bits() >> 8) * 0x1p-23f - 1.0f;
      std::memcpy(&bytes[at], &v, 4);
    }
    for (size_t at = 0; spec.dtype == DType::s8 && at < bytes.size(); ++at)
      bytes[at] = static_cast<std::byte>(bits() >> 24);
    sample.push_back(std::move(bytes));
  }
  return sample;
}

std::vector<uint8_t> plain(std::span<const std::byte> bytes) {
  const auto* data = reinterpret_cast<const uint8_t*>(bytes.data());
  return {data, data + bytes.size()};
}

bool add_inputs(const SampleFiles& o, const ProgramFile& file, FirmwareModel& model,
                Diagnostics& diagnostics) {
  std::vector<std::vector<std::byte>> sample;
  if (o.paths.empty()) {
    sample = made_up(file);
  } else {
    const auto series = read_inputs(o.paths, file.inputs(), {"--input", o.image}, diagnostics);
    if (!series) return false;
    for (const InputSeries& s : *series) {
      const std::span<const std::byte> first = s.sample(0);
      sample.emplace_back(first.begin(), first.end());
    }
  }
  for (size_t i = 0; i < sample.size(); ++i) {
    const PteTensor& t = file.summary.inputs[i];
    model.inputs.push_back(
        plain(to_storage_order(sample[i], t.sizes, t.order, element_bytes(t.type))));
    model.inputs_npy.push_back(npy_bytes(element_of(*dtype_of(t.type)), t.sizes, sample[i]));
  }
  return true;
}

// What the firmware's outputs must be, where this machine can run the program too.
bool add_expected(const ProgramFile& file, FirmwareModel& model, Diagnostics& diagnostics) {
  const std::unique_ptr<HostProgram> host = HostProgram::load(file, diagnostics);
  if (!host) return false;
  std::vector<std::vector<std::byte>> inputs;
  for (const std::vector<uint8_t>& i : model.inputs) {
    const auto* data = reinterpret_cast<const std::byte*>(i.data());
    inputs.emplace_back(data, data + i.size());
  }
  const auto outputs = host->run(inputs, diagnostics);
  if (!outputs) return false;
  for (const std::vector<std::byte>& bytes : *outputs)
    model.expected.push_back(checksum_of(plain(bytes)));
  model.planned_bytes = host->needs().planned_bytes;
  model.tables_bytes = host->needs().tables_bytes;
  return true;
}

// The tables hold pointers, so their size on the board is known there: the board's runner says it,
// where there is an emulator. A chip's pointers are those of the emulated boards.
bool measure_on_board(const FirmwareProject& project, FirmwareModel& model) {
  std::string_view board = project.board;
  for (const Board& b : emulated_boards())
    if (!project.emulated && b.isa == project.isa) board = b.name;
  const EmulatedRun run = run_emulated(board, model.program, {});
  if (!run.ok || run.tables_bytes == 0) return false;
  model.planned_bytes = run.planned_bytes;
  model.tables_bytes = run.tables_bytes;
  return true;
}

// A vendor's payload runs nowhere but there: sizes from the file, and room for a handle of the
// driver for each delegate.
void size_unrun(const ProgramFile& file, FirmwareModel& model) {
  // an assumption: neutronGetModelContextSize() of the driver says it
  constexpr uint64_t kHandle = 256;
  Needs needs;
  if (measure(file.file(), kAllKernels, &needs).ok()) {
    model.planned_bytes = needs.planned_bytes;
    model.tables_bytes = needs.tables_bytes + kHandle * file.summary.delegates.size();
  }
}

// What the calls come to. Of those whose kernels tell no names all loops are linked.
void add_forms(const ProgramFile& file, FirmwareProject& project) {
  if (!project.forms) return;
  const std::optional<Isa> isa = isa_called(project.isa);
  Status status;
  const auto program = isa ? read_c_program(file.file(), kAllKernels, *isa,
                                            features_of(project.isa, project.flags), status)
                           : std::nullopt;
  if (!program ||
      std::ranges::any_of(program->calls, [](const CCall& c) { return c.kept.has_value(); }))
    return project.forms.reset();
  for (const CCall& call : program->calls)
    if (!call.npu) project.forms->insert(call.kernel);
}

}  // namespace

const Board* board_called(const std::string& name, Diagnostics& diagnostics) {
  const Board* board = find_board(all_boards(), name);
  if (name.empty())
    diagnostics.error(
        "--board", "is missing: which board are the files for?", "board.unknown",
        "add one: " + list_of(all_boards(), "") + "; for any other board: --as c, arduino, ...");
  else if (!board)
    diagnostics.error("--board " + name, fmt::format("there is no board `{}`", name),
                      "board.unknown", suggestion(name, names_of(all_boards())));
  return board;
}

FirmwareProject project_for(const Board& board) {
  FirmwareProject project;
  project.board = board.name;
  project.isa = board.isa;
  project.flags = board.flags;
  const Cores& c = board.cores;
  if (!c.flags.empty()) project.flags += fmt::format(" {}", c.flags);
  project.cores = {std::string(c.name),     std::string(c.prefix),
                   std::string(c.packages), std::string(c.headers),
                   std::string(c.emulator), std::string(c.emulator_package)};
  project.machine = board.machine;
  project.emulated = board.emulated;
  project.vendor_driver = !board.emulated;
  return project;
}

bool add_model(const ProgramFile& file, const SampleFiles& samples, FirmwareProject& project,
               Diagnostics& diagnostics) {
  FirmwareModel model;
  model.name = name_for(file.path, project.models);
  model.from = file.path;
  model.program = plain({file.bytes.data(), file.bytes.size()});
  for (const PteDelegate& d : file.summary.delegates)
    model.npu_reads |= d.neutron && d.neutron->sram_bytes == 0;  // it fetches nothing
  if (!take_kernels(file, model.name, project, diagnostics) ||
      !add_inputs(samples, file, model, diagnostics))
    return false;
  if (project.vendor_driver && !file.summary.delegates.empty()) {
    size_unrun(file, model);
    project.tables_measured = false;
  } else {
    if (!add_expected(file, model, diagnostics)) return false;
    project.tables_measured &= measure_on_board(project, model);
  }
  add_forms(file, project);
  if (!file.summary.memories.empty()) {
    Needs needs;
    MemoryNeeds memories;
    if (measure(file.file(), kAllKernels, &needs).ok())
      needs.planned_bytes =
          static_cast<uint32_t>(std::max<uint64_t>(needs.planned_bytes, model.planned_bytes));
    measure_memories(file.file(), needs, &memories);
    for (int32_t k = 0; k < memories.count; ++k) {
      const PteMemory& m = file.summary.memories[static_cast<size_t>(k)];
      model.buffers.push_back({m.name, memories.bytes[k], static_cast<uint64_t>(m.copied_bytes)});
    }
  }
  project.models.push_back(std::move(model));
  return true;
}

}  // namespace deuteron
