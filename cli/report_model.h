// SPDX-License-Identifier: Apache-2.0
// What `compile` and `analyze` say of a compiled model.
#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "cli/compile_model.h"

namespace deuteron {

// The result as JSON and as the text for a person. `accuracy` is empty where there were no samples.
struct ModelReport {
  Json json;
  std::string summary;
};
ModelReport report_model(const ModelOptions& options, const CompiledModel& model,
                         const std::string& written_to, Diagnostics& diagnostics);
// The graph where --stop-after stopped, and "stopped after fuse".
std::string stopped_text(const CompiledModel& model, const std::string& pass);
// --html: the report as a page. True where none was asked for.
bool write_report_page(const ModelOptions& options, const CompiledModel& model,
                       const ModelReport& report, Diagnostics& diagnostics);

}  // namespace deuteron
