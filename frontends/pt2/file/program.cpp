// SPDX-License-Identifier: Apache-2.0
// Which entries of the archive hold the program, and whether they are what was written.
#include "frontends/pt2/file/program.h"

#include <fmt/format.h>

#include <array>

#include "frontends/pt2/file/program_json.h"
#include "frontends/pt2/file/tensor_pickle.h"

namespace deuteron::pt2 {
namespace {

// Long members that the import has no use for.
constexpr std::array<std::string_view, 9> kSkipped = {
    "from_node",   "torch_fn",          "source_fn_stack",
    "custom",      "module_call_graph", "device",
    "guards_code", "verifiers_info",    "treespec_namedtuple_fields"};

struct DTypeCode {
  std::string_view name;
  std::optional<DType> dtype;
};
// torch._export.serde.schema.ScalarType, by value.
constexpr std::array<DTypeCode, 14> kCodes = {{{"unknown", {}},
                                               {"u8", DType::u8},
                                               {"s8", DType::s8},
                                               {"s16", DType::s16},
                                               {"s32", DType::s32},
                                               {"s64", DType::s64},
                                               {"f16", DType::f16},
                                               {"f32", DType::f32},
                                               {"f64", DType::f64},
                                               {"complex32", {}},
                                               {"complex64", {}},
                                               {"complex128", {}},
                                               {"b8", DType::b8},
                                               {"bf16", DType::bf16}}};

std::string_view text_of(const ArchiveEntry& e) {
  std::string_view text(reinterpret_cast<const char*>(e.bytes.data()), e.bytes.size());
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  return text;
}

bool check_stamp(const Archive& archive, std::string_view name, std::string_view expected,
                 Diagnostics& diagnostics) {
  const ArchiveEntry* entry = find_entry(archive, name);
  const std::string_view found = entry ? text_of(*entry) : std::string_view("missing");
  if (entry && found == expected) return true;
  diagnostics.add({Severity::error, archive.name,
                   fmt::format("entry `{}` does not say what is expected", name),
                   std::string(found.substr(0, 40)), std::string(expected), "pt2.version.archive",
                   "export and save the model with torch 2.13"});
  return false;
}

std::optional<JsonTape> parse_entry(const Archive& archive, const std::string& name,
                                    Diagnostics& diagnostics) {
  const ArchiveEntry* entry = find_entry(archive, name);
  if (!entry) {
    diagnostics.error(archive.name, fmt::format("has no entry `{}`", name), "pt2.archive.missing",
                      "save the model with torch.export.save of torch 2.13");
    return std::nullopt;
  }
  if (!is_intact(archive, *entry)) {
    diagnostics.error(archive.name,
                      fmt::format("entry `{}` is damaged: its checksum does not match", name),
                      "pt2.archive.checksum");
    return std::nullopt;
  }
  std::string fault;
  auto tape = parse_json(entry->bytes, kSkipped, fault);
  if (!tape)
    diagnostics.error(archive.name, fmt::format("entry `{}` {}", name, fault), "pt2.model.json");
  return tape;
}

// Programs have names of the writer's choice; torch.export.save calls its only one "model".
std::optional<std::string> program_name(const Archive& archive, Diagnostics& diagnostics) {
  constexpr std::string_view kFolder = "models/", kEnd = ".json";
  std::vector<std::string> names;
  for (const ArchiveEntry& e : archive.entries)
    if (e.name.starts_with(kFolder) && e.name.ends_with(kEnd))
      names.push_back(e.name.substr(kFolder.size(), e.name.size() - kFolder.size() - kEnd.size()));
  if (names.size() == 1) return names[0];
  if (names.empty())
    diagnostics.error(archive.name, "holds no program: there is no entry `models/model.json`",
                      "pt2.archive.missing", "save the model with torch.export.save");
  else
    diagnostics.error(archive.name,
                      fmt::format("holds {} programs: {}", names.size(), fmt::join(names, ", ")),
                      "pt2.archive.programs", "save one program in a file");
  return std::nullopt;
}

// Where an archive keeps its parts.
struct Parts {
  std::string program, weights,
      constants;  // entries; the last two without what follows for one way of writing
};

// torch 2.6 and 2.7
constexpr std::string_view kProgramWithoutFolder = "serialized_exported_program.json";

std::optional<Parts> parts_of(const Archive& archive, Diagnostics& diagnostics) {
  if (find_entry(archive, kProgramWithoutFolder))
    return Parts{std::string(kProgramWithoutFolder), "serialized_state_dict",
                 "serialized_constants"};
  if (!check_stamp(archive, "archive_format", "pt2", diagnostics) ||
      !check_stamp(archive, "archive_version", "0", diagnostics) ||
      !check_stamp(archive, "byteorder", "little", diagnostics))
    return std::nullopt;
  const auto name = program_name(archive, diagnostics);
  if (!name) return std::nullopt;
  return Parts{"models/" + *name + ".json", "data/weights/" + *name, "data/constants/" + *name};
}

// A table and raw blobs since torch 2.10, an archive of torch.save before.
std::optional<ByName<WeightEntry>> read_entries(const Archive& archive, const std::string& part,
                                                bool constants, Diagnostics& diagnostics) {
  const std::string where = archive.name + (constants ? ": constants" : ": weights"),
                    saved = part + ".pt";
  if (const ArchiveEntry* whole = find_entry(archive, saved)) {
    if (whole->bytes.empty()) return ByName<WeightEntry>{};
    const ArchiveEntry* pickle = find_entry(archive, saved + "/data.pkl");
    if (!check_stamp(archive, saved + "/byteorder", "little", diagnostics)) return std::nullopt;
    if (!pickle || !is_intact(archive, *pickle)) {
      diagnostics.error(where,
                        fmt::format("entry `{}` has no list of tensors, or a damaged one", saved),
                        "pt2.pickle.damaged", "write the file again with torch.export.save");
      return std::nullopt;
    }
    return tensors_of_pickle(pickle->bytes, saved + "/data/", where, diagnostics);
  }
  const auto tape = parse_entry(
      archive, part + (constants ? "_constants_config.json" : "_weights_config.json"), diagnostics);
  if (!tape) return std::nullopt;
  return weights_of_json(Json(*tape, 0), part.substr(0, part.rfind('/') + 1), where, diagnostics);
}

}  // namespace

std::optional<DType> dtype_of_code(i64 code) {
  return code >= 0 && code < static_cast<i64>(kCodes.size()) ? kCodes[code].dtype : std::nullopt;
}

std::string name_of_code(i64 code) {
  return code >= 0 && code < static_cast<i64>(kCodes.size()) ? std::string(kCodes[code].name)
                                                             : fmt::format("dtype {}", code);
}

std::optional<Program> read_program(const Archive& archive, Diagnostics& diagnostics) {
  const auto parts = parts_of(archive, diagnostics);
  if (!parts) return std::nullopt;
  std::optional<Program> program;
  {
    const auto tape = parse_entry(archive, parts->program, diagnostics);
    if (tape) program = program_of_json(Json(*tape, 0), archive.name + ": model", diagnostics);
  }
  if (!program) return std::nullopt;
  for (const bool constants : {false, true}) {
    auto entries = read_entries(archive, constants ? parts->constants : parts->weights, constants,
                                diagnostics);
    if (!entries) return std::nullopt;
    (constants ? program->constants : program->weights) = std::move(*entries);
  }
  return program;
}

}  // namespace deuteron::pt2
