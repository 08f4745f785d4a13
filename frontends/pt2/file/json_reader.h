// SPDX-License-Identifier: Apache-2.0
// Checked access to a JSON document: whatever is not as expected is reported with its path, once.
#pragma once
#include <fmt/format.h>

#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/diagnostic.h"
#include "frontends/pt2/file/json_tape.h"

namespace deuteron::pt2 {

// Reads members of JSON values of an expected kind. The first surprise is reported and makes
// everything after it a default.
class JsonReader {
 public:
  JsonReader(std::string where, Diagnostics& diagnostics)
      : where_(std::move(where)), diagnostics_(diagnostics) {}
  bool ok() const { return ok_; }

  void fail(const Json& at, std::string what, std::string rule = "pt2.model.field") {
    if (ok_)
      diagnostics_.error(where_, fmt::format("{}: {}", at.path(), what), std::move(rule),
                         "write the file again with torch.export.save of torch 2.13");
    ok_ = false;
  }
  Json member(const Json& object, std::string_view name) {
    if (const auto found = object.find(name)) return *found;
    fail(object, fmt::format("has no member `{}`", name));
    return nothing_json();
  }
  // A member that may be missing or null.
  std::optional<Json> optional(const Json& object, std::string_view name) {
    const auto found = object.find(name);
    return found && found->kind() != Json::Kind::null ? found : std::nullopt;
  }
  bool expect(const Json& value, Json::Kind kind, std::string_view name) {
    if (value.kind() == kind) return true;
    fail(value, fmt::format("is not {}", name));
    return false;
  }
  i64 integer(const Json& v) {
    return expect(v, Json::Kind::integer, "an integer") ? v.integer() : 0;
  }
  bool boolean(const Json& v) {
    return expect(v, Json::Kind::boolean, "true or false") && v.boolean();
  }
  std::string text(const Json& v) {
    return std::string(expect(v, Json::Kind::text, "a string") ? v.text() : std::string_view());
  }
  double real(const Json& v) {
    if (v.kind() == Json::Kind::real) return v.real();
    if (v.kind() == Json::Kind::integer) return static_cast<double>(v.integer());
    if (v.kind() == Json::Kind::text) {  // JSON has no words for these
      if (v.text() == "Infinity") return std::numeric_limits<double>::infinity();
      if (v.text() == "-Infinity") return -std::numeric_limits<double>::infinity();
      if (v.text() == "NaN") return std::numeric_limits<double>::quiet_NaN();
    }
    fail(v, "is not a number");
    return 0;
  }
  template <class F>
  void each(const Json& array, F&& visit) {
    if (!expect(array, Json::Kind::array, "a list")) return;
    array.each([&](const Json& v) {
      if (ok_) visit(v);
    });
  }
  template <class F>
  void each_member(const Json& object, F&& visit) {
    if (!expect(object, Json::Kind::object, "an object")) return;
    object.each_member([&](std::string_view name, const Json& v) {
      if (ok_) visit(name, v);
    });
  }
  // A union: an object whose only member is named after the kind of its value.
  std::pair<std::string_view, Json> tagged(const Json& v) {
    std::pair<std::string_view, Json> result{"", v};
    size_t members = 0;
    each_member(v, [&](std::string_view tag, const Json& value) {
      result = {tag, value}, ++members;
    });
    if (members != 1) fail(v, "is not an object with one member");
    return result;
  }

 private:
  static Json nothing_json() {
    static const JsonTape nothing{{{Json::Kind::null, 1, {0}}}, {}};
    return Json(nothing, 0);
  }
  std::string where_;
  Diagnostics& diagnostics_;
  bool ok_ = true;
};

}  // namespace deuteron::pt2
