// SPDX-License-Identifier: Apache-2.0
#include "write/pte/status_text.h"

#include <fmt/format.h>

#include "npu/neutron/delegate/delegate.h"

namespace deuteron {

std::string advice_for(std::string_view code) {
  static constexpr std::pair<std::string_view, std::string_view> kAdvice[] = {
      {"not_a_program", "a program is made by `deuteron compile MODEL.pt2 --target T -o FILE.pte`"},
      {"corrupt", "the file was damaged or cut: compile or copy it again"},
      {"unsupported", "the program uses a feature of the format that this runtime does not have"},
      {"missing_kernel", "no kernel of that name is built in; `deuteron ops` lists what is"},
      {"bad_argument",
       "the program was made for other kernels, or damaged: compile it again with this version"},
      {"overlap", "the program's memory plan is wrong, or the file was damaged: compile it again"},
      {"wrong_isa",
       "compile for the core of this board, or choose the board of the program's core (`deuteron "
       "targets`)"},
      {"out_of_memory", "the memory is too small for the program"},
      {"missing_backend",
       "the program has parts for a backend that is not built in: compile it for another target, "
       "or link the backend"},
      {"delegate_failed",
       "the driver refuses or fails: are the program and the driver of the same version?"},
  };
  for (const auto& [name, advice] : kAdvice)
    if (name == code) return std::string(advice);
  return "";
}

std::string describe_neutron_error(int32_t error) {
  const NeutronFault f = fault_of(error);
  return fmt::format("error {:#x} (component {}, category {}, code {})",
                     static_cast<uint32_t>(error), f.component, f.category, f.code);
}

Diagnostic describe_status(const std::string& where, const Status& s) {
  std::string place;
  const auto add = [&](const std::string& part) { place += (place.empty() ? "" : ", ") + part; };
  if (s.instruction >= 0) add(fmt::format("instruction {}", s.instruction));
  if (s.op) add(s.op);
  if (s.argument >= 0) add(fmt::format("argument {}", s.argument));
  if (s.bytes_needed > 0) add(fmt::format("{} bytes needed", s.bytes_needed));
  if (s.step) add(fmt::format("step `{}`", s.step));
  if (s.error != 0) add(describe_neutron_error(s.error));
  std::string what =
      s.code == Code::delegate_failed ? "a delegate fails" : "the runtime refuses the program";
  if (!place.empty()) what += ": " + place;
  what += ": " + std::string(s.detail ? s.detail : name_of(s.code));
  return {Severity::error,
          where,
          what,
          "",
          "",
          fmt::format("pte.{}", name_of(s.code)),
          s.detail && s.detail == kTooManySteps
              ? "a check may take two steps for each byte of the file: those of `deuteron compile` "
                "need fewer; compile the model again"
              : advice_for(name_of(s.code))};
}

}  // namespace deuteron
