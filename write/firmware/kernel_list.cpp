// SPDX-License-Identifier: Apache-2.0
#include "write/firmware/kernel_list.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>

namespace deuteron {
namespace {

constexpr std::string_view kFirst = "# Kernels of a firmware, one a line";
constexpr std::string_view kMachine = "neutron machine ", kNpu = "neutron::";

bool is_name_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == ':' || c == '.';
}

bool is_kernel_name(std::string_view s) {
  const size_t colons = s.find("::"), dot = s.rfind('.');
  return colons != s.npos && colons > 0 && dot != s.npos && dot > colons + 2 &&
         dot + 1 < s.size() && std::all_of(s.begin(), s.end(), is_name_character);
}

std::string_view trimmed(std::string_view s) {
  while (!s.empty() && std::isspace(static_cast<unsigned char>(s.back()))) s.remove_suffix(1);
  while (!s.empty() && std::isspace(static_cast<unsigned char>(s.front()))) s.remove_prefix(1);
  return s;
}

KernelList::Users words_of(std::string_view text) {
  KernelList::Users words;
  for (text = trimmed(text); !text.empty(); text = trimmed(text)) {
    const auto end = std::find_if(text.begin(), text.end(), [](char c) {
      return std::isspace(static_cast<unsigned char>(c));
    });
    words.emplace(text.begin(), end);
    text.remove_prefix(static_cast<size_t>(end - text.begin()));
  }
  return words;
}

// One line without its comment. False: it is wrong; `problem` says how.
bool take_line(std::string_view line, const KernelList::Users& users, KernelList& list,
               std::string& problem) {
  if (line.starts_with(kMachine)) {
    const std::string_view digits = trimmed(line.substr(kMachine.size()));
    uint32_t machine = 0;
    const auto [at, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), machine, 16);
    if (error != std::errc{} || at != digits.data() + digits.size())
      return problem = "the machine's version cannot be read", false;
    if (list.machine && *list.machine != machine) return problem = "a second machine", false;
    list.machine = machine;
    return true;
  }
  if (line.starts_with(kNpu)) {
    const std::string name(line.substr(kNpu.size()));
    if (!npu_kernel(name))
      return problem = fmt::format("`{}` is none of the NPU's kernels", line.substr(0, 60)), false;
    list.npu[name].insert(users.begin(), users.end());
    return true;
  }
  if (!is_kernel_name(line))
    return problem = fmt::format("`{}` is not the name of a kernel", line.substr(0, 60)), false;
  list.cpu[std::string(line)].insert(users.begin(), users.end());
  return true;
}

}  // namespace

std::optional<neutron::Kind> npu_kernel(std::string_view name) {
  for (int32_t k = 1; k < neutron::kKinds; ++k)
    if (const char* known = neutron::name_of(static_cast<neutron::Kind>(k)); known && name == known)
      return static_cast<neutron::Kind>(k);
  return std::nullopt;
}

bool is_kernel_list(std::string_view text) { return text.starts_with(kFirst); }

std::string write_kernel_list(const KernelList& list) {
  std::string text = fmt::format(
      "{}, behind it the models that call it.\n"
      "# `deuteron firmware --merge A B -o C` makes one list of several, `--kernels FILE` links "
      "these kernels too, and\n"
      "# `deuteron compile --firmware-ops FILE` refuses a model that needs others.\n",
      kFirst);
  if (list.machine) text += fmt::format("{}{:08x}\n", kMachine, *list.machine);
  const auto add = [&](std::string_view prefix, const std::string& name,
                       const KernelList::Users& users) {
    text += fmt::format("{}{}", prefix, name);
    if (!users.empty()) text += fmt::format("  # {}", fmt::join(users, " "));
    text += "\n";
  };
  for (const auto& [name, users] : list.cpu) add("", name, users);
  for (const auto& [name, users] : list.npu) add(kNpu, name, users);
  return text;
}

std::optional<KernelList> read_kernel_list(std::string_view text, const std::string& file,
                                           Diagnostics& diagnostics) {
  KernelList list;
  const bool ours = is_kernel_list(text);
  for (size_t number = 1; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end), comment;
    text.remove_prefix(std::min(end + 1, text.size()));
    if (const size_t hash = line.find('#'); hash != line.npos) {
      comment = line.substr(hash + 1);
      line = line.substr(0, hash);
    }
    line = trimmed(line);
    std::string problem;
    if (line.empty() ||
        take_line(line, ours ? words_of(comment) : KernelList::Users{}, list, problem))
      continue;
    diagnostics.error(fmt::format("{}:{}", file, number), problem, "firmware.ops",
                      "a line is namespace::operator.overload, as in cortex_m::quantized_add.out, "
                      "or neutron::KERNEL; `deuteron ops` lists "
                      "those of this runtime");
    return std::nullopt;
  }
  return list;
}

bool merge_kernel_list(KernelList& into, const KernelList& from, const std::string& file,
                       Diagnostics& diagnostics) {
  if (into.machine && from.machine && *into.machine != *from.machine) {
    diagnostics.add({Severity::error, file,
                     "its NPU kernels are for another version of the machine than those before",
                     fmt::format("{:08x}", *from.machine), fmt::format("{:08x}", *into.machine),
                     "firmware.machine", "compile the models with the same version of deuteron"});
    return false;
  }
  if (from.machine) into.machine = from.machine;
  for (const auto& [name, users] : from.cpu) into.cpu[name].insert(users.begin(), users.end());
  for (const auto& [name, users] : from.npu) into.npu[name].insert(users.begin(), users.end());
  return true;
}

}  // namespace deuteron
