// SPDX-License-Identifier: Apache-2.0
// Weights become what the kernels of our runtime read: after lowering, so that every way to a dense
// call is served, with the numbers that the plain call has.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <string_view>
#include <utility>

#include "compile/compilation.h"
#include "compile/cost/cpu_cost.h"
#include "compile/cost/worth.h"
#include "compile/lower/call_node.h"
#include "compile/lower/pack_call.h"
#include "compile/options.h"
#include "compile/pass.h"
#include "ops/families.h"
#include "targets/target.h"

namespace deuteron {
namespace {

// Whether it reads units that were put in order.
bool has_zeros(const UnitOrder& units, const Node& node) {
  return std::ranges::any_of(node.origin, [&](i32 id) {
    return std::ranges::find(units.readers, id) != units.readers.end();
  });
}

struct Candidate {
  size_t node;
  Lowered lowered;
};

std::optional<Candidate> candidate(const Graph& g, size_t n, PassContext& pass,
                                   LinearForms& additions) {
  const Node& node = g.nodes[n];
  const auto* call = call_of(node.op);
  if (!call || !call->numbers) return std::nullopt;
  const bool may_be_four_bits = has_int4_weights(pass.options);
  const bool zeros = !may_be_four_bits && has_zeros(pass.result.unit_order, node);
  Result<Lowered> lowered =
      pack_call(*call, {pass.target.isa, node.inputs.size(), zeros, may_be_four_bits}, additions);
  if (!lowered) {
    if (lowered.why.rule != kNoPacking)
      pass.result.plain.push_back({node.origin, call->name, lowered.why});
    return std::nullopt;
  }
  lowered.value->call.macs = call->macs;
  return Candidate{n, std::move(*lowered.value)};
}

std::string_view content(const Constant& c) {
  return {reinterpret_cast<const char*>(c.bytes.data()), c.bytes.size()};
}

// How often the calls read each constant. The file has it once: bands of rows share their weights.
using Readers = std::map<std::string_view, i64>;
void add_constants(const Graph& g, const Node& node, Readers& readers) {
  for (const ValueId v : node.inputs)
    if (g.is_constant(v)) ++readers[content(*g.values[v].constant)];
}

// Those that the packed call no longer reads.
void add_replaced(const Graph& g, const Candidate& c, Readers& readers) {
  const std::vector<ValueId>& inputs = g.nodes[c.node].inputs;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto is_read = [&](const KernelArg& a) {
      return a.kind == KernelArg::Kind::input && a.integer == static_cast<i64>(i);
    };
    if (g.is_constant(inputs[i]) && std::ranges::none_of(c.lowered.call.args, is_read))
      ++readers[content(*g.values[inputs[i]].constant)];
  }
}

constexpr i64 kValueBytes = 64;  // of the file, beside its data: measured on fixtures

// Calls whose packed weights are the same bytes: all of them are packed, or none.
struct Group {
  std::vector<Candidate> calls;
  Readers plain;   // that they no longer read
  i64 packed = 0;  // bytes
  i64 plain_cycles = 0;
  i64 cycles = 0;  // that packing saves, by the cost model; below 0: it costs more
  i64 values = 0;  // fewer that the file describes
  i64 growth() const {
    i64 bytes = packed - values * kValueBytes;
    for (const auto& [data, count] : plain) bytes -= static_cast<i64>(data.size());
    return bytes;
  }
  // Cycles for each byte; what takes no more bytes comes first.
  double worth() const {
    return growth() <= 0 ? std::numeric_limits<double>::infinity()
                         : static_cast<double>(cycles) / static_cast<double>(growth());
  }
};

// The call alone, in the place of the one that it would replace.
std::optional<i64> packed_cycles(const Graph& g, const Candidate& c, const Target& target) {
  const Node& node = g.nodes[c.node];
  Graph alone;
  Node place{node.op, {}, {}, node.origin};
  for (const ValueId v : node.inputs)
    place.inputs.push_back(alone.add_value("", g.type(v), g.values[v].constant));
  place.outputs.push_back(alone.add_value("", g.type(node.outputs[0])));
  return cpu_cycles(alone, call_node(alone, place, c.lowered), target);
}

// Values of the plain call that the packed one does without.
i64 values_fewer(const Node& plain, const Lowered& packed) {
  const auto is_value = [](const KernelArg& a) {
    return a.kind == KernelArg::Kind::input || a.kind == KernelArg::Kind::output;
  };
  return std::ranges::count_if(call_of(plain.op)->args, is_value) -
         std::ranges::count_if(packed.call.args, is_value);
}

std::vector<Group> groups_of(const Graph& g, std::vector<Candidate> candidates,
                             const Target& target) {
  std::vector<Group> groups;
  std::map<std::string_view, size_t> group_of;  // by packed weights
  for (Candidate& c : candidates) {
    const auto& constants = c.lowered.constants;
    const auto [at, is_new] =
        group_of.try_emplace(constants.empty() ? "" : content(constants[0].data), groups.size());
    if (is_new) groups.emplace_back();
    Group& group = groups[at->second];
    group.packed = constants.empty() ? 0 : constants[0].type.bytes();
    const std::optional<i64> plain = cpu_cycles(g, g.nodes[c.node], target),
                             packed = packed_cycles(g, c, target);
    if (plain && packed) {
      const i64 saved = *plain - *packed;  // four bits are asked for, and take as long as they take
      group.plain_cycles += *plain;
      group.cycles += has_int4_weights(c.lowered.call.name) ? std::max<i64>(saved, 0) : saved;
    }
    add_replaced(g, c, group.plain);
    group.values += values_fewer(g.nodes[c.node], c.lowered);
    group.calls.push_back(std::move(c));
  }
  std::ranges::stable_sort(groups, std::greater{}, &Group::worth);
  return groups;
}

// Whether the constants may grow by a group's bytes: all together by a few percent for what fills
// up blocks and tiles, or by as many percent as the group saves of the time.
bool is_worth(const Group& group, i64 growth, const Whole& all, i64 free_percent) {
  if (growth <= all.bytes * free_percent / 100) return true;
  return saves_its_share(group.growth(), group.cycles, all);
}

// As far as the cost model can tell.
bool is_slower(const Group& group) { return group.cycles < -group.plain_cycles / 10; }

// Of a plain kernel beside the packed ones: 2 to 8 KB of code, which the file does not show.
constexpr i64 kPlainCode = 4096;

// Whether groups that are slower packed stay plain: where all are together, or where it is worth
// the code.
bool slower_stay_plain(const std::vector<Group>& groups, const Whole& all) {
  Group together;
  i64 lost = 0;
  for (const Group& group : groups) {
    together.plain_cycles += group.plain_cycles, together.cycles += group.cycles;
    if (is_slower(group)) lost -= group.cycles;
  }
  return is_slower(together) || saves_its_share(kPlainCode, lost, all);
}

// Whether the code of plain calls takes more bytes than packing their weights does.
bool are_less_packed(const std::vector<Group>& plain, const std::vector<Group>& packed) {
  i64 growth = 0;
  for (const Group& group : plain) growth += group.growth();
  return growth < kPlainCode &&  // additions have no weights
         std::ranges::any_of(packed, [](const Group& group) { return group.packed > 0; });
}

// Splits off those that stay plain. `others`: there are plain calls beside them.
std::vector<Group> leave_plain(std::vector<Group>& groups, Readers readers, const Whole& all,
                               i64 free_percent, bool others) {
  std::vector<Group> packed, plain;
  const bool may_be_slower = !slower_stay_plain(groups, all);
  i64 growth = 0;
  for (Group& group : groups) {
    i64 more = group.packed;
    for (const auto& [data, times] : group.plain)
      if (readers[data] == times) more -= static_cast<i64>(data.size());
    if ((is_slower(group) && !may_be_slower) ||
        !is_worth(group, growth + more, all, free_percent)) {
      plain.push_back(std::move(group));
      continue;
    }
    growth += more;
    for (const auto& [data, times] : group.plain) readers[data] -= times;
    packed.push_back(std::move(group));
  }
  if (may_be_slower && !others && are_less_packed(plain, packed))
    std::ranges::move(std::exchange(plain, {}), std::back_inserter(packed));
  groups = std::move(packed);
  return plain;
}

std::string why_plain(const Group& group, const Whole& all) {
  const auto percent = [](i64 part, i64 whole) {
    return 100.0 * static_cast<double>(part) / static_cast<double>(std::max<i64>(whole, 1));
  };
  return fmt::format("packing would add {:.1f} % to the constants and save {:.1f} % of the cycles",
                     percent(group.growth(), all.bytes), percent(group.cycles, all.cycles));
}

}  // namespace

