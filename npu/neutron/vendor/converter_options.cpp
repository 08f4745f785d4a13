// SPDX-License-Identifier: Apache-2.0
// See converter_options.h.
#include "npu/neutron/vendor/converter_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace deuteron::neutron {
namespace {

constexpr std::array<std::string_view, 2> kOurs = {"input",
                                                   "output"};  // the files of the conversion

bool is_upper(char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; }

// "fetchConstantsToSRAM" -> "fetch-constants-to-sram"
std::string with_hyphens(std::string_view name) {
  std::string text;
  for (size_t i = 0; i < name.size(); ++i) {
    if (is_upper(name[i]) && i > 0 && !is_upper(name[i - 1]) && name[i - 1] != '-') text += '-';
    text += static_cast<char>(std::tolower(static_cast<unsigned char>(name[i])));
  }
  return text;
}

}  // namespace

std::optional<ConverterOption> read_converter_option(std::string_view text,
                                                     Diagnostics& diagnostics) {
  const size_t equals = text.find('=');
  std::string_view name = text.substr(0, equals);
  while (name.starts_with('-')) name.remove_prefix(1);
  const auto fail = [&](std::string what) {
    diagnostics.error(
        fmt::format("--neutron-option {}", text), std::move(what), "neutron.external.option",
        "give NAME=VALUE with a name of the converter's options, as `minNumOpsPerGraph=1`");
    return std::nullopt;
  };
  const bool is_name = !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return std::isalnum(c) || c == '-' || c == '_';
  });
  if (!is_name) return fail("no name of an option stands before the `=`");
  if (std::find(kOurs.begin(), kOurs.end(), with_hyphens(name)) != kOurs.end())
    return fail("the compiler itself says which files the converter reads and writes");
  return ConverterOption{std::string(name), equals == std::string_view::npos
                                                ? "true"
                                                : std::string(text.substr(equals + 1))};
}

std::vector<ConverterOption> default_converter_options() {
  return {{"minNumOpsPerGraph", "1"},
          {"excludeGraphPasses", "HoistSliceAboveTranspose,MergeTranspose"},
          {"dumpAfterImport", "console"},
          {"dumpAfterGenerate", "console"},
          {"verbose", "true"},
          {"dumpMicrocode", "true"}};
}

void set_option(std::vector<ConverterOption>& options, const ConverterOption& option) {
  const auto same = [&](const ConverterOption& o) {
    return with_hyphens(o.name) == with_hyphens(option.name);
  };
  const auto at = std::find_if(options.begin(), options.end(), same);
  if (at == options.end()) options.push_back(option);
  else *at = option;
}

std::vector<std::string> arguments_of(std::span<const ConverterOption> options) {
  std::vector<std::string> arguments;
  for (const ConverterOption& o : options) {
    if (o.value == "false") continue;
    arguments.push_back("--" + with_hyphens(o.name));
    if (o.value != "true") arguments.push_back(o.value);
  }
  return arguments;
}

}  // namespace deuteron::neutron
