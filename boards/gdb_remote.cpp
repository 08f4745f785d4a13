// SPDX-License-Identifier: Apache-2.0
// See gdb_remote.h. Source: "Debugging with GDB", appendix E: the remote serial protocol.
#include "boards/gdb_remote.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace deuteron {
namespace {

constexpr uint32_t kAgentVersion = 1;  // boards/agent/deuteron_agent.h

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}
std::string to_hex(std::span<const uint8_t> bytes) {
  std::string text;
  for (const uint8_t b : bytes)
    text += "0123456789abcdef"[b >> 4], text += "0123456789abcdef"[b & 15];
  return text;
}
bool from_hex(std::string_view text, std::span<uint8_t> bytes) {
  if (text.size() != 2 * bytes.size()) return false;
  for (size_t k = 0; k < bytes.size(); k++) {
    const int high = digit(text[2 * k]), low = digit(text[2 * k + 1]);
    if (high < 0 || low < 0) return false;
    bytes[k] = static_cast<uint8_t>(high << 4 | low);
  }
  return true;
}
std::span<const uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

std::array<uint8_t, 4> bytes_of_word(uint32_t v) {
  return {static_cast<uint8_t>(v), static_cast<uint8_t>(v >> 8), static_cast<uint8_t>(v >> 16),
          static_cast<uint8_t>(v >> 24)};
}

std::string pack(std::span<const uint8_t> bytes) {
  std::string text;
  for (const uint8_t b : bytes) {
    if (b == '#' || b == '$' || b == '}' || b == '*')
      text += '}', text += static_cast<char>(b ^ 0x20);
    else text += static_cast<char>(b);
  }
  return text;
}

// The value of name="..." or name='...' in an XML element.
std::string attribute(std::string_view element, std::string_view name) {
  for (size_t at = element.find(name); at != element.npos; at = element.find(name, at + 1)) {
    const size_t quote = at + name.size() + 1;
    if (quote >= element.size() || element[quote - 1] != '=' || (at > 0 && element[at - 1] != ' '))
      continue;
    const size_t end = element.find(element[quote], quote + 1);
    if (end != element.npos) return std::string(element.substr(quote + 1, end - quote - 1));
  }
  return {};
}
uint32_t number_in(std::string text) {
  int base = 10;
  if (text.starts_with("0x")) base = 16, text.erase(0, 2);
  uint32_t v = 0;
  std::from_chars(text.data(), text.data() + text.size(), v, base);
  return v;
}

}  // namespace

bool GdbRemote::request_ok(std::string_view payload, const std::string& what,
                           double patience_seconds) {
  const std::optional<std::string> reply = line_.request(payload, patience_seconds);
  if (!reply) return false;
  if (*reply == "OK") return true;
  return line_.fail(fmt::format("the GDB server refuses to {}: it answers `{}`", what, *reply),
                    "gdb.refused", "look at the server's own messages");
}

bool GdbRemote::connect(std::string_view address) {
  const size_t colon = address.rfind(':');
  std::string host(address.substr(0, colon));
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  const std::string port(address.substr(colon + 1));
  return line_.connect(host.empty() ? "localhost" : host, port) && greet();
}

bool GdbRemote::open_serial(std::string_view where) { return line_.open_serial(where) && greet(); }

bool GdbRemote::greet() {
  const std::optional<std::string> features =
      line_.request("qSupported:xmlRegisters=arm;qXfer:features:read+;qXfer:memory-map:read+");
  if (!features) return false;
  if (const size_t at = features->find("PacketSize="); at != features->npos)
    packet_bytes_ = std::clamp<size_t>(
        number_in("0x" + features->substr(at + 11, features->find(';', at) - at - 11)), 64,
        GdbLine::kLargestPacket);
  if (line_.is_serial()) {
    const size_t at = features->find("agent=");
    const uint32_t version = at == features->npos ? 0 : number_in(features->substr(at + 6));
    if (version != kAgentVersion)
      return line_.fail(
          fmt::format("the firmware there has deuteron_agent.h of version {}, and this program "
                      "speaks version {}",
                      version, kAgentVersion),
          "serial.version", "build the firmware with the header that came with this program");
    if (const size_t program = features->find("program="); program != features->npos)
      program_at_ = number_in("0x" + features->substr(program + 8));
  }
  const std::optional<std::string> state = line_.request("?");
  if (!state) return false;
  if (state->starts_with('E') || state->starts_with('W') || state->starts_with('X'))
    return line_.fail(
        fmt::format("the GDB server has no processor that can be stopped: it answers `{}`", *state),
        "gdb.state", "look at the server's own messages");
  running_ = state->empty();
  return !running_ || interrupt();
}

