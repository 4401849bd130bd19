// SPDX-License-Identifier: Apache-2.0
// See component.h: Digest. libcrypto does the hashing.
#include <openssl/evp.h>

#include <new>

#include "models/common/component.h"

namespace stretto {
namespace {

std::string finish(EVP_MD_CTX* context) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> value;
  unsigned length = 0;
  EVP_DigestFinal_ex(context, value.data(), &length);
  static const char* kDigits = "0123456789abcdef";
  std::string text;
  for (unsigned i = 0; i < length; ++i) {
    text += kDigits[value[i] >> 4];
    text += kDigits[value[i] & 15];
  }
  return text;
}

EVP_MD_CTX* begin() {
  EVP_MD_CTX* const context = EVP_MD_CTX_new();
  if (context == nullptr || EVP_DigestInit_ex(context, EVP_sha256(), nullptr) != 1)
    throw std::bad_alloc();
  return context;
}

}  // namespace

Digest::Digest() : context_(begin()) {}

Digest::~Digest() { EVP_MD_CTX_free(static_cast<EVP_MD_CTX*>(context_)); }

void Digest::event(Time at, uint32_t kind, uint64_t a, uint64_t b) {
  if (used_ + 4 > buffer_.size()) flush();
  buffer_[used_++] = at;
  buffer_[used_++] = kind;
  buffer_[used_++] = a;
  buffer_[used_++] = b;
}

void Digest::bytes(const void* data, size_t count) {
  flush();
  EVP_DigestUpdate(static_cast<EVP_MD_CTX*>(context_), data, count);
}

void Digest::flush() {
  EVP_DigestUpdate(static_cast<EVP_MD_CTX*>(context_), buffer_.data(), used_ * sizeof(uint64_t));
  used_ = 0;
}

std::string Digest::hex() {
  flush();
  return finish(static_cast<EVP_MD_CTX*>(context_));
}

std::string sha256_hex(const void* data, size_t count) {
  EVP_MD_CTX* const context = begin();
  EVP_DigestUpdate(context, data, count);
  std::string text = finish(context);
  EVP_MD_CTX_free(context);
  return text;
}

}  // namespace stretto
