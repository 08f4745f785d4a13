// SPDX-License-Identifier: Apache-2.0
// Signs program files and their records with Ed25519, and checks signatures on the host. Format:
// docs/runtime.md; the device's half and the layout of the section: runtime/signature.h. Keys
// are PEM files as OpenSSL writes them.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/diagnostic.h"

namespace deuteron {

using PublicKey = std::array<uint8_t, 32>;
struct SigningKey {
  std::array<uint8_t, 32> seed;
  PublicKey public_key;
};

// `path` is for the messages. A passphrase is never asked for.
std::optional<SigningKey> parse_signing_key(std::span<const std::byte> pem, const std::string& path,
                                            Diagnostics& diagnostics);
std::optional<PublicKey> parse_public_key(std::span<const std::byte> pem, const std::string& path,
                                          Diagnostics& diagnostics);

// The file with a signature at its end, in place of one that is there. Of a zip archive (a record)
// the section is the archive's comment, so that every reader of zip files still reads it; nullopt:
// it has another comment already, or ends in no way that archives end.
std::optional<std::vector<uint8_t>> sign(std::span<const uint8_t> file, const SigningKey& key);

struct SignatureFacts {
  std::string public_key, sha256;  // in hexadecimal digits
};
// What the file says who signed it; nullopt: nobody.
std::optional<SignatureFacts> signature_of(std::span<const uint8_t> file);

// False, with one error: the file was changed after it was signed, or cut within its signature; or
// `trusted` is given, and the file is not signed, or with another key.
bool check_signature(std::span<const uint8_t> file, const std::string& path,
                     const std::optional<PublicKey>& trusted, Diagnostics& diagnostics);

// The host's VerifyEd25519 (runtime/signature.h), for programs that load signed files here.
bool verify_ed25519(void* context, const uint8_t* public_key, const uint8_t* message,
                    size_t message_bytes, const uint8_t* signature);

// In hexadecimal digits.
std::string to_hex(std::span<const uint8_t> bytes);

}  // namespace deuteron
