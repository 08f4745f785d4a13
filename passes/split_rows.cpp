// Where the plan of the lowered program is larger than the memory, the operators at the peak are computed in bands of rows: a band's
// operands are views of rows, its results are written where the whole lies, which may be over rows that no later band needs, and what lies
// between is alive for one band at a time. Rows that two bands need are computed twice. The bits are those of the whole.
#include "passes/split_rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <set>

#include "ir/verify.h"
#include "memory/plan_memory.h"
#include "ops/families.h"
#include "passes/compilation.h"
#include "passes/fit_scratch.h"
#include "passes/memories.h"
#include "passes/options.h"
#include "passes/pass.h"
#include "passes/trial.h"
#include "targets/target.h"

namespace deuteron {
namespace {

// What a kernel call costs beside its multiply-adds, in multiply-adds: loops, and parameters that are read again.
constexpr i64 kMacsOfACall = 20'000;
// How far a chain is followed from the peak, which numbers of bands are tried, and how many graphs are planned for one peak.
constexpr size_t kReach = 8;
constexpr i64 kBands[] = {2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32};
constexpr int kMostSplitTries = 60;
// --max-ram least: the multiply-adds that bands may add, as a part of all, and how near to the least the search stops.
constexpr i64 kMostAddedWork = 10;  // a tenth
constexpr i64 kNearTheLeast = 128;
// The arguments of a call in the tables of a program on a board, which lie in RAM too: of programs with 8 to 254 calls more, 119 to 126.
constexpr i64 kTableBytesOfACall = 124;

i64 smallest_limit(const Graph& g, const CompileOptions& options, const Target& target) {
  const i64 limit = options.max_ram > 0 ? options.max_ram : std::numeric_limits<i64>::max();
  const Room room = room_for_activations(target, calls_npu(g), std::numeric_limits<i64>::max(),
                                         resident_npu_bytes(g, target, options.npu.fetch_constants));
  return room.memory ? std::min(limit, room.bytes) : limit;
}

// A graph with bands as it would run: what is alive at each node, by node of the graph without bands.
struct Bands {
  Graph lowered;
  std::vector<i64> alive;  // by node of the unsplit graph: the most at any node that it became
  i64 most = 0;
  NodeId peak = -1;
  i64 macs = 0, calls = 0;
};

class Search {
 public:
  Search(PassContext& pass, i64 limit, i64 most_added_macs)
      : pass_(pass), g_(pass.graph), uses_(pass.graph), limit_(limit), most_added_macs_(most_added_macs) {}

  // Nothing when the graph does not lower: lowering itself will say so.
  bool run() {
    std::optional<Bands> whole = try_splits({});
    if (!whole) return false;
    before_ = *whole;
    before_plan_ = best_plan_ = plan_of(before_);
    best_ = before_;
    // The search works with sums of what is alive; where the packing needs more, it aims lower.
    for (i64 aim = limit_; best_plan_.bytes > limit_ && aim > 0;) {
      descend(aim);
      MemoryPlan plan = plan_of(now_);
      const i64 over = plan.bytes - limit_;
      if (plan.bytes < best_plan_.bytes) best_ = now_, best_splits_ = splits_, best_plan_ = std::move(plan);
      if (over <= 0 || now_.most > aim) break;
      aim = std::min(aim - over, now_.most - 1);
    }
    return true;
  }

  bool fits() const { return best_plan_.bytes <= limit_; }
  const std::vector<RowSplit>& splits() const { return best_splits_; }
  const Bands& before() const { return before_; }
  const Bands& best() const { return best_; }
  const MemoryPlan& before_plan() const { return before_plan_; }
  const MemoryPlan& best_plan() const { return best_plan_; }

 private:
  // As the program will have it. Weights take too long to be packed at every step of the search.
  MemoryPlan plan_of(Bands& bands) const {
    Trial trial(pass_, std::move(bands.lowered));
    trial.run("pack-weights", "fit-scratch");
    bands.lowered = std::move(trial.graph);
    return plan_memory(bands.lowered);
  }

  std::optional<Bands> try_splits(const std::vector<RowSplit>& splits) const {
    std::vector<NodeId> made_from;
    std::optional<Graph> graph = with_bands(g_, splits, &made_from);
    if (!graph) return std::nullopt;
    // While it is lowered a node's source is the node of the unsplit graph that it comes from.
    const size_t sources = std::max<size_t>(g_.nodes.size(), 1);  // copies of states come from the first one where there is none
    graph->sources.assign(sources, {});
    graph->folded.clear();
    for (State& state : graph->states) state.source = -1;  // that of its maker
    for (size_t n = 0; n < graph->nodes.size(); ++n) graph->nodes[n].origin = {made_from[n]};
    Trial trial(pass_, *std::move(graph));
    if (!trial.run("lower", "lower")) return std::nullopt;
    // In a program with packed weights scratch never makes the peak but for what a kernel cannot do without.
    Graph known = trial.graph;
    if (pass_.options.packed_weights) shrink_scratch(known);
    const Graph& lowered = known;
    Bands t;
    t.alive.assign(sources, 0);
    const std::vector<i64> alive = bytes_alive(lowered);
    for (size_t n = 0; n < alive.size(); ++n) {
      const auto* call = call_of(lowered.nodes[n].op);
      if (!call) continue;
      const NodeId source = lowered.nodes[n].origin[0];
      t.alive[source] = std::max(t.alive[source], alive[n]);
      t.macs += call->macs;
      ++t.calls;
      if (alive[n] > t.most) t.most = alive[n], t.peak = source;
    }
    t.lowered = std::move(trial.graph);
    return t;
  }

