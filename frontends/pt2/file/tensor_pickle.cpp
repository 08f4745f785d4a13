// SPDX-License-Identifier: Apache-2.0
// Instructions: Python's Lib/pickletools.py, protocol 2. What torch.save writes:
// torch/serialization.py (persistent_id), torch/_utils.py
// (_rebuild_tensor_v2, _rebuild_parameter).
#include "frontends/pt2/file/tensor_pickle.h"

#include <fmt/format.h>

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace deuteron::pt2 {
namespace {

constexpr size_t kMaxBytes = 16 << 20;
constexpr const char* kSaveAgain =
    "write the file again with torch.export.save, best of torch 2.10 or newer";

// torch._export.serde.schema.ScalarType by the class of the storage.
constexpr std::pair<std::string_view, int> kStorages[] = {
    {"torch ByteStorage", 1},          {"torch CharStorage", 2},
    {"torch ShortStorage", 3},         {"torch IntStorage", 4},
    {"torch LongStorage", 5},          {"torch HalfStorage", 6},
    {"torch FloatStorage", 7},         {"torch DoubleStorage", 8},
    {"torch BoolStorage", 12},         {"torch BFloat16Storage", 13},
    {"torch ComplexFloatStorage", 10}, {"torch ComplexDoubleStorage", 11},
};
constexpr std::string_view kTensor = "torch._utils _rebuild_tensor_v2",
                           kParameter = "torch._utils _rebuild_parameter",
                           kParameterWithState = "torch._utils _rebuild_parameter_with_state",
                           kDict = "collections OrderedDict";

// What stands on the stack. Parts are other items, which are older: there are no cycles but through
// dicts, which nothing follows.
struct Item {
  enum class Kind : u8 {
    mark,
    none,
    boolean,
    integer,
    text,
    name,
    tuple,
    dict,
    storage,
    tensor
  } kind = Kind::none;
  i64 integer = 0;  // boolean, integer; storage: dtype code; tensor: whether it is a parameter
  std::string_view text;      // text; name: "module class"; storage: its key
  std::vector<size_t> parts;  // tuple; dict: key, value, ..; tensor: the arguments of its function
};
using ItemKind = Item::Kind;

class Machine {
 public:
  Machine(std::span<const std::byte> bytes, const std::string& where, Diagnostics& diagnostics)
      : bytes_(bytes), where_(where), diagnostics_(diagnostics) {}

  // The dict that the pickle ends with; null after a fault.
  const Item* run() {
    if (bytes_.size() > kMaxBytes) damaged("is larger than 16 MiB");
    while (ok_ && !done_) step();
    if (ok_ && (stack_.size() != 1 || items_[stack_[0]].kind != ItemKind::dict))
      damaged("does not end with one dict");
    return ok_ ? &items_[stack_[0]] : nullptr;
  }
  const Item& item(size_t i) const { return items_[i]; }
  bool ok() const { return ok_; }
  void damaged(std::string_view what) {
    fail(fmt::format("is damaged: its list of tensors {}", what), "pt2.pickle.damaged");
  }

 private:
  void fail(std::string what, const char* rule) {
    if (ok_) diagnostics_.error(where_, std::move(what), rule, kSaveAgain);
    ok_ = false;
  }

  std::string_view take(size_t count) {
    if (count > bytes_.size() - at_) return damaged("is cut short"), std::string_view();
    at_ += count;
    return {reinterpret_cast<const char*>(bytes_.data()) + at_ - count, count};
  }
  uint64_t number(size_t width) {
    const std::string_view raw = take(width);
    uint64_t value = 0;
    for (size_t i = raw.size(); i-- > 0;) value = value << 8 | static_cast<u8>(raw[i]);
    return value;
  }
  std::string_view line() {
    const std::string_view rest(reinterpret_cast<const char*>(bytes_.data()) + at_,
                                bytes_.size() - at_);
    const size_t end = rest.find('\n');
    if (end == std::string_view::npos) return damaged("is cut short"), std::string_view();
    at_ += end + 1;
    return rest.substr(0, end);
  }

  void push(Item item) {
    items_.push_back(std::move(item));
    stack_.push_back(items_.size() - 1);
  }
  void push_number(ItemKind kind, i64 value) { push({kind, value, {}, {}}); }
  size_t pop() {
    if (stack_.empty()) return damaged("takes more than it has put down"), no_item();
    const size_t top = stack_.back();
    stack_.pop_back();
    return top;
  }
  size_t no_item() {
    items_.emplace_back();
    return items_.size() - 1;
  }
  // Everything above the last mark, which goes, too.
  std::vector<size_t> pop_to_mark() {
    std::vector<size_t> parts;
    while (ok_) {
      const size_t top = pop();
      if (!ok_ || items_[top].kind == ItemKind::mark) break;
      parts.push_back(top);
    }
    return {parts.rbegin(), parts.rend()};
  }
  std::vector<size_t> pop_some(size_t count) {
    std::vector<size_t> parts(count);
    for (size_t i = count; i-- > 0;) parts[i] = pop();
    return parts;
  }

  void store(size_t slot) {
    if (stack_.empty() || slot > bytes_.size()) return damaged("remembers what is not there");
    if (slot >= memo_.size()) memo_.resize(slot + 1, static_cast<size_t>(-1));
    memo_[slot] = stack_.back();
  }
  void recall(size_t slot) {
    if (slot >= memo_.size() || memo_[slot] == static_cast<size_t>(-1))
      return damaged("recalls what it has not remembered");
    stack_.push_back(memo_[slot]);
  }

  void add_to_dict(const std::vector<size_t>& pairs) {
    if (!ok_ || stack_.empty() || items_[stack_.back()].kind != ItemKind::dict ||
        pairs.size() % 2 != 0)
      return damaged("fills something that is not a dict");
    std::vector<size_t>& parts = items_[stack_.back()].parts;
    parts.insert(parts.end(), pairs.begin(), pairs.end());
  }

  void find_storage() {
    const size_t top = pop();
    const std::vector<size_t>& p = items_[top].parts;
    const bool fits = ok_ && items_[top].kind == ItemKind::tuple && p.size() == 5 &&
                      items_[p[1]].kind == ItemKind::name && items_[p[2]].kind == ItemKind::text;
    if (!fits) return damaged("names no storage");
    for (const auto& [name, code] : kStorages)
      if (items_[p[1]].text == name) return push({ItemKind::storage, code, items_[p[2]].text, {}});
    refuse_name(items_[p[1]].text);
  }

  void call() {
    const size_t arguments = pop(), function = pop();
    if (!ok_ || items_[function].kind != ItemKind::name ||
        items_[arguments].kind != ItemKind::tuple)
      return damaged("calls what is not a function");
    const std::string_view name = items_[function].text;
    const std::vector<size_t> p = items_[arguments].parts;
    if (name == kDict && p.empty()) return push({ItemKind::dict, 0, {}, {}});
    if (name == kTensor && p.size() >= 6 && p.size() <= 8 && items_[p[0]].kind == ItemKind::storage)
      return push({ItemKind::tensor, 0, {}, p});
    const bool is_parameter =
        (name == kParameter && p.size() == 3) || (name == kParameterWithState && p.size() == 4);
    if (is_parameter && items_[p[0]].kind == ItemKind::tensor)
      return push({ItemKind::tensor, 1, {}, items_[p[0]].parts});
    refuse_name(name);
  }

  void refuse_name(std::string_view name) {
    fail(
        fmt::format("needs Python's `{}` for a weight; a pickle is read as data and never executed",
                    name.substr(0, 80)),
        "pt2.pickle.name");
  }

  void step() {
    const std::string_view code = take(1);
    if (!ok_ || push_literal(code[0]) || gather(code[0])) return;
    switch (code[0]) {
      case 'Q':
        return find_storage();
      case 'R':
        return call();
      case 'c':
        return push_name();
      case 'b':  // BUILD: attributes of a state_dict, which hold no tensors
        pop();
        return;
      case '.':
        done_ = true;
        return;
      case '\x80':  // PROTO
        if (number(1) != 2) damaged("is of another protocol than 2");
        return;
      default:
        damaged(fmt::format("has instruction {:#04x}, which torch.save does not write",
                            static_cast<u8>(code[0])));
    }
  }

  bool push_literal(char code) {
    switch (code) {
      case '}':
        return push({ItemKind::dict, 0, {}, {}}), true;
      case ')':
        return push({ItemKind::tuple, 0, {}, {}}), true;
      case '(':
        return push({ItemKind::mark, 0, {}, {}}), true;
      case 'N':
        return push({ItemKind::none, 0, {}, {}}), true;
      case '\x88':
      case '\x89':
        return push_number(ItemKind::boolean, code == '\x88'), true;
      case 'K':
        return push_number(ItemKind::integer, static_cast<i64>(number(1))), true;
      case 'M':
        return push_number(ItemKind::integer, static_cast<i64>(number(2))), true;
      case 'J':
        return push_number(ItemKind::integer, static_cast<i32>(number(4))), true;
      case '\x8a':
        return push_long(), true;
      case 'X':
        return push({ItemKind::text, 0, take(number(4)), {}}), true;
      default:
        return false;
    }
  }

  // Tuples, dicts and the memory.
  bool gather(char code) {
    switch (code) {
      case 't':
        return push({ItemKind::tuple, 0, {}, pop_to_mark()}), true;
      case '\x85':
      case '\x86':
      case '\x87':
        return push({ItemKind::tuple, 0, {}, pop_some(static_cast<size_t>(code - '\x85') + 1)}),
               true;
      case 'q':
        return store(number(1)), true;
      case 'r':
        return store(number(4)), true;
      case 'h':
        return recall(number(1)), true;
      case 'j':
        return recall(number(4)), true;
      case 'u':
        return add_to_dict(pop_to_mark()), true;
      case 's':
        return add_to_dict(pop_some(2)), true;
      default:
        return false;
    }
  }

  void push_long() {
    const uint64_t width = number(1);
    if (width > 8) return damaged("has a number above 2^63");
    const uint64_t raw = number(width);
    const uint64_t sign =
        width > 0 && width < 8 && (raw >> (8 * width - 1)) ? ~uint64_t{0} << (8 * width) : 0;
    push_number(ItemKind::integer, static_cast<i64>(raw | sign));
  }

  void push_name() {
    const std::string_view module = line(), name = line();
    if (!ok_) return;
    names_.push_back(std::make_unique<std::string>(fmt::format("{} {}", module, name)));
    push({ItemKind::name, 0, *names_.back(), {}});
  }

  std::span<const std::byte> bytes_;
  const std::string& where_;
  Diagnostics& diagnostics_;
  size_t at_ = 0;
  bool ok_ = true, done_ = false;
  std::vector<Item> items_;
  std::vector<size_t> stack_, memo_;
  std::vector<std::unique_ptr<std::string>> names_;
};

// Whole numbers from 0 to the most elements that a tensor may have.
bool take_extents(const Machine& m, size_t tuple, std::vector<i64>& extents) {
  if (m.item(tuple).kind != ItemKind::tuple ||
      m.item(tuple).parts.size() > static_cast<size_t>(kMaxRank))
    return false;
  for (const size_t p : m.item(tuple).parts) {
    const Item& v = m.item(p);
    if (v.kind != ItemKind::integer || v.integer < 0 || v.integer > kMaxElements) return false;
    extents.push_back(v.integer);
  }
  return true;
}

std::optional<WeightEntry> entry_of(const Machine& m, const Item& tensor,
                                    const std::string& folder) {
  WeightEntry entry;
  // storage, offset, sizes, strides, requires_grad, hooks
  const std::vector<size_t>& p = tensor.parts;
  const Item &storage = m.item(p[0]), &offset = m.item(p[1]);
  std::vector<i64> sizes, strides;
  if (offset.kind != ItemKind::integer || offset.integer < 0 || offset.integer > kMaxElements ||
      !take_extents(m, p[2], sizes) || !take_extents(m, p[3], strides) ||
      sizes.size() != strides.size())
    return std::nullopt;
  i64 elements = 1;
  for (const i64 extent : sizes) {
    if (elements * extent > kMaxElements) return std::nullopt;
    elements *= extent;
  }
  entry.blob = folder + std::string(storage.text);
  entry.is_param = tensor.integer != 0;
  entry.meta.dtype_code = static_cast<int>(storage.integer);
  entry.meta.dtype = dtype_of_code(storage.integer);
  entry.meta.sizes.assign(sizes.begin(), sizes.end());
  entry.meta.strides.assign(strides.begin(), strides.end());
  entry.meta.offset = offset.integer;
  return entry;
}

}  // namespace

std::optional<ByName<WeightEntry>> tensors_of_pickle(std::span<const std::byte> pickle,
                                                     const std::string& folder,
                                                     const std::string& where,
                                                     Diagnostics& diagnostics) {
  Machine m(pickle, where, diagnostics);
  const Item* dict = m.run();
  if (!dict) return std::nullopt;
  ByName<WeightEntry> entries;
  for (size_t k = 0; k < dict->parts.size(); k += 2) {
    const Item &name = m.item(dict->parts[k]), &value = m.item(dict->parts[k + 1]);
    std::optional<WeightEntry> entry;
    if (name.kind == ItemKind::text && value.kind == ItemKind::tensor)
      entry = entry_of(m, value, folder);
    if (!entry || !entries.emplace(name.text, std::move(*entry)).second)
      return m.damaged("has an entry that is not a tensor, too large, or there twice"),
             std::nullopt;
  }
  return entries;
}

}  // namespace deuteron::pt2
