// SPDX-License-Identifier: Apache-2.0
// See kernel_map.h: is the text of this model, what do the listed kernels compute (regions.h),
// which call is which listed kernel.
#include "npu/neutron/vendor/kernel_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "npu/neutron/machine/microcode.h"
#include "npu/neutron/vendor/regions.h"

namespace deuteron::neutron {
namespace {

// A row of the list, when the calls are laid beside it.
struct ListedRow {
  DumpOperator row;
  ListedKernels known;
};

const std::string& copy_name() {
  static const std::string kName = name_of(Kind::kMemCpy);
  return kName;
}

// Lays the calls beside the list. The microcode repeats a row's kernels for every image of a batch
// and every tile, and has calls that the list does not have (copies of constants).
class CallAligner {
 public:
  CallAligner(std::span<const ListedRow> rows, std::span<const DumpCall> calls)
      : rows_(rows), calls_(calls) {
    for (const DumpCall& call : calls) kernels_.push_back({call.kernel, {}, {}});
    is_listed_.resize(calls.size());
  }
  const std::vector<bool>& is_listed() const { return is_listed_; }

  // Empty: the calls are not those of the list.
  std::vector<MappedKernel> align() {
    if (in_order()) return kernels_;
    size_t call = 0;
    for (size_t r = 0; r < rows_.size();) {
      size_t group = 1;  // rows of the same kernels behind each other
      while (r + group < rows_.size() && rows_[r + group].row.kernels == rows_[r].row.kernels)
        ++group;
      const std::string* next = r + group < rows_.size() && !rows_[r + group].row.kernels.empty()
                                    ? &rows_[r + group].row.kernels[0]
                                    : nullptr;
      if (!rows_[r].row.kernels.empty() && !place(r, group, next, call)) return {};
      r += group;
    }
    return kernels_;
  }

 private:
  // Every kernel of the list once, and between them only kernels that the list does not have.
  bool in_order() {
    std::vector<std::pair<const std::string*, const ListedKernels*>> list;
    std::set<std::string> names;
    for (const ListedRow& row : rows_)
      for (const std::string& kernel : row.row.kernels)
        list.push_back({&kernel, &row.known}), names.insert(kernel);
    std::vector<size_t> at;
    for (size_t c = 0; c < calls_.size(); ++c) {
      if (at.size() < list.size() && calls_[c].kernel == *list[at.size()].first) at.push_back(c);
      else if (names.contains(calls_[c].kernel)) return false;
    }
    if (at.size() != list.size()) return false;
    for (size_t k = 0; k < at.size(); ++k) set(at[k], *list[k].second);
    return true;
  }

  // Each repetition of the rows' kernels, from `call` on, up to the first kernel of the next rows.
  // The last row of the list goes to the end.
  bool place(size_t first, size_t group, const std::string* next, size_t& call) {
    const std::vector<std::string>& kernels = rows_[first].row.kernels;
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

  // As many as rows: each its own. Else by the constants of the calls, which repetitions of one row
  // share. Else they cannot be told apart.
  void give(size_t first, size_t group, const std::vector<std::vector<size_t>>& repeated) {
    std::vector<std::string> constants;  // distinct, in order
    for (const std::vector<size_t>& one : repeated) {
      std::string text;
      for (const size_t c : one) text += calls_[c].constants;
      if (std::find(constants.begin(), constants.end(), text) == constants.end())
        constants.push_back(text);
    }
    const bool by_constants = repeated.size() != group && constants.size() == group;
    for (size_t k = 0; k < repeated.size(); ++k) {
      std::string text;
      for (const size_t c : repeated[k]) text += calls_[c].constants;
      const auto own = static_cast<size_t>(std::find(constants.begin(), constants.end(), text) -
                                           constants.begin());
      for (const size_t c : repeated[k]) {
        if (repeated.size() == group || group == 1)
          set(c, rows_[first + (group == 1 ? 0 : k)].known);
        else if (by_constants) set(c, rows_[first + own].known);
        else set(c, together(first, group));
      }
    }
  }

  ListedKernels together(size_t first, size_t group) const {
    std::set<i32> ops;
    for (size_t r = first; r < first + group; ++r)
      ops.insert(rows_[r].known.ops.begin(), rows_[r].known.ops.end());
    return {{ops.begin(), ops.end()},
            "its calls are repeated, and the text does not say which are whose",
            true};
  }

  void set(size_t call, const ListedKernels& known) {
    kernels_[call].ops = known.ops, kernels_[call].open = known.open, is_listed_[call] = true;
  }

  std::span<const ListedRow> rows_;
  std::span<const DumpCall> calls_;
  std::vector<MappedKernel> kernels_;
  std::vector<bool> is_listed_;
};

// The same for a list of which rows are missing or not understood: a row that is understood gets
// its calls where there is one way only to lay all of them in order. Between them lie calls of
// unknown rows, where such rows may be, and copies.
class PartialAligner {
 public:
  PartialAligner(std::span<const ListedRow> rows, std::span<const DumpCall> calls,
                 std::vector<bool> gaps)
      : rows_(rows), calls_(calls), gaps_(std::move(gaps)) {
    for (size_t r = 0; r < rows.size(); ++r)
      if (!rows[r].row.is_read) gaps_[r] = gaps_[r + 1] = true;
  }

