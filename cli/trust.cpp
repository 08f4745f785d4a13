// SPDX-License-Identifier: Apache-2.0
#include "cli/trust.h"

#include <nlohmann/json.hpp>

#include "base/files/read_file.h"

namespace deuteron {

static std::span<const uint8_t> as_u8(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()};
}

void add_verify_key(Verb& verb, std::string& path) {
  verb.option("--verify-key", path,
              "a public key (PEM, Ed25519); fail unless the file is signed with its private key")
      .value("FILE");
}

void tell_signature(std::span<const std::byte> file, std::string& text, Json& json) {
  const std::optional<SignatureFacts> facts = signature_of(as_u8(file));
  if (!facts) return;
  text += "signed with the key " + facts->public_key + "\n";
  json["signature"] = {{"public_key", facts->public_key}, {"sha256", facts->sha256}};
}

std::optional<SigningKey> read_signing_key(const std::string& path, Diagnostics& diagnostics) {
  const std::optional<std::vector<std::byte>> pem = read_file(path, diagnostics);
  return pem ? parse_signing_key(*pem, path, diagnostics) : std::nullopt;
}

bool check_signature(std::span<const std::byte> file, const std::string& path,
                     const std::string& key_path, Diagnostics& diagnostics) {
  std::optional<PublicKey> trusted;
  if (!key_path.empty()) {
    const std::optional<std::vector<std::byte>> pem = read_file(key_path, diagnostics);
    if (!pem || !(trusted = parse_public_key(*pem, key_path, diagnostics))) return false;
  }
  return check_signature(as_u8(file), path, trusted, diagnostics);
}

std::optional<std::vector<uint8_t>> sign_file(std::span<const uint8_t> file,
                                              const std::string& path, const SigningKey& key,
                                              Diagnostics& diagnostics) {
  std::optional<std::vector<uint8_t>> result = sign(file, key);
  if (!result)
    diagnostics.error(
        path, "is an archive that cannot be signed: it has a comment, where the signature would be",
        "signature.archive", "sign the record as `deuteron compile --etrecord` writes it");
  return result;
}

}  // namespace deuteron
