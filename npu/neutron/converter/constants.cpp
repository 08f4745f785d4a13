// SPDX-License-Identifier: Apache-2.0
// See constants.h.
#include "npu/neutron/converter/constants.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "base/allocate/pack.h"
#include "npu/neutron/converter/place.h"
#include "npu/neutron/kernels/fetch/call.h"

namespace deuteron::neutron {
namespace {

i64 aligned(i64 bytes) {
  return (bytes + kSectionAlignment - 1) / kSectionAlignment * kSectionAlignment;
}

// A run of the weights section.
struct Run {
  i64 from = 0, bytes = 0;
  bool operator==(const Run&) const = default;
};

void point(EncodedCall& call, const ConstantUse& use, Region region, i64 offset) {
  const Operand o = operand(region, static_cast<i32>(offset));
  std::memcpy(&call.words[use.word], &o, sizeof o);
}

std::vector<Run> runs_of(const EncodedCall& call, const std::vector<i64>& offset,
                         const CallList& list) {
  std::set<i32> blobs;
  for (const ConstantUse& u : call.constants) blobs.insert(u.blob);
  std::vector<Run> runs;  // blobs lie in the order of their numbers
  for (const i32 b : blobs) {
    const Run r{offset[b], aligned(static_cast<i64>(list.blobs[b].size()))};
    if (!runs.empty() && runs.back().from + runs.back().bytes == r.from)
      runs.back().bytes += r.bytes;
    else runs.push_back(r);
  }
  return runs;
}

struct Fetch {
  Run run;
  size_t first_call = 0, last_call = 0;  // that read it
};

EncodedCall copy_of(const Run& run, i64 to, i32 channel, decltype(EncodedCall::ops) ops) {
  MemCpyCall copy{};
  copy.from = operand(Region::kWeights, static_cast<i32>(run.from));
  copy.to = operand(Region::kSramWeights, static_cast<i32>(to));
  copy.bytes = static_cast<i32>(run.bytes);
  copy.channel = channel;
  EncodedCall call;
  call.kind = Kind::kMemCpy;
  call.words.resize(sizeof copy / 4);
  std::memcpy(call.words.data(), &copy, sizeof copy);
  call.ops = std::move(ops);
  return call;
}

}  // namespace

ConstantPlan plan_constants(const CallList& list, bool fetch) {
  ConstantPlan plan;
  std::vector<i64> offset;
  for (const auto& blob : list.blobs) {
    offset.push_back(static_cast<i64>(plan.weights.size()));
    plan.weights.insert(plan.weights.end(), blob.begin(), blob.end());
    plan.weights.resize(static_cast<size_t>(aligned(static_cast<i64>(plan.weights.size()))), 0);
  }
  if (!fetch) {
    plan.calls = list.calls;
    for (EncodedCall& c : plan.calls)
      for (const ConstantUse& u : c.constants)
        point(c, u, Region::kWeights, offset[u.blob] + u.offset);
    return plan;
  }

  std::vector<Fetch> fetches;
  std::vector<std::vector<size_t>> of_call(list.calls.size());
  for (size_t c = 0; c < list.calls.size(); ++c)
    for (const Run& run : runs_of(list.calls[c], offset, list)) {
      auto known = std::find_if(fetches.begin(), fetches.end(), [&](const Fetch& f) {
        return f.run == run && f.last_call + 1 >= c;
      });
      if (known == fetches.end()) known = fetches.insert(known, {run, c, c});
      known->last_call = c;
      of_call[c].push_back(static_cast<size_t>(known - fetches.begin()));
    }
  std::vector<PackItem> items;
  for (const Fetch& f : fetches)
    items.push_back({f.run.bytes, static_cast<i32>(f.first_call > 0 ? f.first_call - 1 : 0),
                     static_cast<i32>(f.last_call), kSectionAlignment});
  const PackResult packing = pack(items);
  plan.sram_bytes = aligned(packing.bytes);

  size_t next = 0;
  i32 channel = 0;
  for (size_t c = 0; c < list.calls.size(); ++c) {
    for (; next < fetches.size() && fetches[next].first_call <= c + 1; ++next) {
      const Fetch& f = fetches[next];
      plan.calls.push_back(
          copy_of(f.run, packing.offset[next], channel, list.calls[f.first_call].ops));
      channel ^= 1;
    }
    EncodedCall call = list.calls[c];
    for (const ConstantUse& u : call.constants) {
      const i64 at = offset[u.blob];
      const auto f = std::find_if(of_call[c].begin(), of_call[c].end(), [&](size_t i) {
        return at >= fetches[i].run.from && at < fetches[i].run.from + fetches[i].run.bytes;
      });
      DEUTERON_CHECK(f != of_call[c].end());
      point(call, u, Region::kSramWeights,
            packing.offset[*f] + at - fetches[*f].run.from + u.offset);
    }
    plan.calls.push_back(std::move(call));
  }
  return plan;
}

}  // namespace deuteron::neutron
