// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>

#include "write/firmware/c_program.h"

namespace deuteron {
namespace {

// Headers of C and C++ libraries, of Arduino's cores and of CMSIS that one of a model must not
// hide, and targets that CMake keeps for itself.
constexpr std::string_view kTaken[] = {"all",
                                       "alloca",
                                       "api",
                                       "arduino",
                                       "arm_acle",
                                       "arm_math",
                                       "arm_mve",
                                       "assert",
                                       "atomic",
                                       "binary",
                                       "byteswap",
                                       "can",
                                       "clean",
                                       "client",
                                       "cmsis_compiler",
                                       "cmsis_gcc",
                                       "cmsis_os",
                                       "common",
                                       "compat",
                                       "complex",
                                       "ctype",
                                       "edit_cache",
                                       "eeprom",
                                       "elf",
                                       "endian",
                                       "errno",
                                       "ethernet",
                                       "features",
                                       "fenv",
                                       "filesystem",
                                       "float",
                                       "hardwarecan",
                                       "hardwarei2c",
                                       "hardwareserial",
                                       "hardwarespi",
                                       "help",
                                       "install",
                                       "inttypes",
                                       "ipaddress",
                                       "iso646",
                                       "keyboard",
                                       "limits",
                                       "list_install_components",
                                       "locale",
                                       "machine",
                                       "malloc",
                                       "math",
                                       "memory",
                                       "mouse",
                                       "new",
                                       "newlib",
                                       "package",
                                       "pgmspace",
                                       "pins_arduino",
                                       "pluggableusb",
                                       "poll",
                                       "preinstall",
                                       "print",
                                       "printable",
                                       "pthread",
                                       "rebuild_cache",
                                       "reent",
                                       "regex",
                                       "ringbuffer",
                                       "sched",
                                       "sd",
                                       "search",
                                       "select",
                                       "serial",
                                       "server",
                                       "servo",
                                       "setjmp",
                                       "signal",
                                       "spi",
                                       "stdalign",
                                       "stdarg",
                                       "stdatomic",
                                       "stdbool",
                                       "stddef",
                                       "stdint",
                                       "stdio",
                                       "stdlib",
                                       "stdnoreturn",
                                       "stream",
                                       "string",
                                       "string_view",
                                       "strings",
                                       "sys",
                                       "test",
                                       "tgmath",
                                       "threads",
                                       "time",
                                       "tuple",
                                       "uchar",
                                       "udp",
                                       "unistd",
                                       "usb",
                                       "usbapi",
                                       "usbcore",
                                       "usbdesc",
                                       "utility",
                                       "variant",
                                       "vector",
                                       "version",
                                       "wchar",
                                       "wcharacter",
                                       "wctype",
                                       "wdt",
                                       "wifi",
                                       "wire",
                                       "wiring",
                                       "wiring_analog",
                                       "wiring_constants",
                                       "wiring_digital",
                                       "wiring_private",
                                       "wiring_shift",
                                       "wmath",
                                       "wstring",
                                       "zephyr"};
constexpr size_t kLongestName = 48;

bool is_taken(std::string_view name) {
  std::string lower(name);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return std::ranges::find(kTaken, lower) != std::end(kTaken) || lower.starts_with("deuteron") ||
         lower.starts_with("neutron");
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

bool is_c_name(std::string_view text) {
  return !text.empty() && text.size() <= kLongestName && is_letter(text[0]) && !is_taken(text) &&
         std::ranges::all_of(text, [](char c) { return is_letter(c) || is_digit(c) || c == '_'; });
}

std::string c_name(std::string_view text) {
  std::string name;
  for (const char c : text.substr(0, kLongestName - 6))
    name += is_letter(c) || is_digit(c) ? c : '_';
  while (!name.empty() && name.front() == '_') name.erase(0, 1);
  while (!name.empty() && name.back() == '_') name.pop_back();
  if (name.empty()) return "model";
  return is_c_name(name) ? name : "model_" + name;
}

}  // namespace deuteron
