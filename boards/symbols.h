// SPDX-License-Identifier: Apache-2.0
// Which function of a board's image an address lies in, for messages about faults.
#pragma once
#include <cstdint>
#include <span>
#include <string>

namespace deuteron {

// "deuteron::conv2d_s8(...)+0x12", or "" when the image has no function there.
std::string function_at(std::span<const uint8_t> elf, uint32_t address);

std::string demangle(const std::string& name);

}  // namespace deuteron
