// SPDX-License-Identifier: Apache-2.0
// Where the plan of the lowered program is larger than the memory, the operators at the peak are
// computed in bands of rows: a band's operands are views of rows, its results are written where the
// whole lies, which may be over rows that no later band needs, and what lies between is alive for
// one band at a time. Rows that two bands need are computed twice or kept, whatever serves better.
// The bits are those of the whole.
#include "compile/schedule/split_rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <set>

#include "compile/compilation.h"
#include "compile/options.h"
#include "compile/pass.h"
#include "compile/schedule/memories.h"
#include "compile/schedule/row_plan.h"
#include "compile/schedule/row_trials.h"
#include "targets/target.h"

namespace deuteron {
namespace {

// Which numbers of bands are tried, and how many programs for one peak.
constexpr i64 kBands[] = {2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 56, 64};
constexpr int kMostSplitTries = 60;
// --max-ram least: the multiply-adds that bands may add, as a part of all, and how near to the
// least the search stops.
constexpr i64 kMostAddedWork = 10;  // a tenth
constexpr i64 kNearTheLeast = 128;
// The arguments of a call in the tables of a program on a board, which lie in RAM too: of programs
// with 17 to 154 calls more, 76 to 116.
constexpr i64 kTableBytesOfACall = 100;

class Search {
 public:
  // The limit is one of bytes of the plan, and of `bytes_of_a_call` for each call.
  Search(RowTrials& trials, i64 limit, i64 bytes_of_a_call, i64 most_added_macs)
      : trials_(trials),
        g_(trials.graph()),
        limit_(limit),
        bytes_of_a_call_(bytes_of_a_call),
        most_added_macs_(most_added_macs) {}

  // Nothing when the graph does not lower: lowering itself will say so.
  bool run() {
    before_ = best_ = trials_.program({});
    if (!before_) return false;
    // The search works with sums of what is alive; where the packing needs more, it aims lower.
    for (i64 aim = limit_; !fits() && aim > 0;) {
      descend(aim);
      const i64 bytes_now = with_calls(trials_.plan(splits_).bytes, now_->calls),
                most = with_calls(now_->most, now_->calls);
      if (bytes_now < bytes()) best_ = now_, best_splits_ = splits_;
      if (bytes_now <= limit_ || most > aim) break;
      aim = std::min(aim - (bytes_now - limit_), most - 1);
    }
    return true;
  }

  bool fits() const { return bytes() <= limit_; }
  i64 bytes() const { return with_calls(best_plan().bytes, best_->calls); }
  const std::vector<RowSplit>& splits() const { return best_splits_; }
  const BandedProgram& before() const { return *before_; }
  const BandedProgram& best() const { return *best_; }
  const MemoryPlan& before_plan() const { return trials_.plan({}); }
  const MemoryPlan& best_plan() const { return trials_.plan(best_splits_); }

 private:
  i64 with_calls(i64 bytes, i64 calls) const { return bytes + bytes_of_a_call_ * calls; }

  // A result that lies before its operand lets the next one lie behind it, where that operand was:
  // neighbours change their direction.
  void set_directions(std::vector<RowSplit>& splits) const {
    std::set<ValueId> below;  // results that lie before their operands
    for (RowSplit& s : splits) {
      s.upward = below.count(
                     behind_row_views(g_, trials_.uses(), g_.nodes[s.chain.front()].inputs[0])) > 0;
      if (!s.upward) below.insert(g_.nodes[s.chain.back()].outputs[0]);
    }
  }

  bool dies_in(const std::vector<NodeId>& chain, ValueId x) const {
    const auto is_inside = [&](NodeId n) {
      return std::find(chain.begin(), chain.end(), n) != chain.end();
    };
    const std::vector<RowReader> readers =
        row_readers(g_, trials_.uses(), behind_row_views(g_, trials_.uses(), x));
    return std::all_of(readers.begin(), readers.end(),
                       [&](const RowReader& r) { return is_inside(r.node); });
  }

  struct Candidate {
    std::vector<RowSplit> splits;
    std::vector<NodeId> chain;
    i64 least = 0;  // operand, result, and what must be alive between for a band: no plan has less
                    // there; and the calls
    i64 cost = 0;
  };