  // A result that lies before its operand lets the next one lie behind it, where that operand was: neighbours change their direction.
  void set_directions(std::vector<RowSplit>& splits) const {
    std::set<ValueId> below;  // results that lie before their operands
    for (RowSplit& s : splits) {
      s.upward = below.count(g_.nodes[s.chain.front()].inputs[0]) > 0;
      if (!s.upward) below.insert(g_.nodes[s.chain.back()].outputs[0]);
    }
  }

  bool dies_in(const std::vector<NodeId>& chain, ValueId x) const {
    const auto is_inside = [&](NodeId n) { return std::find(chain.begin(), chain.end(), n) != chain.end(); };
    return uses_.output_uses[x] == 0 && std::all_of(uses_.readers[x].begin(), uses_.readers[x].end(), is_inside);
  }

  struct Candidate {
    std::vector<RowSplit> splits;
    std::vector<NodeId> chain;
    i64 least = 0;  // operand, result, and what must be alive between for a band: no plan has less there
    i64 cost = 0;
  };

  // Rows of every operator's result in all bands together, and the most that two neighbours of a chain hold in one band.
  std::optional<Candidate> candidate(const std::vector<NodeId>& chain, i64 bands) const {
    Candidate c;
    c.chain = chain;
    for (const RowSplit& s : splits_) {
      const auto inside =
          std::count_if(s.chain.begin(), s.chain.end(), [&](NodeId n) { return std::find(chain.begin(), chain.end(), n) != chain.end(); });
      if (inside == 0) c.splits.push_back(s);
      else if (inside != static_cast<std::ptrdiff_t>(s.chain.size())) return std::nullopt;
      else if (s.chain == chain && s.bands == bands) return std::nullopt;
    }
    c.splits.push_back({chain, bands});
    std::sort(c.splits.begin(), c.splits.end(), [](const RowSplit& a, const RowSplit& b) { return a.chain.back() < b.chain.back(); });
    set_directions(c.splits);
    std::vector<NodeId> made_from;
    const std::optional<Graph> graph = with_bands(g_, c.splits, &made_from);
    if (!graph) return std::nullopt;
    i64 macs = 0, calls = 0, between = 0;
    const Node &first = g_.nodes[chain.front()], &last = g_.nodes[chain.back()];
    for (size_t n = 0; n < graph->nodes.size(); ++n) {
      const Node& node = graph->nodes[n];
      if (std::holds_alternative<Slice>(node.op) || std::holds_alternative<Concat>(node.op)) continue;
      macs += macs_of(*graph, node);
      ++calls;
      if (std::find(chain.begin(), chain.end(), made_from[n]) == chain.end()) continue;
      i64 held = 0;
      if (made_from[n] != chain.front()) held += graph->type(node.inputs[0]).bytes();
      if (made_from[n] != chain.back()) held += graph->type(node.outputs[0]).bytes();
      between = std::max(between, held);
    }
    const i64 x = g_.is_constant(first.inputs[0]) ? 0 : g_.type(first.inputs[0]).bytes(), y = g_.type(last.outputs[0]).bytes();
    // Rows of an operand that nobody else reads make room for the result: all of the one and a band of the other are alive.
    const bool dies = dies_in(chain, first.inputs[0]);
    c.least = between + (dies ? std::max(x + y / bands, y + x / bands) : x + y);
    if (macs - before_.macs > most_added_macs_) return std::nullopt;
    c.cost = macs - before_.macs + kMacsOfACall * (calls - before_.calls);
    return c;
  }

  // Brings the most alive to `aim`, one peak after the other, as far as that goes.
  void descend(i64 aim) {
    splits_.clear();
    now_ = before_;
    while (now_.most > aim && lower_peak(aim)) {}
  }

