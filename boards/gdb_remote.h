// SPDX-License-Identifier: Apache-2.0
// The client's side of GDB's remote serial protocol, as far as running a program on a Cortex-M
// takes it: memory, registers, breakpoints, running, flash. Any server: OpenOCD, pyOCD, ST-LINK,
// J-Link, QEMU. Errors are those of its line (boards/gdb_line.h).
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "boards/gdb_line.h"

namespace deuteron {

struct FlashRegion {
  uint32_t base = 0, bytes = 0, block = 0;
};

class GdbRemote {
 public:
  enum class Stop : uint8_t { stopped, running, failed };

  bool connect(std::string_view address);    // "HOST:PORT"; stops the processor
  bool open_serial(std::string_view where);  // to an agent (boards/agent/deuteron_agent.h)
  bool is_serial() const { return line_.is_serial(); }
  const std::optional<GdbLine::Error>& error() { return line_.error(); }
  bool fail(std::string what, std::string rule, std::string fix = {}) {
    return line_.fail(std::move(what), std::move(rule), std::move(fix));
  }
  // For what is still to be done after an error that is not the line's; null: it is, or there is
  // none.
  std::optional<GdbLine::Error> take_error() {
    return line_.is_dead() ? std::nullopt : std::exchange(line_.error(), std::nullopt);
  }

  bool read(uint32_t address, std::span<uint8_t> bytes);
  bool write(uint32_t address, std::span<const uint8_t> bytes);  // RAM
  // The same bytes by the server's own checksum; nullopt: it has none, or an error.
  std::optional<bool> has_bytes(uint32_t address, std::span<const uint8_t> bytes);
  uint32_t program_at() const { return program_at_; }  // of an agent's firmware; 0: it has none
  std::optional<uint32_t> read_word(uint32_t address);
  std::optional<uint32_t> read_register(int number);
  bool write_register(int number, uint32_t value);
  int number_of_xpsr();
  bool set_breakpoint(uint32_t address);
  bool clear_breakpoint(uint32_t address);
  // Where it goes on when the process ends at once, without the breakpoint.
  void restart_when_released(uint32_t breakpoint, uint32_t address);
  void command(const std::string& text);  // to the server itself; whatever it says

  const std::vector<FlashRegion>& flash();  // of the server's memory map; empty: it has none
  bool write_flash(uint32_t address, std::span<const uint8_t> bytes);  // erases what it needs first

  bool resume();
  Stop wait(double seconds);  // for a stop; `running`: none yet, and the server lives
  bool interrupt();           // until it is stopped
  bool release();             // the server lets the processor run, and the connection ends

  bool is_running() const { return running_; }

 private:
  bool greet();
  bool request_ok(std::string_view payload, const std::string& what,
                  double patience_seconds = GdbLine::kSilence);
  std::optional<std::string> transfer(const std::string& object);  // "features:read:FILE"

  GdbLine line_;
  size_t packet_bytes_ = 400;
  bool running_ = false, breaks_in_hardware_ = true;
  uint32_t program_at_ = 0;
  int xpsr_ = -1;
  std::optional<std::vector<FlashRegion>> flash_;
};

}  // namespace deuteron
