// SPDX-License-Identifier: Apache-2.0
// The C of one model: its header, its run, its weights.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>

#include "base/check.h"
#include "write/firmware/c_output.h"

namespace deuteron {

const char* c_type(ScalarType type) {
  switch (type) {
    case ScalarType::u8:
      return "uint8_t";
    case ScalarType::s8:
      return "int8_t";
    case ScalarType::s16:
      return "int16_t";
    case ScalarType::s32:
      return "int32_t";
    case ScalarType::s64:
      return "int64_t";
    case ScalarType::f16:
      return "uint16_t";  // its bits: C99 has no such type
    case ScalarType::f32:
      return "float";
    case ScalarType::f64:
      return "double";
    case ScalarType::b8:
      return "bool";
  }
  return "uint8_t";
}

namespace {

// Hexadecimal, so that every bit is there; C99 reads it.
std::string c_float(float v) {
  DEUTERON_CHECK(std::isfinite(v), "a number of a call");
  return fmt::format("{:a}f", v);
}

std::string c_int64(int64_t v) {
  return v == INT64_MIN ? "(-INT64_C(9223372036854775807) - 1)" : fmt::format("INT64_C({})", v);
}

std::string c_integer(const std::byte* bytes, uint32_t count) {
  int64_t v = 0;
  if (count == 1) v = static_cast<int8_t>(*bytes);
  int16_t v16;
  int32_t v32;
  if (count == 2) std::memcpy(&v16, bytes, 2), v = v16;
  if (count == 4) std::memcpy(&v32, bytes, 4), v = v32;
  if (count == 8) {
    std::memcpy(&v, bytes, 8);
    return c_int64(v);
  }
  return v == INT32_MIN ? "(-2147483647 - 1)" : std::to_string(v);
}

// Prints values of a call; takes its pointers' places in order. C++17 names no members: what
// DEUTERON_FIELDS lists is all of them, in order.
class CallPrinter {
 public:
  CallPrinter(const CProgram& program, const CCall& call, size_t first_place, CLanguage language)
      : in_file_(program.in_file), call_(call), place_(first_place), language_(language) {}
  size_t place() const { return place_; }

  std::string value(const FieldShape& f, const std::byte* bytes) {
    if (f.count == 0) return element(f, bytes);
    std::string text = "{";
    for (uint32_t i = 0; i < f.count; ++i)
      text += fmt::format("{}{}", i > 0 ? ", " : "", element(f, bytes + i * f.bytes));
    return text + "}";
  }
  // Whether all addresses in it are known when it is linked.
  bool is_constant() const { return !met_unknown_; }

 private:
  std::string element(const FieldShape& f, const std::byte* bytes) {
    float real;
    switch (f.kind) {
      case FieldKind::boolean:
        return *bytes != std::byte{0} ? "true" : "false";
      case FieldKind::integer:
        return c_integer(bytes, f.bytes);
      case FieldKind::real:
        std::memcpy(&real, bytes, sizeof real);
        return c_float(real);
      case FieldKind::pointer:
        return pointer(f.c_type);
      case FieldKind::record:
        return record(*f.record, bytes);
    }
    return "0";
  }

  std::string record(const RecordShape& r, const std::byte* bytes) {
    std::string text = "{";
    for (uint32_t i = 0; i < r.count; ++i) {
      const std::string_view name = r.fields[i].name;
      text += fmt::format("{}{}{}", i > 0 ? ", " : "",
                          language_ == CLanguage::c99 ? fmt::format(".{} = ", name)
                                                      : fmt::format("/* {} */ ", name),
                          value(r.fields[i], bytes + r.fields[i].offset));
    }
    return text + "}";
  }

  std::string pointer(std::string_view type) {
    const CPlace p = call_.places.at(place_++);
    std::string_view element = type.substr(0, type.size() - 2);  // "const int8_t *"
    if (element.starts_with("const ")) element.remove_prefix(6);
    if (p.kind == CPlace::null) return "NULL";
    met_unknown_ |= p.kind != CPlace::constants || in_file_;
    if (p.kind == CPlace::input)
      return fmt::format("INPUT({}, {}, {})", element, p.index, p.offset);
    return fmt::format("{}({}, {})", p.kind == CPlace::arena ? "ARENA" : "CONSTANT", element,
                       p.offset);
  }