Result<Lowered> pack_call(const KernelCall& plain, const PackFor& p, LinearForms& additions) {
  if (const auto* layer = numbers_of<DenseNumbers>(&plain)) return pack_layer(*layer, p);
  if (const auto* add = numbers_of<AddNumbers>(&plain)) return linearize_add(*add, additions);
  return Refusal{"has no kernel on packed weights", "", "", kNoPacking};
}

bool has_int4_weights(std::string_view call) { return call == "deuteron::packed_conv2d_w4"; }

std::optional<Int4Weights> int4_weights_of(const Node& node) {
  const auto* n = numbers_of<PackedDense>(call_of(node.op));
  if (!n || n->form != PackedDense::Form::four_bits) return std::nullopt;
  return Int4Weights{node.inputs[1], packed_bytes(n->packing, n->a.out_c, n->a.length())};
}

void pack_weights(PassContext& pass) {
  if (!pass.options.packed_weights) return;
  Graph& g = pass.graph;
  std::vector<Candidate> candidates;
  Readers readers;
  LinearForms additions;
  Whole all;  // before anything is packed
  for (size_t n = 0; n < g.nodes.size(); ++n) {
    add_constants(g, g.nodes[n], readers);
    all.cycles += cpu_cycles(g, g.nodes[n], pass.target).value_or(0);
    if (auto c = candidate(g, n, pass, additions)) candidates.push_back(std::move(*c));
  }
  for (const auto& [data, count] : readers) all.bytes += static_cast<i64>(data.size());
  std::vector<Group> groups = groups_of(g, std::move(candidates), pass.target);
  const bool others = !pass.result.plain.empty();
  for (const Group& group :
       leave_plain(groups, std::move(readers), all, pass.options.packed_growth_percent, others))
    for (const Candidate& c : group.calls)
      pass.result.plain.push_back({g.nodes[c.node].origin,
                                   call_of(g.nodes[c.node].op)->name,
                                   {why_plain(group, all), "", "", ""}});
  for (Group& group : groups)
    for (Candidate& c : group.calls) {
      Node& node = g.nodes[c.node];
      const Node result{node.op,
                        node.inputs,
                        {node.outputs[0]},
                        node.origin};  // without the scratch of the plain kernel
      node = call_node(g, result, std::move(c.lowered));
    }
}

}  // namespace deuteron
