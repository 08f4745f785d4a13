// SPDX-License-Identifier: Apache-2.0
#include "base/data/inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/check.h"
#include "base/data/npy.h"
#include "base/data/npz.h"
#include "base/files/read_file.h"
#include "base/tensor/elements.h"

namespace deuteron {
namespace {

enum class FileKind { npy, npz, bin, image, unknown };

// A name without an extension says nothing (/dev/fd/3): the first bytes may.
FileKind kind_of_content(const std::string& path) {
  std::error_code ec;
  if (!std::filesystem::is_regular_file(path, ec))
    return FileKind::unknown;  // a pipe could make us wait for ever
  char start[6] = {};
  std::ifstream(path, std::ios::binary).read(start, sizeof start);
  return std::string_view(start, 6) == "\x93NUMPY" ? FileKind::npy : FileKind::unknown;
}

FileKind kind_of(const std::string& path) {
  static constexpr std::pair<std::string_view, FileKind> kKinds[] = {
      {".npy", FileKind::npy},   {".npz", FileKind::npz},   {".bin", FileKind::bin},
      {".png", FileKind::image}, {".jpg", FileKind::image}, {".jpeg", FileKind::image},
      {".bmp", FileKind::image}};
  std::string lower = path.substr(path.find_last_of('/') + 1);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  for (const auto& [extension, kind] : kKinds)
    if (lower.ends_with(extension)) return kind;
  if (lower.find('.') == std::string::npos) return kind_of_content(path);
  return FileKind::unknown;
}
// As messages call it; no file has an array of bf16.
std::string text_of(DType d) {
  return d == DType::bf16 ? std::string(name_of(d)) : to_text(element_of(d));
}

constexpr const char* kKnownFiles =
    "use .npy, .npz, .bin (raw little-endian), .png, .jpg or .bmp, or a folder of one kind of them";

// Reads the files of one call; carries what every step needs for its messages.
class InputReader {
 public:
  InputReader(const InputOptions& options, Diagnostics& diagnostics)
      : options_(options), diagnostics_(diagnostics) {}

  std::optional<InputSeries> read(const std::string& path, const InputSpec& spec) {
    InputSeries out{spec.dtype, spec.shape, 0, false, {}};
    if (!is_folder(path))
      return append(path, spec, out) ? std::optional(std::move(out)) : std::nullopt;
    const std::optional<std::vector<std::string>> files = files_of(path);
    if (!files) return std::nullopt;
    for (const std::string& file : *files)
      if (!append(file, spec, out)) return std::nullopt;
    out.series = true;
    return out;
  }

  static bool has(const Npz& npz, const std::string& name) {
    return std::find(npz.names().begin(), npz.names().end(), name) != npz.names().end();
  }
  // By its number, or else by the name that the input has in the model. One array is meant for the
  // one input.
  static std::string array_name(const Npz& npz, const InputSpec& spec, size_t i, bool is_only) {
    const std::string numbered = fmt::format("input{}", i);
    if (!has(npz, numbered) && is_only && npz.names().size() == 1) return npz.names()[0];
    return !has(npz, numbered) && has(npz, spec.name) ? spec.name : numbered;
  }

