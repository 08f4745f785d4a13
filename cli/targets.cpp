// SPDX-License-Identifier: Apache-2.0
// deuteron targets: what can be compiled for, and what a target's file says.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "cli/options.h"
#include "cli/output_paths.h"
#include "compile/compile.h"
#include "targets/builtin.h"
#include "targets/chips.h"
#include "targets/show_target.h"
#include "targets/target.h"

namespace deuteron {
namespace {

struct TargetsOptions {
  std::string show, json;
  bool chips = false;
};

// A base is no target: its file as it is written.
const BuiltinTarget* base_called(const std::string& name) {
  for (const BuiltinTarget& b : builtin_target_files())
    if (b.file == name + ".toml" && name.starts_with("base-")) return &b;
  return nullptr;
}

std::string console_text(const Chip::Console& c) {
  if (c.name.empty()) return "-";
  return fmt::format("{} {:#010x} {} {}/{}", c.name, c.base, c.registers, c.tx, c.rx);
}

int list_chips(const std::string& json) {
  Json list = Json::array();
  std::string text = fmt::format("{:<13}  {:<10}  {:>7}  {:>7}  {:>3}  {:>7}  {:<11}  {}\n", "chip",
                                 "core", "RAM KB", "flash", "MHz", "waits", "ran", "console");
  const auto kilobytes = [](std::span<const ChipRegion> regions) {
    uint64_t sum = 0;
    for (const ChipRegion& r : regions) sum += r.bytes;
    return sum == 0 ? std::string("-") : std::to_string(sum / 1024);
  };
  for (const Chip& c : all_chips()) {
    text += fmt::format("{:<13}  {:<10}  {:>7}  {:>7}  {:>3}  {:>7}  {:<11}  {}\n", c.name, c.core,
                        kilobytes(c.ram), kilobytes(c.flash),
                        c.clock_hz == 0 ? "-" : std::to_string(c.clock_hz / 1000000),
                        c.waits.clock_hz == 0
                            ? "-"
                            : fmt::format("{} @{}", c.waits.states, c.waits.clock_hz / 1000000),
                        c.ran, console_text(c.console));
    list.push_back({{"name", c.name},
                    {"core", c.core},
                    {"ram", text_of(c.ram)},
                    {"flash", text_of(c.flash)},
                    {"clock_hz", c.clock_hz == 0 ? Json() : Json(c.clock_hz)},
                    {"wait_states", c.waits.clock_hz == 0 ? Json() : Json(c.waits.states)},
                    {"console", c.console.name.empty() ? Json() : Json(console_text(c.console))},
                    {"source", c.source},
                    {"ran", c.ran},
                    {"npu_not_used", c.npu.empty() ? Json() : Json(c.npu)}});
  }
  text += fmt::format(
      "{}; MHz: after reset; waits: wait states of the flash at the highest clock; -: not "
      "published; emulated: by QEMU's model of it; console: the UART of a board with this chip, "
      "its base, registers (boards/agent/deuteron_agent_uart.h), TX and RX. --target, and --memory "
      "with --on gdb:, take a "
      "name or its beginning.\n",
      counted(static_cast<long long>(list.size()), "chip"));
  Diagnostics diagnostics;
  return finish(json, diagnostics, {{"chips", std::move(list)}}, text);
}

int targets(const TargetsOptions& o) {
  Diagnostics diagnostics;
  if (o.chips && !o.show.empty())
    return refuse_usage("--chips lists chips, --show shows one target: give one");
  if (o.chips) return list_chips(o.json);
  if (o.show.ends_with(".toml")) {
    const std::array inputs{NamedPath{"--show", o.show}}, outputs{NamedPath{"--json", o.json}};
    if (!check_outputs(inputs, outputs, diagnostics)) return finish("", diagnostics, {}, "");
  }
  if (!o.show.empty()) {
    if (const BuiltinTarget* base = base_called(o.show))
      return finish(o.json, diagnostics, {{"base", o.show}, {"text", base->text}},
                    std::string(base->text));
    const std::optional<Target> t = find_target(o.show, diagnostics, "--show");
    return finish(o.json, diagnostics, t ? target_as_json(*t, pass_names()) : Json::object(),
                  t ? target_as_toml(*t, pass_names()) : "");
  }
  Json list = Json::array();
  std::string text;
  const std::vector<Target> all = builtin_targets();
  size_t widest = 0;
  for (const Target& t : all) widest = std::max(widest, t.name.size());
  for (const Target& t : all) {
    text += fmt::format("{:<{}}  {:<7} {:<16} {}\n", t.name, widest, name_of(t.isa),
                        fmt::format("{}", fmt::join(t.backends, ",")), t.description);
    list.push_back(target_as_json(t, pass_names()));
  }
  const size_t count = list.size();
  return finish(
      o.json, diagnostics, {{"targets", std::move(list)}},
      text + fmt::format("{} built in; --target also takes a .toml file of your own (`--show NAME` "
                         "prints one in full, to start from)\nto extend: these, {}\n",
                         counted(static_cast<long long>(count), "target"),
                         fmt::join(builtin_bases(), ", ")));
}

}  // namespace

void add_targets(CommandLine& line) {
  TargetsOptions* o = nullptr;
  Verb verb =
      add_verb<TargetsOptions>(line, "targets", "list the targets, or show one",
                               "deuteron targets --show cortex-m55 > my_board.toml", targets, o);
  verb.option("--show", o->show,
              "print a target in full, as a file to start from; of a base its own file")
      .value("T");
  verb.flag("--chips", o->chips,
            "list the chips that --target and --memory know by name, with their memory");
  add_json(verb, o->json);
}

}  // namespace deuteron
