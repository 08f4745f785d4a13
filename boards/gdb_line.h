// SPDX-License-Identifier: Apache-2.0
// The line to a GDB server: packets with their sums and acknowledgements. What it loses, doubles or
// flips is asked for again; a request that is answered by silence for 5 s is an error. The first
// error stays, and all that is asked afterwards fails at once. One thread.
#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace deuteron {

class GdbLine {
 public:
  using Clock = std::chrono::steady_clock;
  enum class Got : uint8_t { packet, nothing, closed };
  struct Error {
    std::string what, rule, fix;
  };

  GdbLine() = default;
  GdbLine(const GdbLine&) = delete;
  GdbLine& operator=(const GdbLine&) = delete;
  ~GdbLine();

  bool connect(const std::string& host, const std::string& port);
  bool open_serial(std::string_view where);  // for boards/agent/deuteron_agent.h
  bool is_serial() const { return is_serial_; }
  const char* peer() const { return is_serial_ ? "agent" : "GDB server"; }
  bool is_open() const { return socket_ >= 0; }
  void leave_processor();  // it no longer stands for us
  std::optional<Error>& error() { return error_; }
  bool fail(std::string what, std::string rule, std::string fix = {});  // false
  bool lost();                                                          // false
  bool is_dead() const { return is_dead_; }  // the error is the line's: nothing more comes over it

  std::optional<std::string> request(std::string_view payload, double patience_seconds = kSilence);
  // What is answered only when it pleases the processor: sent, and received.
  bool send_packet(std::string_view payload);
  Got receive(std::string& payload, Clock::time_point until, bool needs_ack);
  bool send_until_acked(std::string_view payload);  // false: nobody has acknowledged it
  bool was_refused();  // the packet that was sent last came spoilt; asked once
  bool send_bytes(std::string_view bytes);
  void forget_input() { buffer_.clear(), at_ = 0; }

  static constexpr double kSilence = 5;            // seconds
  static constexpr size_t kLargestPacket = 16384;  // what we send at most, whatever a server takes

 private:
  int next_byte(Clock::time_point until);  // -1: none until then, -2: closed
  void discard_until_quiet(int milliseconds);
  bool no_answer(double seconds);

  int socket_ = -1;  // or the terminal
  bool is_serial_ = false;
  std::string buffer_, junk_;  // what has come; what was no packet
  size_t at_ = 0;
  bool acked_ = false, refused_ = false, has_answered_ = false, is_dead_ = false;
  std::optional<Error> error_;
};

// "serial:DEVICE,BAUD", for us alone, as it is: no echo, no lines. -1: the error says why not.
struct SerialPort {
  int file = -1;
  GdbLine::Error error;
};
SerialPort open_serial_port(std::string_view where);

GdbLine::Clock::duration to_duration(double seconds);

// For when the process ends at once: a processor that was stopped for it runs again, after these
// packets. Safe in any thread.
void release_stopped_processors();
void before_release(std::string_view packets);  // as they go over the line; at most 64 bytes
std::string packet_of(std::string_view payload);

}  // namespace deuteron
