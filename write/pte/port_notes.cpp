// SPDX-License-Identifier: Apache-2.0
#include "write/pte/port_notes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace deuteron {
namespace {

constexpr std::string_view kBytes = "deuteron:u8=", kSteps = "deuteron:steps=";
constexpr size_t kMostPorts = 256, kMostChannels = 4;

// The text up to the mark, which is taken off.
std::string_view cut(std::string_view& text, char mark) {
  const std::string_view part = text.substr(0, text.find(mark));
  text.remove_prefix(std::min(text.size(), part.size() + 1));
  return part;
}

template <class T>
std::optional<T> number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value)
                                                                  : std::nullopt;
}

// False for what is no list of so many finite numbers.
bool numbers(std::string_view text, std::vector<float>& list) {
  while (!text.empty()) {
    const std::optional<float> v = number<float>(cut(text, ','));
    if (!v || !std::isfinite(*v) || list.size() == kMostChannels) return false;
    list.push_back(*v);
  }
  return true;
}

// Empty: no port has steps.
std::string steps_of(const Graph& graph, std::span<const Port> ports) {
  std::string text;
  bool has_any = false;
  for (const Port& port : ports) {
    const Type& type = graph.type(port.value);
    const bool has_steps = (type.dtype == DType::s8 || type.dtype == DType::s16) &&
                           !type.quant.empty() && !type.quant.per_channel();
    if (has_steps) text += fmt::format("{}:{}", type.quant.scale[0], type.quant.zero_point[0]);
    text += ',';
    has_any |= has_steps;
  }
  if (!text.empty()) text.pop_back();
  return has_any ? text : "";
}

void read_steps(std::string_view list, std::vector<Quant>& ports) {
  while (!list.empty() && ports.size() < kMostPorts) {
    std::string_view port = cut(list, ',');
    const std::optional<float> scale = number<float>(cut(port, ':'));
    const std::optional<i32> zero_point = number<i32>(port);
    ports.push_back(scale && std::isnormal(*scale) && *scale > 0 && zero_point
                        ? per_tensor(*scale, *zero_point)
                        : Quant{});
  }
}

void read_bytes(std::string_view note, ByteInputs& inputs) {
  const std::optional<size_t> input = number<size_t>(cut(note, ';'));
  const std::optional<float> scale = number<float>(cut(note, ';'));
  ImageMap map;
  if (!input || *input >= kMostPorts || !scale || !std::isfinite(*scale)) return;
  map.scale = *scale;
  if (!numbers(cut(note, ';'), map.mean) || !numbers(note, map.std)) return;
  for (const float s : map.std)
    if (s == 0) return;
  if (inputs.size() <= *input) inputs.resize(*input + 1);
  inputs[*input] = std::move(map);
}

}  // namespace

std::vector<std::string> notes_of(const Graph& graph, const ByteInputs& inputs) {
  std::vector<std::string> notes;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i])
      notes.push_back(fmt::format("{}{};{};{};{}", kBytes, i, inputs[i]->scale,
                                  fmt::join(inputs[i]->mean, ","), fmt::join(inputs[i]->std, ",")));
  const std::string in = steps_of(graph, graph.user_inputs()),
                    out = steps_of(graph, graph.user_outputs());
  if (!in.empty() || !out.empty()) notes.push_back(fmt::format("{}{}>{}", kSteps, in, out));
  return notes;
}

void read_note(std::string_view note, PortNotes& notes) {
  if (note.starts_with(kBytes)) read_bytes(note.substr(kBytes.size()), notes.byte_inputs);
  if (!note.starts_with(kSteps)) return;
  note.remove_prefix(kSteps.size());
  read_steps(cut(note, '>'), notes.input_steps);
  read_steps(note, notes.output_steps);
}

}  // namespace deuteron
