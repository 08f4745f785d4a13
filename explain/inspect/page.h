// SPDX-License-Identifier: Apache-2.0
// The page of `--html FILE`: one file without a network, for a trace (`inspect`) and for what a
// compilation came to (`compile`, `analyze`). Its sources are in explain/page/; the build makes one
// text of them, into which the data are put as JSON.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "explain/inspect/profile.h"

namespace deuteron {

// What the page is given: docs/reports.md, "The page's data".
nlohmann::ordered_json trace_page(const Profile& profile, const SourceMap* map,
                                  const nlohmann::ordered_json& tables);
nlohmann::ordered_json report_page(const nlohmann::json& program_map,
                                   const nlohmann::ordered_json& report);

// The page's text with the data in it; empty where this program was built without the page.
std::string page_html(const nlohmann::ordered_json& data);
// An error where this program was built without the page, or where the file cannot be written.
bool write_page(const std::string& path, const nlohmann::ordered_json& data,
                Diagnostics& diagnostics);

std::string_view page_template();  // made by the build; empty: without the page

}  // namespace deuteron
