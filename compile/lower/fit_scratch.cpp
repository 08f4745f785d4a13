// SPDX-License-Identifier: Apache-2.0
// A plan needs the tensors that are alive and the scratch of the call that runs. The stock dialect
// fixes how much scratch a call has. In a program that only our runtime takes, a call gets what its
// kernel uses, as far as that lies free under the peak. Kernels that want more work in smaller
// pieces, with the same bits. Where such calls stand at the peak the plan grows for them, if that
// saves at least as many percent of the time: by 2 % or 256 bytes at most; with --max-ram up to it,
// whatever it saves.
#include "compile/lower/fit_scratch.h"

#include <algorithm>

#include "compile/compilation.h"
#include "compile/cost/cpu_cost.h"
#include "compile/cost/program_cost.h"
#include "compile/cost/worth.h"
#include "compile/lower/portable_calls.h"
#include "compile/options.h"
#include "compile/pass.h"
#include "compile/plan/plan_memory.h"
#include "compile/schedule/memories.h"
#include "ops/families.h"
#include "targets/target.h"

namespace deuteron {
namespace {

i64 in_plan(i64 bytes) { return (bytes + kPlanAlignment - 1) / kPlanAlignment * kPlanAlignment; }

// The k-th scratch of a call that says what it needs.
void set_scratch(Graph& g, Node& node, size_t k, i64 bytes) {
  auto& call = *call_of(node.op);
  const size_t output = node.outputs.size() - call.own_scratch.size() + k;
  g.values[node.outputs[output]].type.shape = {bytes};
  for (KernelArg& arg : call.args)
    if (arg.kind == KernelArg::Kind::output && arg.integer == static_cast<i64>(output))
      arg.face = plain_face({bytes});
}

// A call gets `room` bytes more of the plan than it cannot do without, or what it uses.
void give(Graph& g, Node& node, i64 room) {
  const auto& own = call_of(node.op)->own_scratch;
  for (size_t k = 0; k < own.size(); ++k) {
    const i64 least = in_plan(own[k].least),
              bytes = std::clamp(least + room, own[k].least, own[k].most);
    room -= std::max<i64>(in_plan(bytes) - least, 0);
    set_scratch(g, node, k, bytes);
  }
}

// What a call uses beside that.
i64 usable(const Node& node) {
  i64 bytes = 0;
  for (const OwnScratch& own : call_of(node.op)->own_scratch)
    bytes += in_plan(own.most) - in_plan(own.least);
  return bytes;
}

// A call that takes fewer cycles with so many bytes more in the plan than the peak has for it.
struct Wish {
  size_t node;
  i64 bytes, cycles;
};

// The wishes of a call that has `room` bytes, the smallest first, each beside those before it.
void add_wishes(Graph& g, size_t n, i64 room, const Target& target, std::vector<Wish>& wishes) {
  Node& node = g.nodes[n];
  const auto cycles_with = [&](i64 bytes) {
    give(g, node, bytes);
    const CpuWork work = cpu_work(g, node);  // by kinds: lines of loops know each byte
    return cpu_cycles(cost_lines(g, node, work), work, target).value_or(0);
  };
  const i64 most = usable(node), fastest = most > room ? cycles_with(most) : 0;
  for (i64 has = room, cycles = cycles_with(has); most > room && cycles > fastest;) {
    i64 enough = most;  // as has no less than `cycles`
    for (i64 step; (step = (enough - has) / 2 / kPlanAlignment * kPlanAlignment) > 0;)
      (cycles_with(has + step) < cycles ? enough : has) = has + step;
    const i64 fewer = cycles_with(enough);
    wishes.push_back({n, enough - room, cycles - fewer});
    has = enough, cycles = fewer;
  }
}

// How many bytes more the peak has, of `most`, so that wishes come true, the smallest first: those
// that are worth it, or all.
i64 growth_for(const std::vector<Wish>& wishes, i64 most, const Whole& all, bool is_free) {
  i64 growth = 0, cycles = 0;
  for (const Wish& wish : wishes) {
    if (wish.bytes > most) break;
    cycles += wish.cycles;
    if (is_free || saves_its_share(wish.bytes - growth, cycles, all))
      growth = wish.bytes, cycles = 0;
  }
  return growth;
}

class Fit {
 public:
  explicit Fit(PassContext& pass) : pass_(pass), g_(pass.graph) {
    shrink_scratch(g_);
    alive_ = bytes_alive(g_);
    peak_ = alive_.empty() ? 0 : *std::max_element(alive_.begin(), alive_.end());
  }

