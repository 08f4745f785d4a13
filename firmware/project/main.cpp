// Loads every model, runs each once on the inputs that lie beside it, and prints a checksum of each output.
// Text goes to the console of the debugger or the emulator by semihosting; replace that, and the inputs, by what your board has.
#include "model.h"

#include "runtime/fnv1a.h"
#include "runtime/ports/board.h"
#include "runtime/ports/counter.h"
#include "runtime/ports/semihosting.h"
#include "runtime/ports/stack.h"
#include "runtime/ports/status_line.h"

namespace {

using namespace deuteron;

constexpr int kMostModels = 16;
Program programs[kMostModels];

BoardExit refused(const Model& model, const Status& status, BoardExit end) {
  Line("@model ").text(model.name).text(" refused").print();
  print_status(status);
  return end;
}

// A file named on the command line as `outputs=FILE` takes the bytes of all outputs; -1: none.
int output_file() {
  char line[256];
  if (!command_line(line, sizeof line)) return -1;
  for (const char* at = line; *at != 0; at++) {
    const char* wanted = "outputs=";
    const char* c = at;
    while (*wanted != 0 && *wanted == *c) wanted++, c++;
    if (*wanted == 0) return open_to_write(c);
  }
  return -1;
}

struct Running {
  const Program* program;
  Status status;
};
void run(void* p) {
  Running& r = *static_cast<Running*>(p);
  r.status = r.program->run();
}

BoardExit run_model(const Model& model, Program& program, int file) {
  Status status;
  for (int32_t i = 0; i < program.input_count() && status.ok(); i++)
    status = i < model.input_count ? program.set_input(i, model.inputs[i].data, model.inputs[i].bytes) : program.set_input(i, nullptr, 0);
  Running running{&program, {}};
  uint64_t instructions = 0;
  if (status.ok()) {
    instructions = count_instructions(run, &running);
    status = running.status;
  }
  if (!status.ok()) return refused(model, status, BoardExit::run_failed);
  Line("@run ").text(model.name).text(" instructions ").number(instructions).print();
  BoardExit end = BoardExit::done;
  for (int32_t i = 0; i < program.output_count(); i++) {
    const Tensor& t = program.output(i);
    const uint32_t bytes = static_cast<uint32_t>(t.numel) * element_bytes(t.type);
    const uint64_t sum = fnv1a(t.data, bytes);
    const bool known = model.expected && i < model.output_count, same = known && model.expected[i] == sum;
    if (known && !same) end = BoardExit::other_outputs;
    Line line("@output ");
    line.text(model.name).text(" ").signed_number(i).text(" bytes ").number(bytes).text(" fnv1a ");
    line.hex(static_cast<uint32_t>(sum >> 32)).text(" ").hex(static_cast<uint32_t>(sum));
    line.text(!known ? "" : same ? " as on the host" : " NOT as on the host").print();
    if (file >= 0 && !write_all(file, t.data, bytes)) return BoardExit::file_error;
  }
  return end;
}

BoardExit run_all() {
  Status status = start_backends(kFirmwareKernels);
  if (!status.ok()) {
    print_status(status);
    return BoardExit::load_failed;
  }
  for (int32_t k = 0; k < kModelCount; k++) {
    const Model& model = kModels[k];
    const File file = {model.begin, static_cast<size_t>(model.end - model.begin)};
    status = programs[k].load(file, kFirmwareKernels, model.tables, kPlanned);
    if (!status.ok()) return refused(model, status, BoardExit::load_failed);
    Line("@model ").text(model.name).text(" loaded, bytes ").number(file.bytes).print();
  }
  const int file = output_file();
  BoardExit end = BoardExit::done;
  for (int32_t k = 0; k < kModelCount; k++)
    if (const BoardExit one = run_model(kModels[k], programs[k], file); one != BoardExit::done) end = one;
  return end;
}

}  // namespace

int main() {
  Line("@firmware ").text(kBoardName).print();
  const BoardExit end = run_all();
  Line("@stack ").number(stack_used_bytes()).text(" of ").number(stack_bytes()).print();
  return static_cast<int>(end);
}
