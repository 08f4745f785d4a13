// SPDX-License-Identifier: Apache-2.0
// The names of the status codes, as tools and boards print them, and what a prepare() answers.
#include "runtime/status.h"

#include "runtime/kernel.h"

namespace deuteron {

Status bad_argument(int argument, const char* detail) {
  Status s;
  s.code = Code::bad_argument;
  s.argument = static_cast<int16_t>(argument);
  s.detail = detail;
  return s;
}

Status out_of_memory() {
  Status s;
  s.code = Code::out_of_memory;
  s.detail = "the tables do not fit";
  return s;
}

const char* name_of(Code code) {
  switch (code) {
    case Code::ok:
      return "ok";
    case Code::not_a_program:
      return "not_a_program";
    case Code::unsupported:
      return "unsupported";
    case Code::corrupt:
      return "corrupt";
    case Code::missing_kernel:
      return "missing_kernel";
    case Code::bad_argument:
      return "bad_argument";
    case Code::overlap:
      return "overlap";
    case Code::wrong_isa:
      return "wrong_isa";
    case Code::out_of_memory:
      return "out_of_memory";
    case Code::bad_input:
      return "bad_input";
    case Code::missing_backend:
      return "missing_backend";
    case Code::delegate_failed:
      return "delegate_failed";
  }
  return "?";
}

}  // namespace deuteron
