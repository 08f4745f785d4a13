// SPDX-License-Identifier: Apache-2.0
// The extension of the Python package `deuteron`: the verbs of the command line, and a loaded
// program to run. Data comes and goes as plain Python objects; python/deuteron/*.py makes the
// interface of them.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <pthread.h>

#include <memory>
#include <mutex>
#include <set>

#include "base/files/read_file.h"
#include "base/files/write_file.h"
#include "cli/compile_model.h"
#include "cli/embed.h"
#include "cli/program_file.h"
#include "cli/python/worker.h"
#include "compile/pass.h"
#include "compile/precision/annotations.h"
#include "frontends/read_graph.h"
#include "write/pte/status_text.h"

namespace nb = nanobind;

namespace deuteron {
namespace {

// Names of a model and paths are bytes: what is no UTF-8 becomes surrogates, as in the names of
// files.
nb::str as_text(const std::string& bytes) {
  return nb::steal<nb::str>(
      PyUnicode_DecodeFSDefaultAndSize(bytes.data(), static_cast<Py_ssize_t>(bytes.size())));
}
std::string from_bytes(const nb::bytes& b) { return {b.c_str(), b.size()}; }

// (severity, where, what, measured, limit, rule, fix)
nb::list as_list(const std::vector<Diagnostic>& diagnostics) {
  static constexpr const char* kSeverities[] = {"note", "warning", "error"};
  nb::list list;
  for (const Diagnostic& d : diagnostics)
    list.append(nb::make_tuple(kSeverities[static_cast<int>(d.severity)], as_text(d.where),
                               as_text(d.what), as_text(d.measured), as_text(d.limit),
                               as_text(d.rule), as_text(d.fix)));
  return list;
}

// (name, dtype as NumPy has it, shape)
nb::list as_list(const std::vector<InputSpec>& specs) {
  nb::list list;
  for (const InputSpec& s : specs) {
    nb::list shape;
    for (const i64 extent : s.shape) shape.append(extent);
    list.append(nb::make_tuple(as_text(s.name),
                               s.dtype == DType::bf16 ? "bfloat16" : to_text(element_of(s.dtype)),
                               nb::tuple(shape)));
  }
  return list;
}

nb::tuple run_verb(const std::vector<nb::bytes>& words, nb::object progress) {
  std::vector<std::string> arguments;
  for (const nb::bytes& word : words) arguments.push_back(from_bytes(word));
  const VerbEnd end =
      in_worker(std::move(progress), [&](Watch& watch) { return run_verb_here(arguments, watch); });
  return nb::make_tuple(end.code, nb::bytes(end.json.data(), end.json.size()),
                        nb::bytes(end.summary.data(), end.summary.size()), as_text(end.usage),
                        as_list(end.diagnostics));
}

nb::list options_of(const std::string& verb) {
  const std::vector<OptionFacts> facts =
      in_worker(nb::none(), [&](Watch&) { return options_of_verb(verb); });
  nb::list list;
  for (const OptionFacts& o : facts)
    list.append(nb::make_tuple(o.name, o.value, o.help, o.group, o.is_flag, o.is_list, o.is_placed,
                               o.is_required));
  return list;
}

// What a model takes, in the user's axes; and whether it is quantized already.
nb::tuple model_inputs(const nb::bytes& file) {
  const std::string path = from_bytes(file);
  Diagnostics diagnostics;
  std::vector<InputSpec> specs;
  bool quantized = false;
  in_worker(nb::none(), [&](Watch&) {
    if (!check_regular_file(path, diagnostics)) return 0;
    if (const std::optional<Graph> graph = read_graph(path, diagnostics))
      specs = float_inputs(*graph), quantized = is_quantized(*graph);
    return 0;
  });
  return nb::make_tuple(as_list(specs), quantized, as_list(diagnostics.list()));
}

nb::tuple as_tuple(const Annotations& a) {
  nb::list values, constants, identities, in_parts, in_float;
  for (const AnnotatedValue& v : a.values)
    values.append(nb::make_tuple(
        as_text(v.name), v.cluster, to_text(element_of(v.dtype)), v.symmetric,
        v.fixed ? nb::object(nb::make_tuple(v.fixed->fixed_scale, v.fixed->fixed_zero))
                : nb::none()));
  for (const AnnotatedConstant& c : a.constants)
    constants.append(nb::make_tuple(as_text(c.name), as_text(c.reader),
                                    to_text(element_of(c.dtype)), c.low, c.high, c.axis,
                                    c.symmetric));
  for (const std::string& name : a.identities) identities.append(as_text(name));
  for (const std::string& name : a.in_parts) in_parts.append(as_text(name));
  for (const SourceOp& op : a.in_float)
    in_float.append(nb::make_tuple(as_text(op.name), as_text(op.target), as_text(op.module)));
  return nb::make_tuple(values, constants, identities, in_parts, in_float, a.was_quantized);
}

// How a float model is quantized for a target (compile/precision/annotations.h). The rows mean
// nothing where there is an error.
nb::tuple annotations(const nb::bytes& model, const std::string& target) {
  const std::string path = from_bytes(model);
  Diagnostics diagnostics;
  Annotations found;
  in_worker(nb::none(), [&](Watch&) {
    const std::optional<Target> known = find_target(target, diagnostics, "target");
    if (!known || !check_regular_file(path, diagnostics)) return 0;
    CompileOptions options;
    follow_recipe(*known, options);
    if (const std::optional<Graph> graph = read_graph(path, diagnostics))
      found = annotations_for(*graph, *known, options, diagnostics);
    return 0;
  });
  return nb::make_tuple(as_tuple(found), as_list(diagnostics.list()));
}

nb::list write_whole(const nb::bytes& path, const nb::bytes& content) {
  Diagnostics diagnostics;
  in_worker(nb::none(),
            [&, path = from_bytes(path), data = static_cast<const uint8_t*>(content.data()),
             size = content.size()](Watch&) {
              return write_file(path, {data, size}, diagnostics);
            });
  return as_list(diagnostics.list());
}

using InputArray = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;

Array as_array(const InputArray& a) {
  static constexpr std::pair<nb::dlpack::dtype_code, char> kKinds[] = {
      {nb::dlpack::dtype_code::Float, 'f'},
      {nb::dlpack::dtype_code::Int, 'i'},
      {nb::dlpack::dtype_code::UInt, 'u'},
      {nb::dlpack::dtype_code::Bool, 'b'}};
  Array array;
  array.type = {'?', a.dtype().bits / 8};
  for (const auto& [code, kind] : kKinds)
    if (a.dtype().code == static_cast<uint8_t>(code)) array.type.kind = kind;
  if (array.type.kind == '?') throw nb::type_error("the array does not hold real numbers");
  for (size_t i = 0; i < a.ndim(); ++i) array.shape.push_back(static_cast<i64>(a.shape(i)));
  const auto* data = static_cast<const std::byte*>(a.data());
  array.bytes.assign(data, data + a.size() * static_cast<size_t>(array.type.bytes));
  return array;
}

class HostRun;

// All that there are. A fork waits until none of them runs, so that the child finds whole states
// and a lock that somebody will open.
struct AllRuns {
  std::mutex mutex;
  std::set<HostRun*> runs;
};
// Never destroyed: others may fork while the process ends.
AllRuns& all_runs() {
  static AllRuns* all = new AllRuns;
  return *all;
}

// A program on this machine's runtime. One run at a time: others wait.
class HostRun {
 public:
  HostRun() {
    const std::lock_guard held(all_runs().mutex);
    all_runs().runs.insert(this);
  }
  ~HostRun() {
    const std::lock_guard held(all_runs().mutex);
    all_runs().runs.erase(this);
  }
  HostRun(const HostRun&) = delete;
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

