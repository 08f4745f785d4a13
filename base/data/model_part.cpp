// SPDX-License-Identifier: Apache-2.0
#include "base/data/model_part.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace deuteron {
namespace {

constexpr size_t kNamesShown = 4;

// The names that hold the wanted one; else the last ones, which a part mostly ends with.
std::string advice(std::span<const NamedStep> steps, const std::string& wanted) {
  std::vector<std::string> near, last;
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    if (step->name.empty()) continue;
    if (near.size() < kNamesShown && step->name.find(wanted) != std::string::npos)
      near.push_back(step->name);
    if (last.size() < kNamesShown) last.push_back(step->name);
  }
  const std::vector<std::string>& names = near.empty() ? last : near;
  std::string text;
  for (const std::string& name : names)
    text += fmt::format("{}`{}`", text.empty() ? "" : ", ", name);
  return names.empty()
             ? ""
             : fmt::format("{}: {}",
                           near.empty() ? "its last operators" : "operators with such names", text);
}

struct Names {
  std::span<const NamedStep> steps;
  std::unordered_map<std::string, size_t> maker;      // by value
  std::unordered_map<std::string, size_t> operators;  // by name: the last one
  std::unordered_set<std::string> inputs;

  Names(std::span<const NamedStep> all, const std::vector<std::string>& model_inputs)
      : steps(all), inputs(model_inputs.begin(), model_inputs.end()) {
    for (size_t k = 0; k < all.size(); ++k) {
      if (!all[k].name.empty()) operators[all[k].name] = k;
      for (const std::string& value : all[k].outputs)
        if (!value.empty()) maker.try_emplace(value, k);
    }
  }

  // The values that a name stands for; empty: none.
  std::vector<std::string> values_of(const std::string& name) const {
    if (maker.contains(name) || inputs.contains(name)) return {name};
    const auto found = operators.find(name);
    return found == operators.end() ? std::vector<std::string>() : steps[found->second].outputs;
  }
};

}  // namespace

std::optional<CutModel> cut_model(std::span<const NamedStep> steps,
                                  const std::vector<std::string>& inputs,
                                  const std::vector<std::string>& outputs, const ModelPart& part,
                                  const std::string& model, Diagnostics& diagnostics) {
  const Names names(steps, inputs);
  bool good = true;
  const auto resolve = [&](const std::vector<std::string>& wanted, const char* option) {
    std::vector<std::string> values;
    for (const std::string& name : wanted) {
      const std::vector<std::string> found = names.values_of(name);
      if (found.empty()) {
        diagnostics.error(fmt::format("{}: {} {}", model, option, name),
                          "names no value and no operator of the model", "model.part.name",
                          advice(steps, name));
        good = false;
      }
      for (const std::string& value : found)
        if (!value.empty() && std::ranges::find(values, value) == values.end())
          values.push_back(value);
    }
    return values;
  };
  const std::vector<std::string> begins = resolve(part.inputs_at, "--inputs-at");
  CutModel cut{std::vector<bool>(steps.size()), begins,
               part.outputs_at.empty() ? outputs : resolve(part.outputs_at, "--outputs-at")};
  if (!good) return std::nullopt;
  const std::unordered_set<std::string> given(begins.begin(), begins.end());
  std::unordered_set<std::string> read;
  std::vector<std::string> waiting = cut.outputs;
  const auto keep = [&](size_t k) {
    if (cut.steps[k]) return;
    cut.steps[k] = true;
    waiting.insert(waiting.end(), steps[k].inputs.begin(), steps[k].inputs.end());
  };
  for (size_t k = 0; k < steps.size(); ++k)
    if (steps[k].has_effect) keep(k);
  while (!waiting.empty()) {
    const std::string value = std::move(waiting.back());
    waiting.pop_back();
    if (!read.insert(value).second || given.contains(value)) continue;
    if (const auto maker = names.maker.find(value); maker != names.maker.end()) keep(maker->second);
  }
  for (const std::string& value : begins)
    if (!read.contains(value)) {
      diagnostics.error(fmt::format("{}: --inputs-at {}", model, value),
                        "nothing that leads to the outputs reads it", "model.part.input",
                        "give outputs that it leads to: --outputs-at NAME");
      good = false;
    }
  for (const std::string& value : inputs)
    if (read.contains(value) && !given.contains(value)) cut.inputs.push_back(value);
  return good ? std::optional(std::move(cut)) : std::nullopt;
}

}  // namespace deuteron