  std::vector<MappedKernel> align() {
    std::vector<MappedKernel> kernels;
    for (const DumpCall& call : calls_)
      kernels.push_back({call.kernel,
                         {},
                         call.kernel == copy_name()
                             ? ""
                             : "the text shows no row of its list that is surely its own"});
    if (is_repeated() || rows_.size() * calls_.size() > kMaxCells) return kernels;
    find_ways();
    for (size_t r = 0; r < rows_.size(); ++r) {
      const std::vector<std::string>& names = rows_[r].row.kernels;
      std::vector<size_t> places;
      for (size_t c = 0; rows_[r].row.is_read && c + names.size() <= calls_.size(); ++c)
        if (before_[r][c] && is_at(r, c) && behind_[r + 1][c + names.size()]) places.push_back(c);
      if (places.size() != 1) continue;
      for (size_t k = 0; k < names.size(); ++k) {
        MappedKernel& kernel = kernels[places[0] + k];
        kernel.ops = rows_[r].known.ops, kernel.open = rows_[r].known.open;
      }
    }
    return kernels;
  }

 private:
  // Images of a batch and tiles: their calls name the same constants.
  bool is_repeated() const {
    std::set<std::pair<std::string, std::string>> seen;
    return std::ranges::any_of(calls_, [&](const DumpCall& call) {
      return call.kernel != copy_name() && !call.constants.empty() &&
             !seen.insert({call.kernel, call.constants}).second;
    });
  }
  bool is_at(size_t row, size_t call) const {
    const std::vector<std::string>& names = rows_[row].row.kernels;
    for (size_t k = 0; k < names.size(); ++k)
      if (call + k >= calls_.size() || calls_[call + k].kernel != names[k]) return false;
    return true;
  }
  bool may_skip(size_t row, size_t call) const {
    return gaps_[row] || calls_[call].kernel == copy_name();
  }
  size_t length(size_t row) const {
    return rows_[row].row.is_read ? rows_[row].row.kernels.size() : 0;
  }
  bool fits(size_t row, size_t call) const { return !rows_[row].row.is_read || is_at(row, call); }

  // [row][call]: whether the rows before can take just the calls before; whether the rest can take
  // the rest.
  void find_ways() {
    const size_t rows = rows_.size(), calls = calls_.size();
    before_.assign(rows + 1, std::vector<bool>(calls + 1, false));
    behind_ = before_;
    before_[0][0] = behind_[rows][calls] = true;
    for (size_t r = 0; r <= rows; ++r)
      for (size_t c = 0; c <= calls; ++c) {
        if (!before_[r][c]) continue;
        if (c < calls && may_skip(r, c)) before_[r][c + 1] = true;
        if (r < rows && fits(r, c)) before_[r + 1][c + length(r)] = true;
      }
    for (size_t r = rows + 1; r-- > 0;)
      for (size_t c = calls + 1; c-- > 0;) {
        const bool skips = c < calls && may_skip(r, c) && behind_[r][c + 1];
        const bool takes = r < rows && fits(r, c) && behind_[r + 1][c + length(r)];
        if (skips || takes) behind_[r][c] = true;
      }
  }