bool GdbRemote::read(uint32_t address, std::span<uint8_t> bytes) {
  while (!bytes.empty()) {
    const std::span<uint8_t> piece = bytes.first(std::min(bytes.size(), (packet_bytes_ - 16) / 2));
    int tries = 0;
    for (;; tries++) {
      const std::optional<std::string> reply =
          line_.request(fmt::format("m{:x},{:x}", address, piece.size()));
      if (!reply) return false;
      if (from_hex(*reply, piece)) break;
      if (tries < 2 && !reply->starts_with('E')) continue;  // fewer bytes than asked for
      return line_.fail(fmt::format("the {} cannot read {} bytes at {:#010x}: it answers `{}`",
                                    line_.peer(), piece.size(), address, reply->substr(0, 20)),
                        "gdb.read", "is there memory (`--memory`), and is the chip unlocked?");
    }
    address += static_cast<uint32_t>(piece.size());
    bytes = bytes.subspan(piece.size());
  }
  return true;
}

// An agent takes bytes as they are, up to a packet when all of them have to be marked; other
// servers may not.
bool GdbRemote::write(uint32_t address, std::span<const uint8_t> bytes) {
  const bool packs = line_.is_serial();
  while (!bytes.empty()) {
    size_t count = std::min(bytes.size(), (packet_bytes_ - 32) / (packs ? 1 : 2));
    while (packs && pack(bytes.first(count)).size() > packet_bytes_ - 32) count--;
    const std::span<const uint8_t> piece = bytes.first(count);
    const std::string packet = fmt::format("{}{:x},{:x}:{}", packs ? 'X' : 'M', address,
                                           piece.size(), packs ? pack(piece) : to_hex(piece));
    std::optional<std::string> reply = line_.request(packet);
    // A zero that is lost or doubled leaves the sum as it is; the agent counts and refuses.
    for (int tries = 0; packs && reply && *reply != "OK" && tries < 3; tries++)
      reply = line_.request(packet);
    if (!reply) return false;
    if (*reply != "OK")
      return line_.fail(fmt::format("the {} cannot write {} bytes at {:#010x}: it answers `{}`",
                                    line_.peer(), piece.size(), address, reply->substr(0, 20)),
                        "gdb.write", "is there RAM (`--memory`), and is the chip unlocked?");
    address += static_cast<uint32_t>(piece.size());
    bytes = bytes.subspan(piece.size());
  }
  return true;
}

// Of servers on a host only those that compute it on the chip have it, in RAM that may be ours:
// agents alone are asked.
std::optional<bool> GdbRemote::has_bytes(uint32_t address, std::span<const uint8_t> bytes) {
  if (!line_.is_serial()) return std::nullopt;
  const std::optional<std::string> reply =
      line_.request(fmt::format("qCRC:{:x},{:x}", address, bytes.size()));
  if (!reply || !reply->starts_with('C')) return std::nullopt;
  uint32_t crc = 0xffffffff;
  for (const uint8_t b : bytes) {
    crc ^= static_cast<uint32_t>(b) << 24;
    for (int bit = 0; bit < 8; bit++) crc = crc << 1 ^ (crc >> 31 ? 0x04c11db7u : 0u);
  }
  return number_in("0x" + reply->substr(1)) == crc;
}

std::optional<uint32_t> GdbRemote::read_word(uint32_t address) {
  uint8_t b[4];
  if (!read(address, b)) return std::nullopt;
  return b[0] | b[1] << 8 | b[2] << 16 | static_cast<uint32_t>(b[3]) << 24;
}

std::optional<uint32_t> GdbRemote::read_register(int number) {
  number_of_xpsr();  // some servers give single registers only to those who have asked for their
                     // description
  std::optional<std::string> reply = line_.request(fmt::format("p{:x}", number));
  if (reply && reply->empty() && number < 16 && (reply = line_.request("g")) &&
      reply->size() >= 128)
    reply = reply->substr(static_cast<size_t>(8 * number), 8);
  uint8_t b[4];
  if (!reply) return std::nullopt;
  if (!from_hex(reply->substr(0, 8), b))
    return line_.fail(fmt::format("the GDB server gives no register {}: `{}`", number, *reply),
                      "gdb.register"),
           std::nullopt;
  return b[0] | b[1] << 8 | b[2] << 16 | static_cast<uint32_t>(b[3]) << 24;
}

