// SPDX-License-Identifier: Apache-2.0
// Python's objects for the extension, through the stable ABI alone: one build runs on every CPython
// from 3.10 on.
#pragma once
#define Py_LIMITED_API 0x030A0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace deuteron {

// What Python has raised already: its error is set.
struct Raised {};

struct GiveBack {
  void operator()(PyObject* object) const { Py_DecRef(object); }
};
using Object = std::unique_ptr<PyObject, GiveBack>;

// A new reference; none: Python has raised.
inline Object own(PyObject* object) {
  if (object == nullptr) throw Raised{};
  return Object(object);
}
inline Object none() {
  Py_IncRef(Py_None);
  return Object(Py_None);
}
inline Object as_object(bool value) { return own(PyBool_FromLong(value)); }
inline Object as_object(int64_t value) { return own(PyLong_FromLongLong(value)); }
inline Object as_object(int value) { return own(PyLong_FromLong(value)); }
inline Object as_object(float value) { return own(PyFloat_FromDouble(value)); }
inline Object as_object(double value) { return own(PyFloat_FromDouble(value)); }
// Names of a model and paths are bytes: what is no UTF-8 becomes surrogates, as in the names of
// files.
inline Object as_object(const std::string& bytes) {
  return own(PyUnicode_DecodeFSDefaultAndSize(bytes.data(), static_cast<Py_ssize_t>(bytes.size())));
}
inline Object as_object(const char* text) { return own(PyUnicode_FromString(text)); }
inline Object as_object(Object object) { return object; }
inline Object as_bytes(const void* data, size_t size) {
  return own(
      PyBytes_FromStringAndSize(static_cast<const char*>(data), static_cast<Py_ssize_t>(size)));
}

inline Object pack(std::vector<Object> members) {
  Object tuple = own(PyTuple_New(static_cast<Py_ssize_t>(members.size())));
  for (size_t i = 0; i < members.size(); ++i)  // takes the reference, also where it fails
    if (PyTuple_SetItem(tuple.get(), static_cast<Py_ssize_t>(i), members[i].release()) != 0)
      throw Raised{};
  return tuple;
}
template <class... Values>
Object tuple_of(Values&&... values) {
  std::vector<Object> members;
  (members.push_back(as_object(std::forward<Values>(values))), ...);
  return pack(std::move(members));
}

template <class Range, class Make>
Object list_of(const Range& range, Make make) {
  Object list = own(PyList_New(0));
  for (const auto& one : range) {
    const Object item = make(one);
    if (PyList_Append(list.get(), item.get()) != 0) throw Raised{};
  }
  return list;
}
template <class Range>
Object list_of(const Range& range) {
  return list_of(range, [](const auto& one) { return as_object(one); });
}

// The members of a sequence, each as `read` makes it.
template <class Read>
auto items_of(PyObject* sequence, Read read) {
  std::vector<decltype(read(sequence))> items;
  const Py_ssize_t count = PySequence_Size(sequence);
  if (count < 0) throw Raised{};
  for (Py_ssize_t i = 0; i < count; ++i)
    items.push_back(read(own(PySequence_GetItem(sequence, i)).get()));
  return items;
}
inline std::string content_of(PyObject* bytes) {
  char* data = nullptr;
  Py_ssize_t size = 0;
  if (PyBytes_AsStringAndSize(bytes, &data, &size) != 0) throw Raised{};
  return {data, static_cast<size_t>(size)};
}

}  // namespace deuteron
