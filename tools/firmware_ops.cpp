#include "tools/firmware_ops.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>

#include "data/read_file.h"

namespace deuteron {
namespace {

bool is_name_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == ':' || c == '.'; }

bool is_kernel_name(const std::string& s) {
  const size_t colons = s.find("::"), dot = s.rfind('.');
  return colons != std::string::npos && colons > 0 && dot != std::string::npos && dot > colons + 2 && dot + 1 < s.size() &&
         std::all_of(s.begin(), s.end(), is_name_character);
}

}  // namespace

std::optional<FirmwareOps> FirmwareOps::read(const std::string& path, Diagnostics& diagnostics) {
  const std::optional<std::vector<std::byte>> bytes = read_file(path, diagnostics);
  if (!bytes) return std::nullopt;
  const std::string text(reinterpret_cast<const char*>(bytes->data()), bytes->size());
  FirmwareOps ops;
  ops.path_ = path;
  if (text.starts_with("\x7f"
                       "ELF")) {
    ops.image_ = text;
    if (text.find("cortex_m::") != std::string::npos) return ops;
    diagnostics.error(path, "is an ELF image without any kernel of this runtime", "firmware.ops",
                      "give the firmware's image before it is stripped of its data, or a list of its kernels");
    return std::nullopt;
  }
  size_t line = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::string name = text.substr(at, end - at);
    at = end + 1;
    ++line;
    name.resize(std::min(name.find('#'), name.size()));
    while (!name.empty() && std::isspace(static_cast<unsigned char>(name.back()))) name.pop_back();
    name.erase(0, std::min(name.find_first_not_of(" \t"), name.size()));
    if (name.empty()) continue;
    if (!is_kernel_name(name)) {
      diagnostics.error(
          fmt::format("{}:{}", path, line), fmt::format("`{}` is no kernel's name", name.substr(0, 60)), "firmware.ops",
          "a line is namespace::operator.overload, as in cortex_m::quantized_add.out; `deuteron ops` lists those of this runtime");
      return std::nullopt;
    }
    ops.listed_.push_back(std::move(name));
  }
  return ops;
}

bool FirmwareOps::has(const std::string& kernel) const {
  if (image_.empty()) return std::find(listed_.begin(), listed_.end(), kernel) != listed_.end();
  const std::string wanted = kernel + '\0';
  for (size_t at = image_.find(wanted); at != std::string::npos; at = image_.find(wanted, at + 1))
    if (at > 0 && !is_name_character(image_[at - 1])) return true;
  return false;
}

void check_firmware(const Compilation& c, const FirmwareOps& firmware, const std::string& path, Diagnostics& diagnostics) {
  std::map<std::string, std::vector<std::string>> missing;  // users by kernel
  for (const Node& node : c.graph.nodes) {
    const auto* call = std::get_if<KernelCall>(&node.op);
    if (!call) continue;
    const std::string kernel = call->name + "." + call->overload;
    if (firmware.has(kernel)) continue;
    std::vector<std::string>& users = missing[kernel];
    for (const i32 id : users_own(c.graph, node.origin)) {
      const SourceOp& s = c.graph.sources[id];
      users.push_back(fmt::format("`{}` (source op {})", s.module.empty() ? s.name : s.module, id));
    }
  }
  for (const auto& [kernel, users] : missing) {
    std::string list;
    constexpr size_t kShown = 4;
    for (size_t k = 0; k < std::min(kShown, users.size()); ++k) list += (k ? ", " : "") + users[k];
    if (users.size() > kShown) list += fmt::format(" and {} more", users.size() - kShown);
    diagnostics.error(path, fmt::format("the firmware has no kernel {}, which {} needs", kernel, list), "firmware.missing_kernel",
                      "link the kernel into the firmware, or change the operator");
  }
}

}  // namespace deuteron