  static nb::tuple open(const nb::bytes& name, const nb::bytes& content,
                        const nb::bytes& verify_key) {
    Diagnostics diagnostics;
    auto run = std::make_unique<HostRun>();
    in_worker(nb::none(), [&, name = from_bytes(name), key = from_bytes(verify_key),
                           data = static_cast<const std::byte*>(content.data()),
                           size = content.size()](Watch&) {
      std::optional<ProgramFile> file = ProgramFile::read(name, {data, size}, diagnostics, key);
      if (!file) return 0;
      run->file_ = std::move(*file);
      if (run->file_.runs_off_chip(run->why_not_))
        run->host_ = HostProgram::load(run->file_, diagnostics);
      return 0;
    });
    if (!run->host_ && !run->why_not_.has_errors())
      return nb::make_tuple(nb::none(), as_list(diagnostics.list()));
    return nb::make_tuple(nb::cast(run.release(), nb::rv_policy::take_ownership),
                          as_list(diagnostics.list()));
  }

  nb::list inputs() const { return as_list(file_.inputs()); }
  nb::list outputs() const {
    std::vector<InputSpec> specs;
    for (size_t i = 0; i < file_.summary.outputs.size(); ++i)
      specs.push_back({"output" + std::to_string(i), *dtype_of(file_.summary.outputs[i].type),
                       file_.summary.outputs[i].sizes});
    return as_list(specs);
  }

