// SPDX-License-Identifier: Apache-2.0
#include "frontends/pt2/examples/program_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <map>

#include "base/check.h"
#include "base/tensor/elements.h"

namespace deuteron::pt2 {
namespace {

using Kind = Argument::Kind;

std::string_view trimmed(std::string_view s) {
  while (!s.empty() && s.front() == ' ') s.remove_prefix(1);
  while (!s.empty() && s.back() == ' ') s.remove_suffix(1);
  return s;
}

// At commas that stand in no brackets and no string.
std::vector<std::string_view> split_list(std::string_view text) {
  std::vector<std::string_view> parts;
  size_t begin = 0;
  int depth = 0;
  bool quoted = false;
  for (size_t k = 0; k < text.size(); ++k) {
    const char c = text[k];
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (c == '[') ++depth;
    if (c == ']') --depth;
    if (c != ',' || depth > 0) continue;
    parts.push_back(trimmed(text.substr(begin, k - begin)));
    begin = k + 1;
  }
  if (const std::string_view last = trimmed(text.substr(begin)); !last.empty())
    parts.push_back(last);
  return parts;
}

template <class T>
std::optional<T> number_of(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value)
                                                                  : std::nullopt;
}

// The codes of torch: docs/formats.md.
constexpr std::pair<std::string_view, int> kCodes[] = {
    {"u8", 1},  {"s8", 2},  {"s16", 3}, {"s32", 4},          {"s64", 5},
    {"f16", 6}, {"f32", 7}, {"f64", 8}, {"c64", kComplex64}, {"b8", 12}};
std::optional<int> code_of(std::string_view name) {
  for (const auto& [known, code] : kCodes)
    if (known == name) return code;
  return std::nullopt;
}

// "f32[2,3]"
TensorMeta meta_of(std::string_view text) {
  const size_t open = text.find('[');
  const std::optional<int> code = code_of(trimmed(text.substr(0, open)));
  DEUTERON_CHECK(open != text.npos && text.ends_with(']') && code,
                 fmt::format("no type: {}", text));
  TensorMeta meta;
  meta.dtype_code = *code;
  meta.dtype = dtype_of_code(*code);
  for (const std::string_view extent : split_list(text.substr(open + 1, text.size() - open - 2)))
    meta.sizes.push_back(number_of<i64>(extent).value_or(0));
  meta.strides.resize(meta.sizes.size());
  i64 stride = 1;
  for (size_t k = meta.sizes.size(); k-- > 0; stride *= meta.sizes[k]) meta.strides[k] = stride;
  return meta;
}

class Reader {
 public:
  explicit Reader(std::string_view name) { archive_->name = name; }

  void statement(std::string_view line) {
    if (line.starts_with("input ")) return input(line.substr(6));
    if (line.starts_with("parameter ")) return parameter(line.substr(10));
    if (line.starts_with("output "))
      return model_.program.outputs.push_back(
          {ProgramOutput::Kind::tensor, std::string(trimmed(line.substr(7))), {}});
    call(line);
  }

  TextModel done() {
    archive_->owner = bytes_;
    std::sort(archive_->entries.begin(), archive_->entries.end(),
              [](const ArchiveEntry& a, const ArchiveEntry& b) { return a.name < b.name; });
    model_.archive = archive_;
    model_.program.flavour = "training";
    return std::move(model_);
  }

 private:
  void input(std::string_view rest) {
    const size_t colon = rest.find(" : ");
    const std::string name(trimmed(rest.substr(0, colon)));
    model_.program.tensors[name] = meta_of(rest.substr(colon + 3));
    model_.program.inputs.push_back({ProgramInput::Kind::user, name, {}, false});
  }