  bool in_file_;
  const CCall& call_;
  size_t place_ = 0;
  CLanguage language_;
  bool met_unknown_ = false;
};

// A list with commas, broken into lines.
std::string wrapped(const std::string& text, size_t indent) {
  constexpr size_t kWidth = 120;
  std::string out;
  size_t column = indent, begin = 0;
  while (begin < text.size()) {
    size_t end = begin;
    for (int depth = 0; end < text.size(); ++end) {  // not within ARENA(type, at)
      depth += text[end] == '(' ? 1 : text[end] == ')' ? -1 : 0;
      if (depth == 0 && text[end] == ',') break;
    }
    end = std::min(end + 1, text.size());
    if (column + (end - begin) > kWidth) {
      out += "\n" + std::string(indent, ' ');
      column = indent;
      while (text[begin] == ' ') ++begin;
    }
    out += text.substr(begin, end - begin);
    column += end - begin;
    begin = end;
  }
  return out;
}

std::string place_text(const CPlace& p) {
  if (p.kind == CPlace::null) return "NULL";
  if (p.kind == CPlace::input) return fmt::format("(void *)INPUT(void, {}, {})", p.index, p.offset);
  return p.kind == CPlace::arena ? fmt::format("ARENA(void, {})", p.offset)
                                 : fmt::format("(void *)CONSTANT(void, {})", p.offset);
}

// Sizes and order of tensor `i` of a call: C has no array of nothing.
std::string shape_text(const CTensor& t, size_t i) {
  const bool scalar = t.sizes.empty();
  const std::string sizes = scalar ? "0" : fmt::format("{}", fmt::join(t.sizes, ", "));
  return fmt::format(
      "    static const int32_t s{0}[] = {{{1}}};\n    static const uint8_t o{0}[] = {{{2}}};\n", i,
      sizes, scalar ? "0" : fmt::format("{}", fmt::join(t.order, ", ")));
}

std::string c_npu_call(const CProgram& p, const CNpuCall& n, const std::string& op, size_t index) {
  std::string shapes, tensors;
  for (size_t i = 0; i < n.arguments.size(); ++i) {
    const CTensor& a = n.arguments[i];
    shapes += shape_text(a, i);
    tensors += fmt::format("{}\n        {{{}, s{}, o{}, {}, {}, {}}}", i > 0 ? "," : "",
                           place_text(a.place), i, i, a.elements, a.sizes.size(),
                           static_cast<int>(a.type));
  }
  return fmt::format(
      "  {{ /* {}: {} */\n{}    const struct deuteron_npu_tensor t[] = {{{}}};\n"
      "    const struct deuteron_npu_call c = {{CONSTANT(uint8_t, {}), {}u, t, {}, {}, {}, "
      "ARENA(void, {}), {}u}};\n"
      "    if (deuteron_npu_run(&c) != 0) return {}_NPU_FAILED;\n  }}\n",
      index, op, shapes, tensors, n.payload.offset, n.payload_bytes, n.arguments.size(),
      n.scratch.empty() ? "NULL" : fmt::format("\"{}\"", n.scratch), place_text(n.workspace),
      p.state_offset, n.state_bytes, c_macro(p.name));
}

// The text of a call that is a string of ours or the file's: escaped as octal numbers, which no
// letter behind them lengthens.
std::string c_string(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    out += std::isalnum(byte) ? std::string(1, c) : fmt::format("\\{:03o}", byte);
  }
  return out + "\"";
}

struct KeptText {
  std::string shapes, tensors, lists, values;
  size_t tensor_count = 0;
};

// Adds an argument: {kind, how many items, a number, the items}.
void add_kept_value(const CKeptCall::Value& v, size_t i, KeptText& text) {
  const auto value = [&](size_t count, const std::string& number, const std::string& items) {
    text.values += fmt::format("{}\n        {{{}, {}, {}, {}}}", i > 0 ? "," : "",
                               static_cast<int>(v.kind), count, number, items);
  };
  if (v.kind == Kind::string) return value(1, "0", c_string(v.text));
  if (!v.numbers.empty()) {
    std::string items;
    for (const int64_t n : v.numbers)
      items += (items.empty() ? "" : ", ") +
               (v.kind == Kind::bool_list ? std::to_string(n) : c_int64(n));
    text.lists += fmt::format("    static const {} l{}[] = {{{}}};\n",
                              v.kind == Kind::bool_list ? "uint8_t" : "int64_t", i, items);
    return value(v.numbers.size(), "0", fmt::format("l{}", i));
  }
  if (v.tensors.empty()) return value(0, c_int64(v.number), "NULL");
  std::string items;
  for (const std::optional<CTensor>& t : v.tensors) {
    items += fmt::format("{}{}", items.empty() ? "" : ", ",
                         t ? fmt::format("&t[{}]", text.tensor_count) : "NULL");
    if (!t) continue;
    text.shapes += shape_text(*t, text.tensor_count);
    text.tensors +=
        fmt::format("{0}\n        {{{1}, s{2}, o{2}, {3}, {4}, {5}, {6}}}",
                    text.tensor_count > 0 ? "," : "", place_text(t->place), text.tensor_count,
                    t->elements, t->sizes.size(), static_cast<int>(t->type), t->constant);
    ++text.tensor_count;
  }
  text.lists += fmt::format("    const struct deuteron_tensor *const l{}[] = {{{}}};\n", i, items);
  value(v.tensors.size(), "0", fmt::format("l{}", i));
}

std::string c_kept_call(const CProgram& p, const CKeptCall& k, const std::string& op,
                        size_t index) {
  KeptText text;
  for (size_t i = 0; i < k.arguments.size(); ++i) add_kept_value(k.arguments[i], i, text);
  return fmt::format(
      "  {{ /* {}: {} */\n{}    const struct deuteron_tensor t[] = {{{}}};\n{}    const struct "
      "deuteron_value v[] = {{{}}};\n"
      "    const struct deuteron_call c = {{v, {}, {}, ARENA(void, {}), {}u}};\n    if ({}(&c) != "
      "0) return {}_CALL_FAILED;\n  }}\n",
      index, op, text.shapes, text.tensors, text.lists, text.values, k.arguments.size(),
      static_cast<int>(k.isa), p.state_offset, k.memory_bytes, c_function_of_call(op),
      c_macro(p.name));
}

std::string c_call(const CProgram& p, const CCall& c, size_t index, CLanguage language) {
  if (c.npu) return c_npu_call(p, *c.npu, c.op, index);
  if (c.kept) return c_kept_call(p, *c.kept, c.op, index);
  const bool is_c = language == CLanguage::c99;
  std::string records, arguments;
  size_t place = 0;
  for (size_t i = 0; i < c.parameters.size(); ++i) {
    const FieldShape& f = c.parameters[i];
    CallPrinter printer(p, c, place, language);
    const std::string value = printer.value(f, c.arguments[i].data());
    place = printer.place();
    if (i > 0) arguments += ", ";
    if (f.record == nullptr) {
      arguments += value;
      continue;
    }
    records += fmt::format("    {}const {}{} a{} = {};\n", printer.is_constant() ? "static " : "",
                           is_c ? "struct deuteron_" : "", f.record->name, i, wrapped(value, 8));
    arguments += fmt::format("{}a{}", is_c ? "&" : "", i);
  }
  return fmt::format("  {{ /* {}: {} */\n{}    {}({});\n  }}\n", index, c.op, records,
                     is_c ? c_function(c.kernel) : c.kernel, wrapped(arguments, 8));
}

std::string sizes_text(const CPort& p) {
  std::string text = "[";
  for (size_t i = 0; i < p.sizes.size(); ++i)
    text += fmt::format("{}{}", i > 0 ? "," : "", p.sizes[i]);
  text += "]";
  bool plain = true;
  for (size_t i = 0; i < p.order.size(); ++i) plain &= p.order[i] == i;
  if (plain) return text;
  text += ", stored with axis ";
  for (size_t i = 0; i < p.order.size(); ++i)
    text += fmt::format("{}{}", i > 0 ? "," : "", p.order[i]);
  return text + " from the outermost to the innermost";
}

std::string port_macros(const std::string& prefix, const CPort& p) {
  int64_t elements = 1;
  for (const int32_t size : p.sizes) elements *= size;
  std::string text =
      fmt::format("#define {0}_BYTES {1}u\n#define {0}_ELEMENTS {2}\n#define {0}_RANK {3}\n",
                  prefix, p.bytes, elements, p.sizes.size());
  for (size_t i = 0; i < p.sizes.size(); ++i)
    text += fmt::format("#define {}_SIZE{} {}\n", prefix, i, p.sizes[i]);
  if (p.scale)
    text += fmt::format("#define {0}_SCALE {1}\n#define {0}_ZERO_POINT {2}\n", prefix,
                        c_float(*p.scale),
                        p.zero < 0 ? fmt::format("({})", p.zero) : std::to_string(p.zero));
  if (p.place.kind == CPlace::arena)
    text += fmt::format("#define {}_OFFSET {}u /* in the arena */\n", prefix, p.place.offset);
  return text;
}

std::string ports_struct(const CProgram& p, bool inputs) {
  const std::vector<CPort>& ports = inputs ? p.inputs : p.outputs;
  std::string text = fmt::format("struct {}_{} {{\n", p.name, inputs ? "inputs" : "outputs");
  for (size_t i = 0; i < ports.size(); ++i)
    text += fmt::format("  {}{} *{}{}; /* {} */\n", inputs ? "const " : "", c_type(ports[i].type),
                        inputs ? "input" : "output", i, sizes_text(ports[i]));
  if (ports.empty()) text += "  const void *unused;\n";
  return text + "};\n";
}

// Bytes of an input to its place, of an output from there. A pointer to the place itself is not
// copied, nor is null.
std::string copy_ports(const CProgram& p, bool inputs) {
  const std::vector<CPort>& ports = inputs ? p.inputs : p.outputs;
  std::string text;
  for (size_t i = 0; i < ports.size(); ++i) {
    const CPort& port = ports[i];
    if (port.bytes == 0) continue;
    const std::string user =
        fmt::format("{}->{}{}", inputs ? "in" : "out", inputs ? "input" : "output", i);
    const std::string place =
        port.place.kind == CPlace::arena
            ? fmt::format("arena + {}", port.place.offset)
            : fmt::format("(const uint8_t *){}_weights + {}", p.name, port.place.offset);
    text += fmt::format(
        "  if ({0} != NULL && (const void *){0} != (const void *)({1})) memcpy({2}, {3}, {4});\n",
        user, place, inputs ? place : user, inputs ? user : place, port.bytes);
  }
  return text;
}

// What the first run reads.
std::string reset_state(const CProgram& p) {
  std::string text = fmt::format(
      "\nvoid {}_reset_state(void *memory) {{\n  uint8_t *const arena = (uint8_t *)memory;\n",
      p.name);
  for (const CState& s : p.states)
    text += s.is_zero ? fmt::format("  memset(arena + {}, 0, {});\n", s.offset, s.bytes)
                      : fmt::format("  memcpy(arena + {}, CONSTANT(uint8_t, {}), {});\n", s.offset,
                                    s.initial, s.bytes);
  return text + "}\n";
}

}  // namespace

