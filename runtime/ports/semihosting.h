// Calls from the board to the emulator: files, text, the end. Source: Arm, "Semihosting for AArch32 and AArch64", 2.0.
#pragma once
#include <cstddef>
#include <cstdint>

#include "runtime/ports/job.h"

namespace deuteron {

int open_to_read(const char* path);                 // -1: no such file
int open_to_write(const char* path);                // creates or empties
bool read_all(int file, void* data, size_t bytes);  // false: the file is shorter
bool write_all(int file, const void* data, size_t bytes);
bool command_line(char* text, size_t bytes);
[[noreturn]] void end_board(BoardExit);

// Text for the console, collected to a line; a line is written whole.
class Line {
 public:
  explicit Line(const char* word) { text(word); }
  Line& text(const char*);
  Line& number(uint64_t);
  Line& signed_number(int64_t v) { return v < 0 ? text("-").number(0 - static_cast<uint64_t>(v)) : number(static_cast<uint64_t>(v)); }
  Line& hex(uint32_t);
  void print();

 private:
  void put(char c) {
    if (used_ < sizeof text_ - 2) text_[used_++] = c;
  }
  char text_[320];
  size_t used_ = 0;
};

}  // namespace deuteron
