// SPDX-License-Identifier: Apache-2.0
// See kernel_map.h: is the text of this model, what do the listed kernels compute (regions.h), which call is which listed kernel.
#include "backends/neutron_converter/kernel_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "backends/neutron_converter/regions.h"
#include "backends/neutron_model/microcode.h"

namespace deuteron::neutron {
namespace {

// A row of the list, when the calls are laid beside it.
struct ListedRow {
  const DumpOperator* row;
  ListedKernels known;
};

// Lays the calls beside the list. The microcode repeats a row's kernels for every image of a batch and every tile, and has calls that the
// list does not have (copies of constants).
class CallAligner {
 public:
  CallAligner(std::span<const ListedRow> rows, std::span<const DumpCall> calls) : rows_(rows), calls_(calls) {
    for (const DumpCall& call : calls) kernels_.push_back({call.kernel, {}, {}});
  }

  // Empty: the calls are not those of the list.
  std::vector<MappedKernel> align() {
    if (in_order()) return std::move(kernels_);
    size_t call = 0;
    for (size_t r = 0; r < rows_.size();) {
      size_t group = 1;  // rows of the same kernels behind each other
      while (r + group < rows_.size() && rows_[r + group].row->kernels == rows_[r].row->kernels) ++group;
      const std::string* next =
          r + group < rows_.size() && !rows_[r + group].row->kernels.empty() ? &rows_[r + group].row->kernels[0] : nullptr;
      if (!rows_[r].row->kernels.empty() && !place(r, group, next, call)) return {};
      r += group;
    }
    return std::move(kernels_);
  }

 private:
  // Every kernel of the list once, and between them only kernels that the list does not have.
  bool in_order() {
    std::vector<std::pair<const std::string*, const ListedKernels*>> list;
    std::set<std::string> names;
    for (const ListedRow& row : rows_)
      for (const std::string& kernel : row.row->kernels) list.push_back({&kernel, &row.known}), names.insert(kernel);
    std::vector<size_t> at;
    for (size_t c = 0; c < calls_.size(); ++c) {
      if (at.size() < list.size() && calls_[c].kernel == *list[at.size()].first) at.push_back(c);
      else if (names.contains(calls_[c].kernel)) return false;
    }
    if (at.size() != list.size()) return false;
    for (size_t k = 0; k < at.size(); ++k) set(at[k], *list[k].second);
    return true;
  }

  // Each repetition of the rows' kernels, from `call` on, up to the first kernel of the next rows. The last row of the list goes to the
  // end.
  bool place(size_t first, size_t group, const std::string* next, size_t& call) {
    const std::vector<std::string>& kernels = rows_[first].row->kernels;
    std::vector<std::vector<size_t>> repeated;
    for (;;) {
      std::vector<size_t> one;
      size_t at = call;
      for (; at < calls_.size() && one.size() < kernels.size(); ++at) {
        if (calls_[at].kernel == kernels[one.size()]) one.push_back(at);
        else if (next && one.empty() && calls_[at].kernel == *next) break;
      }
      if (one.size() < kernels.size()) break;
      repeated.push_back(std::move(one));
      call = at;
      if (!next && at == calls_.size()) break;
    }
    if (repeated.size() < group) return false;
    give(first, group, repeated);
    return true;
  }

  // As many as rows: each its own. Else by the constants of the calls, which repetitions of one row share. Else they cannot be told apart.
  void give(size_t first, size_t group, const std::vector<std::vector<size_t>>& repeated) {
    std::vector<std::string> constants;  // distinct, in order
    for (const std::vector<size_t>& one : repeated) {
      std::string text;
      for (const size_t c : one) text += calls_[c].constants;
      if (std::find(constants.begin(), constants.end(), text) == constants.end()) constants.push_back(text);
    }
    const bool by_constants = repeated.size() != group && constants.size() == group;
    for (size_t k = 0; k < repeated.size(); ++k) {
      std::string text;
      for (const size_t c : repeated[k]) text += calls_[c].constants;
      const auto own = static_cast<size_t>(std::find(constants.begin(), constants.end(), text) - constants.begin());
      for (const size_t c : repeated[k]) {
        if (repeated.size() == group || group == 1) set(c, rows_[first + (group == 1 ? 0 : k)].known);
        else if (by_constants) set(c, rows_[first + own].known);
        else set(c, together(first, group));
      }
    }
  }

  ListedKernels together(size_t first, size_t group) const {
    std::set<i32> ops;
    for (size_t r = first; r < first + group; ++r) ops.insert(rows_[r].known.ops.begin(), rows_[r].known.ops.end());
    return {{ops.begin(), ops.end()}, "its calls are repeated, and the text does not say which are whose"};
  }

  void set(size_t call, const ListedKernels& known) { kernels_[call].ops = known.ops, kernels_[call].open = known.open; }