bool GdbRemote::write_register(int number, uint32_t value) {
  const std::array<uint8_t, 4> b = bytes_of_word(value);
  const std::optional<std::string> reply =
      line_.request(fmt::format("P{:x}={}", number, to_hex(b)));
  if (!reply) return false;
  if (*reply == "OK") return true;
  if (!reply->empty() || number > 15)
    return line_.fail(fmt::format("the GDB server does not set register {}: `{}`", number, *reply),
                      "gdb.register");
  std::optional<std::string> all = line_.request("g");
  if (!all || all->size() < 128)
    return line_.fail("the GDB server gives no registers", "gdb.register");
  all->replace(static_cast<size_t>(8 * number), 8, to_hex(b));
  return request_ok("G" + *all, "set the registers");
}

std::optional<std::string> GdbRemote::transfer(const std::string& object) {
  std::string text;
  for (;;) {
    const std::optional<std::string> reply =
        line_.request(fmt::format("qXfer:{}:{:x},{:x}", object, text.size(), packet_bytes_ - 16));
    if (!reply || reply->empty() || ((*reply)[0] != 'm' && (*reply)[0] != 'l')) return std::nullopt;
    text += reply->substr(1);
    if ((*reply)[0] == 'l' || text.size() > 1 << 20) return text;
  }
}

// Registers are numbered in order, across the files that are included, where they do not say it
// themselves.
int GdbRemote::number_of_xpsr() {
  if (xpsr_ >= 0) return xpsr_;
  xpsr_ = 25;  // what servers without a description have it as
  std::string text = transfer("features:read:target.xml").value_or("");
  for (size_t at = text.find("<xi:include"); at != text.npos;
       at = text.find("<xi:include", at + 1)) {
    const size_t end = text.find('>', at);
    if (end == text.npos) break;
    const std::string file = attribute(std::string_view(text).substr(at, end - at), "href");
    text.insert(end + 1, transfer("features:read:" + file).value_or(""));
  }
  int next = 0;
  for (size_t at = text.find("<reg "); at != text.npos; at = text.find("<reg ", at + 1)) {
    const std::string element = text.substr(at, text.find('>', at) - at),
                      number = attribute(element, "regnum");
    if (!number.empty()) next = static_cast<int>(number_in(number));
    std::string name = attribute(element, "name");
    std::ranges::transform(name, name.begin(), [](char c) {
      return static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
    });
    if (name == "xpsr") return xpsr_ = next;
    next++;
  }
  return xpsr_;
}

bool GdbRemote::set_breakpoint(uint32_t address) {
  for (const char kind : {'1', '0'}) {
    const std::optional<std::string> reply =
        line_.request(fmt::format("Z{},{:x},2", kind, address));
    if (!reply) return false;
    breaks_in_hardware_ = kind == '1';
    if (*reply == "OK") return true;
  }
  return line_.fail("the GDB server sets no breakpoint", "gdb.breakpoint",
                    "the chip may have none left: end other debuggers");
}

bool GdbRemote::clear_breakpoint(uint32_t address) {
  return line_.request(fmt::format("z{},{:x},2", breaks_in_hardware_ ? '1' : '0', address))
      .has_value();
}

void GdbRemote::restart_when_released(uint32_t breakpoint, uint32_t address) {
  constexpr int kPc = 15;
  before_release('+' +
                 packet_of(fmt::format("z{},{:x},2", breaks_in_hardware_ ? '1' : '0', breakpoint)) +
                 '+' + packet_of(fmt::format("P{:x}={}", kPc, to_hex(bytes_of_word(address)))));
}

void GdbRemote::command(const std::string& text) {
  line_.request("qRcmd," + to_hex(bytes_of(text)), 10);
}