  std::optional<std::vector<InputSeries>> read_npz(const std::string& path,
                                                   std::span<const InputSpec> specs) {
    std::vector<std::string> files = {path};
    const bool folder = is_folder(path);
    if (folder) {
      std::optional<std::vector<std::string>> found = files_of(path);
      if (!found) return std::nullopt;
      files = std::move(*found);
    }
    std::vector<InputSeries> all;
    for (const InputSpec& spec : specs) all.push_back({spec.dtype, spec.shape, 0, folder, {}});
    for (const std::string& file : files) {
      const std::optional<Npz> npz = Npz::open(file, diagnostics_);
      if (!npz) return std::nullopt;
      const std::string beyond = fmt::format("input{}", specs.size());
      const bool is_own = std::any_of(specs.begin(), specs.end(),
                                      [&](const InputSpec& spec) { return spec.name == beyond; });
      if (has(*npz, beyond) && !is_own)
        return diagnostics_.add({Severity::error, file, fmt::format("has `{}`", beyond),
                                 fmt::format("{} inputs", specs.size() + 1),
                                 fmt::format("{} inputs", specs.size()), "input.count", ""}),
               std::nullopt;
      for (size_t i = 0; i < specs.size(); ++i) {
        const std::string name = array_name(*npz, specs[i], i, specs.size() == 1);
        const std::string where = file + ":" + name;
        const auto accept = [&](const Shape& shape) {
          return samples_of(shape, where, specs[i]).has_value();
        };
        const std::optional<Array> array = npz->read(name, accept, diagnostics_);
        if (!array || !append(*array, where, specs[i], all[i])) return std::nullopt;
        if (all[i].count != all[0].count) return unequal_counts(all, i), std::nullopt;
      }
    }
    return all;
  }

  // One for each input, as many as there are, each with as many samples as the first.
  std::optional<std::vector<InputSeries>> read_all(size_t given, std::span<const InputSpec> specs,
                                                   auto read_one) {
    if (given != specs.size()) {
      constexpr size_t kMostShown = 8;
      std::string names;
      for (const InputSpec& s : specs.first(std::min(specs.size(), kMostShown)))
        names += fmt::format("{}`{}` {}[{}]", names.empty() ? "" : ", ", s.name, name_of(s.dtype),
                             to_text(s.shape));
      if (specs.size() > kMostShown)
        names += fmt::format(", and {} more", specs.size() - kMostShown);
      diagnostics_.add(
          {Severity::error, options_.option, "every input needs its data, in order",
           std::to_string(given), std::to_string(specs.size()), "input.count",
           fmt::format("the inputs are: {}; one `.npz` with input0, input1, ... may stand for all",
                       names.empty() ? "none" : names)});
      return std::nullopt;
    }
    std::vector<InputSeries> all;
    for (size_t i = 0; i < specs.size(); ++i) {
      std::optional<InputSeries> one = read_one(i);
      if (!one) return std::nullopt;
      all.push_back(std::move(*one));
      if (all[i].count != all[0].count) return unequal_counts(all, i), std::nullopt;
    }
    return all;
  }

  // A folder counts as npz when that is what its files are.
  bool is_npz(const std::string& path) {
    if (!is_folder(path)) return kind_of(path) == FileKind::npz;
    std::error_code ec;
    for (std::filesystem::directory_iterator it(path, ec), end; !ec && it != end; it.increment(ec))
      if (kind_of(it->path().native()) == FileKind::npz) return true;
    return false;
  }

  bool append(const Array& array, const std::string& where, const InputSpec& spec,
              InputSeries& out) {
    const std::optional<SampleCount> n = samples_of(array.shape, where, spec);
    if (!n) return false;
    if (spec.is_camera &&
        array.type == element_of(DType::u8)) {  // bytes become what the pixels of an image would
      std::optional<std::vector<std::byte>> numbers =
          numbers_of_bytes(array.bytes, spec.shape, options_.image, where, diagnostics_);
      return numbers &&
             append({element_of(DType::f32), array.shape, std::move(*numbers)}, where, spec, out);
    }
    std::optional<std::vector<std::byte>> bytes = convert_between_steps(array, where, spec);
    if (!bytes && diagnostics_.has_errors()) return false;
    if (!bytes) bytes = convert(array, spec.dtype, numel(spec.shape), where, diagnostics_);
    if (!bytes) return false;
    if (out.bytes.empty()) out.bytes = std::move(*bytes);
    else out.bytes.insert(out.bytes.end(), bytes->begin(), bytes->end());
    out.count += n->count;
    out.series = out.series || n->series;
    return true;
  }

  void unequal_counts(std::span<const InputSeries> all, size_t i) {
    diagnostics_.add({Severity::error, options_.option,
                      fmt::format("input {} has another number of samples than input 0", i),
                      std::to_string(all[i].count), std::to_string(all[0].count), "input.samples",
                      "give as many samples for every input"});
  }