  std::span<const ListedRow> rows_;
  std::span<const DumpCall> calls_;
  std::vector<MappedKernel> kernels_;
};

// A copy of constants names where it reads them and where it writes them. It is for the calls behind it that name where it writes, up to
// the next copy that writes there.
void give_copies_operators(std::span<const DumpCall> calls, std::vector<MappedKernel>& kernels) {
  const std::string_view copy = name_of(Kind::kMemCpy);
  const auto names = [&](size_t call, const std::string& address) { return std::ranges::count(calls[call].addresses, address) > 0; };
  for (size_t k = 0; k < calls.size(); ++k) {
    const auto is_constant = [](const std::string& address) { return address.starts_with("Consts"); };
    if (calls[k].kernel != copy || !kernels[k].ops.empty() || std::ranges::none_of(calls[k].addresses, is_constant)) continue;
    std::set<i32> ops;
    for (const std::string& address : calls[k].addresses) {
      if (is_constant(address)) continue;
      for (size_t later = k + 1; later < calls.size() && !(calls[later].kernel == copy && names(later, address)); ++later)
        if (names(later, address)) ops.insert(kernels[later].ops.begin(), kernels[later].ops.end());
    }
    kernels[k].ops.assign(ops.begin(), ops.end());
  }
}

// What the text says of the model that was read must be the model that was given.
bool is_of_model(const ConsoleDump& dump, const ModelFace& model, const std::string& where, Diagnostics& diagnostics) {
  const auto fail = [&](std::string what, std::string measured, std::string limit) {
    diagnostics.add({Severity::error, where, std::move(what), std::move(measured), std::move(limit), "neutron.dump.model",
                     "its text is of another model than the one that it was given"});
    return false;
  };
  std::vector<const DumpNode*> nodes;
  for (const DumpNode& n : dump.imported) nodes.push_back(&n);
  std::stable_sort(nodes.begin(), nodes.end(), [](const DumpNode* a, const DumpNode* b) { return a->location < b->location; });
  if (nodes.size() != model.operators.size())
    return fail("operators that it says it has read", fmt::format("{}", nodes.size()), fmt::format("{}", model.operators.size()));
  for (size_t k = 0; k < nodes.size(); ++k) {
    const ModelOperator& given = model.operators[k];
    if (nodes[k]->type != given.type || nodes[k]->outputs != given.outputs)
      return fail(fmt::format("operator {} that it says it has read", k),
                  fmt::format("{} `{}`", nodes[k]->type, nodes[k]->outputs.empty() ? "" : nodes[k]->outputs[0]),
                  fmt::format("{} `{}`", given.type, given.outputs.empty() ? "" : given.outputs[0]));
  }
  return true;
}

// The calls in their order: of the microcode, of the text's microcode, or of the list.
std::optional<std::vector<DumpCall>> calls_of(const ConsoleDump& dump, std::span<const std::string> microcode, const std::string& where,
                                              Diagnostics& diagnostics) {
  std::vector<DumpCall> calls = dump.calls;
  if (calls.empty() && microcode.empty())
    for (const DumpOperator& row : dump.extracted)
      for (const std::string& kernel : row.kernels) calls.push_back({kernel, {}, {}});
  if (microcode.empty()) return calls;
  if (calls.empty())
    for (const std::string& kernel : microcode) calls.push_back({kernel, {}, {}});
  size_t at = 0;
  while (at < calls.size() && at < microcode.size() && calls[at].kernel == microcode[at]) ++at;
  if (at == calls.size() && at == microcode.size()) return calls;
  diagnostics.add({Severity::error, where, fmt::format("its text says another kernel call {} than its microcode", at),
                   at < calls.size() ? calls[at].kernel : "no call", at < microcode.size() ? microcode[at] : "no call",
                   "neutron.dump.calls", "text and result are of different conversions; run the converter again"});
  return std::nullopt;
}

}  // namespace

std::optional<KernelMap> map_kernels(const ConsoleDump& dump, const ModelFace& model, std::span<const std::string> microcode,
                                     const std::string& where, Diagnostics& diagnostics) {
  if (!is_of_model(dump, model, where, diagnostics)) return std::nullopt;
  const std::optional<std::vector<DumpCall>> calls = calls_of(dump, microcode, where, diagnostics);
  if (!calls) return std::nullopt;
  const std::vector<ListedKernels> known = operators_of_regions(dump, model);
  std::vector<ListedRow> rows;
  for (size_t r = 0; r < dump.extracted.size(); ++r) rows.push_back({&dump.extracted[r], known[r]});
  KernelMap map;
  map.kernels = CallAligner(rows, *calls).align();
  std::string misfit;
  if (map.kernels.empty() && !calls->empty()) misfit = "the kernels that the text lists are not those of the microcode";
  else if (dump.kernel_calls >= 0 && dump.kernel_calls != static_cast<i64>(calls->size()))
    misfit = fmt::format("the microcode has {} calls, the text shows {}", dump.kernel_calls, calls->size());
  if (!misfit.empty()) {  // nothing of it would be sure
    map.kernels.clear();
    for (const DumpCall& call : *calls) map.kernels.push_back({call.kernel, {}, misfit});
    return map;
  }
  give_copies_operators(*calls, map.kernels);
  std::set<i32> computed;
  bool all_known = true;
  for (const MappedKernel& k : map.kernels) computed.insert(k.ops.begin(), k.ops.end()), all_known &= k.open.empty() || !k.ops.empty();
  for (i32 op = 0; all_known && op < static_cast<i32>(model.operators.size()); ++op)
    if (!computed.contains(op)) map.without_kernel.push_back(op);
  return map;
}

}  // namespace deuteron::neutron
