// SPDX-License-Identifier: Apache-2.0
// Numbers: Arm, "Semihosting for AArch32 and AArch64", 2.0.
#include "boards/runner_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace deuteron {
namespace {

constexpr uint32_t kLargest = 1u << 28;

uint32_t argument_of(std::span<const uint8_t> bytes, size_t k) {
  uint32_t v;
  std::memcpy(&v, bytes.data() + 4 * k, 4);
  return v;
}

}  // namespace

std::optional<uint32_t> RunnerCalls::answer(uint32_t number, uint32_t block) {
  uint32_t answer = 0;
  progress = false;
  uint8_t words[12] = {};
  constexpr uint32_t kOpen = 0x01, kWrite0 = 0x04, kWrite = 0x05, kRead = 0x06,
                     kGetCommandLine = 0x15, kExit = 0x20;
  const auto size_of_block = [&] {
    return number == kGetCommandLine || number == kExit ? 8u : 12u;
  };
  if (number != kWrite0 && !memory_.fetch(block, std::span(words).first(size_of_block())))
    return std::nullopt;
  const uint32_t first = argument_of(words, 0), second = argument_of(words, 1),
                 third = argument_of(words, 2);
  switch (number) {
    case kOpen: {
      uint8_t name = 0;  // one letter each: J, O, P
      if (!memory_.fetch(first, {&name, 1})) return std::nullopt;
      answer = name;
      break;
    }
    case kWrite0: {
      const std::optional<std::string> text = memory_.read_text(block);
      if (!text) return std::nullopt;
      progress = on_line_(*text);
      break;
    }
    case kWrite: {
      std::vector<uint8_t>& file = first == 'P' ? profile : outputs;
      const size_t before = file.size();
      if (third > kLargest)
        return gdb_.fail(fmt::format("the runner writes {} bytes at once", third),
                         "board.incomplete"),
               std::nullopt;
      file.resize(before + third);
      if (!memory_.fetch(second, std::span(file).subspan(before))) return std::nullopt;
      break;
    }
    case kRead: {
      const size_t bytes = std::min<size_t>(third, job.size() - read_);
      if (!memory_.put(second, std::span(job).subspan(read_, bytes))) return std::nullopt;
      read_ += bytes;
      answer = third - static_cast<uint32_t>(bytes);
      break;
    }
    case kGetCommandLine: {
      constexpr uint8_t kFiles[] = "J O P";
      if (second < sizeof kFiles || !memory_.put(first, kFiles)) return std::nullopt;
      break;
    }
    case kExit:
      end = static_cast<BoardExit>(second);
      break;
    default:
      return gdb_.fail(fmt::format("the runner asks for {:#x}, which nobody knows", number),
                       "board.incomplete"),
             std::nullopt;
  }
  return answer;
}

}  // namespace deuteron