  // ([(bytes, series)] of each output, diagnostics): all samples one after the other. Of a program
  // for the chip alone: none, and why.
  nb::tuple run(const std::vector<InputArray>& given, nb::object progress) {
    std::vector<Array> arrays;
    for (const InputArray& a : given) arrays.push_back(as_array(a));
    Diagnostics diagnostics;
    std::vector<std::vector<std::byte>> outputs(file_.summary.outputs.size());
    bool series = false, good = false;
    i64 samples = 1;
    if (why_not_.has_errors())
      return nb::make_tuple(nb::list(), samples, series, as_list(why_not_.list()));
    in_worker(std::move(progress), [&](Watch&) {
      const std::optional<std::vector<InputSeries>> inputs =
          convert_inputs(arrays, file_.inputs(), {"run", {}}, diagnostics);
      if (!inputs) return 0;
      for (const InputSeries& i : *inputs) series |= i.series;
      samples = inputs->empty() ? 1 : (*inputs)[0].count;
      const std::lock_guard lock(mutex_);
      for (i64 s = 0; s < samples; ++s) {
        note_progress("run", s, samples);
        const auto one = host_->run(file_.stored_inputs(*inputs, s), diagnostics);
        if (!one) return 0;
        for (size_t o = 0; o < outputs.size(); ++o) {
          const std::vector<std::byte> user = file_.user_output(o, (*one)[o]);
          outputs[o].insert(outputs[o].end(), user.begin(), user.end());
        }
      }
      good = true;
      return 0;
    });
    nb::list list;
    for (const std::vector<std::byte>& o : outputs)
      if (good) list.append(nb::bytes(o.data(), o.size()));
    return nb::make_tuple(list, samples, series, as_list(diagnostics.list()));
  }

 private:
  ProgramFile file_;
  std::unique_ptr<HostProgram> host_;  // null: the program is for the chip alone
  Diagnostics why_not_;
  std::mutex mutex_;
};

void hold_all_runs() {
  all_runs().mutex.lock();
  for (HostRun* run : all_runs().runs) run->lock();
}
void release_all_runs() {
  for (HostRun* run : all_runs().runs) run->unlock();
  all_runs().mutex.unlock();
}

}  // namespace
}  // namespace deuteron

NB_MODULE(_core, m) {
  using namespace deuteron;
  pthread_atfork(hold_all_runs, release_all_runs, release_all_runs);
  nb::set_leak_warnings(false);  // an exception that is kept keeps what it saw
  m.attr("__version__") = DEUTERON_VERSION;
  nb::register_exception_translator([](const std::exception_ptr& p, void*) {
    try {
      std::rethrow_exception(p);
    } catch (const Fault& fault) {
      const std::string text =
          std::string(fault.what()) + "; please report this with the model if you can";
      PyErr_SetString(nb::module_::import_("deuteron._diagnostics").attr("InternalError").ptr(),
                      text.c_str());
    }
  });
  m.def("run_verb", &run_verb, nb::arg("arguments"), nb::arg("progress").none());
  m.def("options_of", &options_of);
  m.def("model_inputs", &model_inputs);
  m.def("annotations", &annotations, nb::arg("model"), nb::arg("target"));
  m.def("write_whole", &write_whole);
  nb::class_<HostRun>(m, "HostRun")
      .def_static("open", &HostRun::open)
      .def("inputs", &HostRun::inputs)
      .def("outputs", &HostRun::outputs)
      .def("run", &HostRun::run, nb::arg("arrays"), nb::arg("progress").none());
}