  void parameter(std::string_view rest) {
    const size_t colon = rest.find(" : "), end = rest.find(']') + 1;
    const std::string key(trimmed(rest.substr(0, colon))), name = "p_" + key;
    const TensorMeta meta = meta_of(rest.substr(colon + 3, end - colon - 3));
    const std::vector<std::string_view> given = split_list(rest.substr(end));
    std::vector<float> numbers;
    // Between 0 and 1, so that variances, roots and logarithms of them exist.
    for (i64 k = 0; k < numel(meta.sizes); ++k)
      numbers.push_back(given.empty() ? static_cast<float>(7 * k % 11 + 2) / 16
                                      : *number_of<float>(given[given.size() == 1 ? 0 : k]));
    Constant data = constant_of(elements_of(numbers, {*meta.dtype, meta.sizes, {}}));
    archive_->entries.push_back({key, data.bytes});
    bytes_->push_back(std::move(data));
    model_.program.tensors[name] = meta;
    model_.program.inputs.push_back({ProgramInput::Kind::parameter, name, key, false});
    model_.program.weights[key] = {key, meta, true};
  }

  // "y0, y1 = aten.split.Tensor(self=x, split_size=2) : f32[2,3], f32[2,3]"
  void call(std::string_view line) {
    const size_t equals = line.find(" = "), open = line.find('('), close = line.rfind(") :");
    DEUTERON_CHECK(equals < open && open < close && close != line.npos,
                   fmt::format("no statement: {}", line));
    ProgramNode node;
    node.target = line.substr(equals + 3, open - equals - 3);
    for (const std::string_view result : split_list(line.substr(0, equals)))
      node.outputs.emplace_back(result);
    node.name = node.outputs[0];
    for (const std::string_view item : split_list(line.substr(open + 1, close - open - 1))) {
      const size_t is = item.find('=');
      node.arguments.emplace_back(item.substr(0, is), argument(item.substr(is + 1)));
    }
    const std::vector<std::string_view> types = split_list(line.substr(close + 3));
    if (types.empty()) node.outputs.clear();
    DEUTERON_CHECK(types.size() == node.outputs.size(),
                   fmt::format("results without a type: {}", line));
    for (size_t k = 0; k < types.size(); ++k)
      model_.program.tensors[node.outputs[k]] = meta_of(types[k]);
    model_.program.nodes.push_back(std::move(node));
  }

  std::string tensor(std::string_view name) const {
    const std::string parameter = "p_" + std::string(name);
    return model_.program.tensors.contains(parameter) ? parameter : std::string(name);
  }

  Argument argument(std::string_view text) const {
    Argument a;
    if (text == "none") return a.kind = Kind::none, a;
    if (text == "true" || text == "false")
      return a.kind = Kind::boolean, a.integer = text == "true", a;
    if (text.starts_with('"'))
      return a.kind = Kind::text, a.text = text.substr(1, text.size() - 2), a;
    if (text.starts_with('[')) return list(text.substr(1, text.size() - 2));
    if (const auto integer = number_of<i64>(text))
      return a.kind = Kind::integer, a.integer = *integer, a;
    if (const auto real = number_of<double>(text)) return a.kind = Kind::real, a.real = *real, a;
    if (text == "cpu") return a.kind = Kind::other, a.text = "device", a;
    if (const auto code = code_of(text)) return a.kind = Kind::dtype, a.integer = *code, a;
    return a.kind = Kind::tensor, a.text = tensor(text), a;
  }

  Argument list(std::string_view text) const {
    Argument a;
    a.kind = Kind::integers;
    for (const std::string_view item : split_list(text)) {
      const Argument each = argument(item);
      const bool is_tensor = each.kind == Kind::tensor || each.kind == Kind::none;
      a.kind = is_tensor ? Kind::tensors : each.kind == Kind::real ? Kind::reals : a.kind;
      if (is_tensor) a.names.push_back(each.text);
      else if (each.kind == Kind::real) a.reals.push_back(each.real);
      else a.integers.push_back(each.integer);
    }
    return a;
  }

  TextModel model_;
  std::shared_ptr<Archive> archive_ = std::make_shared<Archive>();
  std::shared_ptr<std::vector<Constant>> bytes_ = std::make_shared<std::vector<Constant>>();
};

}  // namespace

TextModel model_from_text(std::string_view text, std::string_view name) {
  Reader reader(name);
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    if (const std::string_view line = text.substr(0, end); !line.empty() && !line.starts_with('#'))
      reader.statement(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return reader.done();
}

}  // namespace deuteron::pt2
