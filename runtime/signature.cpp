// SPDX-License-Identifier: Apache-2.0
#include "runtime/signature.h"

namespace deuteron {
namespace {

const char* describe(Trust trust) {
  switch (trust) {
    case Trust::trusted:
      return nullptr;
    case Trust::no_signature:
      return "the program is not signed, or its end is missing";
    case Trust::other_key:
      return "the program is signed with another key than the trusted one";
    case Trust::changed:
      return "the program or its signature was changed after it was signed";
    case Trust::no_verifier:
      return "there is no key or no function to check the signature with";
  }
  return nullptr;
}

}  // namespace

Trust check_signature(File file, const TrustedKey& key) {
  if (!key.public_key || !key.verify) return Trust::no_verifier;
  const SignatureSection* section = find_signature(file);
  if (!section) return Trust::no_signature;
  if (__builtin_memcmp(section->public_key, key.public_key, sizeof section->public_key) != 0)
    return Trust::other_key;
  const size_t message_bytes = file.bytes - sizeof section->signature;
  const bool right = key.verify(key.context, key.public_key, static_cast<const uint8_t*>(file.data),
                                message_bytes, section->signature);
  return right ? Trust::trusted : Trust::changed;
}

Status load_signed(Program& program, File file, const TrustedKey& key, const KernelTable& kernels,
                   Memory tables, Memory planned, Trust* trust) {
  const Trust answer = check_signature(file, key);
  if (trust) *trust = answer;
  if (answer == Trust::trusted) return program.load(file, kernels, tables, planned);
  program.unload();
  Status s;
  s.code = Code::bad_input;
  s.detail = describe(answer);
  return s;
}

}  // namespace deuteron
