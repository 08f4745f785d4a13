// SPDX-License-Identifier: Apache-2.0
#include "emit/input_format.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace deuteron {
namespace {

constexpr std::string_view kMarker = "deuteron:u8=";
constexpr size_t kMostInputs = 256, kMostChannels = 4;

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
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
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

}  // namespace

std::vector<std::string> notes_of(const ByteInputs& inputs) {
  std::vector<std::string> notes;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i])
      notes.push_back(
          fmt::format("{}{};{};{};{}", kMarker, i, inputs[i]->scale, fmt::join(inputs[i]->mean, ","), fmt::join(inputs[i]->std, ",")));
  return notes;
}

void read_note(std::string_view note, ByteInputs& inputs) {
  if (!note.starts_with(kMarker)) return;
  note.remove_prefix(kMarker.size());
  const std::optional<size_t> input = number<size_t>(cut(note, ';'));
  const std::optional<float> scale = number<float>(cut(note, ';'));
  ImageMap map;
  if (!input || *input >= kMostInputs || !scale || !std::isfinite(*scale)) return;
  map.scale = *scale;
  if (!numbers(cut(note, ';'), map.mean) || !numbers(note, map.std)) return;
  for (const float s : map.std)
    if (s == 0) return;
  if (inputs.size() <= *input) inputs.resize(*input + 1);
  inputs[*input] = std::move(map);
}

}  // namespace deuteron
