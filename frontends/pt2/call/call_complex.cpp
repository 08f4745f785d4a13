// SPDX-License-Identifier: Apache-2.0
// A call's complex operands and results: two values each.
#include <fmt/format.h>

#include <algorithm>

#include "frontends/pt2/call/call.h"

namespace deuteron::pt2 {

bool Call::is_complex_tensor(const std::string& tensor) const {
  const auto it = state_.program.tensors.find(tensor);
  return it != state_.program.tensors.end() && it->second.dtype_code == kComplex64;
}

bool Call::is_complex(std::string_view argument) {
  const Argument* a = find(argument);
  if (!a || (a->kind != Argument::Kind::tensor && a->kind != Argument::Kind::tensors)) return false;
  if (a->kind == Argument::Kind::tensor) return is_complex_tensor(a->text);
  return std::any_of(a->names.begin(), a->names.end(),
                     [&](const std::string& name) { return is_complex_tensor(name); });
}

bool Call::touches_complex() const {
  const auto is_one = [&](const std::string& name) { return is_complex_tensor(name); };
  if (std::any_of(node_.outputs.begin(), node_.outputs.end(), is_one)) return true;
  return std::any_of(node_.arguments.begin(), node_.arguments.end(), [&](const auto& argument) {
    const Argument& a = argument.second;
    return (a.kind == Argument::Kind::tensor && is_one(a.text)) ||
           std::any_of(a.names.begin(), a.names.end(), is_one);
  });
}

bool Call::require_real(const Meaning& m, const std::string& tensor) {
  if (m.imaginary >= 0 || (m.parameter >= 0 && is_complex_tensor(tensor)))
    refuse({fmt::format("reads `{}`, which is complex: that is not supported here", tensor), "", "",
            "pt2.operand.complex"},
           "take abs(), .real, .imag or torch.view_as_real of it first");
  return ok_;
}

// A real tensor has no imaginary part: -1.
Call::Complex Call::complex_value(const std::string& tensor) {
  if (!ok_) return {};
  Meaning* m = lookup(tensor);
  if (!m) return {};
  if (!is_complex_tensor(tensor)) return {as_float_tensor(value_of(tensor), tensor), -1};
  if (m->parameter >= 0 && m->value < 0 &&
      !state_.load_complex(m->parameter, &m->value, &m->imaginary))
    ok_ = false;  // reported
  give_up_if_broken(m->value);
  if (ok_ && m->imaginary < 0)
    refuse({"reads a complex tensor without an imaginary part", "", "", "pt2.operand.complex"});
  return ok_ ? Complex{m->value, m->imaginary} : Complex{};
}

Call::Complex Call::complex_tensor(std::string_view argument, bool may_be_real) {
  const Argument* a = need(argument, {Argument::Kind::tensor}, "a tensor");
  const Complex z = a ? complex_value(a->text) : Complex{};
  if (ok_ && z.im < 0 && !may_be_real)
    refuse({fmt::format("`{}` is not complex", argument), "", "", "pt2.operand.complex"});
  return z;
}

std::vector<Call::Complex> Call::complex_tensors(std::string_view argument) {
  const Argument* a = need(argument, {Argument::Kind::tensors}, "a list of tensors");
  std::vector<Complex> values;
  for (size_t k = 0; a && k < a->names.size(); ++k) values.push_back(complex_value(a->names[k]));
  return values;
}

void Call::complex_result(size_t index, Complex z) {
  part_ = Part::real;
  result(index, z.re);
  part_ = Part::imaginary;
  result(index, z.im);
  part_ = Part::none;
}

void Call::import_parts(void (*import)(Call&)) {
  for (const auto& [name, a] : node_.arguments) {  // parameters are read, what is refused ends it
    if (a.kind == Argument::Kind::tensor && is_complex_tensor(a.text)) complex_value(a.text);
    for (const std::string& part : a.names)
      if (is_complex_tensor(part)) complex_value(part);
  }
  for (const Part part : {Part::real, Part::imaginary}) {
    part_ = part;
    if (ok_) import(*this);
  }
  part_ = Part::none;
}

}  // namespace deuteron::pt2