 private:
  static bool is_folder(const std::string& path) {
    std::error_code ec;
    return std::filesystem::is_directory(path, ec);
  }

  // Steps where the input takes numbers, and numbers where it takes steps. Nothing for what needs
  // no conversion or cannot have one.
  std::optional<std::vector<std::byte>> convert_between_steps(const Array& array,
                                                              const std::string& where,
                                                              const InputSpec& spec) {
    if (!spec.steps) return std::nullopt;
    Type type = *spec.steps;
    type.shape = array.shape;
    const bool takes_steps = spec.dtype == type.dtype;
    const Type floats_type{DType::f32, array.shape, {}};
    if (!takes_steps && array.type == element_of(type.dtype))
      return elements_of(numbers_of(array.bytes.data(), type), floats_type);
    if (!takes_steps || array.type.kind != 'f') return std::nullopt;
    const std::optional<std::vector<std::byte>> floats =
        convert(array, DType::f32, numel(spec.shape), where, diagnostics_);
    if (!floats) return std::nullopt;
    return elements_of(numbers_of(floats->data(), floats_type), type);
  }

  bool refuse(const std::string& where, std::string what, const char* rule, std::string fix = {}) {
    return diagnostics_.error(where, std::move(what), rule, std::move(fix)), false;
  }

  // In the order of their names, byte by byte. Hidden files and folders inside are passed over;
  // what is no input data is told of.
  std::optional<std::vector<std::string>> files_of(const std::string& folder) {
    std::vector<std::string> files, others;
    std::error_code ec;
    for (std::filesystem::directory_iterator it(folder, ec), end; !ec && it != end;
         it.increment(ec)) {
      const std::string path = it->path().native();
      const std::string name = it->path().filename().native();
      if (name.starts_with('.') || is_folder(path)) continue;
      (kind_of(path) == FileKind::unknown ? others : files).push_back(path);
    }
    if (ec)
      return refuse(folder, "cannot be read: " + ec.message(), "file.unreadable"), std::nullopt;
    std::sort(files.begin(), files.end());
    if (files.empty())
      return refuse(folder, "the folder has no input data", "input.folder.empty", kKnownFiles),
             std::nullopt;
    for (const std::string& file : files)
      if (kind_of(file) != kind_of(files[0]))
        return refuse(folder,
                      fmt::format("the folder mixes kinds of files: `{}` and `{}`",
                                  name_in(files[0]), name_in(file)),
                      "input.folder.mixed",
                      "the order of the samples would be a guess: give a folder of one kind"),
               std::nullopt;
    if (!others.empty())
      diagnostics_.warning(
          folder,
          fmt::format("{} of the folder's files {} not input data and {} left out: `{}`",
                      others.size(), others.size() == 1 ? "is" : "are",
                      others.size() == 1 ? "is" : "are",
                      name_in(*std::min_element(others.begin(), others.end()))),
          "input.folder.other");
    return files;
  }
  static std::string name_in(const std::string& path) {
    return path.substr(path.find_last_of('/') + 1);
  }

  bool append(const std::string& path, const InputSpec& spec, InputSeries& out) {
    switch (kind_of(path)) {
      case FileKind::npy: {
        const std::optional<Array> array = read_npy(path, diagnostics_);
        return array && append(*array, path, spec, out);
      }
      case FileKind::bin:
        return append_bin(path, spec, out);
      case FileKind::image:
        return append_image(path, spec, out);
      case FileKind::npz:
        return check_regular_file(path, diagnostics_) &&
               refuse(path, "a `.npz` stands for all inputs, so it must be given alone",
                      "input.npz.alone", "give it as the only " + options_.option);
      case FileKind::unknown:
        break;
    }
    return check_regular_file(path, diagnostics_) &&
           refuse(path, "the file name does not say what the data is", "input.kind", kKnownFiles);
  }