  void run() {
    std::vector<Wish> wishes;
    for (size_t n = 0; n < g_.nodes.size(); ++n)
      if (has_own(n)) add_wishes(g_, n, peak_ - alive_[n], pass_.target, wishes);
    std::ranges::stable_sort(wishes, {}, &Wish::bytes);
    give_all(0);
    const i64 growth = wishes.empty() ? 0 : grow(wishes);
    for (const Wish& wish : wishes)
      if (wish.bytes > growth) note(wish, growth);
    for (Node& node : g_.nodes)
      if (auto* call = call_of(node.op)) call->own_scratch.clear();
  }

 private:
  bool has_own(size_t n) const {
    const auto* call = call_of(g_.nodes[n].op);
    return call && !call->own_scratch.empty();
  }
  void give_all(i64 growth) {
    for (size_t n = 0; n < g_.nodes.size(); ++n)
      if (has_own(n)) give(g_, g_.nodes[n], peak_ + growth - alive_[n]);
  }

  i64 usual_growth() const {
    constexpr i64 kFewBytes = 256;  // windows of 64 channels two by two
    const i64 percent = pass_.options.scratch_growth_percent;
    return percent == 0 ? 0 : std::max(peak_ * percent / 100, kFewBytes);
  }

  i64 grow(const std::vector<Wish>& wishes) {
    const CompileOptions& options = pass_.options;
    if (options.max_ram == kLeastRam) return 0;
    const bool is_free = options.max_ram > 0;  // who names a size has the bytes
    const i64 limit = smallest_limit(g_, options, pass_.target),
              most = std::min(is_free ? limit : usual_growth(), limit - peak_);
    const i64 cycles = program_cost(g_, pass_.result.npu.cycles(), pass_.target).total();
    const i64 growth = growth_for(wishes, most, {peak_, cycles}, is_free);
    if (growth == 0) return 0;
    const i64 before = plan_memory(g_).bytes;
    give_all(growth);
    const i64 after = plan_memory(g_).bytes;
    if (after <= limit && after - before <= most) return growth;
    give_all(0);  // the packing has more gaps
    return 0;
  }

  void note(const Wish& wish, i64 growth) {
    std::vector<ShortScratch>& list = pass_.result.short_scratch;
    const Node& node = g_.nodes[wish.node];
    auto at = std::ranges::find(list, node.outputs[0], &ShortScratch::result);
    if (at == list.end()) at = list.insert(at, {node.outputs[0], node.origin, 0, 0});
    at->bytes = wish.bytes - growth, at->cycles += wish.cycles;
  }

  PassContext& pass_;
  Graph& g_;
  std::vector<i64> alive_;  // by node, with the least scratch
  i64 peak_ = 0;            // of these
};

}  // namespace

void shrink_scratch(Graph& g) {
  for (Node& node : g.nodes)
    if (auto* call = call_of(node.op))
      for (size_t k = 0; k < call->own_scratch.size(); ++k)
        set_scratch(g, node, k, call->own_scratch[k].least);
}

void fit_scratch(PassContext& pass) {
  const auto is_own = [](const Node& node) {
    const auto* call = call_of(node.op);
    return call && is_own_dialect(*call);
  };
  // Stock firmware refuses a program with a call of ours by name, before it runs anything. It would
  // overrun the scratch of another.
  if (std::any_of(pass.graph.nodes.begin(), pass.graph.nodes.end(), is_own)) Fit(pass).run();
}

}  // namespace deuteron
