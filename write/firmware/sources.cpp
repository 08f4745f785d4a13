// SPDX-License-Identifier: Apache-2.0
#include "write/firmware/sources.h"

#include <fmt/format.h>

#include <vector>

namespace deuteron {
namespace {

using Index = std::map<std::string_view, std::string_view>;

bool is_runtime_core(std::string_view path) {
  return path.starts_with("runtime/") && path.ends_with(".cpp") && path.find('/', 8) == path.npos;
}

Index index_of(const RuntimeSources& runtime) {
  Index index;
  for (const SourceFile& f : runtime.files) index.emplace(f.path, f.text);
  return index;
}

// What no header of the same name leads to.
constexpr std::string_view kAlways[] = {
    "write/firmware/project/main.cpp",
    "runtime/ports/errno.cpp",
    "runtime/ports/check_no_heap.cmake",
    "runtime/ports/optimization.cmake",
    "runtime/ports/messages.ld",
    "runtime/ports/parts.cmake",
    "runtime/ports/stack.cmake",
    "runtime/signature.cpp",  // for a main of the user's own that calls load_signed()
};
constexpr std::string_view kDelegate[] = {"npu/neutron/delegate/linked_driver.cpp",
                                          "npu/neutron/delegate/delegate.cpp"};
constexpr std::string_view kModel[] = {
    "npu/neutron/machine/neutron_model.cpp", "npu/neutron/machine/check_calls.cpp",
    "npu/neutron/machine/kernel_def.cpp", "npu/neutron/machine/layout.cpp"};

// The kernels of the NPU's open model, as its one list has them.
struct NpuKernel {
  std::string_view name, folder;
};
constexpr NpuKernel kNpuKernels[] = {
#define NEUTRON_KIND(value, name, call, folder) {#name, "npu/neutron/kernels/" #folder},
#include "npu/neutron/machine/kinds.inc"
};

template <class Kernels>
void add_npu(std::vector<std::string>& todo, const Kernels& kernels, bool model) {
  for (const std::string_view path : kDelegate) todo.emplace_back(path);
  if (!model) return;
  for (const std::string_view path : kModel) todo.emplace_back(path);
  for (const NpuKernel& k : kNpuKernels) {  // the driver knows the rules of every call, and has the
                                            // kernels that are used
    todo.push_back(fmt::format("{}/check.cpp", k.folder));
    if (kernels.contains(std::string(k.name)))
      todo.push_back(fmt::format("{}/kernel.cpp", k.folder));
  }
}

// What only the program `deuteron` itself compiles: a choice of vectors at run time.
constexpr std::string_view kOfThisProgram = "#if defined(DEUTERON_HOST_KERNELS)";

std::vector<std::string> includes_of(std::string_view text) {
  constexpr std::string_view kEnd = "\n#endif";
  std::vector<std::string> found;
  for (size_t at = text.find('#'); at != text.npos; at = text.find('#', at + 1)) {
    const std::string_view rest = text.substr(at);
    if (rest.starts_with(kOfThisProgram)) at = std::min(text.find(kEnd, at), text.size() - 1);
    if (std::optional<std::string> path = included(rest)) found.push_back(std::move(*path));
  }
  return found;
}

// What a header promises is defined here.
std::vector<std::string> sources_behind(std::string_view header, std::string_view isa) {
  const std::string stem(header.substr(0, header.size() - 2));
  std::vector<std::string> sources{stem + ".cpp", stem + ".S"};
  if (stem.ends_with("/kernel")) sources.push_back(fmt::format("{}_{}.cpp", stem, isa));
  if (stem.ends_with("/prepare")) sources.push_back(stem.substr(0, stem.size() - 7) + "bind.cpp");
  return sources;
}

// All that the files lead to.
std::set<std::string> closure(const Index& index, std::vector<std::string> todo,
                              std::string_view isa, bool npu, bool npu_model) {
  std::set<std::string> needed;
  while (!todo.empty()) {
    const std::string path = std::move(todo.back());
    todo.pop_back();
    const auto file = index.find(path);
    if (file == index.end() || !needed.insert(path).second) continue;
    for (std::string& include : includes_of(file->second)) todo.push_back(std::move(include));
    if (!path.ends_with(".h")) continue;
    // Without the model its headers give types and constants only.
    const bool of_model =
        path.starts_with("npu/neutron/machine/") || path.starts_with("npu/neutron/converter/");
    const bool of_npu = of_model || path.starts_with("npu/neutron/delegate/");
    if ((of_model && !npu_model) || (of_npu && !npu)) continue;
    // The weak table of all NPU kernels gives way to the selection's.
    for (std::string& source : sources_behind(path, isa))
      if (source != "npu/neutron/machine/kernel_table.cpp") todo.push_back(std::move(source));
  }
  return needed;
}

}  // namespace

std::optional<std::string> included(std::string_view text) {
  constexpr std::string_view kInclude = "#include \"";
  if (!text.starts_with(kInclude)) return std::nullopt;
  text.remove_prefix(kInclude.size());
  return std::string(text.substr(0, text.find('"')));
}

std::string port_folder(std::string_view board, bool emulated) {
  return fmt::format("boards/{}", emulated ? "emulated" : board);
}

// The loader, and the checks of these kernels. Files with a header of their own come in where it is
// included.
static std::vector<std::string> loader_and_kernels(const RuntimeSources& runtime,
                                                   const Index& index, const KernelList& kernels) {
  std::vector<std::string> todo;
  for (const SourceFile& f : runtime.files)
    if (is_runtime_core(f.path) &&
        !index.contains(fmt::format("{}.h", f.path.substr(0, f.path.size() - 4))))
      todo.emplace_back(f.path);
  for (const auto& [kernel, users] : kernels.cpu)
    if (const auto known = runtime.kernels.find(kernel); known != runtime.kernels.end())
      todo.emplace_back(known->second.path);
  return todo;
}

std::set<std::string> backend_sources(const RuntimeSources& runtime, const KernelList& kernels,
                                      std::string_view isa) {
  const Index index = index_of(runtime);
  std::vector<std::string> todo = loader_and_kernels(runtime, index, kernels);
  todo.emplace_back("runtime/executorch/backend.cpp");
  return closure(index, std::move(todo), isa, false, false);
}

std::set<std::string> compiled_backend_sources(const RuntimeSources& runtime,
                                               std::string_view isa) {
  return closure(index_of(runtime), {"runtime/executorch/compiled.cpp"}, isa, false, false);
}

std::set<std::string> needed_sources(const RuntimeSources& runtime, const KernelList& kernels,
                                     const FirmwareBoard& board, bool npu, bool npu_model) {
  const Index index = index_of(runtime);
  std::vector<std::string> todo = loader_and_kernels(runtime, index, kernels);
  for (const std::string_view path : kAlways) todo.emplace_back(path);
  todo.push_back(fmt::format("runtime/ports/{}/frames.cmake", board.cores));
  for (const char* file : {"port.cpp", "build.cmake"})
    todo.push_back(fmt::format("{}/{}", port_folder(board.name, board.emulated), file));
  if (board.emulated) {
    todo.emplace_back("runtime/ports/sections.ld");
    todo.emplace_back("runtime/ports/painted_stack.cpp");
    for (const char* file : {"start", "stamp"})
      todo.push_back(fmt::format("runtime/ports/{}/{}.cpp", board.cores, file));
    todo.push_back(
        fmt::format("boards/{}/map.h",
                    board.name));  // runtime/ports/board.h includes it by the name of the board
  }
  if (npu) add_npu(todo, kernels.npu, npu_model);
  return closure(index, std::move(todo), board.isa, npu, npu_model);
}

std::set<std::string> kernel_headers(const RuntimeSources& runtime,
                                     const std::set<std::string>& kernels) {
  const Index index = index_of(runtime);
  std::vector<std::string> todo;
  for (const std::string& kernel : kernels)
    if (const auto known = runtime.kernels.find(kernel); known != runtime.kernels.end())
      todo.emplace_back(known->second.path);
  std::set<std::string> seen, headers;
  while (!todo.empty()) {
    const std::string path = std::move(todo.back());
    todo.pop_back();
    const auto file = index.find(path);
    if (file == index.end() || !seen.insert(path).second) continue;
    if (path.starts_with("kernels/") && path.ends_with("/kernel.h")) headers.insert(path);
    for (std::string& include : includes_of(file->second)) todo.push_back(std::move(include));
  }
  return headers;
}

std::set<std::string> sources_of(const RuntimeSources& runtime,
                                 const std::set<std::string>& headers, std::string_view isa) {
  return closure(index_of(runtime), {headers.begin(), headers.end()}, isa, false, false);
}

std::set<std::string> kept_sources(const RuntimeSources& runtime,
                                   const std::set<std::string>& kernels, std::string_view isa) {
  if (kernels.empty()) return {};
  std::vector<std::string> todo{"runtime/arena.cpp"};
  for (const std::string& kernel : kernels)
    if (const auto known = runtime.kernels.find(kernel); known != runtime.kernels.end())
      todo.emplace_back(known->second.path);
  return closure(index_of(runtime), std::move(todo), isa, false, false);
}

std::set<std::string> npu_sources(const RuntimeSources& runtime,
                                  const std::set<std::string>& kernels, std::string_view isa,
                                  bool model) {
  std::vector<std::string> todo{"runtime/arena.cpp"};
  add_npu(todo, kernels, model);
  return closure(index_of(runtime), std::move(todo), isa, true, model);
}

}  // namespace deuteron
