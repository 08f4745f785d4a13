// SPDX-License-Identifier: Apache-2.0
#include "base/data/npy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "base/files/read_file.h"

namespace deuteron {
namespace {

constexpr char kMagic[] = "\x93NUMPY";
// NumPy itself writes a few hundred bytes for arrays without fields
constexpr size_t kMaxHeaderBytes = 1 << 16;
constexpr size_t kTooMany = size_t{1} << 63;  // bytes of data
constexpr size_t kMaxNpyRank = 64;            // NumPy's own limit since 2.0

struct Header {
  std::string descr;
  bool fortran_order = false;
  Shape shape;
};

// Reads the one Python literal that a header is: a dict with the keys descr (a string),
// fortran_order and shape.
class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : text_(text) {}

  // Empty: fine. Else what is wrong.
  std::string parse(Header* h) {
    bool seen[3] = {};
    if (!take('{')) return "does not begin with `{`";
    while (!take('}')) {
      std::string key;
      if (!string(&key) || !take(':')) return "has a malformed key";
      const int k = key == "descr" ? 0 : key == "fortran_order" ? 1 : key == "shape" ? 2 : 3;
      if (k == 3 || seen[k])
        return "has the " + std::string(k == 3 ? "unknown" : "repeated") + " key `" +
               key.substr(0, 40) + "`";
      seen[k] = true;
      if (k == 0 && (skip(), at_ < text_.size() && text_[at_] == '['))
        return "describes records with fields, not numbers";
      if (k == 0 && !string(&h->descr)) return "has a malformed `descr`";
      if (k == 1 && !boolean(&h->fortran_order)) return "has a malformed `fortran_order`";
      if (k == 2 && !tuple(&h->shape)) return "has a malformed `shape`";
      if (!take(',') && !peek('}')) return "is malformed";
    }
    skip();
    if (at_ != text_.size()) return "goes on after its end";
    for (int k = 0; k < 3; ++k)
      if (!seen[k])
        return fmt::format("lacks `{}`", k == 0 ? "descr" : k == 1 ? "fortran_order" : "shape");
    return {};
  }

 private:
  void skip() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r'))
      ++at_;
  }
  bool peek(char c) { return skip(), at_ < text_.size() && text_[at_] == c; }
  bool take(char c) { return peek(c) ? ++at_, true : false; }
  bool word(std::string_view w) {
    return skip(), text_.substr(at_, w.size()) == w ? at_ += w.size(), true : false;
  }
  bool boolean(bool* v) {
    return word("True") ? *v = true, true : word("False") ? *v = false, true : false;
  }
  bool string(std::string* s) {
    skip();
    if (at_ >= text_.size() || (text_[at_] != '\'' && text_[at_] != '"')) return false;
    const size_t end = text_.find(text_[at_], at_ + 1);
    if (end == std::string_view::npos) return false;
    *s = std::string(text_.substr(at_ + 1, end - at_ - 1));
    return at_ = end + 1, s->find('\\') == std::string::npos;
  }
  bool tuple(Shape* shape) {
    if (!take('(')) return false;
    while (!take(')')) {
      skip();
      i64 extent = 0;
      size_t digits = 0;
      for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_, ++digits)
        if (__builtin_mul_overflow(extent, i64{10}, &extent) ||
            __builtin_add_overflow(extent, i64{text_[at_] - '0'}, &extent))
          return false;
      if (digits == 0 || shape->size() == kMaxNpyRank) return false;
      if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // files written by Python 2
      shape->push_back(extent);
      if (!take(',') && !peek(')')) return false;
    }
    return true;
  }

  std::string_view text_;
  size_t at_ = 0;
};

// "<f4" and the like; nullopt for everything that is not a real number of up to 8 bytes.
std::optional<ElementType> element_named(const std::string& descr, bool* big_endian) {
  if (descr.size() != 3) return std::nullopt;
  const char order = descr[0], kind = descr[1], width = descr[2];
  if (order != '<' && order != '>' && order != '|' && order != '=') return std::nullopt;
  const bool known = kind == 'f' ? width == '2' || width == '4' || width == '8'
                     : kind == 'b'
                         ? width == '1'
                         : (kind == 'i' || kind == 'u') &&
                               (width == '1' || width == '2' || width == '4' || width == '8');
  if (!known) return std::nullopt;
  *big_endian = order == '>';
  return ElementType{kind, width - '0'};
}

// Axis 0 runs fastest in Fortran order. Walks the result in row-major order and fetches.
std::vector<std::byte> from_fortran(std::span<const std::byte> data, const Shape& shape,
                                    int width) {
  std::vector<std::byte> out(data.size());
  std::vector<i64> stride(shape.size()), index(shape.size());
  i64 step = width;
  for (size_t k = 0; k < shape.size(); ++k) stride[k] = step, step *= shape[k];
  i64 from = 0;
  for (size_t to = 0; to < out.size(); to += static_cast<size_t>(width)) {
    std::memcpy(out.data() + to, data.data() + from, static_cast<size_t>(width));
    for (size_t k = shape.size(); k-- > 0;) {
      from += stride[k];
      if (++index[k] < shape[k]) break;
      from -= stride[k] * shape[k];
      index[k] = 0;
    }
  }
  return out;
}

}  // namespace

