// SPDX-License-Identifier: Apache-2.0
#include "explain/inspect/page.h"

#include "base/files/write_file.h"
#include "explain/inspect/perfetto.h"

namespace deuteron {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kPlace = "@DEUTERON_DATA@";
// more cannot be told apart in a picture, and a phone has to hold them
constexpr size_t kMaxSlices = 20000;

// The map without what only the tables need twice.
Json base(const nlohmann::json* map) {
  Json j = {{"page", 1}, {"version", DEUTERON_VERSION}};
  if (map)
    for (const char* key : {"program_id", "model", "target", "cpu", "clock_hz", "npu_is_open_model",
                            "operators", "calls", "folded", "memory", "flash"})
      if (map->contains(key)) j[key] = (*map)[key];
  return j;
}

Json slices(const Profile& p) {
  // By column: a tenth of the text of a list of objects.
  Json names = Json::array(), name = Json::array(), run = Json::array(), row = Json::array(),
       instruction = Json::array(), npu = Json::array(), start = Json::array(), end = Json::array(),
       ticks = Json::array();
  std::map<std::string, size_t> index;
  const size_t count = std::min(p.slices.size(), kMaxSlices);
  for (size_t i = 0; i < count; ++i) {
    const TimeSlice& s = p.slices[i];
    const auto [it, fresh] = index.try_emplace(s.name, index.size());
    if (fresh) names.push_back(s.name);
    name.push_back(it->second);
    run.push_back(s.run);
    row.push_back(s.row);
    instruction.push_back(s.instruction);
    npu.push_back(s.npu ? 1 : 0);
    start.push_back(s.start);
    end.push_back(s.end);
    ticks.push_back(s.ticks);
  }
  return {{"names", names},
          {"name", name},
          {"run", run},
          {"row", row},
          {"instruction", instruction},
          {"npu", npu},
          {"start", start},
          {"end", end},
          {"ticks", ticks},
          {"left_out", p.slices.size() - count}};
}

}  // namespace

Json trace_page(const Profile& profile, const SourceMap* map, const Json& tables) {
  Json j = base(map ? &map->json : nullptr);
  j["kind"] = "trace";
  j["trace"] = tables;
  j["trace"]["slices"] = slices(profile);
  return j;
}

Json report_page(const nlohmann::json& program_map, const Json& report) {
  Json j = base(&program_map);
  j["kind"] = "report";
  j["report"] = report;
  return j;
}

std::string page_html(const Json& data) {
  const std::string_view page = page_template();
  const size_t place = page.find(kPlace);
  if (page.empty() || place == std::string_view::npos) return "";
  // In a script element `<` could begin its end or a comment; in JSON it is only ever inside a
  // string. The two separators end a line in older JavaScript.
  std::string text;
  const std::string raw = data.dump(-1, ' ', false, Json::error_handler_t::replace);
  text.reserve(page.size() + raw.size());
  text.append(page.substr(0, place));
  for (const char c : raw) {
    if (c == '<') text += "\\u003c";
    else text += c;
  }
  text.append(page.substr(place + kPlace.size()));
  return text;
}

bool write_page(const std::string& path, const Json& data, Diagnostics& diagnostics) {
  const std::string html = page_html(data);
  if (html.empty()) {
    diagnostics.error("--html", "this deuteron was built without the page", "html.page",
                      "install npm (apt-get install npm) and build again; --json has everything "
                      "that the page shows");
    return false;
  }
  return write_file(path, {reinterpret_cast<const uint8_t*>(html.data()), html.size()},
                    diagnostics);
}

}  // namespace deuteron
