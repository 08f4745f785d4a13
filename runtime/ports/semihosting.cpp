// SPDX-License-Identifier: Apache-2.0
// Semihosting by the core's own instruction; behind a debug probe the host has a breakpoint
// instead.
#include "runtime/ports/semihosting.h"

#include "runtime/ports/board.h"

namespace deuteron {
namespace {

enum : uint32_t {
  kOpen = 0x01,
  kWrite0 = 0x04,
  kWrite = 0x05,
  kRead = 0x06,
  kGetCommandLine = 0x15,
  kExitExtended = 0x20
};
constexpr uint32_t kApplicationExit = 0x20026;
constexpr uint32_t kModeRead = 1, kModeWrite = 5;  // "rb", "wb"

#ifdef DEUTERON_PROBE
extern "C" int32_t deuteron_host_call(uint32_t number,
                                      const void* block);  // boards/probe/probe.cpp
extern "C" int32_t (*const deuteron_agent)(uint32_t number,
                                           const void* block);  // boards/probe/map.h
int32_t call(uint32_t number, const void* block) {
  return deuteron_agent ? deuteron_agent(number, block) : deuteron_host_call(number, block);
}
#else
int32_t call(uint32_t number, const void* block) { return call_host(number, block); }
#endif

uint32_t length(const char* s) {
  uint32_t n = 0;
  while (s[n]) n++;
  return n;
}

int open(const char* path, uint32_t mode) {
  const uint32_t block[] = {reinterpret_cast<uint32_t>(path), mode, length(path)};
  return call(kOpen, block);
}

}  // namespace

int open_to_read(const char* path) { return open(path, kModeRead); }
int open_to_write(const char* path) { return open(path, kModeWrite); }

bool read_all(int file, void* data, size_t bytes) {
  if (bytes == 0) return true;
  const uint32_t block[] = {static_cast<uint32_t>(file), reinterpret_cast<uint32_t>(data), bytes};
  return call(kRead, block) == 0;  // bytes not read
}

bool write_all(int file, const void* data, size_t bytes) {
  if (bytes == 0) return true;
  const uint32_t block[] = {static_cast<uint32_t>(file), reinterpret_cast<uint32_t>(data), bytes};
  return call(kWrite, block) == 0;
}

bool command_line(char* text, size_t bytes) {
  uint32_t block[] = {reinterpret_cast<uint32_t>(text), bytes - 1};
  if (call(kGetCommandLine, block) != 0) return false;
  text[bytes - 1] = 0;
  return true;
}

void end_board(BoardExit code) {
  const uint32_t block[] = {kApplicationExit, static_cast<uint32_t>(code)};
  call(kExitExtended, block);
  for (;;) {}
}

void write_console(const char* text) { call(kWrite0, text); }

}  // namespace deuteron