  // How many samples of the input an array of that shape has; nothing with a fault.
  std::optional<SampleCount> samples_of(const Shape& array, const std::string& where,
                                        const InputSpec& spec) {
    const std::optional<SampleCount> n = samples_in(array, spec.shape);
    if (!n) {
      const std::string shape = to_text(spec.shape);
      std::string limit = fmt::format("[{}] (one sample) or [n{}{}] (a series)", shape,
                                      shape.empty() ? "" : ",", shape);
      if (!spec.shape.empty() && spec.shape[0] == 1 && spec.shape.size() > 1)
        limit = fmt::format("[{}] (one sample), [n,{}] or [n,{}] (a series)", shape, shape,
                            to_text(std::span(spec.shape).subspan(1)));
      diagnostics_.add({Severity::error, where,
                        fmt::format("the array does not have the shape of input `{}`", spec.name),
                        fmt::format("[{}]", to_text(array)), limit, "input.shape", ""});
      return std::nullopt;
    }
    if (n->count == 0)
      return refuse(where, "the series has no samples", "input.samples"), std::nullopt;
    return n;
  }

  // Raw data for an input of steps that may be float32 too: four int8 steps have the bytes of one
  // float.
  bool choose_floats(const std::string& path, const InputSpec& spec, i64 have, DType& dtype) {
    if (dtype == DType::f32) return true;
    const i64 as_floats = have / (numel(spec.shape) * bytes_of(DType::f32)),
              as_steps = have / spec.bytes();
    if (as_floats > 1)
      return refuse(path,
                    fmt::format("may be {} samples of float32, or {} of {}", as_floats, as_steps,
                                text_of(dtype)),
                    "input.bin.type",
                    "give a .npy, which says what its elements are, or a folder with one sample in "
                    "each file");
    if (!has_told_of_floats_)
      diagnostics_.add({Severity::note, path,
                        fmt::format("is read as one sample of float32, not as {} of {}", as_steps,
                                    text_of(dtype)),
                        "", "", "input.bin.floats", "a .npy says what its elements are"});
    has_told_of_floats_ = true;
    dtype = DType::f32;
    return true;
  }

  bool append_bin(const std::string& path, const InputSpec& spec, InputSeries& out) {
    std::optional<std::vector<std::byte>> bytes = read_file(path, diagnostics_);
    if (!bytes) return false;
    const i64 have = static_cast<i64>(bytes->size()), one = spec.bytes();
    const bool is_steps = spec.steps && have == numel(spec.shape) * bytes_of(spec.steps->dtype);
    if (one == 0 || (have % one != 0 && !is_steps)) {
      diagnostics_.add(
          {Severity::error, path,
           fmt::format("the raw data is not a whole number of samples of input `{}`", spec.name),
           fmt::format("{} bytes", have),
           fmt::format("a multiple of {} bytes ({}[{}])", one, name_of(spec.dtype),
                       to_text(spec.shape)),
           "input.bin.bytes", ""});
      return false;
    }
    const i64 elements = numel(spec.shape);
    DType dtype = spec.dtype;
    if (is_steps) dtype = spec.steps->dtype;
    else if (spec.steps && have % (elements * bytes_of(DType::f32)) == 0 &&
             !choose_floats(path, spec, have, dtype))
      return false;
    if (spec.dtype == DType::bf16)
      return out.bytes.insert(out.bytes.end(), bytes->begin(), bytes->end()),
             out.count += have / one, true;
    Array array{element_of(dtype), {have / (elements * bytes_of(dtype))}, std::move(*bytes)};
    array.shape.insert(array.shape.end(), spec.shape.begin(), spec.shape.end());
    const bool was_series = out.series || array.shape[0] > 1;
    const bool ok = append(array, path, spec, out);
    out.series = was_series;
    return ok;
  }

