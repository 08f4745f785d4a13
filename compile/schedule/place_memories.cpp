// SPDX-License-Identifier: Apache-2.0
#include "compile/schedule/place_memories.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "compile/cost/traffic.h"
#include "compile/plan/homes.h"
#include "compile/plan/place.h"
#include "ops/families.h"
#include "write/pte/constants.h"

namespace deuteron {
namespace {

i64 cycles_of(i64 bytes, i64 bytes_per_cycle_q8) {
  return bytes_per_cycle_q8 > 0 ? (bytes * 256 + bytes_per_cycle_q8 - 1) / bytes_per_cycle_q8 : 0;
}
i64 wait_for(const MemoryRegion& m, const Bytes& b) {
  return cycles_of(b.read, m.bytes_per_cycle_q8) + cycles_of(b.written, m.write_bytes_per_cycle_q8);
}

const char* word_of(ThingKind kind) {
  return kind == ThingKind::scratch    ? "scratch"
         : kind == ThingKind::state    ? "states"
         : kind == ThingKind::constant ? "constants"
                                       : "activations";
}

// A memory for activations takes scratch and states too, unless the target gives those a memory of
// their own.
bool may_hold(const Target& target, const MemoryRegion& m, ThingKind kind) {
  if (m.is_flash || !m.is_reached_by("cpu")) return false;
  const char* word = word_of(kind);
  if (kind == ThingKind::constant || kind == ThingKind::tensor) return m.does_hold(word);
  const bool is_named = std::any_of(target.memories.begin(), target.memories.end(),
                                    [&](const MemoryRegion& r) { return r.does_hold(word); });
  return m.does_hold(is_named ? word : "activations");
}

struct Thing {
  ValueId value = -1;
  ThingKind kind = ThingKind::tensor;
  i64 bytes = 0;
  Bytes moved;
  bool npu = false;  // a call of the NPU reads or writes it
};

class Placer {
 public:
  explicit Placer(const MemoryRequest& r)
      : r_(r), g_(r.lowered), groups_(planned_groups(r.lowered)) {
    collect_groups();
    collect_constants();
    count_traffic();
    make_items();
  }

  MemoryAnswer run() {
    MemoryAnswer answer;
    const std::vector<int64_t> room = rooms();
    const Placing p = place(items_, room, kPlanAlignment);
    if (!p.possible) return without_room(room);
    answer.fits = true;
    answer.plan = plan_memory(g_);
    lay_out(p, answer.plan);
    report(p, answer.plan.placement);
    const Placing by_hand = place_greedily(items_, room, kPlanAlignment);
    if (by_hand.possible) answer.plan.placement.greedy_cycles = by_hand.cost;
    answer.plan.placement.slowest_cycles = slowest();
    return answer;
  }

 private:
  const std::vector<MemoryRegion>& memories() const { return r_.target.memories; }

  void collect_groups() {
    for (const PlannedGroup& group : groups_.groups)
      things_.push_back({group.root, ThingKind::scratch, group.bytes, {}, false});
    const auto is = [&](ValueId v, ThingKind kind) {
      if (const i32 k = groups_.group_of[v]; k >= 0 && things_[k].kind != ThingKind::state)
        things_[k].kind = kind;
    };
    for (const Node& node : g_.nodes)
      if (call_of(node.op))
        for (const ValueId v : node.inputs) is(v, ThingKind::tensor);
    for (const Port& p : g_.inputs) is(p.value, ThingKind::tensor);
    for (const Port& p : g_.outputs) is(p.value, ThingKind::tensor);
    for (const Port& p : g_.state_inputs()) is(p.value, ThingKind::state);
  }

  // Constants that share bytes in the file are one.
  void collect_constants() {
    constant_.assign(g_.values.size(), -1);
    std::vector<ValueId> values;
    std::vector<std::span<const std::byte>> bytes;
    const Homes homes(g_);
    for (const Node& node : g_.nodes)
      if (call_of(node.op))
        for (const ValueId v : node.inputs) {
          const ValueId root = homes.of(v).root;
          if (!g_.is_constant(root) ||
              std::find(values.begin(), values.end(), root) != values.end())
            continue;
          values.push_back(root);
          bytes.emplace_back(g_.values[root].constant->bytes);
        }
    const std::vector<size_t> home = constant_homes(bytes);
    std::map<size_t, i32> thing;
    for (size_t k = 0; k < values.size(); ++k) {
      const auto [it, added] = thing.emplace(home[k], static_cast<i32>(things_.size()));
      if (added)
        things_.push_back({values[home[k]],
                           ThingKind::constant,
                           static_cast<i64>(bytes[home[k]].size()),
                           {},
                           false});
      constant_[values[k]] = it->second;
    }
    for (size_t v = 0; v < g_.values.size(); ++v)
      if (const ValueId root = homes.of(static_cast<ValueId>(v)).root; constant_[root] >= 0)
        constant_[v] = constant_[root];
  }

