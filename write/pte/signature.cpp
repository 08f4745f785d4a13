// SPDX-License-Identifier: Apache-2.0
#include "write/pte/signature.h"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>

#include "runtime/signature.h"

namespace deuteron {
namespace {

template <auto free>
struct FreeWith {
  void operator()(auto* p) const { free(p); }
};
using Key = std::unique_ptr<EVP_PKEY, FreeWith<EVP_PKEY_free>>;
using Bio = std::unique_ptr<BIO, FreeWith<BIO_free>>;
using Context = std::unique_ptr<EVP_MD_CTX, FreeWith<EVP_MD_CTX_free>>;

constexpr char kEncrypted[] = "is encrypted with a passphrase";
constexpr size_t kMostKeyBytes = 1 << 16;  // of a PEM file, which is some hundred bytes long

int refuse_to_ask(char*, int, int, void* asked) {
  *static_cast<bool*>(asked) = true;
  return -1;
}

// What OpenSSL does here fails where no memory is left, and nowhere else.
void need(bool done) {
  if (!done) throw std::bad_alloc();
}

// The key of a PEM file that `read` takes from it; null: `why` says why not.
Key read_pem(std::span<const std::byte> pem,
             EVP_PKEY* (*read)(BIO*, EVP_PKEY**, pem_password_cb*, void*), const char** why) {
  *why = "is not a PEM file with one";
  if (pem.size() > kMostKeyBytes) return nullptr;
  const Bio bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  need(bio != nullptr);
  bool asked = false;
  Key key(read(bio.get(), nullptr, refuse_to_ask, &asked));
  ERR_clear_error();
  if (asked) *why = kEncrypted;
  if (key && EVP_PKEY_get_id(key.get()) != EVP_PKEY_ED25519) {
    *why = "is a key of another kind than Ed25519";
    key.reset();
  }
  return key;
}

std::array<uint8_t, 32> sha256_of(std::span<const uint8_t> bytes) {
  std::array<uint8_t, 32> digest;
  unsigned length = 0;
  need(EVP_Digest(bytes.data(), bytes.size(), digest.data(), &length, EVP_sha256(), nullptr) == 1 &&
       length == digest.size());
  return digest;
}

// ---- zip archives

// The record at the end of an archive without a comment: 22 bytes, of which the last two are the
// comment's length.
constexpr uint8_t kEndOfArchive[] = {'P', 'K', 5, 6};
constexpr size_t kEndBytes = 22;

bool is_archive(std::span<const uint8_t> file) {
  return file.size() >= 4 && std::memcmp(file.data(), "PK\3\4", 4) == 0;
}
bool ends_without_comment(const std::vector<uint8_t>& file) {
  return file.size() >= kEndBytes &&
         std::memcmp(file.data() + file.size() - kEndBytes, kEndOfArchive, 4) == 0 &&
         file[file.size() - 2] == 0 && file.back() == 0;
}
void set_comment_length(std::vector<uint8_t>& file, size_t length) {
  file[file.size() - 2] = static_cast<uint8_t>(length);
  file[file.size() - 1] = static_cast<uint8_t>(length >> 8);
}

File as_file(std::span<const uint8_t> bytes) { return {bytes.data(), bytes.size()}; }

}  // namespace

bool verify_ed25519(void*, const uint8_t* public_key, const uint8_t* message, size_t message_bytes,
                    const uint8_t* signature) {
  const Key key(
      EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, public_key, sizeof(PublicKey)));
  const Context context(EVP_MD_CTX_new());
  const bool right =
      key && context &&
      EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, key.get()) == 1 &&
      EVP_DigestVerify(context.get(), signature, sizeof(SignatureSection::signature), message,
                       message_bytes) == 1;
  ERR_clear_error();
  return right;
}

std::string to_hex(std::span<const uint8_t> bytes) {
  std::string text;
  for (const uint8_t b : bytes) text += fmt::format("{:02x}", b);
  return text;
}

std::optional<SigningKey> parse_signing_key(std::span<const std::byte> pem, const std::string& path,
                                            Diagnostics& diagnostics) {
  const char* why;
  const Key key = read_pem(pem, PEM_read_bio_PrivateKey, &why);
  SigningKey result;
  size_t seed_bytes = result.seed.size(), key_bytes = result.public_key.size();
  if (key && EVP_PKEY_get_raw_private_key(key.get(), result.seed.data(), &seed_bytes) == 1 &&
      EVP_PKEY_get_raw_public_key(key.get(), result.public_key.data(), &key_bytes) == 1)
    return result;
  diagnostics.error(
      path, fmt::format("a private key of Ed25519 is wanted, and this {}", why), "signature.key",
      why == kEncrypted ? "remove the passphrase: openssl pkey -in LOCKED -out key.pem"
                        : "make one: openssl genpkey -algorithm ed25519 -out key.pem");
  return std::nullopt;
}

