// SPDX-License-Identifier: Apache-2.0
// The names of the status codes, as tools and boards print them.
#include "runtime/status.h"

namespace deuteron {

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