  bool lower_peak(i64 aim) {
    if (g_.nodes.empty()) return false;  // states that are only handed on
    const std::vector<NodeId> chain = chain_through(g_, uses_, now_.peak);
    const auto at = static_cast<size_t>(std::find(chain.begin(), chain.end(), now_.peak) - chain.begin());
    std::vector<Candidate> candidates;
    for (size_t first = at > kReach ? at - kReach : 0; first <= at && at < chain.size(); ++first)
      for (size_t end = at + 1; end <= std::min(chain.size(), at + 1 + kReach); ++end) {
        const std::vector<NodeId> part(chain.begin() + static_cast<std::ptrdiff_t>(first),
                                       chain.begin() + static_cast<std::ptrdiff_t>(end));
        for (const i64 bands : kBands)
          if (std::optional<Candidate> c = candidate(part, bands); c && c->least < now_.most) candidates.push_back(std::move(*c));
      }
    std::stable_sort(candidates.begin(), candidates.end(), [&](const Candidate& a, const Candidate& b) {
      const bool may_a = a.least <= aim, may_b = b.least <= aim;
      if (may_a != may_b) return may_a;
      return may_a ? a.cost < b.cost : a.least < b.least;
    });
    std::optional<std::pair<i64, size_t>> lowest;
    std::optional<Bands> trial_of_lowest;
    int tries = 0;
    for (size_t k = 0; k < candidates.size() && tries < kMostSplitTries; ++k) {
      std::optional<Bands> trial = try_splits(candidates[k].splits);
      ++tries;
      if (!trial) continue;
      i64 here = 0;
      for (const NodeId n : candidates[k].chain) here = std::max(here, trial->alive[n]);
      if (lowest && lowest->first <= here) continue;
      lowest = {here, k};
      trial_of_lowest = std::move(trial);
      if (here <= aim) break;
    }
    if (!lowest || lowest->first >= now_.most) return false;
    splits_ = candidates[lowest->second].splits;
    now_ = std::move(*trial_of_lowest);
    return true;
  }

  PassContext& pass_;
  const Graph& g_;
  const Uses uses_;
  const i64 limit_, most_added_macs_;
  Bands before_, now_, best_;
  std::vector<RowSplit> splits_, best_splits_;
  MemoryPlan before_plan_, best_plan_;
};

std::string alive_at_peak(const Graph& lowered, const MemoryPlan& plan) {
  std::vector<std::string> alive;
  for (const LiveTensor& t : plan.peak) alive.push_back(fmt::format("{} ({} bytes)", lowered.values[t.value].name, t.bytes));
  return fmt::format("{}", fmt::join(alive, ", "));
}

// Between nothing and the plan without bands: what fits in less RAM, tables included, is the new upper end, what does not the lower one.
// Less work is preferred to fewer bytes within a hundred and twenty-eighth.
std::unique_ptr<Search> search_least(PassContext& pass) {
  i64 macs = 0;
  for (const Node& node : pass.graph.nodes) macs += macs_of(pass.graph, node);
  const auto ram_of = [](const Search& s) { return s.best_plan().bytes + kTableBytesOfACall * s.best().calls; };
  std::unique_ptr<Search> best;
  i64 low = 0, high = std::numeric_limits<i64>::max();
  for (i64 limit = high; high - low > std::max<i64>(high / kNearTheLeast, 1); limit = (low + high) / 2) {
    auto search = std::make_unique<Search>(pass, limit, macs / kMostAddedWork);
    if (!search->run()) return nullptr;
    const bool less = !best || (search->best_plan().bytes < high && ram_of(*search) < ram_of(*best));
    if (!search->fits() || !less) low = limit;
    if (!less) continue;
    high = search->best_plan().bytes;
    best = std::move(search);
  }
  return best;
}

}  // namespace

void split_rows(PassContext& pass) {
  constexpr i64 kNoLimit = std::numeric_limits<i64>::max();
  const i64 limit = smallest_limit(pass.graph, pass.options, pass.target);
  const bool least = pass.options.max_ram == kLeastRam;
  if (limit == kNoLimit && !least) return;
  const std::unique_ptr<Search> found = least ? search_least(pass) : std::make_unique<Search>(pass, limit, kNoLimit);
  if (!found || (!least && !found->run())) return;
  const Search& search = *found;
  if (!search.splits().empty()) {
    RowBands& r = pass.result.row_bands;
    for (const RowSplit& s : search.splits()) r.operators += static_cast<i64>(s.chain.size()), r.bands = std::max(r.bands, s.bands);
    r.extra_calls = search.best().calls - search.before().calls;
    r.extra_macs = search.best().macs - search.before().macs;
    r.bytes_before = search.before_plan().bytes;
    r.bytes_after = search.best_plan().bytes;
    pass.graph = *with_bands(pass.graph, search.splits());
  }
  // A target's own memory is checked once there is a program.
  if (search.fits() || pass.options.max_ram <= 0 || search.best_plan().bytes <= pass.options.max_ram) return;
  pass.diagnostics.add(
      {Severity::error, fmt::format("{} on {}", pass.graph.name, pass.target.name),
       fmt::format("the planned tensors do not fit --max-ram, also with operators split into bands of rows; alive at the peak: {}",
                   alive_at_peak(search.best().lowered, search.best_plan())),
       std::to_string(search.best_plan().bytes), std::to_string(pass.options.max_ram), "compile.max_ram",
       fmt::format("without bands it takes {} bytes; use a smaller input or fewer channels", search.before_plan().bytes)});
}

}  // namespace deuteron