  std::optional<Candidate> candidate(const RowSplit& split) const {
    Candidate c;
    c.chain = split.chain;
    const auto is_inside = [&](NodeId n) {
      return std::find(split.chain.begin(), split.chain.end(), n) != split.chain.end();
    };
    const AddedBySplit* added = trials_.added(split);
    if (!added) return std::nullopt;
    i64 macs = added->macs, calls = before_->calls + added->calls;
    c.cost = added->cost;
    for (const RowSplit& s : splits_) {
      const auto inside = std::count_if(s.chain.begin(), s.chain.end(), is_inside);
      if (inside == static_cast<std::ptrdiff_t>(s.chain.size())) {
        if (s.chain == split.chain && s.bands == split.bands && s.keep == split.keep)
          return std::nullopt;
        continue;
      }
      if (inside > 0) return std::nullopt;
      const AddedBySplit& beside = *trials_.added(s);
      c.splits.push_back(s), c.cost += beside.cost, macs += beside.macs, calls += beside.calls;
    }
    if (macs > most_added_macs_) return std::nullopt;
    c.splits.push_back(split);
    std::sort(c.splits.begin(), c.splits.end(),
              [](const RowSplit& a, const RowSplit& b) { return a.chain.back() < b.chain.back(); });
    set_directions(c.splits);
    const Node &first = g_.nodes[split.chain.front()], &last = g_.nodes[split.chain.back()];
    const i64 x = g_.is_constant(first.inputs[0]) ? 0 : g_.type(first.inputs[0]).bytes(),
              y = g_.type(last.outputs[0]).bytes();
    // Rows of an operand that nobody else reads make room for the result: all of the one and a band
    // of the other are alive.
    const bool dies = dies_in(split.chain, first.inputs[0]);
    c.least = with_calls(
        added->between + (dies ? std::max(x + y / split.bands, y + x / split.bands) : x + y),
        calls);
    return c;
  }

  // Brings the most alive to `aim`, one peak after the other, as far as that goes.
  void descend(i64 aim) {
    splits_.clear();
    now_ = before_;
    while (with_calls(now_->most, now_->calls) > aim && lower_peak(aim)) {}
  }

  bool lower_peak(i64 aim) {
    if (g_.nodes.empty()) return false;  // states that are only handed on
    const i64 most = with_calls(now_->most, now_->calls);
    std::vector<Candidate> candidates;
    const auto end = std::min<NodeId>(now_->peak + static_cast<NodeId>(kMostOperators),
                                      static_cast<NodeId>(g_.nodes.size()));
    for (NodeId last = now_->peak; last < end; ++last) {
      std::vector<NodeId> chain = trials_.chain(last);
      // Each chain that has the peak in it, from the longest one on.
      for (; std::find(chain.begin(), chain.end(), now_->peak) != chain.end();
           chain.erase(chain.begin()))
        for (const i64 bands : kBands)
          for (const bool keep : {false, true}) {
            if (keep && chain.size() == 1) continue;
            std::optional<Candidate> c = candidate({chain, bands, keep});
            if (c && c->least < most) candidates.push_back(std::move(*c));
          }
    }
    std::stable_sort(candidates.begin(), candidates.end(),
                     [&](const Candidate& a, const Candidate& b) {
                       const bool may_a = a.least <= aim, may_b = b.least <= aim;
                       if (may_a != may_b) return may_a;
                       return may_a ? a.cost < b.cost : a.least < b.least;
                     });
    const Candidate* lowest = nullptr;
    i64 least = most;
    const BandedProgram* of_lowest = nullptr;
    for (size_t k = 0; k < candidates.size() && k < kMostSplitTries && least > aim; ++k) {
      const BandedProgram* program = trials_.program(candidates[k].splits);
      if (!program) continue;
      i64 here = 0;
      for (const NodeId n : candidates[k].chain) here = std::max(here, program->alive[n]);
      here = with_calls(here, program->calls);
      if (here < least) least = here, lowest = &candidates[k], of_lowest = program;
    }
    if (!lowest) return false;
    splits_ = lowest->splits;
    now_ = of_lowest;
    return true;
  }

