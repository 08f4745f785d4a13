// SPDX-License-Identifier: Apache-2.0
// See console_dump.h. One pass over the lines; what a line means depends on the part of the text
// and on what stood before it.
#include "npu/neutron/vendor/console_dump.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>

namespace deuteron::neutron {
namespace {

bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

std::string_view trimmed(std::string_view s) {
  while (!s.empty() && is_space(s.front())) s.remove_prefix(1);
  while (!s.empty() && is_space(s.back())) s.remove_suffix(1);
  return s;
}

// "9", "0x9"; -1: no number.
i64 number_in(std::string_view digits) {
  const bool is_hexadecimal = digits.starts_with("0x") || digits.starts_with("0X");
  if (is_hexadecimal) digits.remove_prefix(2);
  i64 value = -1;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value,
                                            is_hexadecimal ? 16 : 10);
  return error == std::errc{} ? value : -1;
}

// What stands behind `key` at the start of the line.
std::optional<std::string_view> after(std::string_view line, std::string_view key) {
  if (!line.starts_with(key)) return std::nullopt;
  return trimmed(line.substr(key.size()));
}

// The number in `... subgraph_012 ...`; -1: there is none.
i64 subgraph_in(std::string_view text) {
  constexpr std::string_view kName = "subgraph_";
  const size_t at = text.find(kName);
  return at == std::string_view::npos ? -1 : number_in(text.substr(at + kName.size()));
}

// Without what a terminal takes for colours: ESC [ numbers letter.
std::string without_colours(std::string_view text) {
  std::string plain;
  for (size_t k = 0; k < text.size(); ++k) {
    if (text[k] != '\x1b') {
      plain += text[k];
      continue;
    }
    if (k + 1 < text.size() && text[k + 1] == '[') ++k;
    while (k + 1 < text.size() && !std::isalpha(static_cast<unsigned char>(text[k + 1])) &&
           text[k + 1] != '\n')
      ++k;
    if (k + 1 < text.size() && text[k + 1] != '\n') ++k;
  }
  return plain;
}

// The values of the fields that say where a call's constants lie.
std::string constants_in(std::string_view arguments) {
  std::string found;
  for (const std::string_view field : {"filterPtr:", "biasPtr:", "outPostScalePtr:"}) {
    const size_t at = arguments.find(field);
    if (at == std::string_view::npos) continue;
    const std::string_view rest = trimmed(arguments.substr(at + field.size()));
    found += rest.substr(0, rest.find_first_of(",}"));
    found += ';';
  }
  return found;
}

// "(Consts + 0x40)": each once.
std::vector<std::string> addresses_in(std::string_view arguments) {
  std::vector<std::string> found;
  for (size_t at = arguments.find('('); at != std::string_view::npos;
       at = arguments.find('(', at + 1)) {
    const std::string_view inside = arguments.substr(at + 1, arguments.find(')', at) - at - 1);
    std::string address(trimmed(inside));
    if (inside.find(" + 0x") != std::string_view::npos && std::ranges::count(found, address) == 0)
      found.push_back(std::move(address));
  }
  return found;
}

enum class Part : u8 { head, imported, optimize, extract, code, generated };

class DumpReader {
 public:
  void line(std::string_view raw) {
    const std::string_view text = trimmed(raw);
    if (text.empty() || new_part(text)) return;
    if (part_ == Part::imported || part_ == Part::generated) graph(text);
    else if (part_ == Part::extract) extracted(text);
    else if (part_ == Part::code) code(text);
  }
  ConsoleDump take() {
    end_part();
    return std::move(dump_);
  }

 private:
  bool new_part(std::string_view text) {
    std::optional<Part> next;
    if (text == "Graphs:")
      next = ++dump_.graphs == 1 && part_ == Part::head ? Part::imported : Part::generated;
    else if (part_ > Part::imported && part_ != Part::generated &&
             text.starts_with("Name: subgraph_"))
      next = Part::generated;
    else if (text.find("= Optimize Graph =") != std::string_view::npos) next = Part::optimize;
    else if (text.find("= Extract Graphs =") != std::string_view::npos) next = Part::extract;
    else if (text.starts_with("Generate code for NeutronGraph"))
      next = part_of_code(subgraph_in(text));
    if (!next) return false;
    end_part();
    part_ = *next;
    return !text.starts_with("Name:");
  }

  // The code of a graph that is printed again is no other code.
  Part part_of_code(i64 graph) {
    const bool is_new = graph < 0 || std::ranges::count(code_graphs_, graph) == 0;
    code_graphs_.push_back(graph);
    return is_new ? Part::code : Part::optimize;
  }

  void end_part() {
    end_node();
    end_call();
    if (calls_of_graph_ >= 0)
      dump_.kernel_calls = std::max<i64>(dump_.kernel_calls, 0) + calls_of_graph_;
    calls_of_graph_ = -1;
    row_ = false, in_ports_ = false, list_ = nullptr, tensor_.clear();
  }

  // ---- graphs

  void graph(std::string_view text) {
    if (const auto name = after(text, "Name:")) named(*name);
    else if (const auto kind = after(text, "Kind:")) tensor_kind(*kind);
    else if (const auto type = after(text, "Type:")) begin_node(*type);
    else if (text == "Inputs:") list_ = ports(true);
    else if (text == "Outputs:") list_ = ports(false);
    else if (const auto location = after(text, "Location:")) located(number_in(*location));
    else if (text == "Tensors:" || text == "Operators:") end_node(), in_ports_ = false;
    else if (list_ && text.front() == '[') list_item(text);
  }

