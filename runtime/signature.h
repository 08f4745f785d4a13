// SPDX-License-Identifier: Apache-2.0
// The signature at the end of a program file or of its record, and loading a program only where a
// key that you trust has signed it. Format, and how to sign: docs/runtime.md. The runtime has
// no cryptography: the platform's checks the signature, through a pointer. Firmware that does not
// call this has none of it; load() of a signed file neither checks the signature nor minds it.
//
//   bool verify(void*, const uint8_t* public_key, const uint8_t* message, size_t bytes, const
//   uint8_t* signature) {
//     return crypto_ed25519_check(signature, public_key, message, bytes) == 0;  // Monocypher's; or
//     the chip's
//   }
//   Status s = load_signed(program, file, {kPublicKey, verify, nullptr}, kAllKernels, tables,
//   planned);
#pragma once
#include "runtime/deuteron.h"

namespace deuteron {

// The last bytes of a signed file. Bytes alone, so that it may lie at any address.
struct SignatureSection {
  char magic[8];           // kSignatureMagic: another layout gets another number
  uint8_t sha256[32];      // of all bytes before the section: finds damage without a key
  uint8_t public_key[32];  // whose signature it says it is
  uint8_t signature[64];   // Ed25519 (RFC 8032) of all bytes of the file before this member
};
static_assert(sizeof(SignatureSection) == 136 && alignof(SignatureSection) == 1,
              "the layout is part of the format");
constexpr char kSignatureMagic[] = "DEUTSIG1";

// Null where the file does not end in one. Whether it is right is another question.
inline const SignatureSection* find_signature(File file) {
  if (!file.data || file.bytes < sizeof(SignatureSection)) return nullptr;
  const auto* end = static_cast<const uint8_t*>(file.data) + file.bytes;
  const auto* section = reinterpret_cast<const SignatureSection*>(end - sizeof(SignatureSection));
  return __builtin_memcmp(section->magic, kSignatureMagic, sizeof section->magic) == 0 ? section
                                                                                       : nullptr;
}
// The bytes that were there before the file was signed.
inline File without_signature(File file) {
  if (find_signature(file)) file.bytes -= sizeof(SignatureSection);
  return file;
}

// Whether `signature` (64 bytes) is the one of Ed25519 that the private half of `public_key` (32
// bytes) makes of the message.
using VerifyEd25519 = bool (*)(void* context, const uint8_t* public_key, const uint8_t* message,
                               size_t message_bytes, const uint8_t* signature);
struct TrustedKey {
  const uint8_t* public_key;  // 32 bytes, from where nobody else can write
  VerifyEd25519 verify;
  void* context;
};

enum class Trust : uint8_t {
  trusted,
  no_signature,  // none, or the file was cut
  other_key,     // the section names another key
  changed,       // the file or its signature was changed after it was signed
  no_verifier,   // TrustedKey has no key or no function
};
Trust check_signature(File file, const TrustedKey& key);

// load(), if the key has signed the whole file; else the program is empty, and the status is
// bad_input and says why. Nothing of the file but its signature is read before. `trust`: the answer
// of check_signature(), if it is wanted.
Status load_signed(Program& program, File file, const TrustedKey& key, const KernelTable& kernels,
                   Memory tables, Memory planned, Trust* trust = nullptr);

}  // namespace deuteron