const std::vector<FlashRegion>& GdbRemote::flash() {
  if (flash_) return *flash_;
  flash_.emplace();
  const std::string text = transfer("memory-map:read:").value_or("");
  for (size_t at = text.find("<memory "); at != text.npos; at = text.find("<memory ", at + 1)) {
    const std::string_view element = std::string_view(text).substr(at, text.find('>', at) - at);
    if (attribute(element, "type") != "flash") continue;
    const size_t end = text.find("</memory>", at), block = text.find("blocksize", at);
    FlashRegion r{number_in(attribute(element, "start")), number_in(attribute(element, "length")),
                  0};
    if (block != text.npos && block < end)
      r.block =
          number_in(text.substr(text.find('>', block) + 1,
                                text.find('<', text.find('>', block)) - text.find('>', block) - 1));
    if (r.block == 0) r.block = 4096;
    flash_->push_back(r);
  }
  return *flash_;
}

bool GdbRemote::write_flash(uint32_t address, std::span<const uint8_t> bytes) {
  const auto region = std::ranges::find_if(flash(), [&](const FlashRegion& r) {
    return address >= r.base && address - r.base < r.bytes;
  });
  if (line_.error()) return false;
  if (region == flash().end())
    return write(address, bytes);  // no map of memories: what it wrote is read back by the caller
  const uint32_t from = address - (address - region->base) % region->block;
  const uint64_t length =
      (uint64_t{address} + bytes.size() - from + region->block - 1) / region->block * region->block;
  constexpr double kErase = 60;  // seconds, of a whole chip
  if (!request_ok(fmt::format("vFlashErase:{:x},{:x}", from, length), "erase flash", kErase))
    return false;
  while (!bytes.empty()) {
    const std::span<const uint8_t> piece =
        bytes.first(std::min(bytes.size(), (packet_bytes_ - 32) / 2));
    if (!request_ok(fmt::format("vFlashWrite:{:x}:{}", address, pack(piece)), "write flash",
                    kErase))
      return false;
    address += static_cast<uint32_t>(piece.size());
    bytes = bytes.subspan(piece.size());
  }
  return request_ok("vFlashDone", "finish writing flash", kErase);
}

bool GdbRemote::resume() {
  if (line_.error()) return false;
  line_.forget_input();
  running_ = true;
  if (line_.is_serial())
    line_.send_until_acked("c");  // an agent does not listen while the runner computes
  else line_.send_packet("c");
  return !line_.error();
}

GdbRemote::Stop GdbRemote::wait(double seconds) {
  if (line_.error()) return Stop::failed;
  const GdbLine::Clock::time_point until = GdbLine::Clock::now() + to_duration(seconds);
  std::string reply;
  for (;;) {
    const GdbLine::Got got = line_.receive(reply, until, false);
    if (got == GdbLine::Got::closed) return line_.lost(), Stop::failed;
    if (got == GdbLine::Got::nothing) {
      if (!line_.was_refused()) return Stop::running;
      if (!line_.send_packet("c")) return Stop::failed;
      continue;
    }
    if (reply.starts_with('T') || reply.starts_with('S')) return running_ = false, Stop::stopped;
    if (reply.starts_with('W') || reply.starts_with('X') || reply.starts_with('E'))
      return line_.fail(fmt::format("the GDB server has lost the processor: it says `{}`", reply),
                        "gdb.state", "look at the server's own messages"),
             Stop::failed;
  }
}

// A server that has stopped it already, and whose word of it was lost, says so when asked.
bool GdbRemote::interrupt() {
  if (line_.error()) return false;
  if (!line_.send_bytes("\x03")) return false;
  switch (wait(GdbLine::kSilence / 2)) {
    case Stop::stopped:
      return true;
    case Stop::failed:
      return false;
    case Stop::running:
      break;
  }
  const std::optional<std::string> state = line_.request("?", GdbLine::kSilence / 2);
  if (!state) {
    if (line_.error()) line_.error()->what = "the GDB server is silent for 5 s";
    return false;
  }
  running_ = !(state->starts_with('T') || state->starts_with('S'));
  return !running_ ||
         line_.fail(fmt::format("the processor does not stop: the GDB server says `{}`", *state),
                    "gdb.state", "reset the board");
}

bool GdbRemote::release() {
  if (!line_.is_open()) return false;
  if (line_.is_serial()) return !line_.error();
  if (running_ && !line_.error()) interrupt();
  const bool asked = !line_.error();
  if (asked) line_.request("D");
  line_.leave_processor();
  return asked && !line_.error();
}

}  // namespace deuteron
