// SPDX-License-Identifier: Apache-2.0
#include "write/firmware/write_project.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "npu/neutron/converter/kernel_selection.h"
#include "runtime/fnv1a.h"
#include "write/firmware/license.h"

namespace deuteron {
namespace {

using Files = std::map<std::string, std::string>;

constexpr std::string_view kProjectFolder = "write/firmware/project/";
constexpr uint64_t kRoomForCode = 320
                                  << 10;  // every kernel of the CPU and of the model of the NPU:
                                          // 314 KB (arm-none-eabi-size build/boards/mps2-an505.elf)
// 72 KB of stacks (runtime/ports/sections.ld) and what the runtime itself has
constexpr uint64_t kRoomForStack = 96 << 10;

std::string text_of(std::span<const uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
uint64_t aligned(uint64_t n) { return (n + 15) / 16 * 16; }

// "LENGTH = 512K" behind the region's name in the board's linker script.
uint64_t region_bytes(std::string_view script, std::string_view region) {
  const size_t at = script.find("LENGTH = ", script.find(std::string(region) + " ("));
  if (at == script.npos) return 0;
  uint64_t n = 0;
  size_t k = at + 9;
  for (; k < script.size() && std::isdigit(static_cast<unsigned char>(script[k])); ++k)
    n = 10 * n + static_cast<uint64_t>(script[k] - '0');
  return n << (script[k] == 'K' ? 10 : 20);
}

std::string in_capitals(std::string name) {
  for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

// The region of that name, or the one that has it as an alias; empty: there is none.
std::string region_called(std::string_view script, const std::string& memory) {
  const std::string name = in_capitals(memory);
  if (region_bytes(script, name) > 0) return name;
  const std::string alias = fmt::format("REGION_ALIAS(\"{}\", ", name);
  const size_t at = script.find(alias);
  if (at == script.npos) return "";
  const size_t begin = at + alias.size();
  return std::string(script.substr(begin, script.find(')', begin) - begin));
}

std::string regions_of(std::string_view script) {
  std::string list;
  for (const char* region : {"CODE", "RAM", "POOL"})
    if (region_bytes(script, region) > 0)
      list += fmt::format("{}{}", list.empty() ? "" : ", ", region);
  constexpr std::string_view kAlias = "REGION_ALIAS(\"";
  for (size_t at = script.find(kAlias); at != script.npos; at = script.find(kAlias, at + 1)) {
    const size_t begin = at + kAlias.size();
    list += fmt::format(", {}", script.substr(begin, script.find('"', begin) - begin));
  }
  return list;
}

// A section of its own for each memory; letters, digits and _.
std::string section_of(const std::string& memory) {
  std::string name = ".planned_";
  for (const char c : memory) name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
}

std::string_view runtime_file(const RuntimeSources& runtime, const std::string& path) {
  for (const SourceFile& f : runtime.files)
    if (f.path == path) return f.text;
  return {};
}

// On a chip the NPU does not reach the flash.
bool is_copied(const FirmwareProject& p, const FirmwareModel& model) {
  return !p.emulated && model.npu_reads;
}

// A model with constants in its buffers keeps them from one run to the next, so that it shares them
// with no other.
std::string buffers_of(const FirmwareModel& model, size_t m) {
  if (model.buffers.empty()) return "";
  std::string text, list;
  for (size_t b = 0; b < model.buffers.size(); ++b) {
    const std::string name = fmt::format("planned_{}_{}", m, b);
    text += fmt::format("[[gnu::section(\"{}\")]] alignas(16) uint8_t {}[{}];\n",
                        section_of(model.buffers[b].memory), name,
                        std::max<uint64_t>(model.buffers[b].bytes, 16));
    list += fmt::format("{}{{{}, sizeof {}}}", b ? ", " : "", name, name);
  }
  return text + fmt::format("const deuteron::Memory planned_{}[] = {{{}}};\n", m, list);
}

std::string models_cpp(const FirmwareProject& p, const FirmwareMemory& memory) {
  std::string text =
      "// Sizes and inputs of the models; their bytes: models.S.\n#include \"model.h\"\n\nextern "
      "\"C\" {\nextern const uint8_t ";
  std::vector<std::string> names;
  for (size_t m = 0; m < p.models.size(); ++m) {
    names.push_back(fmt::format("model_{0}[], model_{0}_end[]", m));
    for (size_t i = 0; i < p.models[m].inputs.size(); ++i)
      names.push_back(fmt::format("model_{}_input_{}[]", m, i));
  }
  for (size_t k = 0; k < names.size(); ++k) text += (k ? ", " : "") + names[k];
  text += ";\n}\n\nnamespace {\n\n";
  for (size_t m = 0; m < p.models.size(); ++m) {
    const FirmwareModel& model = p.models[m];
    text += fmt::format("alignas(16) uint8_t tables_{}[{}];\n", m,
                        std::max<uint64_t>(model.tables_bytes, 16));
    if (!model.inputs.empty()) {
      text += fmt::format("const deuteron::File inputs_{}[] = {{", m);
      for (size_t i = 0; i < model.inputs.size(); ++i)
        text +=
            fmt::format("{}{{model_{}_input_{}, {}}}", i ? ", " : "", m, i, model.inputs[i].size());
      text += "};\n";
    }
    if (!model.expected.empty()) {
      text += fmt::format("const uint64_t expected_{}[] = {{", m);
      for (size_t i = 0; i < model.expected.size(); ++i)
        text += fmt::format("{}{:#x}", i ? ", " : "", model.expected[i]);
      text += "};\n";
    }
  }
  text += fmt::format(
      "[[gnu::section(\".planned\")]] alignas(16) uint8_t planned[{}];\n"
      "const deuteron::Memory kPlanned = {{planned, sizeof planned}};\n",
      std::max<uint64_t>(memory.planned_bytes, 16));
  for (size_t m = 0; m < p.models.size(); ++m) text += buffers_of(p.models[m], m);
  text += "\n}  // namespace\n\n";
  text += "extern const Model kModels[] = {\n";
  for (size_t m = 0; m < p.models.size(); ++m) {
    const FirmwareModel& model = p.models[m];
    text += fmt::format(
        "    {{\"{}\", model_{}, model_{}_end, {{tables_{}, sizeof tables_{}}}, {}, {}, {}, {}, "
        "{}, {}}},\n",
        model.name, m, m, m, m, model.buffers.empty() ? "&kPlanned" : fmt::format("planned_{}", m),
        std::max<size_t>(model.buffers.size(), 1),
        model.inputs.empty() ? "nullptr" : fmt::format("inputs_{}", m), model.inputs.size(),
        model.expected.empty() ? "nullptr" : fmt::format("expected_{}", m), model.expected.size());
  }
  text += fmt::format("}};\nextern const int32_t kModelCount = {};\n", p.models.size());
  return text;
}

std::string models_s(const FirmwareProject& p) {
  std::string text = "/* The models and their inputs, each at a multiple of 16. */\n";
  for (size_t m = 0; m < p.models.size(); ++m) {
    text += is_copied(p, p.models[m]) ? ".section .models_copied, \"a\", %progbits\n"
                                      : ".section .models, \"a\", %progbits\n";
    text += fmt::format(
        ".balign 16\n.global model_{0}, model_{0}_end\nmodel_{0}:\n.incbin "
        "\"models/{1}.pte\"\nmodel_{0}_end:\n",
        m, p.models[m].name);
    text += ".section .models, \"a\", %progbits\n";
    for (size_t i = 0; i < p.models[m].inputs.size(); ++i)
      text += fmt::format(
          ".balign 16\n.global model_{0}_input_{1}\nmodel_{0}_input_{1}:\n.incbin "
          "\"models/{2}.input{1}.bin\"\n",
          m, i, p.models[m].name);
  }
  return text;
}

std::string memory_ld(const FirmwareProject& p, const FirmwareMemory& memory) {
  // Behind all that is loaded: the start-up copies from right behind the code.
  constexpr std::string_view kCopied =
      "  .models_copied : { . = ALIGN(16); models_copied_begin = .; *(.models_copied) . = "
      "ALIGN(16); models_copied_end = .; } > POOL AT > "
      "CODE\n"
      "  models_copied_from = LOADADDR(.models_copied);\n";
  std::string buffers;
  for (const auto& [name, region] : memory.region)
    buffers += fmt::format("  {0} (NOLOAD) : {{ . = ALIGN(16); *({0}) . = ALIGN(16); }} > {1}\n",
                           section_of(name), region);
  return fmt::format(
      "/* Where the models and the planned memory lie; the rest is the board's. */\nINCLUDE "
      "boards/{}/memory.ld\nSECTIONS\n{{\n"
      "  .models : {{ . = ALIGN(16); *(.models) . = ALIGN(16); }} > {}\n{}"
      "  .planned (NOLOAD) : {{ . = ALIGN(16); *(.planned) . = ALIGN(16); }} > {}\n{}}}\n",
      p.board, memory.models_in_pool ? "POOL" : "CODE", p.emulated ? "" : kCopied,
      memory.planned_in_pool ? "POOL" : "RAM", buffers);
}

std::string settings_cmake(const FirmwareProject& p, const std::set<std::string>& sources) {
  std::string of_npu, of_runtime, models;
  for (const std::string& path : sources)
    if ((path.ends_with(".cpp") || path.ends_with(".S")) && !path.starts_with(kProjectFolder))
      (path.starts_with("npu/neutron/machine/") || path.starts_with("npu/neutron/converter/")
           ? of_npu
           : of_runtime) += "\n  deuteron/" + path;
  size_t placed = 0;
  for (const FirmwareModel& m : p.models) {
    placed += !m.buffers.empty();
    models += fmt::format("\n  ${{CMAKE_CURRENT_LIST_DIR}}/models/{}.pte", m.name);
    for (size_t i = 0; i < m.inputs.size(); ++i)
      models += fmt::format("\n  ${{CMAKE_CURRENT_LIST_DIR}}/models/{}.input{}.bin", m.name, i);
  }
  return fmt::format(
      "# Written by `deuteron firmware`.\nset(BOARD {})\nset(CORES {})\nset(COMPILER_PREFIX "
      "{})\nset(CPP_HEADERS {})\nset(EMULATE {} {})\nset(BOARD_BUILD "
      "{}/build.cmake)\nset(CPU_FLAGS {})\nset(NPU {})\nset(NPU_CALLS "
      "{})\n"
      "set(ONE_MEMORY {})\nset(FORMS "
      "\"{}\")\nset(MODEL_FILES{})\nset(RUNTIME_SOURCES{})\nset(NPU_MODEL_SOURCES{})\n",
      p.board, p.cores.name, p.cores.compiler_prefix, p.cores.headers, p.cores.emulator, p.machine,
      port_folder(p.board, p.emulated), p.flags, p.npu ? "ON" : "OFF",
      std::max<uint64_t>(p.npu_calls, 1), placed == 0 ? "ON" : "OFF",
      p.forms ? forms_text(*p.forms) : "", models, of_runtime, of_npu);
}

std::string how_to_build(const FirmwareProject& p) {
  if (p.emulated)
    return fmt::format(
        "cmake -S . -B build && cmake --build build          # {}, cmake\n"
        "cmake --build build --target run                    # {}\n",
        p.cores.packages, p.cores.emulator_package);
  return fmt::format(
      "cmake -S . -B build -DMCUX_SDK=PATH/mcuxsdk && cmake --build build    # {}, cmake\n"
      "LinkServer flash MIMXRT798S:MIMXRT700-EVK load build/firmware.elf     # then reset; text "
      "comes on the debug UART, 115200 baud\n",
      p.cores.packages);
}

std::string table_of(std::span<const FirmwareModel> models) {
  std::string text =
      "| model | program (flash) | inputs (flash) | tables (RAM) | planned (RAM) | from |\n| --- | "
      "--- | --- | --- | --- | --- |\n";
  for (const FirmwareModel& m : models) {
    uint64_t inputs = 0;
    for (const auto& i : m.inputs) inputs += i.size();
    text += fmt::format("| {} | {} | {} | {} | {} | {} |\n", m.name, m.program.size(), inputs,
                        m.tables_bytes, m.planned_bytes, m.from);
  }
  return text;
}

std::string how_to_compare(std::span<const FirmwareModel> models) {
  std::string text = "The same run on a computer:\n\n```\n";
  for (const FirmwareModel& m : models) {
    text += fmt::format("deuteron run models/{}.pte", m.name);
    for (size_t i = 0; i < m.inputs.size(); ++i)
      text += fmt::format(" --input models/{}.input{}.npy", m.name, i);
    text += " --output-dir out/\n";
  }
  return text + "```\n";
}

constexpr const char* kFilesOfProject =
    "\n| file | what |\n| --- | --- |\n| `main.cpp` | your code |\n| `kernels.cpp`, "
    "`neutron_kernels.c` | the tables of kernels, from `firmware.sel` |\n| `models.cpp`, "
    "`models.S`, `models/` | the models, their inputs and their memory |\n| `settings.cmake`, "
    "`toolchain.cmake`, `memory.ld` | the board |\n| `deuteron/` | the runtime |\n";

std::string readme(const FirmwareProject& p, const FirmwareMemory& memory) {
  std::string text = fmt::format(
      "# Firmware for {}\n\nMade by `deuteron firmware`. It runs each model once, prints a "
      "checksum of every output and compares it with the host's.\n\n```\n{}```\n\n",
      p.board, how_to_build(p));
  text += table_of(p.models);
  text += fmt::format(
      "\nSizes in bytes. Flash: {} for models and inputs, plus the code, whose parts the build "
      "prints. RAM: {} for tables, {} of planned memory, which the models share because one runs "
      "at a time, and 64 KB of stack (`runtime/ports/sections.ld`; `@stack` prints how much was "
      "used).{}\nModels lie in {}, planned memory in {} (`memory.ld`).\n\n",
      memory.models_bytes + memory.inputs_bytes, memory.tables_bytes,
      memory.planned_bytes + memory.buffers_bytes,
      p.tables_measured
          ? ""
          : " The tables were sized on a computer with larger pointers: the board needs less.",
      memory.models_in_pool ? "POOL" : "CODE", memory.planned_in_pool ? "POOL" : "RAM");
  for (const FirmwareModel& m : p.models)
    for (const FirmwareBuffer& b : m.buffers)
      text += fmt::format(
          "{}: {} bytes in {} (`{}`), {} of them copies of constants, which load() makes from "
          "flash.\n\n",
          m.name, b.bytes, b.memory, memory.region.at(b.memory), b.copied_bytes);
  text += fmt::format(
      "Kernels: {} for the CPU{}, listed in `{}`. A model that needs another one is refused by "
      "name when it is loaded, or before by `deuteron compile --firmware-ops {}`.\n\n",
      p.kernels.cpu.size(),
      p.npu ? fmt::format(", {} for the NPU", p.kernels.npu.size()) : std::string(), kSelectionFile,
      kSelectionFile);
  text += how_to_compare(p.models);
  if (p.npu && p.vendor_driver)
    text +=
        "\nThe NPU: the vendor's driver, which is not part of this project: "
        "`-DNEUTRON_DRIVER=libNeutronDriver.a "
        "-DNEUTRON_FIRMWARE=libNeutronFirmware.a`, and `-DNEUTRON_KERNELS=kernels.c` for its "
        "selection of kernels.\n";
  if (p.npu && !p.vendor_driver)
    text +=
        "\nThe NPU: the open model of the machine, which the processor plays. `cmake -S . -B build "
        "-DNEUTRON_DRIVER=LIBRARY` links another "
        "driver of its interface.\n";
  if (memory.copied_bytes > 0)
    text += fmt::format(
        "\nThe NPU does not reach the flash: {} bytes of models are copied to POOL before anything "
        "runs.\n",
        memory.copied_bytes);
  return text + kFilesOfProject;
}

}  // namespace

std::string kernel_table(const KernelList& kernels, bool npu, std::string_view header,
                         const RuntimeSources& runtime) {
  std::string declared, listed;
  for (const auto& [name, users] : kernels.cpu) {
    const std::string_view symbol = runtime.kernels.at(name).symbol;
    declared += fmt::format("extern const Kernel {};  // {}\n", symbol, name);
    listed += fmt::format("    &{},\n", symbol);
  }
  const bool any = !listed.empty();
  std::string text = fmt::format(
      "// The kernels that the models of this firmware call, from firmware.sel. The linker leaves "
      "all others out.\n#include \"{}\"\n\n",
      header);
  text += "namespace deuteron {\n\n" + declared;
  if (npu) text += "extern const Backend kNeutronBackend;  // over the driver that is linked in\n";
  text += "\n}  // namespace deuteron\n\nnamespace {\n\nusing namespace deuteron;\n";
  if (any) text += "const Kernel* const kKernels[] = {\n" + listed + "};\n";
  if (npu) text += "const Backend* const kBackends[] = {&kNeutronBackend};\n";
  text += "\n}  // namespace\n\n";
  text += fmt::format("extern const deuteron::KernelTable kFirmwareKernels = {{{}, {}, {}, {}}};\n",
                      any ? "kKernels" : "nullptr", kernels.cpu.size(),
                      npu ? "kBackends" : "nullptr", npu ? 1 : 0);
  return text;
}

// ":conv2d_s8_mve:depthwise_conv2d_s8_mve_3x3:"
std::string forms_text(const std::set<std::string>& forms) {
  std::string text = ":";
  for (const std::string& form : forms)
    if (form.find("conv") != form.npos && !form.starts_with("packed_")) text += form + ":";
  return text;
}

uint64_t board_region(const RuntimeSources& runtime, std::string_view board,
                      std::string_view region) {
  return region_bytes(runtime_file(runtime, fmt::format("boards/{}/memory.ld", board)), region);
}

// Of the board's linker script. Empty, with a diagnostic: it has none of that name.
static std::string region_of(const FirmwareBuffer& b, std::string_view script,
                             const std::string& board, const std::string& model,
                             Diagnostics& diagnostics) {
  std::string region = region_called(script, b.memory);
  if (region.empty())
    diagnostics.error(
        "board " + board,
        fmt::format("has no memory `{}`, where {} has {} bytes", b.memory, model, b.bytes),
        "firmware.memory_name",
        fmt::format("its memories: {}; name those in the target's [[memory]], or write "
                    "REGION_ALIAS(\"{}\", RAM) into the board's memory.ld",
                    regions_of(script), in_capitals(b.memory)));
  return region;
}

uint64_t checksum_of(std::span<const uint8_t> bytes) { return fnv1a(bytes.data(), bytes.size()); }

std::optional<FirmwareMemory> place(const FirmwareProject& p, const RuntimeSources& runtime,
                                    Diagnostics& diagnostics) {
  const std::string_view script =
      runtime_file(runtime, fmt::format("boards/{}/memory.ld", p.board));
  const uint64_t code = region_bytes(script, "CODE"), ram = region_bytes(script, "RAM"),
                 pool = region_bytes(script, "POOL");
  FirmwareMemory m;
  for (const FirmwareModel& model : p.models) {
    m.models_bytes += aligned(model.program.size());
    for (const auto& i : model.inputs) m.inputs_bytes += aligned(i.size());
    if (is_copied(p, model)) m.copied_bytes += aligned(model.program.size());
    m.tables_bytes += aligned(model.tables_bytes);
    if (model.buffers.empty())
      m.planned_bytes = std::max(m.planned_bytes, aligned(model.planned_bytes));
  }
  std::map<std::string, uint64_t> buffers_in;  // by region
  for (const FirmwareModel& model : p.models)
    for (const FirmwareBuffer& b : model.buffers) {
      m.region[b.memory] = region_of(b, script, p.board, model.from, diagnostics);
      m.buffers_bytes += aligned(b.bytes);
      buffers_in[m.region[b.memory]] += aligned(b.bytes);
    }
  const uint64_t ram_buffers = buffers_in["RAM"], code_buffers = buffers_in["CODE"],
                 pool_buffers = m.buffers_bytes - ram_buffers - code_buffers;
  const uint64_t in_code = m.models_bytes + m.inputs_bytes + code_buffers + kRoomForCode;
  m.models_in_pool = p.emulated && in_code > code;
  m.planned_in_pool =
      !p.emulated || m.planned_bytes + ram_buffers + m.tables_bytes + kRoomForStack > ram;
  // on a chip what the NPU writes is not cached
  const uint64_t in_pool = (m.models_in_pool ? m.models_bytes + m.inputs_bytes : 0) +
                           (m.planned_in_pool ? m.planned_bytes : 0) + pool_buffers +
                           m.copied_bytes;
  const auto too_much = [&](const char* what, uint64_t measured, uint64_t limit) {
    diagnostics.add(
        {Severity::error, "board " + p.board, what, fmt::format("{} bytes", measured),
         fmt::format("{} bytes", limit), "firmware.memory",
         m.copied_bytes > 0
             ? "compile with --neutron-option fetch_constants_to_sram=true, which leaves the "
               "program in the flash, or use another board, or a smaller model"
             : "use another board, or a smaller model"});
  };
  if (in_pool > pool) too_much("the models and their planned memory do not fit", in_pool, pool);
  if (!m.models_in_pool && in_code > code)
    too_much("the models and the code do not fit into the flash", in_code, code);
  if (m.tables_bytes + ram_buffers + kRoomForStack > ram)
    too_much(ram_buffers == 0
                 ? "the tables of the models do not fit beside the stack"
                 : "the tables of the models and their buffers do not fit beside the stack",
             m.tables_bytes + ram_buffers + kRoomForStack, ram);
  if (diagnostics.has_errors()) return std::nullopt;
  return m;
}

std::map<std::string, std::string> firmware_files(const FirmwareProject& p,
                                                  const FirmwareMemory& memory,
                                                  const RuntimeSources& runtime) {
  const std::set<std::string> sources =
      needed_sources(runtime, p.kernels, {p.board, p.isa, p.cores.name, p.emulated}, p.npu,
                     p.npu && !p.vendor_driver);
  Files files;
  for (const SourceFile& f : runtime.files) {
    const bool of_project = f.path.starts_with(kProjectFolder);
    if (of_project) files.emplace(f.path.substr(kProjectFolder.size()), f.text);
    else if (sources.contains(std::string(f.path)) ||
             f.path == fmt::format("boards/{}/memory.ld", p.board))
      files.emplace("deuteron/" + std::string(f.path), f.text);
  }
  files["kernels.cpp"] = kernel_table(p.kernels, p.npu, "model.h", runtime);
  files["models.cpp"] = models_cpp(p, memory);
  files["models.S"] = models_s(p);
  files["memory.ld"] = memory_ld(p, memory);
  files["settings.cmake"] = settings_cmake(p, sources);
  files["README.md"] = readme(p, memory);
  files[kSelectionFile] = write_kernel_list(p.kernels);
  if (p.npu && !p.vendor_driver) {
    neutron::KernelSelection selection;
    for (const auto& [name, users] : p.kernels.npu) selection.kinds.insert(*npu_kernel(name));
    files["neutron_kernels.c"] = neutron::write_kernel_selection(selection);
  }
  for (const FirmwareModel& m : p.models) {
    files[fmt::format("models/{}.pte", m.name)] = text_of(m.program);
    for (size_t i = 0; i < m.inputs.size(); ++i) {
      files[fmt::format("models/{}.input{}.bin", m.name, i)] = text_of(m.inputs[i]);
      files[fmt::format("models/{}.input{}.npy", m.name, i)] = text_of(m.inputs_npy[i]);
    }
  }
  add_license(files, runtime);
  return files;
}

}  // namespace deuteron
