// SPDX-License-Identifier: Apache-2.0
#include "boards/job_bytes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "boards/report.h"
#include "npu/neutron/delegate/calls.h"
#include "npu/neutron/delegate/delegate.h"
#include "runtime/deuteron.h"

namespace deuteron {
namespace {

bool append_padded(const AppendBytes& append, std::span<const uint8_t> bytes) {
  static constexpr uint8_t kZeros[16] = {};
  return append(bytes) && append({kZeros, (16 - bytes.size() % 16) % 16});
}

}  // namespace

double estimate_work(std::span<const uint8_t> program) {
  constexpr uint32_t kMost = 1u << 30;
  std::vector<uint64_t> file((program.size() + 7) / 8 + 2);  // 16-aligned copy: `new` aligns to 16
  std::ranges::copy(program, reinterpret_cast<uint8_t*>(file.data()));
  const File view{file.data(), program.size()};
  Needs needs;
  if (!measure(view, kAllKernels, &needs).ok() || needs.planned_bytes > kMost ||
      needs.tables_bytes > kMost)
    return 0;
  std::vector<uint64_t> tables(needs.tables_bytes / 8 + 2), planned(needs.planned_bytes / 8 + 2);
  Program p;
  if (!p.load(view, kAllKernels, {tables.data(), needs.tables_bytes},
              {planned.data(), needs.planned_bytes})
           .ok())
    return 0;
  double work = 0;
  for (int32_t k = 0; k < p.instruction_count(); k++) {
    const Program::Step step = p.step(k);
    double out = 0, taps = 1, depth = 1;
    int computed = 0;
    for (int32_t i = 0; i < step.count; i++) {
      if (step.args[i]->kind != Kind::tensor) continue;
      const Tensor& t = *step.args[i]->tensor;
      if (!t.constant) {
        computed++;
        out = std::max(out, static_cast<double>(t.numel));
        for (int d = 0; d < t.rank; d++) depth = std::max(depth, static_cast<double>(t.sizes[d]));
      } else if (t.rank >= 2) {  // weights: [out, ...], depthwise [1, ..., out]
        const int32_t channels = t.sizes[0] > 1 ? t.sizes[0] : t.sizes[t.rank - 1];
        taps = std::max(taps, static_cast<double>(t.numel) / std::max(channels, 1));
      }
    }
    if (step.delegate) {  // at most 64 multiply-adds a cycle of the machine, and some housekeeping
      work += 50 * static_cast<double>(estimate_cycles(neutron_payload(*step.delegate)));
      continue;
    }
    const std::string_view op = step.op ? step.op : "";
    const bool product = computed > 2 && (op.find("matmul") != op.npos || op.find("mm") != op.npos);
    work += out * (50 + taps + (product ? depth : 0));
  }
  p.unload();
  return work;
}

bool write_job(const AppendBytes& append, Job job, std::span<const uint8_t> program,
               std::span<const Sample> samples) {
  std::vector<uint8_t> head(sizeof job);
  std::memcpy(head.data(), &job, sizeof job);
  for (uint32_t i = 0; i < job.inputs; i++) {
    const auto bytes = static_cast<uint32_t>(samples[0][i].size());
    head.insert(head.end(), reinterpret_cast<const uint8_t*>(&bytes),
                reinterpret_cast<const uint8_t*>(&bytes) + sizeof bytes);
  }
  if (!append_padded(append, head) || (job.program_at == 0 && !append_padded(append, program)))
    return false;
  for (const Sample& s : samples)
    for (const std::vector<uint8_t>& input : s)
      if (!append(input)) return false;
  return true;
}

std::optional<Diagnostic> check_samples(std::string_view board, std::span<const Sample> samples) {
  for (size_t k = 0; k < samples.size(); k++) {
    if (samples[k].size() != samples[0].size())
      return board_trouble(board,
                           fmt::format("sample {} has {} inputs, sample 0 has {}", k,
                                       samples[k].size(), samples[0].size()),
                           "board.job");
    for (size_t i = 0; i < samples[k].size(); i++)
      if (samples[k][i].size() != samples[0][i].size())
        return board_trouble(board,
                             fmt::format("input {} of sample {} has {} bytes, of sample 0 {}", i, k,
                                         samples[k][i].size(), samples[0][i].size()),
                             "board.job");
  }
  return std::nullopt;
}

bool split_outputs(std::span<const uint8_t> bytes, const std::vector<uint64_t>& sizes,
                   size_t samples, EmulatedRun& run) {
  uint64_t each = 0;
  for (uint64_t s : sizes) each += s;
  if (bytes.size() != each * samples) return false;
  for (size_t k = 0; k < samples; k++) {
    run.outputs.emplace_back();
    for (uint64_t s : sizes) {
      run.outputs.back().emplace_back(bytes.begin(),
                                      bytes.begin() + static_cast<std::ptrdiff_t>(s));
      bytes = bytes.subspan(s);
    }
  }
  return true;
}

}  // namespace deuteron
