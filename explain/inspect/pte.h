// SPDX-License-Identifier: Apache-2.0
// What a `.pte` file contains, in words: for `deuteron inspect`. Needs none of the kernels that the
// program calls.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/tensor/type.h"
#include "npu/neutron/delegate/payload.h"
#include "runtime/deuteron.h"
#include "write/pte/port_notes.h"

namespace deuteron {

struct PteTensor {
  i64 value = 0;  // index in the file's list of values
  ScalarType type = ScalarType::f32;
  Shape sizes;  // the user's
  Axes order;   // order[k]: the axis at storage position k
  bool constant = false;
  // of an int8 or int16 input or output, where the file says what its steps stand for
  Quant steps = {};
  i64 offset = 0, bytes = 0;  // in the planned memory, or in the file
};
struct PteCall {
  std::string op;  // "cortex_m::quantized_add.out"
  std::vector<std::string>
      args;  // "f32[1,3,8,8] @ 128", "-128", "[1, 1]", "none"; without the repeated return value
  // By read_call_tensors(); of a kernel that is not ours the last one is written.
  std::vector<PteTensor> reads, writes, scratch = {};
  i64 delegate = -1;  // which one it calls; -1: none
};
// A part of the program that a backend runs.
struct PteDelegate {
  std::string id;  // "NeutronBackend"
  i64 payload_bytes = 0;
  bool is_inline = false;
  std::vector<std::pair<std::string, std::string>>
      options;  // compile options; values as text, or as hexadecimal bytes
  // Of a Neutron delegate:
  std::string fault;  // why the payload cannot be read
  std::optional<NeutronPayload> neutron;
  bool is_vendors = false;           // its microcode is the vendor's, which runs on the chip alone
  i64 assumed_kernels = 0;           // of these: neutron::is_assumed
  std::vector<std::string> kernels;  // of microcode for the open machine model, of a program of
                                     // ours or a graph of XNNPACK, in the order of the calls
  std::vector<std::pair<std::string, i64>> bytes_of;  // of other backends: "weights"
  std::optional<i64> planned_bytes;                   // of a program of ours
  File program;                                       // that, in the file that it was read from
};
// One of several planned buffers, or one that constants are copied into.
struct PteMemory {
  std::string name;  // of the target's memory
  i64 begin = 0, bytes = 0, copied_bytes = 0;
};
struct PteSummary {
  std::vector<std::string> methods;  // of the file; the rest is of the one that is asked for
  std::string isa;                   // "dsp"; empty: the file does not say (stock files)
  ByteInputs byte_inputs;            // what the bytes of an input stand for, where the file says so
  i64 file_bytes = 0, planned_bytes = 0, constants_bytes = 0, values = 0;
  i64 state_bytes = 0;              // of the planned memory: what lives from call to call
  std::vector<PteMemory> memories;  // empty: all that is planned lies in one
  std::vector<PteTensor> inputs, outputs;
  std::vector<PteCall> calls;
  std::vector<PteDelegate> delegates;
};

// Names of all methods; empty where the file cannot be read so far.
std::vector<std::string> methods_of(File file);
// The file must be 16-aligned and outlive what is given. nullopt: `status` says why.
std::optional<PteSummary> summarize_pte(File file, Status* status);
// Fills what each call reads and writes. Lists that many calls share may make that more than two
// steps for each byte of the file: refused, as loading is.
Status read_call_tensors(File file, PteSummary& of_file);

const char* name_of(ScalarType);            // "f32"
std::optional<DType> dtype_of(ScalarType);  // every type of the runtime has one
// "f32[1,3,8,8]", with " order 0,2,3,1" unless the storage order is the user's.
std::string to_text(ScalarType, const Shape& sizes, const Axes& order);
Shape sizes_of(const Tensor&);
Axes order_of(const Tensor&);

}  // namespace deuteron
