// SPDX-License-Identifier: Apache-2.0
// Loads every model, runs each once on the inputs that lie beside it, and prints a checksum of each
// output. Text goes to the board's console (deuteron/boards/*/port.cpp); replace that, and the
// inputs, by what your board has.
#include "model.h"

#include "runtime/fnv1a.h"
#include "runtime/ports/firmware_port.h"
#include "runtime/ports/line.h"
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

struct Running {
  const Program* program;
  Status status;
};
void run(void* p) {
  Running& r = *static_cast<Running*>(p);
  r.status = r.program->run();
}

BoardExit run_model(const Model& model, Program& program) {
  Status status;
  for (int32_t i = 0; i < program.input_count() && status.ok(); i++)
    status = i < model.input_count
                 ? program.set_input(i, model.inputs[i].data, model.inputs[i].bytes)
                 : program.set_input(i, nullptr, 0);
  Running running{&program, {}};
  RunCost cost;
  if (status.ok()) {
    cost = cost_of(run, &running);
    status = running.status;
  }
  if (!status.ok()) return refused(model, status, BoardExit::run_failed);
  Line took("@run ");
  took.text(model.name).text(" ").text(kCostUnit).text(" ").number(cost.own);
  if (cost.npu_simulation != 0) took.text(" and to play the NPU ").number(cost.npu_simulation);
  took.print();
  BoardExit end = BoardExit::done;
  for (int32_t i = 0; i < program.output_count(); i++) {
    const Tensor& t = program.output(i);
    const uint32_t bytes = static_cast<uint32_t>(t.numel) * element_bytes(t.type);
    const uint64_t sum = fnv1a(t.data, bytes);
    const bool known = model.expected && i < model.output_count,
               same = known && model.expected[i] == sum;
    if (known && !same) end = BoardExit::other_outputs;
    Line line("@output ");
    line.text(model.name).text(" ").signed_number(i).text(" bytes ").number(bytes).text(" fnv1a ");
    line.hex(static_cast<uint32_t>(sum >> 32)).text(" ").hex(static_cast<uint32_t>(sum));
    line.text(!known ? "" : same ? " as on the host" : " NOT as on the host").print();
    if (!keep_output(t.data, bytes)) return BoardExit::file_error;
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
    status = programs[k].load(file, kFirmwareKernels, model.tables, model.planned, model.memories);
    if (!status.ok()) return refused(model, status, BoardExit::load_failed);
    Line("@model ").text(model.name).text(" loaded, bytes ").number(file.bytes).print();
  }
  BoardExit end = BoardExit::done;
  for (int32_t k = 0; k < kModelCount; k++)
    if (const BoardExit one = run_model(kModels[k], programs[k]); one != BoardExit::done) end = one;
  return end;
}

}  // namespace

int main() {
  start_board();
  Line("@firmware ").text(DEUTERON_BOARD_NAME).print();
  const BoardExit end = run_all();
  Line("@stack ").number(stack_used_bytes()).text(" of ").number(stack_bytes()).print();
  return static_cast<int>(stop_board(end));
}