std::optional<PublicKey> parse_public_key(std::span<const std::byte> pem, const std::string& path,
                                          Diagnostics& diagnostics) {
  const char* why;
  const Key key = read_pem(pem, PEM_read_bio_PUBKEY, &why);
  PublicKey result;
  size_t key_bytes = result.size();
  if (key && EVP_PKEY_get_raw_public_key(key.get(), result.data(), &key_bytes) == 1) return result;
  diagnostics.error(path, fmt::format("a public key of Ed25519 is wanted, and this {}", why),
                    "signature.key",
                    "take it from the private one: openssl pkey -in key.pem -pubout -out key.pub");
  return std::nullopt;
}

std::optional<std::vector<uint8_t>> sign(std::span<const uint8_t> file, const SigningKey& key) {
  const size_t before = without_signature(as_file(file)).bytes;
  const bool was_signed = before < file.size();
  std::vector<uint8_t> result(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(before));
  if (is_archive(file)) {
    if (was_signed && result.size() >= kEndBytes) set_comment_length(result, 0);
    if (!ends_without_comment(result)) return std::nullopt;
    set_comment_length(result, sizeof(SignatureSection));
  }
  SignatureSection section;
  std::memcpy(section.magic, kSignatureMagic, sizeof section.magic);
  const std::array<uint8_t, 32> digest = sha256_of(result);
  std::memcpy(section.sha256, digest.data(), digest.size());
  std::memcpy(section.public_key, key.public_key.data(), key.public_key.size());
  const auto* bytes = reinterpret_cast<const uint8_t*>(&section);
  result.insert(result.end(), bytes, bytes + sizeof section);

  const Key private_key(
      EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, key.seed.data(), key.seed.size()));
  const Context context(EVP_MD_CTX_new());
  size_t length = sizeof section.signature;
  const size_t message_bytes = result.size() - length;
  need(private_key && context &&
       EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, private_key.get()) == 1);
  need(EVP_DigestSign(context.get(), result.data() + message_bytes, &length, result.data(),
                      message_bytes) == 1);
  return result;
}

std::optional<SignatureFacts> signature_of(std::span<const uint8_t> file) {
  const SignatureSection* section = find_signature(as_file(file));
  if (!section) return std::nullopt;
  return SignatureFacts{to_hex(section->public_key), to_hex(section->sha256)};
}

// Whether the file ends in the beginning of a section.
static bool ends_in_cut_section(std::span<const uint8_t> file) {
  constexpr size_t kMagic = sizeof(SignatureSection::magic),
                   kLeast = 4;  // fewer bytes may be anything
  for (size_t n = kLeast; n < sizeof(SignatureSection) && n <= file.size(); ++n)
    if (std::memcmp(file.data() + file.size() - n, kSignatureMagic, std::min(n, kMagic)) == 0)
      return true;
  return false;
}

bool check_signature(std::span<const uint8_t> file, const std::string& path,
                     const std::optional<PublicKey>& trusted, Diagnostics& diagnostics) {
  const SignatureSection* section = find_signature(as_file(file));
  if (!section) {
    if (ends_in_cut_section(file)) {
      diagnostics.error(path, "ends within a signature: it was cut", "signature.none",
                        "copy it again from where it was signed");
      return false;
    }
    if (trusted)
      diagnostics.error(path, "is not signed, or its end is missing", "signature.none",
                        "sign it: deuteron sign FILE --key key.pem -o SIGNED");
    return !trusted;
  }
  if (trusted && std::memcmp(trusted->data(), section->public_key, trusted->size()) != 0) {
    diagnostics.add({Severity::error, path, "is signed with another key than the trusted one",
                     to_hex(section->public_key), to_hex(*trusted), "signature.other_key",
                     "get the file from the owner of the trusted key, or trust this one"});
    return false;
  }
  const std::array<uint8_t, 32> digest = sha256_of(file.first(file.size() - sizeof *section));
  const bool is_whole = std::memcmp(digest.data(), section->sha256, digest.size()) == 0;
  if (is_whole && check_signature(as_file(file), {section->public_key, verify_ed25519, nullptr}) ==
                      Trust::trusted)
    return true;
  diagnostics.error(
      path,
      fmt::format("{} after it was signed", is_whole ? "its signature was changed" : "was changed"),
      "signature.changed", "copy it again from where it was signed, or compile and sign it again");
  return false;
}

}  // namespace deuteron
