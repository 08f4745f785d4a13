// SPDX-License-Identifier: Apache-2.0
#include "cli/firmware_ops.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>

#include "base/files/read_file.h"
#include "compile/compilation.h"
#include "ops/families.h"

namespace deuteron {
namespace {

bool is_name_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == ':' || c == '.';
}

// A kernel's name with the zero behind it, as the runtime's constants have it.
bool image_names(const std::string& image, const std::string& kernel) {
  const std::string wanted = kernel + '\0';
  for (size_t at = image.find(wanted); at != std::string::npos; at = image.find(wanted, at + 1))
    if (at > 0 && !is_name_character(image[at - 1])) return true;
  return false;
}

}  // namespace

std::optional<FirmwareOps> FirmwareOps::read(const std::string& path, Diagnostics& diagnostics) {
  const std::optional<std::vector<std::byte>> bytes = read_file(path, diagnostics);
  if (!bytes) return std::nullopt;
  const std::string text(reinterpret_cast<const char*>(bytes->data()), bytes->size());
  FirmwareOps ops;
  if (text.starts_with("\x7f"
                       "ELF")) {
    ops.image_ = text;
    if (text.find("cortex_m::") != std::string::npos || text.find("neutron::") != std::string::npos)
      return ops;
    diagnostics.error(
        path, "is an ELF image without any kernel of this runtime", "firmware.ops",
        "give the firmware's image before it is stripped of its data, or a list of its kernels");
    return std::nullopt;
  }
  std::optional<KernelList> list = read_kernel_list(text, path, diagnostics);
  if (!list) return std::nullopt;
  ops.list_ = std::move(*list);
  return ops;
}

bool FirmwareOps::has(const std::string& kernel) const {
  return image_.empty() ? list_.cpu.contains(kernel) : image_names(image_, kernel);
}

bool FirmwareOps::has_backend(const std::string& name) const {
  return image_.empty() || image_names(image_, name);
}

bool FirmwareOps::has_npu(const std::string& kernel) const {
  return image_.empty() ? list_.npu.contains(kernel) : image_names(image_, "neutron::" + kernel);
}

bool FirmwareOps::knows_npu() const {
  return image_.empty() ? list_.machine || !list_.npu.empty()
                        : image_.find(std::string("\0neutron::", 10)) != std::string::npos;
}

namespace {

using Missing = std::map<std::string, std::vector<std::string>>;  // users by kernel

void add_users(const Graph& graph, const Origin& origin, std::vector<std::string>& users) {
  for (const i32 id : users_own(graph, origin)) {
    const SourceOp& s = graph.sources[id];
    std::string user = fmt::format("`{}` (source op {})", s.module.empty() ? s.name : s.module, id);
    if (std::find(users.begin(), users.end(), user) == users.end())
      users.push_back(std::move(user));
  }
}

void report_missing(const Missing& missing, const char* what, const std::string& path,
                    Diagnostics& diagnostics) {
  for (const auto& [kernel, users] : missing) {
    std::string list;
    constexpr size_t kShown = 4;
    for (size_t k = 0; k < std::min(kShown, users.size()); ++k) list += (k ? ", " : "") + users[k];
    if (users.size() > kShown) list += fmt::format(" and {} more", users.size() - kShown);
    if (users.empty()) list = "the program";
    diagnostics.error(
        path, fmt::format("the firmware has no {} {}, which {} needs", what, kernel, list),
        "firmware.missing_kernel",
        "link it into the firmware (`deuteron firmware`; for stock ExecuTorch `--as executorch` "
        "and "
        "target_link_libraries(app PRIVATE deuteron_backend)), or change the operator");
  }
}

}  // namespace

void check_firmware(const Compilation& c, const FirmwareOps& firmware, const std::string& path,
                    Diagnostics& diagnostics) {
  Missing cpu, backends, npu;
  for (const Node& node : c.graph.nodes) {
    const auto* call = call_of(node.op);
    if (!call) continue;
    if (call->overload.empty()) {  // a delegate's call
      if (!firmware.has_backend(call->name)) add_users(c.graph, node.origin, backends[call->name]);
      continue;
    }
    const std::string kernel = call->name + "." + call->overload;
    if (!firmware.has(kernel)) add_users(c.graph, node.origin, cpu[kernel]);
  }
  report_missing(cpu, "kernel", path, diagnostics);
  report_missing(backends, "backend", path, diagnostics);
  if (c.npu.kernels.empty() || !backends.empty()) return;
  if (!firmware.knows_npu())
    return diagnostics.warning(
        path, "says nothing about NPU kernels, so those of the program were not looked for",
        "firmware.npu_kernels",
        "a selection of `deuteron firmware`, or an image with the open model of the machine, names "
        "them");
  for (const NpuKernel& kernel : c.npu.kernels)
    if (const std::string name = name_of(kernel); !firmware.has_npu(name))
      add_users(c.graph, kernel.origin, npu[name]);
  report_missing(npu, "NPU kernel", path, diagnostics);
}

}  // namespace deuteron