std::string c_macro(std::string name) {
  for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

namespace {

bool has_kept_calls(const CProgram& p) {
  return std::ranges::any_of(p.calls, [](const CCall& c) { return c.kept.has_value(); });
}

// Of a part, whose inputs and outputs DeuteronBackend moves.
std::string part_header(const COutput& o, const CProgram& p) {
  return fmt::format(
      "/* {0}: a part of {1}, compiled for {2}. Made by deuteron {3}. */\n#ifndef {4}_H\n#define "
      "{4}_H\n#include <stdint.h>\n\n#define {4}_NPU_FAILED 2\n#define {4}_CALL_FAILED 3\n\n#ifdef "
      "__cplusplus\nextern \"C\" {{\n#endif\n"
      "/* 0: done. The arena lies at a multiple of 16. `inputs`: those that are not in it. "
      "`events`: null, or who is told of instructions. */\n"
      "int {0}_run(void *arena, const uint8_t *const *inputs, void *events);\n{5}#ifdef "
      "__cplusplus\n}}\n#endif\n#endif\n",
      p.name, c_comment(p.from), c_comment(o.target), o.version, c_macro(p.name),
      p.states.empty() ? "" : fmt::format("void {}_reset_state(void *arena);\n", p.name));
}

std::string part_functions(const CProgram& p) {
  std::string text = fmt::format(
      "#define INPUT(type, i, at) ((const type *)(const void *)(inputs[i] + (at)))\n"
      "#ifdef ET_EVENT_TRACER_ENABLED /* before each instruction, and behind the last */\n"
      "void deuteron_part_event(void *events, int32_t instruction);\n"
      "#define INSTRUCTION(k) if (events != NULL) deuteron_part_event(events, k)\n"
      "#else\n#define INSTRUCTION(k) (void)events\n#endif\n\n"
      "int {0}_run(void *memory, const uint8_t *const *inputs, void *events) {{\n"
      "  uint8_t *const arena = (uint8_t *)memory;\n  (void)inputs;\n",
      p.name);
  size_t at = 0;
  for (size_t k = 0; k < p.made.size(); ++k) {
    text += fmt::format("  INSTRUCTION({});\n", k);
    for (; at < p.calls.size() && p.calls[at].instruction == k; ++at)
      text += c_call(p, p.calls[at], at, CLanguage::c99);
  }
  return text + "  INSTRUCTION(-1);\n  return 0;\n}\n";
}

}  // namespace

std::string c_comment(std::string_view text) {
  std::string safe;
  for (const char c : text.substr(0, 120))
    safe += std::isalnum(static_cast<unsigned char>(c)) ||
                    std::string_view(" ._-+,:/").find(c) != std::string_view::npos
                ? c
                : '_';
  for (size_t at = safe.find("//"); at != safe.npos; at = safe.find("//")) safe.erase(at, 1);
  return safe;
}

std::string c_header(const COutput& o, const CProgram& p) {
  if (p.in_file) return part_header(o, p);
  const std::string name = c_macro(p.name);
  std::string text = fmt::format(
      "/* {}, compiled for {}. Made by deuteron {} from {}. */\n#ifndef {}_H\n#define "
      "{}_H\n#include <stdbool.h>\n#include <stdint.h>\n\n",
      p.name, o.isa.empty() ? "a computer" : c_comment(o.target), o.version, c_comment(p.from),
      name, name);
  text += fmt::format(
      "#define {0}_ARENA_BYTES {1}u /* memory of a run, at a multiple of 16; {6} */\n"
      "#define {0}_WEIGHTS_BYTES {2}u\n#define {0}_CALLS {3}\n#define {0}_INPUTS {4}\n#define "
      "{0}_OUTPUTS {5}\n\n",
      name, p.arena_bytes, p.constants.size(), p.calls.size(), p.inputs.size(), p.outputs.size(),
      p.states.empty() ? "free for others between two runs"
                       : "it keeps the states: nobody else may write to it between two runs");
  for (size_t i = 0; i < p.inputs.size(); ++i)
    text += port_macros(fmt::format("{}_INPUT{}", name, i), p.inputs[i]);
  for (size_t i = 0; i < p.outputs.size(); ++i)
    text += port_macros(fmt::format("{}_OUTPUT{}", name, i), p.outputs[i]);
  text += fmt::format(
      "\n/* Elements in storage order. An input that is null is read from its place in the arena, "
      "an output that is null "
      "stays in its place: the\n   macros that end in _OFFSET say where. */\n{}{}\n",
      ports_struct(p, true), ports_struct(p, false));
  text += fmt::format(
      "#ifdef __cplusplus\nextern \"C\" {{\n#endif\n/* Runs the model once. Reentrant: everything "
      "that it writes lies in the arena and in "
      "the outputs.\n   0: done. {0}_BAD_ARGUMENT: a null pointer, or an arena that does not begin "
      "at a multiple of 16; nothing was "
      "written. */\n"
      "#define {0}_BAD_ARGUMENT 1\n#define {0}_NPU_FAILED 2 /* the driver of the NPU gave up "
      "*/\n{2}int {1}_run(void *arena, const struct "
      "{1}_inputs *in, const struct {1}_outputs *out);\n",
      name, p.name,
      has_kept_calls(p)
          ? fmt::format(
                "#define {}_CALL_FAILED 3 /* never: all calls were checked when this was made */\n",
                name)
          : "");
  if (!p.states.empty())
    text += fmt::format(
        "/* {0} bytes of the arena live from one run to the next. Call this before the first run, "
        "and where a new sequence begins. */\n"
        "#define {1}_STATE_BYTES {0}u\nvoid {2}_reset_state(void *arena);\n",
        state_bytes_of(p), name, p.name);
  return text + "#ifdef __cplusplus\n}\n#endif\n#endif\n";
}

std::string c_functions(const CProgram& p, CLanguage language) {
  const bool is_cpp = language == CLanguage::cpp17;
  std::string spaces =
      is_cpp ? fmt::format("  using namespace {}_kernels::deuteron;\n", p.name) : "";
  if (is_cpp && has_kept_calls(p)) spaces += fmt::format("  using namespace {}_kernels;\n", p.name);
  std::string text = fmt::format(
      "#define ARENA(type, at) ((type *)(void *)(arena + (at)))\n"
      "#define CONSTANT(type, at) ((const type *)(const void *)((const uint8_t *){}_weights + "
      "(at)))\n\n",
      p.name);
  if (p.in_file) {
    text += part_functions(p);
  } else {
    text += fmt::format(
        "int {0}_run(void *memory, const struct {0}_inputs *in, const struct {0}_outputs *out) {{\n"
        "{2}  uint8_t *const arena = (uint8_t *)memory;\n"
        "  if (arena == NULL || (uintptr_t)arena % 16 != 0 || in == NULL || out == NULL) return "
        "{1}_BAD_ARGUMENT;\n",
        p.name, c_macro(p.name), spaces);
    text += copy_ports(p, true);
    for (size_t k = 0; k < p.calls.size(); ++k) text += c_call(p, p.calls[k], k, language);
    text += copy_ports(p, false) + "  return 0;\n}\n";
  }
  return p.states.empty() ? text : text + reset_state(p);
}

std::string c_source(const COutput& o, const CProgram& p) {
  std::string text = fmt::format(
      "/* The calls of {}. Made by deuteron {} from {}. */\n#include \"{}.h\"\n\n#include "
      "<stddef.h>\n#include <string.h>\n\n#include "
      "\"{}.h\"\n\n",
      p.name, o.version, c_comment(p.from), p.name, kCKernels);
  if (o.npu) text += "#include \"deuteron_npu.h\"\n\n";
  if (p.in_file) text += fmt::format("extern const uint8_t *{}_weights;\n", p.name);
  if (!p.constants.empty()) text += fmt::format("extern const uint32_t {}_weights[];\n", p.name);
  return text + c_functions(p, CLanguage::c99);
}

std::string c_words(const CProgram& p) {
  std::string text = "{";
  text.reserve(p.constants.size() * 3);
  for (size_t at = 0; at < p.constants.size(); at += 4) {
    uint32_t word;
    std::memcpy(&word, &p.constants[at], 4);
    text += at % 48 == 0 ? "\n  " : " ";
    fmt::format_to(std::back_inserter(text), "{:#x}u,", word);
  }
  return text + "\n}";
}

std::string c_weights(const COutput& o, const CProgram& p) {
  return fmt::format(
      "/* The constants of {0}, little-endian. Made by deuteron {1}. */\n#include "
      "<stdint.h>\n\n#if defined(__BYTE_ORDER__) && "
      "__BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__\n#error \"these words are for a little-endian "
      "core\"\n#endif\n#if defined(__GNUC__)\n"
      "#define ALIGNED __attribute__((aligned(16)))\n#else\n#define ALIGNED\n#endif\n\nextern "
      "const uint32_t {0}_weights[{2}];\n"
      "const uint32_t {0}_weights[{2}] ALIGNED = {3};\n",
      p.name, o.version, p.constants.size() / 4, c_words(p));
}

std::string c_weights_assembly(const CProgram& p) {
  return fmt::format(
      "/* The constants of {0}. */\n  .section .rodata.{0}_weights, \"a\"\n  .balign 16\n  .global "
      "{0}_weights\n{0}_weights:\n"
      "  .incbin \"{0}_weights.bin\"\n#if defined(__linux__) && defined(__ELF__)\n  .section "
      ".note.GNU-stack, \"\", %progbits\n#endif\n",
      p.name);
}

}  // namespace deuteron
