// SPDX-License-Identifier: Apache-2.0
// Program files made by hand for tests: a small FlatBuffer writer whose tree can be tampered with
// before it is written, and memory of exactly the right size, so that AddressSanitizer sees any
// access outside.
#pragma once
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/deuteron.h"

namespace deuteron::test {

// A block of exactly `bytes` bytes, 16-aligned.
class Block {
 public:
  explicit Block(size_t bytes = 0, uint8_t fill = 0xA5) : bytes_(bytes) {
    void* p = nullptr;
    if (posix_memalign(&p, 16, bytes ? bytes : 1) != 0) std::abort();
    std::memset(p, fill, bytes);
    data_.reset(static_cast<uint8_t*>(p));
  }
  explicit Block(const std::vector<uint8_t>& from) : Block(from.size()) {
    if (!from.empty()) std::memcpy(data(), from.data(), from.size());
  }
  uint8_t* data() const { return data_.get(); }
  size_t size() const { return bytes_; }
  Memory memory() const { return {data(), bytes_}; }
  File file() const { return {data(), bytes_}; }

 private:
  struct Free {
    void operator()(uint8_t* p) const { std::free(p); }
  };
  std::unique_ptr<uint8_t, Free> data_;
  size_t bytes_;
};

// A table, a vector or a string. Children are written after their parent; a node may have several
// parents.
struct Node;
using NodePtr = std::shared_ptr<Node>;
struct Node {
  enum { table, scalars, tables, text } shape = table;
  struct Slot {
    std::vector<uint8_t> bytes;  // a scalar,
    NodePtr child;               // or a child
  };
  std::map<int, Slot> slots;   // table
  std::vector<uint8_t> bytes;  // scalars, text
  size_t width = 1;            // scalars: bytes of an element
  size_t align = 4;            // of the first element
  std::vector<NodePtr> items;  // tables