std::optional<NpyHeader> parse_npy_header(std::span<const std::byte> file, const std::string& where,
                                          Diagnostics& diagnostics) {
  const auto refuse = [&](const std::string& what, const char* rule, const char* fix = "") {
    diagnostics.error(where, what, rule, fix);
    return std::nullopt;
  };
  if (file.size() < 10 || std::memcmp(file.data(), kMagic, 6) != 0)
    return refuse("is not a `.npy` file (it does not begin with \\x93NUMPY)", "npy.magic",
                  "write it with numpy.save");
  const int major = static_cast<int>(file[6]);
  if (major < 1 || major > 3)
    return refuse(fmt::format("is of `.npy` version {}.{}; known are 1.0 to 3.0", major,
                              static_cast<int>(file[7])),
                  "npy.version");
  const size_t prefix = major == 1 ? 10 : 12;
  if (file.size() < prefix) return refuse("ends within its header", "npy.truncated");
  size_t header_bytes = 0;
  for (size_t i = prefix; i-- > 8;) header_bytes = header_bytes << 8 | static_cast<size_t>(file[i]);
  if (header_bytes > kMaxHeaderBytes) {
    diagnostics.add({Severity::error, where, "has an impossibly long header",
                     fmt::format("{} bytes", header_bytes),
                     fmt::format("{} bytes", kMaxHeaderBytes), "npy.header", ""});
    return std::nullopt;
  }
  if (header_bytes > file.size() - prefix) return refuse("ends within its header", "npy.truncated");

  Header header;
  const std::string_view text(reinterpret_cast<const char*>(file.data()) + prefix, header_bytes);
  if (const std::string fault = HeaderParser(text).parse(&header); !fault.empty())
    return refuse("has a header that " + fault, "npy.header");
  bool big_endian = false;
  const std::optional<ElementType> type = element_named(header.descr, &big_endian);
  if (!type)
    return refuse(
        fmt::format("has elements of type `{}`", header.descr.substr(0, 40)), "npy.dtype",
        "real numbers are taken: float16, float32, float64, bool, and integers of 8 to 64 bits");

  i64 bytes = type->bytes;
  bool overflow = false;
  for (const i64 extent : header.shape) overflow |= __builtin_mul_overflow(bytes, extent, &bytes);
  const size_t data_bytes = overflow ? kTooMany : static_cast<size_t>(bytes);
  return NpyHeader{
      *type,     big_endian, header.fortran_order, std::move(header.shape), prefix + header_bytes,
      data_bytes};
}

std::optional<Array> parse_npy(std::span<const std::byte> file, const std::string& where,
                               Diagnostics& diagnostics) {
  const std::optional<NpyHeader> header = parse_npy_header(file, where, diagnostics);
  if (!header) return std::nullopt;
  const std::span<const std::byte> data = file.subspan(header->data_at);
  if (data.size() != header->data_bytes) {
    diagnostics.add({Severity::error, where,
                     fmt::format("has the shape [{}] of {} but not as many bytes of data",
                                 to_text(header->shape), to_text(header->type)),
                     fmt::format("{} bytes", data.size()),
                     header->data_bytes == kTooMany ? "more than 2^63 bytes"
                                                    : fmt::format("{} bytes", header->data_bytes),
                     "npy.size", ""});
    return std::nullopt;
  }

  Array array{header->type, header->shape, {}};
  if (header->fortran_order && array.shape.size() > 1)
    array.bytes = from_fortran(data, array.shape, array.type.bytes);
  else array.bytes.assign(data.begin(), data.end());
  if (header->big_endian)
    for (size_t i = 0; i < array.bytes.size(); i += static_cast<size_t>(array.type.bytes))
      std::reverse(array.bytes.begin() + static_cast<i64>(i),
                   array.bytes.begin() + static_cast<i64>(i) + array.type.bytes);
  return array;
}

std::optional<Array> read_npy(const std::string& path, Diagnostics& diagnostics) {
  const std::optional<std::vector<std::byte>> file = read_file(path, diagnostics);
  return file ? parse_npy(*file, path, diagnostics) : std::nullopt;
}

std::vector<uint8_t> npy_bytes(ElementType type, const Shape& shape,
                               std::span<const std::byte> data) {
  const char kind = type.kind;
  const std::string descr = fmt::format("{}{}{}", type.bytes == 1 ? '|' : '<', kind, type.bytes);
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}",
                                   descr, fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
  header.append(63 - (10 + header.size()) % 64,
                ' ');  // so that the data begins at a multiple of 64
  header += '\n';
  std::vector<uint8_t> file(kMagic, kMagic + 6);
  file.insert(file.end(), {1, 0, static_cast<uint8_t>(header.size() & 255),
                           static_cast<uint8_t>(header.size() >> 8)});
  file.insert(file.end(), header.begin(), header.end());
  const auto* bytes = reinterpret_cast<const uint8_t*>(data.data());
  file.insert(file.end(), bytes, bytes + data.size());
  return file;
}

}  // namespace deuteron
