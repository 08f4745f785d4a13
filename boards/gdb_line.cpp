// SPDX-License-Identifier: Apache-2.0
// See gdb_line.h. Source: "Debugging with GDB", appendix E.1: packets.
#include "boards/gdb_line.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <iterator>
#include <mutex>
#include <utility>

#include "base/watch.h"

namespace deuteron {
namespace {

constexpr double kTry = 1.25;  // seconds; then once more
constexpr std::string_view kInterrupt = "\x03", kDetach = "$D#44";
std::atomic<int> stopped_socket = -1;  // of a processor that stands, or runs what is ours
std::array<char, 64> farewell;         // packets that come before kDetach
std::atomic<size_t> farewell_bytes = 0;
std::timed_mutex whole_packet;        // held while one is sent
std::atomic<bool> is_ending = false;  // release_stopped_processors() has the line

void wait_for_the_end() {
  while (is_ending) usleep(100'000);
}

uint8_t sum_of(std::string_view text) {
  uint8_t sum = 0;
  for (const char c : text) sum = static_cast<uint8_t>(sum + static_cast<uint8_t>(c));
  return sum;
}
int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}
// "}x" is x ^ 0x20; "c*n" is n - 29 more of c.
std::string unpack(std::string_view text) {
  std::string plain;
  for (size_t k = 0; k < text.size(); k++) {
    if (text[k] == '}' && k + 1 < text.size()) plain += static_cast<char>(text[++k] ^ 0x20);
    else if (text[k] == '*' && k + 1 < text.size() && !plain.empty())
      plain.append(static_cast<size_t>(std::max(0, text[++k] - 29)), plain.back());
    else plain += text[k];
  }
  return plain;
}
int open_socket(const std::string& host, const std::string& port, std::string& problem) {
  addrinfo hints{}, *list = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  if (const int e = getaddrinfo(host.c_str(), port.c_str(), &hints, &list); e != 0)
    return problem = gai_strerror(e), -1;
  int found = -1;
  for (const addrinfo* a = list; a && found < 0; a = a->ai_next) {
    const int s =
        socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, a->ai_protocol);
    if (s < 0) continue;
    int e = ::connect(s, a->ai_addr, a->ai_addrlen) == 0 ? 0 : errno;
    if (e == EINPROGRESS) {
      pollfd p{s, POLLOUT, 0};
      socklen_t length = sizeof e;
      if (poll(&p, 1, static_cast<int>(1000 * GdbLine::kSilence)) <= 0) e = ETIMEDOUT;
      else getsockopt(s, SOL_SOCKET, SO_ERROR, &e, &length);
    }
    const int on = 1;
    setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (e == 0) found = s;
    else problem = std::strerror(e), close(s);
  }
  freeaddrinfo(list);
  return found;
}

}  // namespace

GdbLine::Clock::duration to_duration(double seconds) {
  return std::chrono::duration_cast<GdbLine::Clock::duration>(
      std::chrono::duration<double>(seconds));
}