  static constexpr size_t kMaxCells = size_t{1} << 26;
  std::span<const ListedRow> rows_;
  std::span<const DumpCall> calls_;
  std::vector<bool> gaps_;
  std::vector<std::vector<bool>> before_, behind_;
};

// A copy of constants names where it reads them and where it writes them. It is for the calls
// behind it that name where it writes, up to the next copy that writes there.
void give_copies_operators(std::span<const DumpCall> calls, std::vector<MappedKernel>& kernels) {
  const auto names = [&](size_t call, const std::string& address) {
    return std::ranges::count(calls[call].addresses, address) > 0;
  };
  for (size_t k = 0; k < calls.size(); ++k) {
    const auto is_constant = [](const std::string& address) {
      return address.starts_with("Consts");
    };
    if (calls[k].kernel != copy_name() || !kernels[k].ops.empty() ||
        std::ranges::none_of(calls[k].addresses, is_constant))
      continue;
    std::set<i32> ops;
    bool is_open = false;
    for (const std::string& address : calls[k].addresses) {
      if (is_constant(address)) continue;
      for (size_t later = k + 1;
           later < calls.size() && !(calls[later].kernel == copy_name() && names(later, address));
           ++later)
        if (names(later, address))
          ops.insert(kernels[later].ops.begin(), kernels[later].ops.end()),
              is_open |= !kernels[later].open.empty();
    }
    kernels[k].ops.assign(ops.begin(), ops.end());
    if (ops.empty() && is_open)
      kernels[k].open = "the kernels that it copies constants for are open";
  }
}

// What the text shows of the model that was read must be of the model that was given; it need not
// show all. Empty: it is.
std::string fault_of_model(const ConsoleDump& dump, const ModelFace& model) {
  std::map<std::string, const ModelOperator*> makers;
  for (const ModelOperator& op : model.operators)
    for (const std::string& out : op.outputs) makers.emplace(out, &op);
  for (const DumpNode& node : dump.imported) {
    const auto at = node.outputs.empty() ? makers.end() : makers.find(node.outputs[0]);
    const std::string read =
        fmt::format("{} `{}`", node.type, node.outputs.empty() ? "" : node.outputs[0]);
    if (at == makers.end())
      return fmt::format("it shows {} in the model, which has none such", read);
    if (at->second->type != node.type)
      return fmt::format("it shows {} in the model, which has {} there", read, at->second->type);
  }
  return {};
}

// Of a row that is printed again one is left. Rows of one number, without a number, or with kernels
// that no call has, are not understood.
void check_rows(ConsoleDump& dump) {
  std::vector<DumpOperator> rows;
  std::set<std::string> called;
  for (const DumpCall& call : dump.calls) called.insert(call.kernel);
  for (DumpOperator& row : dump.extracted) {
    const auto same = std::ranges::find(rows, row.number, &DumpOperator::number);
    if (same != rows.end() && *same == row) continue;
    row.is_read &= row.number >= 0 && same == rows.end() && !row.kernels.empty();
    if (!called.empty())
      row.is_read &= std::ranges::all_of(row.kernels,
                                         [&](const std::string& k) { return called.contains(k); });
    if (same != rows.end()) same->is_read = false;
    rows.push_back(std::move(row));
  }
  dump.extracted = std::move(rows);
}

class Mapper {
 public:
  Mapper(const ConsoleDump& dump, const ModelFace& model, std::span<const std::string> microcode,
         bool fetches)
      : dump_(dump), model_(model), microcode_(microcode), fetches_(fetches) {}

  KernelMap map() {
    map_.fault = fault_of_model(dump_, model_);
    find_calls();
    check_rows(dump_);
    if (!map_.fault.empty()) {  // nothing of it would be sure
      for (const DumpCall& call : dump_.calls)
        map_.kernels.push_back({call.kernel, {}, map_.fault});
    } else {
      align();
      give_copies_operators(dump_.calls, map_.kernels);
    }
    find_without_kernel();
    return std::move(map_);
  }

 private:
  // Of the microcode, of the text's microcode where it shows all, or of the list.
  void find_calls() {
    size_t listed = 0;
    for (const DumpOperator& row : dump_.extracted) listed += row.kernels.size();
    const auto shown = static_cast<i64>(dump_.calls.size());
    if (dump_.kernel_calls >= 0 && dump_.kernel_calls != shown &&
        static_cast<i64>(listed) != dump_.kernel_calls && map_.fault.empty())
      map_.fault =
          fmt::format("the microcode has {} calls, the text shows {}", dump_.kernel_calls, shown);
    if (dump_.kernel_calls >= 0 && dump_.kernel_calls != shown && map_.fault.empty())
      dump_.calls.clear();
    if (dump_.calls.empty()) {
      for (const DumpOperator& row : dump_.extracted)
        for (const std::string& kernel : row.kernels) dump_.calls.push_back({kernel, {}, {}});
      is_of_list_ = microcode_.empty();
      if (is_of_list_ && fetches_ && map_.fault.empty())
        map_.fault = "it does not show the microcode, which has copies beside the listed kernels";
    }
    if (microcode_.empty()) return;
    std::vector<std::string> names;
    for (const DumpCall& call : dump_.calls) names.push_back(call.kernel);
    if (!is_of_list_ && std::ranges::equal(names, microcode_)) return;
    if (shown > 0 && map_.fault.empty())
      map_.fault = "it shows other kernel calls than the microcode has";
    dump_.calls.clear();
    for (const std::string& kernel : microcode_) dump_.calls.push_back({kernel, {}, {}});
  }