  // Of a graph or of a tensor.
  void named(std::string_view name) {
    end_node();
    in_ports_ = part_ == Part::generated && name.starts_with("subgraph_");
    if (in_ports_) dump_.generated.push_back({subgraph_in(name), {}, {}, {}});
    else tensor_ = name;
  }

  void tensor_kind(std::string_view kind) {
    if (!tensor_.empty()) dump_.constant[tensor_] = kind != "Variable";
    tensor_.clear();
  }

  // A tensor has a type too ("Type: INT8"); it is an operator's where lists follow.
  void begin_node(std::string_view type) {
    end_node();
    node_ = {std::string(type.substr(0, type.find(' '))), {}, {}, -1}, in_node_ = true,
    in_ports_ = false;
  }

  void located(i64 location) {
    if (in_node_) node_.location = location;
    end_node();
  }

  void end_node() {
    list_ = nullptr;
    if (in_node_ && !(node_.inputs.empty() && node_.outputs.empty())) {
      if (part_ == Part::imported) dump_.imported.push_back(std::move(node_));
      else if (!dump_.generated.empty()) dump_.generated.back().nodes.push_back(std::move(node_));
    }
    node_ = {}, in_node_ = false;
  }

  std::vector<std::string>* ports(bool inputs) {
    if (in_ports_ && !dump_.generated.empty())
      return inputs ? &dump_.generated.back().inputs : &dump_.generated.back().outputs;
    return in_node_ ? (inputs ? &node_.inputs : &node_.outputs) : nullptr;
  }

  void list_item(std::string_view text) {
    const size_t colon = text.find("]:");
    const i64 number = number_in(trimmed(text.substr(1)));
    if (colon == std::string_view::npos || number < 0) return;
    if (number != static_cast<i64>(list_->size()))
      (in_ports_ ? dump_.generated.back().is_whole : node_.is_whole) = false;
    const std::string_view name = trimmed(text.substr(colon + 2));
    list_->emplace_back(name.substr(0, name.find(' ')));
  }

  // ---- the list of kernels

  void extracted(std::string_view text) {
    if (text.starts_with("NeutronGraph")) {
      dump_.whole_graphs.push_back(subgraph_in(text));
      row_ = false;
    } else if (text.starts_with("NeutronOperator")) {
      dump_.extracted.push_back({subgraph_in(text), {}, {}});
      row_ = true, list_ = nullptr;
    } else if (text.starts_with("==")) {
      row_ = false;
    } else if (row_) {
      row_line(text);
    }
  }

  void row_line(std::string_view text) {
    DumpOperator& row = dump_.extracted.back();
    if (text == "Operators:")
      row.is_read &= row.operators.empty(), list_ = &row.operators;  // else two rows in one
    else if (text == "Kernels:") row.is_read &= row.kernels.empty(), list_ = &row.kernels;
    else if (list_ && std::all_of(text.begin(), text.end(), is_word)) list_->emplace_back(text);
    else row.is_read = false;
  }

  // ---- the microcode

  void code(std::string_view text) {
    if (const auto count = after(text, "numKernelCalls")) {
      const size_t start = count->find_first_not_of(" :=\t");
      if (start != std::string_view::npos) calls_of_graph_ = number_in(count->substr(start));
    }
    constexpr std::string_view kCall = "CALLARGS";
    const size_t at = text.find(kCall);
    if (at == std::string_view::npos) return arguments(text);
    end_call();
    const std::string_view rest = trimmed(text.substr(at + kCall.size()));
    const auto end = std::find_if_not(rest.begin(), rest.end(), is_word);
    if (end == rest.begin()) return;
    dump_.calls.push_back({std::string(rest.begin(), end), {}, {}});
    in_arguments_ = rest.find('{') != std::string_view::npos;
    arguments(rest);
  }

  // Up to the closing brace, which may stand some lines later.
  void arguments(std::string_view text) {
    if (!in_arguments_) return;
    arguments_ += text;
    arguments_ += ' ';
    if (text.find('}') != std::string_view::npos) end_call();
  }

  void end_call() {
    if (in_arguments_) dump_.calls.back().constants = constants_in(arguments_);
    if (in_arguments_) dump_.calls.back().addresses = addresses_in(arguments_);
    in_arguments_ = false, arguments_.clear();
  }

  ConsoleDump dump_;
  Part part_ = Part::head;
  DumpNode node_;
  bool in_node_ = false, in_ports_ = false, row_ = false, in_arguments_ = false;
  std::vector<std::string>* list_ = nullptr;
  std::string tensor_, arguments_;
  std::vector<i64> code_graphs_;
  i64 calls_of_graph_ = -1;
};

}  // namespace

std::string version_in(std::string_view text) {
  for (size_t at = 0; (at = text.find("ersion", at)) != std::string_view::npos; ++at) {
    const size_t start = text.find_first_not_of(" :=\t", at + 6);
    if (start == std::string_view::npos || !is_digit(text[start])) continue;
    const size_t end = std::min(text.find_first_not_of("0123456789.", start), text.size());
    const std::string_view number = text.substr(start, end - start);
    if (number.find('.') != std::string_view::npos && number.back() != '.')
      return std::string(number);
  }
  return {};
}

ConsoleDump read_console_dump(std::string_view printed) {
  const std::string plain = without_colours(printed);
  DumpReader reader;
  for (std::string_view text = plain; !text.empty();) {
    const size_t end = std::min(text.find_first_of("\r\n"), text.size());
    reader.line(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  ConsoleDump dump = reader.take();
  dump.version = version_in(plain);
  return dump;
}

}  // namespace deuteron::neutron
