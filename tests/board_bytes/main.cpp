// SPDX-License-Identifier: Apache-2.0
// Loads a program in every form that one changed byte or a cut gives it, and runs what still loads.
// The board's protection unit ends an access outside its memory; the file, and what lies around
// tables and planned memory, must be as before. Command line: FILE [CHANGES], the values that a
// byte is changed to: 8, each bit by itself, if nothing else is said; 255: all others.
#include <cstring>
#include <initializer_list>

#include "runtime/deuteron.h"
#include "runtime/ports/board.h"
#include "runtime/ports/semihosting.h"
#include "tests/board_words.h"

namespace deuteron {
namespace {

constexpr uint32_t kFence = 64, kTables = 1u << 18, kPlanned = 1u << 20, kInput = 1u << 18,
                   kMostFile = 1u << 16;
constexpr uint8_t kFenced = 0xa5;

// One piece of the pool with a fence in front of it and behind it.
struct Room {
  uint8_t* data;
  uint32_t bytes;
};
uint8_t* free_memory;
Room room(uint32_t bytes) {
  std::memset(free_memory, kFenced, kFence);
  const Room made{free_memory + kFence, bytes};
  free_memory += kFence + bytes;
  std::memset(free_memory, kFenced, kFence);
  return made;
}
bool is_fenced(const Room& r) {
  for (uint32_t k = 1; k <= kFence; ++k)
    if (r.data[-static_cast<int32_t>(k)] != kFenced || r.data[r.bytes + k - 1] != kFenced)
      return false;
  return true;
}

struct Counts {
  uint32_t tried = 0, ran = 0, wrong = 0;
};

class Attempts {
 public:
  Attempts(Room file, Room kept)
      : file_(file),
        kept_(kept),
        tables_(room(kTables)),
        planned_(room(kPlanned)),
        input_(room(kInput)) {
    for (uint32_t k = 0; k < kInput; ++k) input_.data[k] = static_cast<uint8_t>(k * 37);
  }

  // The first `bytes` of the file as it lies there now.
  void load(uint32_t bytes) {
    ++counts.tried;
    const File file{file_.data, bytes};
    if (runs(file)) ++counts.ran;
    for (const Room& r : {file_, tables_, planned_, input_})
      if (!is_fenced(r)) ++counts.wrong;
    if (std::memcmp(file_.data, kept_.data, file_.bytes) != 0) ++counts.wrong;
  }
  Counts counts;

 private:
  bool runs(File file) {
    Needs needs;
    if (!measure(file, kAllKernels, &needs).ok() || needs.tables_bytes > kTables ||
        needs.planned_bytes > kPlanned)
      return false;
    Program program;
    if (!program
             .load(file, kAllKernels, {tables_.data, needs.tables_bytes},
                   {planned_.data, needs.planned_bytes})
             .ok())
      return false;
    for (int32_t i = 0; i < program.input_count(); ++i) {
      const uint32_t bytes =
          static_cast<uint32_t>(program.input(i).numel) * element_bytes(program.input(i).type);
      if (bytes > kInput || !program.set_input(i, input_.data, bytes).ok()) return false;
    }
    return program.run().ok();
  }
  Room file_, kept_, tables_, planned_, input_;
};

BoardExit change_each_byte(const char* path, uint32_t changes) {
  free_memory = reinterpret_cast<uint8_t*>(kPool[0].base);  // boards run no constructors
  const Room file = room(kMostFile), kept = room(kMostFile);
  const int in = open_to_read(path);
  if (in < 0) return BoardExit::file_error;
  uint32_t bytes = 0;
  while (bytes < kMostFile && read_all(in, file.data + bytes, 1)) ++bytes;
  std::memcpy(kept.data, file.data, kMostFile);
  if (!start_backends(kAllKernels).ok()) return BoardExit::load_failed;
  Attempts attempts(file, kept);
  attempts.load(bytes);
  if (attempts.counts.ran != 1) return BoardExit::load_failed;  // as it is, it runs
  for (uint32_t cut = 0; cut < bytes; ++cut) attempts.load(cut);
  for (uint32_t at = 0; at < bytes; ++at) {
    Line("@at ").number(at).print();
    for (uint32_t k = 0; k < changes; ++k) {
      const uint8_t change = static_cast<uint8_t>(changes == 8 ? 1u << k : k + 1);
      file.data[at] ^= change, kept.data[at] ^= change;
      attempts.load(bytes);
      file.data[at] ^= change, kept.data[at] ^= change;
    }
  }
  const Counts& c = attempts.counts;
  Line("@changes ")
      .number(c.tried)
      .text(" ran ")
      .number(c.ran)
      .text(" wrong ")
      .number(c.wrong)
      .print();
  return c.wrong == 0 ? BoardExit::done : BoardExit::other_outputs;
}

}  // namespace
}  // namespace deuteron

int main() {
  using namespace deuteron;
  static char text[256];
  if (!command_line(text, sizeof text)) return static_cast<int>(BoardExit::bad_job);
  char* rest = text;
  const char* path = take_word(rest);
  const uint32_t changes = number_of(take_word(rest));
  return static_cast<int>(change_each_byte(path, changes == 0 ? 8 : changes));
}