  // The pixels themselves, for an input of bytes.
  bool append_pixels(const std::string& path, const InputSpec& spec, InputSeries& out) {
    const std::optional<std::vector<float>> values =
        read_image(path, spec.shape, {1, {}, {}}, diagnostics_);
    if (!values) return false;
    Array array{element_of(DType::u8), spec.shape, {}};
    for (const float v : *values) {
      const auto byte = static_cast<uint8_t>(v);
      if (static_cast<float>(byte) != v)
        return refuse(
            path,
            fmt::format("has more than 8 bits a pixel, but input `{}` takes bytes", spec.name),
            "image.depth", "convert it first, as the camera will");
      array.bytes.push_back(std::byte{byte});
    }
    return append(array, path, spec, out);
  }

  bool append_image(const std::string& path, const InputSpec& spec, InputSeries& out) {
    if (spec.dtype == DType::u8) return append_pixels(path, spec, out);
    if (spec.dtype != DType::f32 && !spec.steps)
      return check_regular_file(path, diagnostics_) &&
             refuse(path,
                    fmt::format("an image becomes float32, but input `{}` takes {}", spec.name,
                                text_of(spec.dtype)),
                    "input.dtype",
                    "compile the model with `--io float`, or quantize the image yourself and give "
                    "it as `.npy`");
    const std::optional<std::vector<float>> values =
        read_image(path, spec.shape, options_.image, diagnostics_);
    if (!values) return false;
    const auto* bytes = reinterpret_cast<const std::byte*>(values->data());
    Array array{{'f', 4}, spec.shape, {bytes, bytes + values->size() * sizeof(float)}};
    return append(array, path, spec, out);
  }

  const InputOptions& options_;
  Diagnostics& diagnostics_;
  bool has_told_of_floats_ = false;
};

}  // namespace

std::optional<SampleCount> samples_in(std::span<const i64> file, std::span<const i64> input) {
  const auto equal = [](std::span<const i64> a, std::span<const i64> b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  };
  const bool has_batch = !input.empty() && input[0] == 1;
  if (equal(file, input)) return SampleCount{1, false};
  if (has_batch && input.size() > 1 && equal(file, input.subspan(1))) return SampleCount{1, false};
  if (file.empty()) return std::nullopt;
  if (equal(file.subspan(1), input)) return SampleCount{file[0], true};
  if (has_batch && equal(file.subspan(1), input.subspan(1))) return SampleCount{file[0], true};
  return std::nullopt;
}

std::optional<std::vector<InputSeries>> read_inputs(std::span<const std::string> paths,
                                                    std::span<const InputSpec> specs,
                                                    const InputOptions& options,
                                                    Diagnostics& diagnostics) {
  InputReader reader(options, diagnostics);
  if (paths.size() == 1 && !specs.empty() && reader.is_npz(paths[0]))
    return reader.read_npz(paths[0], specs);
  return reader.read_all(paths.size(), specs,
                         [&](size_t i) { return reader.read(paths[i], specs[i]); });
}

std::optional<std::vector<InputSeries>> convert_inputs(std::span<const Array> arrays,
                                                       std::span<const InputSpec> specs,
                                                       const InputOptions& options,
                                                       Diagnostics& diagnostics) {
  InputReader reader(options, diagnostics);
  return reader.read_all(arrays.size(), specs, [&](size_t i) -> std::optional<InputSeries> {
    InputSeries out{specs[i].dtype, specs[i].shape, 0, false, {}};
    if (!reader.append(arrays[i], options.option, specs[i], out)) return std::nullopt;
    return out;
  });
}

std::vector<std::vector<std::vector<float>>> to_samples(std::span<const InputSeries> inputs) {
  std::vector<std::vector<std::vector<float>>> samples(
      static_cast<size_t>(inputs.empty() ? 1 : inputs[0].count));
  for (size_t s = 0; s < samples.size(); ++s)
    for (const InputSeries& input : inputs) {
      const std::span<const std::byte> bytes = input.sample(static_cast<i64>(s));
      samples[s].push_back(numbers_of(bytes.data(), {input.dtype, input.shape, {}}));
    }
  return samples;
}

}  // namespace deuteron
