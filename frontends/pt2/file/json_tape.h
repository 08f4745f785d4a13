// SPDX-License-Identifier: Apache-2.0
// JSON as one flat tape of values: cheap to build, small to keep, and every place can be named in a
// message.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/tensor/type.h"

namespace deuteron::pt2 {

struct JsonTape {
  enum class Kind : u8 { null, boolean, integer, real, text, array, object };
  struct Item {
    Kind kind;
    uint32_t end;  // the item after this one and all that it contains
    union {
      i64 integer;
      double real;
      struct {
        uint32_t offset, length;
      } text;
    };
  };
  std::vector<Item> items;  // an object's members alternate name and value
  std::string texts;
};

// A value on a tape.
class Json {
 public:
  using Kind = JsonTape::Kind;
  Json(const JsonTape& tape, uint32_t at) : tape_(&tape), at_(at) {}
  Kind kind() const { return item().kind; }
  i64 integer() const { return item().integer; }
  double real() const { return item().real; }
  bool boolean() const { return item().integer != 0; }
  std::string_view text() const {
    return std::string_view(tape_->texts).substr(item().text.offset, item().text.length);
  }
  std::optional<Json> find(
      std::string_view name) const;  // first member of that name; none when this is no object
  std::string path() const;          // ".graph_module.graph.nodes[3].target"

  // Elements of an array, values of an object. Nothing for any other kind.
  template <class F>
  void each(F&& visit) const {
    if (kind() != Kind::array && kind() != Kind::object) return;
    for (uint32_t i = at_ + 1; i < item().end; i = tape_->items[i].end) {
      if (kind() == Kind::object) i = tape_->items[i].end;
      visit(Json(*tape_, i));
    }
  }
  // visit(name, value) for the members of an object.
  template <class F>
  void each_member(F&& visit) const {
    if (kind() != Kind::object) return;
    for (uint32_t i = at_ + 1; i < item().end;) {
      const uint32_t value = tape_->items[i].end;
      visit(Json(*tape_, i).text(), Json(*tape_, value));
      i = tape_->items[value].end;
    }
  }

 private:
  const JsonTape::Item& item() const { return tape_->items[at_]; }
  const JsonTape* tape_;
  uint32_t at_;
};

// What a document may be: far above what torch writes (depth 11, 650 kB for a network of 150
// layers), far below what would hurt.
inline constexpr size_t kMaxJsonBytes = 64u << 20, kMaxJsonItems = 8u << 20;
inline constexpr int kMaxJsonDepth = 64;

// Members whose name is in `skipped` are left out with all that they contain. On failure `fault`
// says what is wrong and at which byte.
std::optional<JsonTape> parse_json(std::span<const std::byte> bytes,
                                   std::span<const std::string_view> skipped, std::string& fault);

}  // namespace deuteron::pt2
