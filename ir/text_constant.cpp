// SPDX-License-Identifier: Apache-2.0
#include "ir/text_constant.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "base/split_mix64.h"

namespace deuteron {

static bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_plain_name(std::string_view name) {
  static constexpr std::array<std::string_view, 11> kWords = {"graph", "source", "input", "output",
                                                              "state", "folded", "const", "random",
                                                              "call",  "from",   "none"};
  if (name.empty() || !is_letter(name[0]) ||
      std::find(kWords.begin(), kWords.end(), name) != kWords.end())
    return false;
  return std::all_of(name.begin(), name.end(),
                     [](char c) { return is_letter(c) || is_digit(c) || c == '.'; });
}

std::string in_quotes(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += {'\\', c};
    else if (c == '\n') result += "\\n";
    else if (c == '\t') result += "\\t";
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      result += fmt::format("\\x{:02x}", static_cast<unsigned>(c));
    else result += c;
  }
  return result + "\"";
}

std::string name_text(std::string_view name) {
  return is_plain_name(name) ? std::string(name) : in_quotes(name);
}

// FNV-1a, cut to six digits so that a line stays readable.
uint64_t seed_of(std::string_view name) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash % 1'000'000;
}

// One element as the low bytes of a word.
static uint64_t random_element(DType dtype, uint64_t bits) {
  const float unit = static_cast<float>(static_cast<i64>(bits >> 40) - (1 << 23)) * 0x1p-23f;
  switch (dtype) {
    case DType::f32:
      return std::bit_cast<uint32_t>(unit);
    case DType::f64:
      return std::bit_cast<uint64_t>(static_cast<double>(unit));
    case DType::bf16:
      return std::bit_cast<uint32_t>(unit) >> 16;
    case DType::f16:
      return (bits & 0x83ff) | 0x3800;  // exponent of 0.5..1
    case DType::s32:
    case DType::s64:
      return static_cast<uint64_t>(static_cast<i64>(bits % 2001) - 1000);
    case DType::b8:
      return bits & 1;
    default:
      return bits;
  }
}

Constant random_constant(const Type& type, uint64_t seed) {
  const auto width = static_cast<size_t>(bytes_of(type.dtype));
  std::vector<std::byte> bytes(static_cast<size_t>(type.bytes()));
  uint64_t state = seed;
  for (size_t at = 0; at < bytes.size(); at += width) {
    const uint64_t element = random_element(type.dtype, split_mix64(state));
    std::memcpy(bytes.data() + at, &element, width);
  }
  return constant_of_bytes(bytes);
}

static constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";  // RFC 4648, section 4

std::string base64(std::span<const std::byte> bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t at = 0; at < bytes.size(); at += 3) {
    uint32_t group = 0;
    for (size_t k = 0; k < 3; ++k)
      group = group << 8 | (at + k < bytes.size() ? static_cast<uint32_t>(bytes[at + k]) : 0);
    const size_t used = std::min<size_t>(3, bytes.size() - at) + 1;
    for (size_t k = 0; k < 4; ++k) text += k < used ? kDigits[group >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

std::optional<std::vector<std::byte>> from_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::vector<std::byte> bytes;
  bytes.reserve(text.size() / 4 * 3);
  for (size_t at = 0; at < text.size(); at += 4) {
    const bool last = at + 4 == text.size();
    const size_t padding = last && text[at + 3] == '=' ? (text[at + 2] == '=' ? 2 : 1) : 0;
    uint32_t group = 0;
    for (size_t k = 0; k < 4; ++k) {
      const size_t digit = k < 4 - padding ? kDigits.find(text[at + k]) : 0;
      if (digit == std::string_view::npos) return std::nullopt;
      group = group << 6 | static_cast<uint32_t>(digit);
    }
    for (size_t k = 0; k < 3 - padding; ++k)
      bytes.push_back(static_cast<std::byte>(group >> (16 - 8 * k) & 255));
  }
  return bytes;
}

Constant constant_of_bytes(std::span<const std::byte> bytes) {
  auto owner = std::make_shared<std::vector<uint64_t>>((bytes.size() + 7) / 8);
  if (!bytes.empty()) std::memcpy(owner->data(), bytes.data(), bytes.size());
  const std::span<const std::byte> view =
      std::as_bytes(std::span<const uint64_t>(*owner)).first(bytes.size());
  return {std::move(owner), view};
}

}  // namespace deuteron
