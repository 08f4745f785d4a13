// deuteron targets: what can be compiled for, and what a target's file says.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "data/read_file.h"
#include "targets/builtin.h"
#include "targets/target.h"
#include "tools/options.h"

namespace deuteron {
namespace {

struct TargetsOptions {
  std::string show, json;
};

Json as_json(const Target& t) {
  Json memories = Json::array();
  for (const MemoryRegion& m : t.memories) memories.push_back({{"name", m.name}, {"bytes", m.bytes}, {"holds", m.holds}});
  return {{"name", t.name},         {"description", t.description}, {"cpu", t.cpu},         {"isa", name_of(t.isa)},
          {"backends", t.backends}, {"clock_hz", t.clock_hz},       {"memories", memories}, {"file", t.file}};
}

// The text of the file, as the user could write it.
std::string text_of(const Target& t) {
  for (const BuiltinTarget& b : builtin_target_files())
    if (t.file == "targets/" + std::string(b.file)) return std::string(b.text);
  Diagnostics ignored;
  const std::optional<std::vector<std::byte>> bytes = read_file(t.file, ignored);
  return bytes ? std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size()) : "";
}

int targets(const TargetsOptions& o) {
  Diagnostics diagnostics;
  if (!o.show.empty()) {
    const std::optional<Target> t = find_target(o.show, diagnostics);
    return finish(o.json, diagnostics, t ? as_json(*t) : Json::object(), t ? text_of(*t) : "");
  }
  Json list = Json::array();
  std::string text;
  for (const Target& t : builtin_targets()) {
    text += fmt::format("{:<12}  {:<7} {:<10} {}\n", t.name, name_of(t.isa), fmt::join(t.backends, ","), t.description);
    list.push_back(as_json(t));
  }
  const size_t count = list.size();
  return finish(o.json, diagnostics, {{"targets", std::move(list)}},
                text + fmt::format("{} built in; --target also takes a file of your own (`--show NAME` prints one to begin with)\n",
                                   counted(static_cast<long long>(count), "target")));
}

}  // namespace

void add_targets(CLI::App& app, Action& chosen) {
  TargetsOptions* o = nullptr;
  CLI::App* verb = add_verb<TargetsOptions>(app, chosen, "targets", "list the targets, or show one",
                                            "deuteron targets --show cortex-m55 > my_board.toml", targets, o);
  verb->add_option("--show", o->show, "print the file of this target")->option_text("T");
  add_json(verb, o->json);
}

}  // namespace deuteron
