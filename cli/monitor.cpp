// SPDX-License-Identifier: Apache-2.0
// deuteron monitor: what a board says over its serial port.
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "boards/gdb_line.h"
#include "cli/options.h"
#include "cli/run_on_board.h"

namespace deuteron {
namespace {

struct MonitorOptions {
  std::string on;
  double seconds = 0;
};

int monitor(const MonitorOptions& o) {
  Diagnostics diagnostics;
  if (!o.on.starts_with("serial:"))
    return refuse_usage("--on is serial:DEVICE or serial:DEVICE,BAUD");
  const auto refuse = [&](const GdbLine::Error& e) {
    diagnostics.error(o.on, e.what, e.rule, e.fix);
    return finish("", diagnostics, {}, "");
  };
  const SerialPort port = open_serial_port(o.on);
  if (port.file < 0) return refuse(port.error);
  const auto end = GdbLine::Clock::now() + to_duration(o.seconds);
  while (o.seconds <= 0 || GdbLine::Clock::now() < end) {
    pollfd p{port.file, POLLIN, 0};
    if (poll(&p, 1, 100) <= 0) continue;
    char text[4096];
    const ssize_t n = read(port.file, text, sizeof text);
    if (n > 0) std::fwrite(text, 1, static_cast<size_t>(n), stdout), std::fflush(stdout);
    else if (n == 0 || (errno != EAGAIN && errno != EINTR))
      return close(port.file), refuse({"the serial port is gone", "gdb.lost", "plug it in again"});
  }
  close(port.file);
  return 0;
}

}  // namespace

void add_monitor(CommandLine& line) {
  MonitorOptions* o = nullptr;
  Verb verb = add_verb<MonitorOptions>(
      line, "monitor", "print what a board sends over its serial port, until Ctrl-C",
      "deuteron monitor --on serial:/dev/ttyACM0,115200", monitor, o);
  verb.option("--on", o->on, "serial:DEVICE[,BAUD]; default 115200 baud")
      .value("WHERE")
      .check(check_on)
      .required();
  verb.option("--seconds", o->seconds, "stop after S seconds").value("S").positive().at_most(1e6);
}

}  // namespace deuteron
