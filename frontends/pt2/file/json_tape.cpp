// SPDX-License-Identifier: Apache-2.0
#include "frontends/pt2/file/json_tape.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace deuteron::pt2 {

// The interface that nlohmann::json::sax_parse asks for.
class TapeBuilder {
 public:
  using Item = JsonTape::Item;
  using Kind = JsonTape::Kind;
  TapeBuilder(JsonTape& tape, std::span<const std::string_view> skipped, std::string& fault)
      : tape_(tape), skipped_(skipped), fault_(fault) {}

  bool null() { return scalar({Kind::null, 0, {0}}); }
  bool boolean(bool value) { return scalar({Kind::boolean, 0, {value}}); }
  bool number_integer(int64_t value) { return scalar({Kind::integer, 0, {value}}); }
  bool number_unsigned(uint64_t value) {
    if (value <= static_cast<uint64_t>(INT64_MAX))
      return number_integer(static_cast<int64_t>(value));
    return real(static_cast<double>(value));
  }
  bool number_float(double value, const std::string&) { return real(value); }
  bool string(std::string& value) { return is_skipping() ? leave() : append(text(value)); }
  bool binary(std::vector<uint8_t>&) { return false; }
  bool key(std::string& name) {
    if (is_skipping()) return true;
    if (std::find(skipped_.begin(), skipped_.end(), name) != skipped_.end()) {
      skip_depth_ = depth_;
      return true;
    }
    return append(text(name));
  }
  bool start_object(size_t) { return start(Kind::object); }
  bool start_array(size_t) { return start(Kind::array); }
  bool end_object() { return end(); }
  bool end_array() { return end(); }
  bool parse_error(size_t position, const std::string&, const nlohmann::detail::exception&) {
    fault_ = fmt::format("is not valid JSON at byte {}", position);
    return false;
  }

 private:
  bool is_skipping() const { return skip_depth_ != 0; }
  bool leave() {  // after a value: the skipped member ends where its depth is reached again
    if (depth_ == skip_depth_) skip_depth_ = 0;
    return true;
  }
  bool append(Item item) {
    if (tape_.items.size() >= kMaxJsonItems) {
      fault_ = fmt::format("has more than {} values", kMaxJsonItems);
      return false;
    }
    item.end = static_cast<uint32_t>(tape_.items.size()) + 1;
    tape_.items.push_back(item);
    return true;
  }
  bool scalar(Item item) { return is_skipping() ? leave() : append(item); }
  bool real(double value) {
    Item item{Kind::real, 0, {0}};
    item.real = value;
    return scalar(item);
  }
  Item text(const std::string& value) {
    Item item{Kind::text, 0, {0}};
    item.text = {static_cast<uint32_t>(tape_.texts.size()), static_cast<uint32_t>(value.size())};
    tape_.texts += value;
    return item;
  }
  bool start(Kind kind) {
    if (++depth_ > kMaxJsonDepth) {
      fault_ = fmt::format("is nested deeper than {}", kMaxJsonDepth);
      return false;
    }
    if (is_skipping()) return true;
    open_.push_back(static_cast<uint32_t>(tape_.items.size()));
    return append({kind, 0, {0}});
  }
  bool end() {
    --depth_;
    if (is_skipping()) return leave();
    tape_.items[open_.back()].end = static_cast<uint32_t>(tape_.items.size());
    open_.pop_back();
    return true;
  }

  JsonTape& tape_;
  std::span<const std::string_view> skipped_;
  std::string& fault_;
  std::vector<uint32_t> open_;
  int depth_ = 0, skip_depth_ = 0;
};

std::optional<JsonTape> parse_json(std::span<const std::byte> bytes,
                                   std::span<const std::string_view> skipped, std::string& fault) {
  if (bytes.size() > kMaxJsonBytes) {
    fault = fmt::format("has {} bytes, limit {}", bytes.size(), kMaxJsonBytes);
    return std::nullopt;
  }
  JsonTape tape;
  TapeBuilder builder(tape, skipped, fault);
  const char* first = reinterpret_cast<const char*>(bytes.data());
  fault.clear();
  if (!nlohmann::json::sax_parse(first, first + bytes.size(), &builder) || tape.items.empty()) {
    if (fault.empty()) fault = "is not valid JSON";
    return std::nullopt;
  }
  return tape;
}

std::optional<Json> Json::find(std::string_view name) const {
  std::optional<Json> found;
  if (kind() != Kind::object) return found;
  for (uint32_t i = at_ + 1; i < item().end;) {
    const uint32_t value = tape_->items[i].end;
    if (Json(*tape_, i).text() == name) return Json(*tape_, value);
    i = tape_->items[value].end;
  }
  return found;
}

std::string Json::path() const {
  std::string path;
  for (uint32_t here = 0; here != at_;) {
    const bool is_object = tape_->items[here].kind == Kind::object;
    size_t position = 0;
    uint32_t next = here + 1;
    std::string_view name;
    for (;; ++position) {
      if (is_object) name = Json(*tape_, next).text(), next = tape_->items[next].end;
      if (at_ < tape_->items[next].end) break;
      next = tape_->items[next].end;
    }
    path += is_object ? fmt::format(".{}", name) : fmt::format("[{}]", position);
    here = next;
  }
  return path.empty() ? "." : path;
}

}  // namespace deuteron::pt2