void release_stopped_processors() {
  const int s = stopped_socket.exchange(-1);
  if (s < 0) return;
  is_ending = whole_packet.try_lock_for(std::chrono::seconds(1));
  (void)!::send(s, kInterrupt.data(), kInterrupt.size(), MSG_NOSIGNAL);
  usleep(100'000);  // the server stops it first
  if (const size_t n = farewell_bytes.exchange(0)) {
    (void)!::send(s, farewell.data(), n, MSG_NOSIGNAL);
    usleep(100'000);
  }
  (void)!::send(s, kDetach.data(), kDetach.size(), MSG_NOSIGNAL);
}

void before_release(std::string_view packets) {
  if (packets.size() > farewell.size()) return;
  std::ranges::copy(packets, farewell.begin());
  farewell_bytes = packets.size();
}

std::string packet_of(std::string_view payload) {
  return fmt::format("${}#{:02x}", payload, sum_of(payload));
}

GdbLine::~GdbLine() {
  if (socket_ < 0) return;
  leave_processor();
  close(socket_);
}

void GdbLine::leave_processor() { stopped_socket = -1, farewell_bytes = 0; }

bool GdbLine::connect(const std::string& host, const std::string& port) {
  std::string problem;
  socket_ = open_socket(host, port, problem);
  if (socket_ < 0)
    return fail(fmt::format("cannot connect: {}", problem), "gdb.connect",
                "start the GDB server of your probe first, e.g. `openocd -f board/...cfg`, `pyocd "
                "gdbserver`, `JLinkGDBServer -device ...`");
  stopped_socket = socket_;
  return send_bytes("+");
}

namespace {

constexpr std::pair<uint32_t, speed_t> kSpeeds[] = {
    {9600, B9600},       {19200, B19200},    {38400, B38400},   {57600, B57600},
    {115200, B115200},   {230400, B230400},  {460800, B460800}, {921600, B921600},
    {1000000, B1000000}, {2000000, B2000000}};

}  // namespace

SerialPort open_serial_port(std::string_view where) {
  const std::string_view text = where.substr(std::string_view("serial:").size());
  const std::string device(text.substr(0, text.find(',')));
  uint32_t baud = 115200;
  if (device.size() < text.size())
    std::from_chars(text.data() + device.size() + 1, text.data() + text.size(), baud);
  const auto speed = std::ranges::find(kSpeeds, baud, &std::pair<uint32_t, speed_t>::first);
  if (speed == std::end(kSpeeds))
    return {-1,
            {fmt::format("a baud rate of {} is not known here", baud), "serial.baud",
             "9600 to 2000000, as 115200 or 921600"}};
  const int file = open(device.c_str(), O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
  if (file < 0)
    return {-1,
            {fmt::format("`{}` cannot be opened: {}", device, std::strerror(errno)), "serial.open",
             errno == EACCES ? "become a member of the group that owns it, mostly `dialout`"
                             : "which device is it? /dev/ttyACM0, /dev/ttyUSB0"}};
  const auto refuse = [&](GdbLine::Error e) { return close(file), SerialPort{-1, std::move(e)}; };
  termios t{};
  if (tcgetattr(file, &t) != 0)
    return refuse({fmt::format("`{}` is not a serial port", device), "serial.open",
                   "which device is it? /dev/ttyACM0, /dev/ttyUSB0"});
  if (ioctl(file, TIOCEXCL) != 0 || flock(file, LOCK_EX | LOCK_NB) != 0)
    return refuse({fmt::format("`{}` is not free: {}", device, std::strerror(errno)), "serial.open",
                   "end the program that has it open, as a terminal or a monitor"});
  cfmakeraw(&t);
  t.c_cflag |= CLOCAL | CREAD;
  cfsetspeed(&t, speed->second);
  if (tcsetattr(file, TCSANOW, &t) != 0)
    return refuse(
        {fmt::format("`{}` does not take {} baud: {}", device, baud, std::strerror(errno)),
         "serial.baud", "give another one"});
  tcflush(file, TCIOFLUSH);
  return {file, {}};
}

bool GdbLine::open_serial(std::string_view where) {
  is_serial_ = true;
  SerialPort port = open_serial_port(where);
  socket_ = port.file;
  if (socket_ < 0)
    return fail(std::move(port.error.what), std::move(port.error.rule), std::move(port.error.fix));
  return send_bytes("+");
}

bool GdbLine::send_until_acked(std::string_view payload) {
  std::string reply;
  for (int tries = 0; tries < 4; tries++) {
    if (!send_packet(payload)) return false;
    const Clock::time_point until = Clock::now() + to_duration(kTry);
    while (!acked_ && !refused_ && Clock::now() < until) {
      const int c = next_byte(until);
      if (c == -2) return lost();
      acked_ |= c == '+', refused_ |= c == '-';
    }
    if (acked_) return true;
  }
  return false;
}

bool GdbLine::was_refused() {
  const bool was = refused_;
  refused_ = false;
  return was;
}

bool GdbLine::fail(std::string what, std::string rule, std::string fix) {
  if (!error_) error_ = {std::move(what), std::move(rule), std::move(fix)};
  return false;
}

bool GdbLine::lost() {
  is_dead_ = true;
  return fail(is_serial_ ? "the serial port is gone" : "the GDB server has ended the connection",
              "gdb.lost",
              is_serial_ ? "plug it in again, and reset the board"
                         : "start it again; the processor may stand where it was");
}

bool GdbLine::send_bytes(std::string_view bytes) {
  wait_for_the_end();
  const std::lock_guard lock(whole_packet);
  const Clock::time_point until = Clock::now() + std::chrono::seconds(5);
  while (!bytes.empty()) {
    const ssize_t n = is_serial_ ? ::write(socket_, bytes.data(), bytes.size())
                                 : ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n > 0) bytes.remove_prefix(static_cast<size_t>(n));
    else if (errno != EAGAIN && errno != EINTR) return lost();
    else {
      pollfd p{socket_, POLLOUT, 0};
      poll(&p, 1, 100);
      if (Clock::now() > until)
        return is_dead_ = true,
               fail(fmt::format("the {} takes nothing any more, for 5 s", peer()), "gdb.silent",
                    is_serial_ ? "look at the cable, and reset the board" : "start it again");
    }
  }
  return true;
}

int GdbLine::next_byte(Clock::time_point until) {
  while (at_ == buffer_.size()) {
    wait_for_the_end();
    stop_if_asked(watch_of_thread());
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
    if (left <= 0) return -1;
    pollfd p{socket_, POLLIN, 0};
    if (poll(&p, 1, static_cast<int>(std::min<long long>(left, 100))) <= 0) continue;
    char bytes[4096];
    const ssize_t n = ::read(socket_, bytes, sizeof bytes);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) return -2;
    if (n > 0) buffer_.assign(bytes, static_cast<size_t>(n)), at_ = 0;
  }
  return static_cast<uint8_t>(buffer_[at_++]);
}

void GdbLine::discard_until_quiet(int milliseconds) {
  const Clock::time_point latest = Clock::now() + std::chrono::seconds(1);
  while (Clock::now() < latest &&
         next_byte(Clock::now() + std::chrono::milliseconds(milliseconds)) >= 0) {}
}

// The next packet that is whole. One that comes before its request was acknowledged answers an
// earlier one: a repetition.
GdbLine::Got GdbLine::receive(std::string& payload, Clock::time_point until, bool needs_ack) {
  std::string text;
  bool inside = false;
  for (;;) {
    const int c = next_byte(until);
    if (c == -2) return Got::closed;
    if (c == -1) return Got::nothing;
    if (!inside) {
      if (c == '+') acked_ = true;
      else if (c == '-') {
        refused_ = true;
        return Got::nothing;
      } else if (c == '$') inside = true;
      else if (junk_.size() < 60 && c != '%') junk_ += static_cast<char>(c);
      continue;
    }
    if (c == '$') {
      text.clear();
      continue;
    }
    if (c != '#') {
      if (text.size() < 4 * kLargestPacket) text += static_cast<char>(c);
      continue;
    }
    const int high = next_byte(until), low = high < 0 ? -1 : next_byte(until);
    inside = false;
    const std::string packed = std::move(text);
    text.clear();
    if (low < 0) return low == -2 || high == -2 ? Got::closed : Got::nothing;
    const int high_digit = digit_of(static_cast<char>(high)),
              low_digit = digit_of(static_cast<char>(low));
    if (high_digit < 0 || low_digit < 0 || (high_digit << 4 | low_digit) != sum_of(packed)) {
      if (!send_bytes("-")) return Got::closed;
      continue;
    }
    if (!send_bytes("+")) return Got::closed;
    has_answered_ = true;
    if (needs_ack && !acked_) continue;
    payload = unpack(packed);
    return Got::packet;
  }
}

bool GdbLine::send_packet(std::string_view payload) {
  acked_ = refused_ = false;
  return send_bytes(packet_of(payload));
}

std::optional<std::string> GdbLine::request(std::string_view payload, double patience_seconds) {
  if (error_) return std::nullopt;
  const Clock::time_point end = Clock::now() + to_duration(patience_seconds);
  forget_input();
  std::string reply;
  const double each = std::max(kTry, patience_seconds / 4);
  for (int tries = 0; Clock::now() < end && tries < 20; tries++) {
    if (!send_packet(payload)) return std::nullopt;
    const Got got = receive(reply, std::min(end, Clock::now() + to_duration(each)), true);
    if (got == Got::closed) return lost(), std::nullopt;
    if (got == Got::packet && reply.starts_with('O') && reply != "OK") {  // text of the server
      while (reply.starts_with('O') && reply != "OK")
        if (receive(reply, end, false) != Got::packet) break;
    }
    if (got == Got::packet) {
      if (tries > 0)
        discard_until_quiet(150);  // the answer to the first try may still be on its way
      return reply;
    }
    if (!has_answered_ && !is_serial_ && !junk_.empty()) break;
    discard_until_quiet(refused_ ? 20 : 150);
  }
  return no_answer(patience_seconds), std::nullopt;
}

// It never said a word of the protocol: then it is something else.
bool GdbLine::no_answer(double seconds) {
  is_dead_ = true;
  if (has_answered_)
    return fail(fmt::format("the {} is silent for {:g} s", peer(), seconds), "gdb.silent",
                is_serial_
                    ? "look at the cable, and reset the board"
                    : "look at the server's own messages and at the cable; the processor may stand "
                      "where it was");
  if (is_serial_)
    return fail(
        fmt::format("no agent answers there within {:g} s{}", kSilence,
                    junk_.empty() ? "" : ", but other bytes come"),
        "serial.no_agent",
        "is the firmware with deuteron_agent.h running, at this baud rate? Reset the board");
  if (junk_.empty())
    return fail("no GDB server answers there within 5 s", "gdb.no_server",
                "is it a GDB server, and does no other debugger hold it? (OpenOCD: port 3333; "
                "J-Link: 2331; ST-LINK: 61234)");
  const auto end = std::ranges::find_if(junk_, [](char c) { return c < ' ' || c > '~'; });
  return fail(
      fmt::format("no GDB server listens there: it says `{}`", std::string(junk_.begin(), end)),
      "gdb.no_server",
      "give the port of the GDB server (OpenOCD: 3333, not 4444 or 6666; J-Link: 2331; "
      "ST-LINK: 61234)");
}

}  // namespace deuteron
