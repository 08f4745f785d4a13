// SPDX-License-Identifier: Apache-2.0
// For tests only: compiles a graph given as text and prints its program map, a line for each call
// and kernel.
#pragma once
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "compile/compilation.h"
#include "compile/compile.h"
#include "compile/options.h"
#include "explain/report/program_map.h"
#include "ir/text.h"
#include "targets/target.h"

namespace deuteron::test {

inline Samples random_samples(const Graph& g, size_t count = 4) {
  std::mt19937 bits(7);
  Samples samples(count);
  for (auto& sample : samples)
    for (const Port& p : g.inputs) {
      std::vector<float> values(static_cast<size_t>(g.type(p.value).elements()));
      for (float& v : values) v = static_cast<float>(bits() >> 8) * 0x1p-23f - 1.0f;
      sample.push_back(std::move(values));
    }
  return samples;
}

inline std::optional<Compilation> compiled(const std::string& text, const std::string& target,
                                           CompileOptions options = {}) {
  Diagnostics diagnostics;
  std::optional<Graph> g = parse(text, "test", diagnostics);
  std::optional<Compilation> c;
  if (g) {
    const Samples samples = random_samples(*g);
    c = compile(std::move(*g), *find_target(target, diagnostics), samples, options, diagnostics);
  }
  for (const Diagnostic& d : diagnostics.list())
    if (d.severity == Severity::error) ADD_FAILURE() << format_diagnostic(d);
  return c;
}

inline nlohmann::json map_of(const std::string& text, const std::string& target,
                             const CompileOptions& options = {}) {
  Diagnostics diagnostics;
  const std::optional<Compilation> c = compiled(text, target, options);
  if (!c) return nlohmann::json();
  const Target t = *find_target(target, diagnostics);
  return program_map(*c, report_program(*c, t), t, "test");
}

inline std::string names(const nlohmann::json& map, const nlohmann::json& ids) {
  std::string text;
  for (const int id : ids)
    text += (text.empty() ? "" : ",") + map["operators"][id]["name"].get<std::string>();
  return text;
}

// "0 quantize_per_tensor: conv +" (+: added), "1 NeutronBackend: conv,relu", "  Conv2DStandardV1:
// conv,relu", "  - relu: why"
inline std::string to_text(const nlohmann::json& map) {
  std::string text;
  for (const auto& call : map["calls"]) {
    std::string kernel = call["kernel"];
    if (const size_t at = kernel.find("::"); at != std::string::npos)
      kernel = kernel.substr(at + 2);
    if (const size_t at = kernel.find(".out"); at != std::string::npos) kernel.resize(at);
    text += std::to_string(call["instruction"].get<int>()) + " " + kernel + ": " +
            names(map, call["operators"]) + (call["added"].get<bool>() ? " +" : "") + "\n";
    if (!call.contains("npu_kernels")) continue;
    for (const auto& k : call["npu_kernels"])
      text += "  " + k["kernel"].get<std::string>() + ": " + names(map, k["operators"]) +
              (k["added"].get<bool>() ? " +" : "") + "\n";
    for (const auto& w : call["without_kernel"])
      text += "  - " + names(map, {w["operator"]}) + ": " + w["reason"].get<std::string>() + "\n";
  }
  for (const auto& f : map["folded"])
    text += "- " + names(map, {f["operator"]}) + ": " + f["reason"].get<std::string>() + "\n";
  return text;
}

}  // namespace deuteron::test
