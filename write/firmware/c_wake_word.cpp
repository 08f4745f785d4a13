// SPDX-License-Identifier: Apache-2.0
// The numbers of the streaming wake word's front end
// (write/firmware/mlperf_tiny/mlperf_tiny_front_end.c), for the steps of a model's input.
#include "write/firmware/c_wake_word.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace deuteron {
namespace {

constexpr int kBins = 512, kFilters = 40;  // of the spectrum below 8 kHz; of the mel scale there
constexpr double kNyquist = 8000;

std::string table(std::string_view type, std::string_view name, const std::vector<int64_t>& v) {
  std::string text = fmt::format("static const {} {}[{}] = {{", type, name, v.size());
  for (size_t k = 0; k < v.size(); k++)
    text += fmt::format("{}{},", k % 12 == 0 ? "\n  " : " ", v[k]);
  return text + "\n};\n";
}

int64_t rounded(double v) { return std::llround(v); }

// As TensorFlow's linear_to_mel_weight_matrix has it.
double mel_of(double hertz) { return 1127 * std::log(1 + hertz / 700); }

std::string function_tables() {
  std::vector<int64_t> wave, logs;
  for (int t = 0; t <= 256; t++)
    wave.push_back(rounded(std::ldexp(std::cos(2 * std::numbers::pi * t / 1024), 30)));
  for (int k = 0; k <= 64; k++) logs.push_back(rounded(32768 * std::log2(1 + k / 64.0)));
  return "/* Cosines, 2^30 is 1. */\n" + table("int32_t", "quarter_wave", wave) +
         "/* Logarithms of 1 to 2, 2^15 is 1. */\n" + table("uint16_t", "log2_steps", logs);
}

std::string mel_tables() {
  const double width = mel_of(kNyquist) / (kFilters + 1);
  std::vector<int64_t> edges(kFilters + 2, 1), rises;
  for (int k = 1; k < kBins; k++) {
    const double place = mel_of(k * kNyquist / kBins) / width, edge = std::floor(place);
    rises.push_back(rounded(32768 * (place - edge)));
    for (size_t m = static_cast<size_t>(edge) + 1; m < edges.size(); m++) edges[m] = k + 1;
  }
  return "/* The first line of the spectrum at or above each edge of the filters. */\n" +
         table("uint16_t", "mel_edge", edges) +
         "/* Of lines 1 to 511: the filter that rises there, 2^15 is 1. */\n" +
         table("uint16_t", "mel_rise", rises);
}

}  // namespace

std::string wake_word_tables(const CPort& input) {
  const double decibels = 10 * std::log10(2.0), scale = *input.scale;
  const double at_one = 52 - 49 * decibels;  // of what is summed there, 2^49 is 1
  const double most = std::min(127.0, std::trunc(1 / scale + input.zero));
  return fmt::format(
             "/* The front end's numbers, for steps of {:.9g}, zero point {}. */\n#define "
             "FEATURE_GAIN {}\n#define FEATURE_OFFSET ({})\n#define FEATURE_LEAST ({})\n#define "
             "FEATURE_MOST ({})\n",
             scale, input.zero, rounded(std::ldexp(decibels / 64 / scale, 20)),
             rounded(std::ldexp(at_one / 64 / scale + input.zero, 16)), input.zero * 65536,
             rounded(std::ldexp(most, 16))) +
         function_tables() + mel_tables();
}

}  // namespace deuteron