  void align() {
    Regions regions = find_regions(dump_, model_);
    std::vector<ListedRow> rows;
    for (size_t r = 0; r < dump_.extracted.size(); ++r)
      rows.push_back({dump_.extracted[r], regions.rows[r]});
    is_whole_ = !rows.empty() && std::ranges::count(regions.gaps, true) == 0 &&
                (std::ranges::all_of(rows, [](const ListedRow& r) { return r.row.is_read; }) ||
                 is_confirmed(rows));
    if (is_whole_) {
      CallAligner aligner(rows, dump_.calls);
      map_.kernels = aligner.align();
      if (!map_.kernels.empty()) return open_unlisted(rows, aligner.is_listed());
      is_whole_ = false;
    }
    for (ListedRow& row : rows)
      row.row.is_read &=
          row.known.agrees;  // part of the text is lost: what is left may be of two rows
    if (!is_of_list_) map_.kernels = PartialAligner(rows, dump_.calls, regions.gaps).align();
    else number_by_list(rows, regions.gaps);
  }

  // Lines of a log stand between those of the rows, and the microcode has the same kernels.
  bool is_confirmed(const std::vector<ListedRow>& rows) const {
    std::vector<std::string> listed, called;
    for (const ListedRow& row : rows) {
      if (row.row.kernels.empty() || !row.known.agrees) return false;
      listed.insert(listed.end(), row.row.kernels.begin(), row.row.kernels.end());
    }
    for (const DumpCall& call : dump_.calls)
      if (call.kernel != copy_name()) called.push_back(call.kernel);
    return !is_of_list_ && listed == called;
  }

  // Without calls the rows say the order alone: behind a row that is missing or not understood no
  // number is sure.
  void number_by_list(const std::vector<ListedRow>& rows, const std::vector<bool>& gaps) {
    std::string open;
    for (size_t r = 0; r < rows.size(); ++r) {
      if (open.empty() && (gaps[r] || !rows[r].row.is_read))
        open = "the text does not show all kernels before it";
      for (const std::string& kernel : rows[r].row.kernels)
        map_.kernels.push_back({kernel, open.empty() ? rows[r].known.ops : std::vector<i32>{},
                                rows[r].known.open.empty() ? open : rows[r].known.open});
    }
  }

  // A call that no row lists is a copy or a helper, unless the list has its kernel elsewhere, or
  // operators have none.
  void open_unlisted(const std::vector<ListedRow>& rows, const std::vector<bool>& is_listed) {
    std::set<std::string> names;
    std::set<i32> computed;
    for (const ListedRow& row : rows) {
      names.insert(row.row.kernels.begin(), row.row.kernels.end());
      computed.insert(row.known.ops.begin(), row.known.ops.end());
    }
    bool all_computed = true;
    for (size_t op = 0; op < model_.operators.size(); ++op)
      all_computed &=
          computed.contains(static_cast<i32>(op)) || is_same_bytes(model_.operators[op].type);
    for (size_t c = 0; c < is_listed.size(); ++c) {
      MappedKernel& kernel = map_.kernels[c];
      if (is_listed[c] || kernel.name == copy_name() ||
          (all_computed && !names.contains(kernel.name)))
        continue;
      kernel.open = "no row of the list names it";
    }
  }

  // That an operator has no kernel is said where every kernel is known; of those that change bytes
  // only if every call is.
  void find_without_kernel() {
    std::set<i32> computed;
    bool all_known = is_whole_;
    for (const MappedKernel& k : map_.kernels)
      computed.insert(k.ops.begin(), k.ops.end()), all_known &= k.open.empty() || !k.ops.empty();
    for (size_t op = 0; op < model_.operators.size(); ++op) {
      if (computed.contains(static_cast<i32>(op))) continue;
      const bool has_none = all_known && (!is_of_list_ || is_same_bytes(model_.operators[op].type));
      (has_none ? map_.without_kernel : map_.unknown).push_back(static_cast<i32>(op));
    }
  }

  ConsoleDump dump_;
  const ModelFace& model_;
  std::span<const std::string> microcode_;
  bool fetches_;
  KernelMap map_;
  bool is_of_list_ = false;  // the calls are those that the list names
  bool is_whole_ = false;    // every row is there and understood
};

}  // namespace

KernelMap map_kernels(const ConsoleDump& dump, const ModelFace& model,
                      std::span<const std::string> calls, bool fetches) {
  return Mapper(dump, model, calls, fetches).map();
}

}  // namespace deuteron::neutron
