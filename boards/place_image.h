// SPDX-License-Identifier: Apache-2.0
// The runner for a chip that no build knows: a relocatable object holds all of it (boards/probe);
// here it is linked for one program, with the kernels that this program calls, at the addresses
// where the chip has memory. No tool of the cross compiler is needed.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace deuteron {

struct ImagePlace {
  uint32_t code = 0,
           data = 0;  // where code and constants begin, and data; the same: one behind the other
  uint32_t stack_bytes = 0;
  bool has_profile = false;  // else what writes one is left out
};

struct PlacedImage {
  struct Piece {
    uint32_t address = 0;
    std::vector<uint8_t> bytes;
  };
  struct Function {
    uint32_t address = 0, bytes = 0;
    std::string name;
  };
  Piece code, data;  // what is written; behind `data` stand zeros and the stack, which the runner
                     // makes itself
  uint64_t code_end = 0, data_end = 0;  // the first bytes that are free; data_end is above code_end
                                        // when both lie together
  std::map<std::string, uint32_t, std::less<>> symbols;
  std::vector<Function> functions;

  uint32_t address_of(std::string_view symbol) const;
  void set_word(uint32_t address, uint32_t value);  // of the code or its constants
  std::string function_at(uint32_t address) const;  // "deuteron::conv2d_s8(...)+0x12", or ""
};

// `kernels`: the names of those that the program calls; what the runner has none of is left to its
// loader. nullopt, with what is wrong with the object: a fault of the build.
std::optional<PlacedImage> place_image(std::span<const uint8_t> object,
                                       std::span<const std::string> kernels,
                                       const ImagePlace& place, std::string& problem);

}  // namespace deuteron