  RowTrials& trials_;
  const Graph& g_;
  const i64 limit_, bytes_of_a_call_, most_added_macs_;
  const BandedProgram *before_ = nullptr, *now_ = nullptr, *best_ = nullptr;
  std::vector<RowSplit> splits_, best_splits_;
};

std::string alive_at_peak(const Graph& lowered, const MemoryPlan& plan) {
  std::vector<std::string> alive;
  for (const LiveTensor& t : plan.peak)
    alive.push_back(fmt::format("{} ({} bytes)", lowered.values[t.value].name, t.bytes));
  return fmt::format("{}", fmt::join(alive, ", "));
}

i64 plan_and_tables(const Search& s) {
  return s.best_plan().bytes + kTableBytesOfACall * s.best().calls;
}

// Between nothing and the plan without bands: what fits is the new upper end, what does not the
// lower one. Less work is preferred to fewer bytes within a hundred and twenty-eighth.
bool search_least(RowTrials& trials, i64 bytes_of_a_call, std::unique_ptr<Search>& best) {
  const i64 macs = macs_of(trials.graph());
  i64 low = 0, high = std::numeric_limits<i64>::max();
  for (i64 limit = high; high - low > std::max<i64>(high / kNearTheLeast, 1);
       limit = (low + high) / 2) {
    auto search = std::make_unique<Search>(trials, limit, bytes_of_a_call, macs / kMostAddedWork);
    if (!search->run()) return false;
    if (search->fits() && search->bytes() < high) high = search->bytes();
    else low = limit;
    if (!best || plan_and_tables(*search) < plan_and_tables(*best)) best = std::move(search);
  }
  return true;
}

// The least plan and tables together. A search that counts the tables from the first split on has
// none left for the last ones; one that counts them at the end alone has too many. Both are asked.
std::unique_ptr<Search> search_least(RowTrials& trials) {
  std::unique_ptr<Search> best;
  for (const i64 bytes_of_a_call : {i64{0}, kTableBytesOfACall})
    if (!search_least(trials, bytes_of_a_call, best)) return nullptr;
  return best;
}

}  // namespace

void split_rows(PassContext& pass) {
  constexpr i64 kNoLimit = std::numeric_limits<i64>::max();
  const i64 limit = smallest_limit(pass.graph, pass.options, pass.target);
  const bool least = pass.options.max_ram == kLeastRam;
  if (limit == kNoLimit && !least) return;
  RowTrials trials(pass);
  const std::unique_ptr<Search> found =
      least ? search_least(trials) : std::make_unique<Search>(trials, limit, 0, kNoLimit);
  if (!found || (!least && !found->run())) return;
  const Search& search = *found;
  if (!search.splits().empty()) {
    RowBands& r = pass.result.row_bands;
    for (const RowSplit& s : search.splits()) {
      r.operators += static_cast<i64>(s.chain.size());
      r.bands = std::max(r.bands, s.bands);
      r.copies += trials.added(s)->copies;
    }
    r.extra_calls = search.best().calls - search.before().calls;
    r.extra_macs = search.best().macs - search.before().macs;
    r.bytes_before = search.before_plan().bytes;
    r.bytes_after = search.best_plan().bytes;
  }
  // A target's own memory is checked once there is a program.
  if (!search.fits() && pass.options.max_ram > 0 && search.best_plan().bytes > pass.options.max_ram)
    pass.diagnostics.add(
        {Severity::error, fmt::format("{} on {}", pass.graph.name, pass.target.name),
         fmt::format("the planned tensors do not fit --max-ram, also with operators split into "
                     "bands of rows; alive at the peak: {}",
                     alive_at_peak(trials.lowered(search.splits()), search.best_plan())),
         std::to_string(search.best_plan().bytes), std::to_string(pass.options.max_ram),
         "compile.max_ram",
         fmt::format("without bands it takes {} bytes; use a smaller input or fewer channels",
                     search.before_plan().bytes)});
  if (!search.splits().empty()) pass.graph = *trials.banded(search.splits());
}

}  // namespace deuteron
