// SPDX-License-Identifier: Apache-2.0
// The extension of the Python package `deuteron`: the verbs of the command line, and a loaded
// program to run. Data comes and goes as plain Python objects; python/deuteron/*.py makes the
// interface of them.
#include "cli/python/objects.h"

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

namespace deuteron {
namespace {

// (severity, where, what, measured, limit, rule, fix)
Object as_list(const std::vector<Diagnostic>& diagnostics) {
  static constexpr const char* kSeverities[] = {"note", "warning", "error"};
  return list_of(diagnostics, [](const Diagnostic& d) {
    return tuple_of(kSeverities[static_cast<int>(d.severity)], d.where, d.what, d.measured, d.limit,
                    d.rule, d.fix);
  });
}

// (name, dtype as NumPy has it, shape)
Object as_list(const std::vector<InputSpec>& specs) {
  return list_of(specs, [](const InputSpec& s) {
    std::vector<Object> shape;
    for (const i64 extent : s.shape) shape.push_back(as_object(extent));
    return tuple_of(s.name,
                    std::string(s.dtype == DType::bf16 ? "bfloat16" : to_text(element_of(s.dtype))),
                    pack(std::move(shape)));
  });
}

// A function of the module or of a class, from its arguments. What C++ throws becomes Python's
// error.
template <Object (*kFunction)(PyObject* self, PyObject* arguments)>
PyObject* called(PyObject* self, PyObject* arguments) {
  try {
    return kFunction(self, arguments).release();
  } catch (const Raised&) {
  } catch (const Fault& fault) {
    const std::string text =
        std::string(fault.what()) + "; please report this with the model if you can";
    const Object module(PyImport_ImportModule("deuteron._diagnostics"));
    const Object kind(module ? PyObject_GetAttrString(module.get(), "InternalError") : nullptr);
    if (kind) PyErr_SetString(kind.get(), text.c_str());
  } catch (const std::bad_alloc&) { PyErr_NoMemory(); } catch (const std::exception& e) {
    PyErr_SetString(PyExc_RuntimeError, e.what());
  }
  return nullptr;
}

// The arguments of a call, as PyArg_ParseTuple has them.
template <class... Places>
void read(PyObject* arguments, const char* format, Places... places) {
  if (!PyArg_ParseTuple(arguments, format, places...)) throw Raised{};
}
struct Bytes {
  const char* data = nullptr;
  Py_ssize_t size = 0;
  std::string copy() const { return {data, static_cast<size_t>(size)}; }
};

Object run_verb(PyObject*, PyObject* given) {
  PyObject *words = nullptr, *progress = nullptr;
  read(given, "OO", &words, &progress);
  const std::vector<std::string> arguments = items_of(words, content_of);
  const VerbEnd end =
      in_worker(progress, [&](Watch& watch) { return run_verb_here(arguments, watch); });
  return tuple_of(end.code, as_bytes(end.json.data(), end.json.size()),
                  as_bytes(end.summary.data(), end.summary.size()), end.usage,
                  as_list(end.diagnostics));
}

Object options_of(PyObject*, PyObject* given) {
  const char* verb = nullptr;
  read(given, "s", &verb);
  const std::vector<OptionFacts> facts =
      in_worker(Py_None, [&](Watch&) { return options_of_verb(verb); });
  return list_of(facts, [](const OptionFacts& o) {
    return tuple_of(o.name, o.value, o.help, o.group, o.is_flag, o.is_list, o.is_placed,
                    o.is_required);
  });
}

// What a model takes, in the user's axes; and whether it is quantized already.
Object model_inputs(PyObject*, PyObject* given) {
  Bytes file;
  read(given, "y#", &file.data, &file.size);
  const std::string path = file.copy();
  Diagnostics diagnostics;
  std::vector<InputSpec> specs;
  bool quantized = false;
  in_worker(Py_None, [&](Watch&) {
    if (!check_regular_file(path, diagnostics)) return 0;
    if (const std::optional<Graph> graph = read_graph(path, diagnostics))
      specs = float_inputs(*graph), quantized = is_quantized(*graph);
    return 0;
  });
  return tuple_of(as_list(specs), quantized, as_list(diagnostics.list()));
}

Object as_tuple(const Annotations& a) {
  Object values = list_of(a.values, [](const AnnotatedValue& v) {
    return tuple_of(v.name, v.cluster, to_text(element_of(v.dtype)), v.symmetric,
                    v.fixed ? tuple_of(v.fixed->fixed_scale, v.fixed->fixed_zero) : none());
  });
  Object constants = list_of(a.constants, [](const AnnotatedConstant& c) {
    return tuple_of(c.name, c.reader, to_text(element_of(c.dtype)), c.low, c.high, c.axis,
                    c.symmetric);
  });
  Object in_float = list_of(
      a.in_float, [](const SourceOp& op) { return tuple_of(op.name, op.target, op.module); });
  return tuple_of(std::move(values), std::move(constants), list_of(a.identities),
                  list_of(a.in_parts), std::move(in_float), a.was_quantized);
}

// How a float model is quantized for a target (compile/precision/annotations.h). The rows mean
// nothing where there is an error.
Object annotations(PyObject*, PyObject* given) {
  Bytes model;
  const char* target = nullptr;
  read(given, "y#s", &model.data, &model.size, &target);
  const std::string path = model.copy();
  Diagnostics diagnostics;
  Annotations found;
  in_worker(Py_None, [&](Watch&) {
    const std::optional<Target> known = find_target(target, diagnostics, "target");
    if (!known || !check_regular_file(path, diagnostics)) return 0;
    CompileOptions options;
    follow_recipe(*known, options);
    if (const std::optional<Graph> graph = read_graph(path, diagnostics))
      found = annotations_for(*graph, *known, options, diagnostics);
    return 0;
  });
  return tuple_of(as_tuple(found), as_list(diagnostics.list()));
}

Object write_whole(PyObject*, PyObject* given) {
  Bytes path, content;
  read(given, "y#y#", &path.data, &path.size, &content.data, &content.size);
  Diagnostics diagnostics;
  in_worker(Py_None, [&](Watch&) {
    const auto* data = reinterpret_cast<const uint8_t*>(content.data);
    return write_file(path.copy(), {data, static_cast<size_t>(content.size)}, diagnostics);
  });
  return as_list(diagnostics.list());
}

// (kind of dtype, bytes of an element, shape, bytes)
Array as_array(PyObject* given) {
  const char* kind = nullptr;
  long long element_bytes = 0;
  PyObject* shape = nullptr;
  Bytes content;
  read(given, "sLOy#", &kind, &element_bytes, &shape, &content.data, &content.size);
  Array array;
  array.type = {*kind, static_cast<int>(element_bytes)};
  for (const i64 extent : items_of(shape, [](PyObject* o) { return i64{PyLong_AsLongLong(o)}; }))
    array.shape.push_back(extent);
  const auto* data = reinterpret_cast<const std::byte*>(content.data);
  array.bytes.assign(data, data + content.size);
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

  // Whether there is something to run, or a reason why there is not.
  bool open(const std::string& name, Bytes content, const std::string& key,
            Diagnostics& diagnostics) {
    in_worker(Py_None, [&](Watch&) {
      const auto* data = reinterpret_cast<const std::byte*>(content.data);
      std::optional<ProgramFile> file =
          ProgramFile::read(name, {data, static_cast<size_t>(content.size)}, diagnostics, key);
      if (!file) return 0;
      file_ = std::move(*file);
      if (file_.runs_off_chip(why_not_)) host_ = HostProgram::load(file_, diagnostics);
      return 0;
    });
    return host_ || why_not_.has_errors();
  }

  Object inputs() const { return as_list(file_.inputs()); }
  Object outputs() const {
    std::vector<InputSpec> specs;
    for (size_t i = 0; i < file_.summary.outputs.size(); ++i)
      specs.push_back({"output" + std::to_string(i), *dtype_of(file_.summary.outputs[i].type),
                       file_.summary.outputs[i].sizes});
    return as_list(specs);
  }

  // The program with what lay in data files beside it, or none where it has none.
  Object whole() const {
    return file_.has_data_files ? as_bytes(file_.bytes.data(), file_.bytes.size()) : none();
  }

  // ([bytes of each output], samples, whether they are a series, diagnostics): all samples one
  // after the other. Of a program for the chip alone: none, and why.
  Object run(const std::vector<Array>& arrays, PyObject* progress) {
    Diagnostics diagnostics;
    std::vector<std::vector<std::byte>> outputs(file_.summary.outputs.size());
    bool series = false, good = false;
    i64 samples = 1;
    if (why_not_.has_errors())
      return tuple_of(own(PyList_New(0)), samples, series, as_list(why_not_.list()));
    in_worker(progress, [&](Watch&) {
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
    if (!good) outputs.clear();
    Object list = list_of(outputs, [](const auto& o) { return as_bytes(o.data(), o.size()); });
    return tuple_of(std::move(list), samples, series, as_list(diagnostics.list()));
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

// Python's object of one.
struct HostRunObject {
  PyObject_HEAD HostRun* run;
};
PyTypeObject* host_run_type = nullptr;

HostRun& run_of(PyObject* self) { return *reinterpret_cast<HostRunObject*>(self)->run; }

Object open_run(PyObject*, PyObject* given) {
  Bytes name, content, key;
  read(given, "y#y#y#", &name.data, &name.size, &content.data, &content.size, &key.data, &key.size);
  Diagnostics diagnostics;
  auto run = std::make_unique<HostRun>();
  if (!run->open(name.copy(), content, key.copy(), diagnostics))
    return tuple_of(none(), as_list(diagnostics.list()));
  Object object = own(PyType_GenericAlloc(host_run_type, 0));
  reinterpret_cast<HostRunObject*>(object.get())->run = run.release();
  return tuple_of(std::move(object), as_list(diagnostics.list()));
}
Object inputs_of(PyObject* self, PyObject*) { return run_of(self).inputs(); }
Object outputs_of(PyObject* self, PyObject*) { return run_of(self).outputs(); }
Object whole_of(PyObject* self, PyObject*) { return run_of(self).whole(); }
Object run_arrays(PyObject* self, PyObject* given) {
  PyObject *arrays = nullptr, *progress = nullptr;
  read(given, "OO", &arrays, &progress);
  return run_of(self).run(items_of(arrays, as_array), progress);
}

void free_run(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  delete reinterpret_cast<HostRunObject*>(self)->run;
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(self);
  Py_DecRef(reinterpret_cast<PyObject*>(type));
}

PyMethodDef run_methods[] = {
    {"open", called<open_run>, METH_VARARGS | METH_STATIC, nullptr},
    {"inputs", called<inputs_of>, METH_NOARGS, nullptr},
    {"outputs", called<outputs_of>, METH_NOARGS, nullptr},
    {"whole", called<whole_of>, METH_NOARGS, nullptr},
    {"run", called<run_arrays>, METH_VARARGS, nullptr},
    {},
};
PyType_Slot run_slots[] = {
    {Py_tp_dealloc, reinterpret_cast<void*>(free_run)},
    {Py_tp_methods, run_methods},
    {},
};
PyType_Spec run_spec = {"deuteron._core.HostRun", sizeof(HostRunObject), 0,
                        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, run_slots};

PyMethodDef functions[] = {
    {"run_verb", called<run_verb>, METH_VARARGS, nullptr},
    {"options_of", called<options_of>, METH_VARARGS, nullptr},
    {"model_inputs", called<model_inputs>, METH_VARARGS, nullptr},
    {"annotations", called<annotations>, METH_VARARGS, nullptr},
    {"write_whole", called<write_whole>, METH_VARARGS, nullptr},
    {},
};
PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_core", nullptr, -1, functions, {}, {}, {}, {}};

}  // namespace
}  // namespace deuteron

PyMODINIT_FUNC PyInit__core() {
  using namespace deuteron;
  Object module(PyModule_Create(&definition));
  Object type(PyType_FromSpec(&run_spec));
  if (!module || !type || PyModule_AddObjectRef(module.get(), "HostRun", type.get()) != 0 ||
      PyModule_AddStringConstant(module.get(), "__version__", DEUTERON_VERSION) != 0)
    return nullptr;
  host_run_type = reinterpret_cast<PyTypeObject*>(type.release());
  pthread_atfork(hold_all_runs, release_all_runs, release_all_runs);
  return module.release();
}