  void count_traffic() {
    for (const Node& node : g_.nodes) {
      const auto* call = call_of(node.op);
      if (!call) continue;
      const Traffic t = traffic_of(g_, node, r_.target.isa);
      const auto count = [&](ValueId v, Bytes moved) {
        const i32 k = groups_.group_of[v] >= 0 ? groups_.group_of[v] : constant_[v];
        if (k < 0) return;
        if (things_[k].kind == ThingKind::scratch)
          moved.read += moved.written;  // what is put there is fetched again
        things_[k].moved.read += moved.read;
        things_[k].moved.written += moved.written;
        things_[k].npu |= call->delegate != nullptr && things_[k].kind != ThingKind::constant;
      };
      for (size_t i = 0; i < node.inputs.size(); ++i) count(node.inputs[i], t.inputs[i]);
      for (size_t i = 0; i < node.outputs.size(); ++i) count(node.outputs[i], t.outputs[i]);
    }
  }

  void make_items() {
    for (size_t k = 0; k < things_.size(); ++k) {
      const Thing& t = things_[k];
      PlaceItem item;
      item.bytes = t.bytes;
      if (k < groups_.groups.size()) {
        const PlannedGroup& group = groups_.groups[k];
        item.first = group.first, item.last = group.last, item.pieces = group.pieces;
        item.always = t.kind == ThingKind::state && group.pieces.empty() && group.first == 0 &&
                      group.last == groups_.moments - 1;
      } else {
        item.first = 0, item.last = groups_.moments - 1, item.always = true;
      }
      for (size_t m = 0; m < memories().size(); ++m) {
        const MemoryRegion& memory = memories()[m];
        const bool is_home = t.kind == ThingKind::constant && static_cast<i32>(m) == r_.home;
        const bool may =
            is_home || (may_hold(r_.target, memory, t.kind) &&
                        (t.kind != ThingKind::constant || (r_.copies && r_.home >= 0)) &&
                        (!t.npu || memory.is_reached_by("npu")));
        item.cost.push_back(may ? wait_for(memory, t.moved) : kNotThere);
      }
      // Without a flash the program lies nobody knows where, and nothing is said of what its
      // constants cost.
      if (t.kind == ThingKind::constant && r_.home < 0) item.cost.push_back(0);
      else item.cost.push_back(kNotThere);
      items_.push_back(std::move(item));
    }
  }

  // By memory, and behind them nowhere in particular.
  std::vector<int64_t> rooms() const {
    std::vector<int64_t> room;
    for (const MemoryRegion& m : memories()) {
      const i64 beside = m.does_hold("constants") && m.is_reached_by("npu") ? r_.resident : 0;
      room.push_back(m.is_flash || m.bytes == 0 ? kEndless : std::max<i64>(m.bytes - beside, 0));
    }
    room.push_back(kEndless);
    return room;
  }

  // The largest memory grows until it is enough.
  MemoryAnswer without_room(std::vector<int64_t> room) const {
    MemoryAnswer answer;
    size_t largest = memories().size();
    for (size_t m = 0; m < memories().size(); ++m)
      if (memories()[m].is_planned() && (largest == memories().size() || room[m] > room[largest]))
        largest = m;
    if (largest == memories().size()) return answer;
    answer.short_of = memories()[largest].name;
    answer.plan = plan_memory(g_);
    const int64_t has = room[largest];
    int64_t low = 0, high = std::max<i64>(answer.plan.bytes, kPlanAlignment) / kPlanAlignment;
    const auto is_enough = [&](int64_t units) {
      room[largest] = has / kPlanAlignment * kPlanAlignment + units * kPlanAlignment;
      return place_greedily(items_, room, kPlanAlignment).possible ||
             place(items_, room, kPlanAlignment).possible;
    };
    while (high - low > 1) {
      const int64_t middle = (low + high) / 2;
      (is_enough(middle) ? high : low) = middle;
    }
    answer.missing = high * kPlanAlignment;
    return answer;
  }

