// SPDX-License-Identifier: Apache-2.0
// A `.pte` that the user named: its bytes, what it takes and gives, and how to run it on this
// machine.
#pragma once
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/data/inputs.h"
#include "base/diagnostic.h"
#include "explain/inspect/pte.h"
#include "runtime/deuteron.h"
#include "runtime/trace.h"

namespace deuteron {

// Zeroed memory at a multiple of 16, as the runtime wants it.
class AlignedBytes {
 public:
  explicit AlignedBytes(size_t bytes = 0);
  std::byte* data() const { return data_.get(); }
  size_t size() const { return size_; }
  Memory memory() const { return {data_.get(), size_}; }

 private:
  struct Free {
    void operator()(std::byte* p) const;
  };
  std::unique_ptr<std::byte, Free> data_;
  size_t size_ = 0;
};

// What can be done without the chip about a program with the vendor's microcode.
inline constexpr const char* kRunsOffChip =
    "compile the model without --neutron-converter: our converter gets the same operators, "
    "computes the same numbers, and its program runs here";

struct ProgramFile {
  std::string path;
  AlignedBytes bytes;
  PteSummary summary;
  std::string method = "forward";
  bool has_data_files = false;  // `bytes` has what ExecuTorch put into other files

  // A signature that is there must be right; `verify_key`: the file with the public key that must
  // have signed it, "": none. Data files (`.ptd`) are those beside `path`.
  static std::optional<ProgramFile> open(const std::string& path, Diagnostics& diagnostics,
                                         const std::string& verify_key = {},
                                         const std::string& method = "forward");
  static std::optional<ProgramFile> read(const std::string& name,
                                         std::span<const std::byte> content,
                                         Diagnostics& diagnostics,
                                         const std::string& verify_key = {},
                                         const std::string& method = "forward");
  File file() const { return {bytes.data(), bytes.size(), method.c_str()}; }
  // False, with a diagnostic: it has the vendor's microcode, which neither this machine nor an
  // emulated board can run.
  bool runs_off_chip(Diagnostics& diagnostics) const;
  std::vector<InputSpec> inputs() const;  // named input0, input1, ...

  // The same data as the float model takes it: bytes and steps become what they stand for.
  std::vector<InputSeries> as_numbers(std::vector<InputSeries> inputs) const;

  // One sample: from the user's order to the program's and back.
  std::vector<std::vector<std::byte>> stored_inputs(std::span<const InputSeries> inputs,
                                                    i64 sample) const;
  std::vector<std::byte> user_output(size_t output, std::span<const std::byte> stored) const;
};

// The program loaded by the runtime on this machine. The ProgramFile must outlive it.
class HostProgram {
 public:
  // `trace`: gets the events of loading and of every run; must outlive it.
  static std::unique_ptr<HostProgram> load(const ProgramFile& file, Diagnostics& diagnostics,
                                           Trace* trace = nullptr);
  const Needs& needs() const { return needs_; }
  const Program& program() const { return program_; }
  ~HostProgram() { program_.unload(); }
  void reset_state() { program_.reset_state(); }
  // Inputs and outputs in storage order. nullopt: a delegate failed.
  std::optional<std::vector<std::vector<std::byte>>> run(
      std::span<const std::vector<std::byte>> inputs, Diagnostics& diagnostics);

 private:
  std::string path_;
  Needs needs_;
  AlignedBytes tables_, planned_, host_kernels_;
  Program program_;
  Trace* trace_ = nullptr;
};

struct HostProfile;  // cli/profile_run.h

// What inferences took: all samples together, and the one that took least, which others on the
// machine disturb least.
struct RunSeconds {
  double all = 0, fastest = 0;
};

// Outputs of all samples in the user's order, one after the other: result[o] is `samples` times
// output o. A program with state goes on from sample to sample, or begins anew at each.
std::optional<std::vector<std::vector<std::byte>>> run_on_host(
    const ProgramFile& file, std::span<const InputSeries> inputs, i64 samples, RunSeconds* seconds,
    Needs* needs, Diagnostics& diagnostics, HostProfile* profile = nullptr,
    bool resets_state = false);

// Elements of an input or output as float32, whatever its type. int8 stays in steps where the file
// does not say what they stand for.
std::vector<float> as_floats(const PteTensor& port, std::span<const std::byte> bytes);

}  // namespace deuteron