  template <class T>
  Node& set(int slot, T value) {
    slots[slot] = {std::vector<uint8_t>(sizeof(T)), nullptr};
    std::memcpy(slots[slot].bytes.data(), &value, sizeof(T));
    return *this;
  }
  Node& set(int slot, NodePtr child) {
    slots[slot] = {{}, child};
    return *this;
  }
  Node& remove(int slot) {
    slots.erase(slot);
    return *this;
  }
  Node& child(int slot) { return *slots.at(slot).child; }
  template <class T>
  T item(size_t i) const {
    T value;
    std::memcpy(&value, &bytes.at(i * sizeof(T)), sizeof(T));
    return value;
  }
  template <class T>
  void put(size_t i, T value) {
    std::memcpy(&bytes.at(i * sizeof(T)), &value, sizeof(T));
  }
};

inline NodePtr new_table() { return std::make_shared<Node>(); }
inline NodePtr new_text(const std::string& text) {
  auto n = std::make_shared<Node>();
  n->shape = Node::text;
  n->bytes.assign(text.begin(), text.end());
  return n;
}
template <class T>
NodePtr new_scalars(const std::vector<T>& values) {
  auto n = std::make_shared<Node>();
  n->shape = Node::scalars;
  n->width = sizeof(T);
  n->bytes.resize(values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(n->bytes.data(), values.data(), n->bytes.size());
  return n;
}
inline NodePtr new_tables(std::vector<NodePtr> items = {}) {
  auto n = std::make_shared<Node>();
  n->shape = Node::tables;
  n->items = std::move(items);
  return n;
}

// Forward writer: parents before children, every uoffset positive, scalars aligned to the start of
// the file.
class FlatWriter {
 public:
  explicit FlatWriter(std::vector<uint8_t> prefix) : out(std::move(prefix)) {}
  std::vector<uint8_t> out;

  size_t write(const NodePtr& n) {
    if (auto it = done_.find(n.get()); it != done_.end()) return it->second;
    return n->shape == Node::table ? write_table(*n) : write_vector(*n);
  }

 private:
  std::map<const Node*, size_t> done_;

  template <class T>
  void patch(size_t at, T value) {
    std::memcpy(&out[at], &value, sizeof(T));
  }
  void align(size_t to, size_t off = 0) {
    while ((out.size() + off) % to != 0) out.push_back(0);
  }
  void refer(size_t from, const NodePtr& child) {
    done_.erase(child.get());  // offsets only point forward: a shared node is written again
    patch(from, static_cast<uint32_t>(write(child) - from));
  }

  size_t write_table(const Node& n) {
    const int slots = n.slots.empty() ? 0 : n.slots.rbegin()->first + 1;
    align(8);
    const size_t vtable = out.size(), vtable_bytes = 4 + 2 * static_cast<size_t>(slots);
    out.resize(vtable + vtable_bytes);
    align(8);
    const size_t at = out.size();
    out.resize(at + 4);
    patch(at, static_cast<int32_t>(at - vtable));
    std::vector<std::pair<size_t, NodePtr>> children;
    for (const auto& [slot, value] : n.slots) {
      const size_t width = value.child ? 4 : value.bytes.size();
      align(width);
      patch(vtable + 4 + 2 * static_cast<size_t>(slot), static_cast<uint16_t>(out.size() - at));
      if (value.child) children.push_back({out.size(), value.child});
      out.insert(out.end(), value.bytes.begin(), value.bytes.end());
      if (value.child) out.resize(out.size() + 4);
    }
    patch(vtable, static_cast<uint16_t>(vtable_bytes));
    patch(vtable + 2, static_cast<uint16_t>(out.size() - at));
    done_[&n] = at;
    for (const auto& [from, child] : children) refer(from, child);
    return at;
  }

  size_t write_vector(const Node& n) {
    const size_t width = n.shape == Node::tables ? 4 : n.width;
    align(4);
    if (width == 8) align(8, 4);
    align(n.align, 4);
    const size_t at = out.size();
    const size_t count = n.shape == Node::tables ? n.items.size() : n.bytes.size() / width;
    out.resize(at + 4);
    patch(at, static_cast<uint32_t>(count));
    done_[&n] = at;
    out.insert(out.end(), n.bytes.begin(), n.bytes.end());
    if (n.shape == Node::text) out.push_back(0);
    if (n.shape != Node::tables) return at;
    const size_t first = out.size();
    out.resize(first + 4 * n.items.size());
    for (size_t i = 0; i < n.items.size(); ++i) refer(first + 4 * i, n.items[i]);
    return at;
  }
};

// A program of one method. Each function adds a value and gives its index.
class TestProgram {
 public:
  NodePtr program = new_table(), method = new_table(), chain = new_table();
  NodePtr values = new_tables(), operators = new_tables(), delegates = new_tables(),
          instructions = new_tables(), segments = new_tables();
  std::vector<int32_t> inputs, outputs;
  std::vector<int64_t> buffers = {0, 0};
  std::vector<uint64_t> constant_offsets = {0};
  std::vector<uint8_t> segment;   // the constants
  std::vector<uint8_t> payloads;  // of delegates, behind them
  std::vector<uint64_t> state_offsets = {0};
  std::vector<uint8_t> state_bytes;  // what states begin with, last
  std::vector<NodePtr> payload_segments;
  NodePtr inline_payloads = new_tables();
  bool has_header = true;
  bool has_base = true;    // segment_base_offset is not 0
  int64_t base_shift = 0;  // added to segment_base_offset

  int32_t add(uint8_t tag, NodePtr payload) {
    auto v = new_table();
    v->set<uint8_t>(0, tag);
    if (payload) v->set(1, payload);
    values->items.push_back(v);
    return static_cast<int32_t>(values->items.size()) - 1;
  }
  Node& value(int32_t i) { return values->items.at(static_cast<size_t>(i))->child(1); }
  int32_t none() { return add(1, new_table()); }
  int32_t integer(int64_t v) {
    auto t = new_table();
    t->set(0, v);
    return add(2, t);
  }
  int32_t boolean(bool v) {
    auto t = new_table();
    t->set(0, static_cast<uint8_t>(v));
    return add(3, t);
  }
  int32_t real(double v) {
    auto t = new_table();
    t->set(0, v);
    return add(4, t);
  }
  int32_t string(const std::string& v) {
    auto t = new_table();
    t->set(0, new_text(v));
    return add(6, t);
  }
  int32_t int_list(const std::vector<int64_t>& items) {
    auto t = new_table();
    t->set(0, new_scalars(items));
    return add(7, t);
  }
  int32_t ints(const std::vector<int64_t>& numbers) {
    std::vector<int64_t> items;
    for (int64_t n : numbers) items.push_back(integer(n));
    return int_list(items);
  }
  int32_t real_list(const std::vector<double>& items) {
    auto t = new_table();
    t->set(0, new_scalars(items));
    return add(8, t);
  }
  int32_t bool_list(const std::vector<uint8_t>& items) {
    auto t = new_table();
    t->set(0, new_scalars(items));
    return add(9, t);
  }
  int32_t tensor_list(const std::vector<int32_t>& items) {
    auto t = new_table();
    t->set(0, new_scalars(items));
    return add(10, t);
  }
  int32_t optional_tensor_list(const std::vector<int32_t>& items) {  // -1: none
    auto t = new_table();
    t->set(0, new_scalars(items));
    return add(11, t);
  }

  // Without memory: an unplanned input or output.
  int32_t bare(ScalarType type, const std::vector<int32_t>& sizes,
               std::vector<uint8_t> order = {}) {
    if (order.empty())
      for (size_t i = 0; i < sizes.size(); ++i) order.push_back(static_cast<uint8_t>(i));
    auto t = new_table();
    t->set(0, static_cast<int8_t>(type)).set(2, new_scalars(sizes)).set(3, new_scalars(order));
    return add(5, t);
  }
  int32_t planned(ScalarType type, const std::vector<int32_t>& sizes, uint32_t offset,
                  std::vector<uint8_t> order = {}, uint32_t id = 1) {
    const int32_t i = bare(type, sizes, std::move(order));
    auto a = new_table();
    a->set<uint32_t>(0, id).set<uint32_t>(1, offset);
    value(i).set(6, a);
    int64_t end = offset;
    int64_t numel = 1;
    for (int32_t s : sizes) numel *= s;
    end += numel * element_bytes(type);
    if (buffers.at(id) < end) buffers[id] = (end + 15) / 16 * 16;
    return i;
  }
  template <class T>
  int32_t constant(ScalarType type, const std::vector<int32_t>& sizes, const std::vector<T>& data,
                   std::vector<uint8_t> order = {}) {
    const int32_t i = bare(type, sizes, std::move(order));
    while (segment.size() % 16 != 0) segment.push_back(0);
    value(i).set(5, static_cast<uint32_t>(constant_offsets.size()));
    constant_offsets.push_back(segment.size());
    const size_t at = segment.size();
    segment.resize(at + data.size() * sizeof(T));
    if (!data.empty()) std::memcpy(&segment[at], data.data(), data.size() * sizeof(T));
    return i;
  }
  // A planned tensor that begins with these bytes and lives from run to run.
  int32_t state(ScalarType type, const std::vector<int32_t>& sizes, uint32_t offset,
                const std::vector<uint8_t>& initial) {
    const int32_t i = planned(type, sizes, offset);
    value(i).set(5, static_cast<uint32_t>(state_offsets.size()));
    state_offsets.push_back(state_bytes.size());
    state_bytes.insert(state_bytes.end(), initial.begin(), initial.end());
    return i;
  }
  void call(const std::string& name, const std::string& overload,
            const std::vector<int32_t>& args) {
    uint32_t op = 0;
    for (; op < operators->items.size(); ++op) {
      Node& o = *operators->items[op];
      if (text(o.child(0)) == name && text(o.child(1)) == overload) break;
    }
    if (op == operators->items.size()) {
      auto o = new_table();
      o->set(0, new_text(name)).set(1, new_text(overload));
      operators->items.push_back(o);
    }
    auto c = new_table();
    c->set(0, op).set(1, new_scalars(args));
    instruction(1, c);
  }
  // The usual call: overload `out`, the last argument repeated as the return value.
  void call(const std::string& name, std::vector<int32_t> args) {
    args.push_back(args.back());
    call(name, "out", args);
  }
  // A delegate with its payload in a segment of its own, or inline; gives its index.
  int32_t delegate(const std::string& id, const std::vector<uint8_t>& payload,
                   const std::map<std::string, std::string>& options = {}, bool in_line = false) {
    auto processed = new_table();
    if (in_line) {
      auto data = new_scalars(payload);
      data->align = 16;
      auto table = new_table();
      table->set(0, data);
      processed->set<int8_t>(0, 0).set<uint32_t>(
          1, static_cast<uint32_t>(inline_payloads->items.size()));
      inline_payloads->items.push_back(table);
    } else {
      while (payloads.size() % 16 != 0) payloads.push_back(0);
      auto data = new_table();
      data->set<uint64_t>(0, payloads.size())
          .set<uint64_t>(1, payload.size());  // finish() moves it behind the constants
      payloads.insert(payloads.end(), payload.begin(), payload.end());
      segments->items.push_back(data);
      payload_segments.push_back(data);
      processed->set<int8_t>(0, 1).set<uint32_t>(
          1, static_cast<uint32_t>(segments->items.size()));  // the constants come first
    }
    auto specs = new_tables();
    for (const auto& [key, value] : options) {
      auto spec = new_table();
      spec->set(0, new_text(key))
          .set(1, new_scalars(std::vector<uint8_t>(value.begin(), value.end())));
      specs->items.push_back(spec);
    }
    auto d = new_table();
    d->set(0, new_text(id)).set(1, processed).set(2, specs);
    delegates->items.push_back(d);
    return static_cast<int32_t>(delegates->items.size()) - 1;
  }
  void call_delegate(int32_t index, const std::vector<int32_t>& args) {
    auto c = new_table();
    c->set(0, index).set(1, new_scalars(args));
    instruction(2, c);
  }
  void instruction(uint8_t tag, NodePtr body) {
    auto n = new_table();
    n->set(0, tag);
    if (body) n->set(1, body);
    instructions->items.push_back(n);
  }
  Node& call_body(size_t k) { return instructions->items.at(k)->child(1); }

  // Fills the tables that are not set yet, so that a test can change or remove parts between
  // finish() and bytes().
  TestProgram& finish() {
    method->set(0, new_text("forward"))
        .set(2, values)
        .set(3, new_scalars(inputs))
        .set(4, new_scalars(outputs));
    chain->set(2, instructions);
    method->set(5, new_tables({chain}))
        .set(6, operators)
        .set(7, delegates)
        .set(8, new_scalars(buffers));
    auto constants = new_table();
    constants->set(1, new_scalars(constant_offsets));
    auto data = new_table();
    data->set<uint64_t>(1, segment.size());
    segments->items.insert(segments->items.begin(), data);
    if (!payloads.empty()) segment.resize((segment.size() + 15) / 16 * 16);
    for (const NodePtr& p : payload_segments) {
      uint64_t at = 0;
      std::memcpy(&at, p->slots.at(0).bytes.data(), 8);
      p->set<uint64_t>(0, at + segment.size());
    }
    segment.insert(segment.end(), payloads.begin(), payloads.end());
    if (state_offsets.size() > 1) add_states();
    if (!inline_payloads->items.empty()) program->set(3, inline_payloads);
    program->set(1, new_tables({method})).set(4, segments).set(5, constants);
    finished_ = true;
    return *this;
  }
  std::vector<uint8_t> bytes() {
    if (!finished_) finish();
    std::vector<uint8_t> prefix(has_header ? 40 : 8);
    std::memcpy(&prefix[4], "ET12", 4);
    FlatWriter w(prefix);
    const uint32_t root = static_cast<uint32_t>(w.write(program));
    std::memcpy(&w.out[0], &root, 4);
    while (w.out.size() < 64) w.out.push_back(0);
    if (!has_header) return w.out;
    const uint64_t size = w.out.size();
    while (w.out.size() % 16 != 0) w.out.push_back(0);
    const uint64_t base = has_base ? w.out.size() + static_cast<uint64_t>(base_shift) : 0,
                   length = segment.size();
    w.out.insert(w.out.end(), segment.begin(), segment.end());
    const uint32_t header_bytes = 32;
    std::memcpy(&w.out[8], "eh00", 4);
    std::memcpy(&w.out[12], &header_bytes, 4);
    std::memcpy(&w.out[16], &size, 8);
    std::memcpy(&w.out[24], &base, 8);
    std::memcpy(&w.out[32], &length, 8);
    return w.out;
  }

 private:
  void add_states() {
    segment.resize((segment.size() + 15) / 16 * 16);
    auto data = new_table();
    data->set<uint64_t>(0, segment.size()).set<uint64_t>(1, state_bytes.size());
    auto table = new_table();
    table->set(0, static_cast<uint32_t>(segments->items.size())).set(1, new_scalars(state_offsets));
    segments->items.push_back(data);
    segment.insert(segment.end(), state_bytes.begin(), state_bytes.end());
    program->set(6, new_tables({table}));
  }
  static std::string text(const Node& n) { return {n.bytes.begin(), n.bytes.end()}; }
  bool finished_ = false;
};

// A file with memory of exactly what measure() asks for.
struct Loaded {
  Block file, tables, planned;
  Needs needs;
  Status status;
  Program program;

  Loaded(const std::vector<uint8_t>& bytes, const KernelTable& kernels) : file(bytes) {
    status = measure(file.file(), kernels, &needs);
    if (!status.ok()) return;
    tables = Block(needs.tables_bytes);
    planned = Block(needs.planned_bytes);
    status = program.load(file.file(), kernels, tables.memory(), planned.memory());
  }
  ~Loaded() { program.unload(); }
  Loaded(const Loaded&) = delete;
};

// y = reverse(a + b), all [2, 3, 5] bytes, with the kernels of test_kernels.h.
inline TestProgram two_calls() {
  TestProgram p;
  const int32_t a = p.planned(ScalarType::u8, {2, 3, 5}, 0),
                b = p.planned(ScalarType::u8, {2, 3, 5}, 32);
  const int32_t sum = p.planned(ScalarType::u8, {2, 3, 5}, 64),
                y = p.planned(ScalarType::u8, {2, 3, 5}, 0);
  p.inputs = {a, b};
  p.outputs = {y};
  p.call("test::add", {a, b, sum});
  p.call("test::reverse", {sum, y});
  return p;
}

}  // namespace deuteron::test