  void lay_out(const Placing& p, MemoryPlan& plan) const {
    plan.bytes = 0;
    plan.placement.copied_to.assign(g_.values.size(), -1);
    std::vector<i64> begin(memories().size(), -1);
    std::vector<i32> buffer(memories().size(), -1);
    for (size_t m = 0; m < memories().size(); ++m) {
      if (memories()[m].is_flash || p.bytes[m] == 0) continue;
      PlannedBuffer b{memories()[m].name, plan.bytes, p.bytes[m], p.bytes[m]};
      for (size_t k = groups_.groups.size(); k < things_.size(); ++k)
        if (p.memory[k] == static_cast<i32>(m)) b.copies_at = std::min(b.copies_at, p.offset[k]);
      begin[m] = plan.bytes;
      buffer[m] = static_cast<i32>(plan.placement.buffers.size());
      plan.bytes += b.bytes;
      plan.placement.buffers.push_back(std::move(b));
    }
    plan.optimal = plan.bytes == plan.lower_bound;
    for (size_t v = 0; v < g_.values.size(); ++v) {
      if (const i32 k = groups_.group_of[v]; k >= 0)
        plan.offset[v] = std::max<i64>(begin[p.memory[k]], 0) + p.offset[k] + groups_.shift[v];
      else if (constant_[v] >= 0 && p.memory[constant_[v]] < static_cast<i32>(memories().size()))
        plan.placement.copied_to[v] = buffer[p.memory[constant_[v]]];
    }
  }

  void report(const Placing& p, MemoryPlacement& out) const {
    out.cycles = p.cost, out.bound = p.bound, out.is_optimal = p.optimal, out.home = r_.home;
    const std::vector<int64_t> room = rooms();
    for (size_t m = 0; m < memories().size(); ++m) {
      const MemoryRegion& r = memories()[m];
      out.memories.push_back({r.name, r.is_flash,
                              r.is_flash            ? r.bytes
                              : room[m] == kEndless ? 0
                                                    : room[m],
                              r.is_flash ? 0 : p.bytes[m], 0});
    }
    for (size_t k = 0; k < things_.size(); ++k) {
      const Thing& t = things_[k];
      if (p.memory[k] >= static_cast<i32>(memories().size())) continue;
      out.things.push_back({t.value, t.kind, p.memory[k], t.bytes, t.moved.read, t.moved.written,
                            items_[k].cost[p.memory[k]]});
      if (t.kind != ThingKind::constant) continue;
      const i64 bytes = (t.bytes + kPlanAlignment - 1) / kPlanAlignment * kPlanAlignment;
      out.memories[p.memory[k]].constants += bytes;
      if (!out.memories[p.memory[k]].is_flash) out.memories[p.memory[k]].tensors -= bytes;
    }
    const auto heat = [](const PlacedThing& t) {
      return static_cast<double>(t.read + t.written) /
             static_cast<double>(std::max<i64>(t.bytes, 1));
    };
    std::stable_sort(out.things.begin(), out.things.end(),
                     [&](const PlacedThing& a, const PlacedThing& b) { return heat(a) > heat(b); });
  }

  // Everything where it costs most of what may hold it, and the constants in the file, whether
  // there is room or not.
  i64 slowest() const {
    i64 sum = 0;
    for (size_t k = 0; k < things_.size(); ++k) {
      const std::vector<int64_t>& cost = items_[k].cost;
      const bool stays = things_[k].kind == ThingKind::constant;
      sum +=
          stays ? (r_.home >= 0 ? cost[r_.home] : 0) : *std::max_element(cost.begin(), cost.end());
    }
    return sum;
  }

  const MemoryRequest& r_;
  const Graph& g_;
  const PlannedGroups groups_;
  std::vector<Thing> things_;  // groups, then constants
  std::vector<i32> constant_;  // by value: of things_; -1: none
  std::vector<PlaceItem> items_;
};

}  // namespace

bool places_memories(const Target& target, const CompileOptions& options) {
  const auto planned = std::count_if(target.memories.begin(), target.memories.end(),
                                     [](const MemoryRegion& m) { return m.is_planned(); });
  const bool is_known = std::any_of(target.memories.begin(), target.memories.end(),
                                    [](const MemoryRegion& m) { return m.bytes_per_cycle_q8 > 0; });
  return planned > 1 && is_known && !options.one_memory;
}

MemoryAnswer place_memories(const MemoryRequest& request) { return Placer(request).run(); }

}  // namespace deuteron
