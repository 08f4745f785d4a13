#include "tools/status_text.h"

#include <fmt/format.h>

namespace deuteron {

std::string advice_for(std::string_view code) {
  static constexpr std::pair<std::string_view, std::string_view> kAdvice[] = {
      {"not_a_program", "a program is made by `deuteron compile MODEL.pt2 --target T -o FILE.pte`"},
      {"corrupt", "the file was damaged or cut: compile or copy it again"},
      {"unsupported", "the program uses a feature of the format that this runtime does not have"},
      {"missing_kernel", "no kernel of that name is built in; `deuteron ops` lists what is"},
      {"bad_argument", "the program was made for other kernels, or damaged: compile it again with this version"},
      {"overlap", "the program's memory plan is wrong, or the file was damaged: compile it again"},
      {"wrong_isa", "compile for the core of this board, or choose the board of the program's core (`deuteron targets`)"},
      {"out_of_memory", "the memory is too small for the program"},
  };
  for (const auto& [name, advice] : kAdvice)
    if (name == code) return std::string(advice);
  return "";
}

Diagnostic describe_status(const std::string& where, const Status& s) {
  std::string place;
  const auto add = [&](const std::string& part) { place += (place.empty() ? "" : ", ") + part; };
  if (s.instruction >= 0) add(fmt::format("instruction {}", s.instruction));
  if (s.op) add(s.op);
  if (s.argument >= 0) add(fmt::format("argument {}", s.argument));
  if (s.bytes_needed > 0) add(fmt::format("{} bytes needed", s.bytes_needed));
  std::string what = "the runtime refuses the program";
  if (!place.empty()) what += ": " + place;
  what += ": " + std::string(s.detail ? s.detail : name_of(s.code));
  return {Severity::error, where, what, "", "", fmt::format("pte.{}", name_of(s.code)), advice_for(name_of(s.code))};
}

}  // namespace deuteron
