// SPDX-License-Identifier: Apache-2.0
// Random numbers for tests that can be replayed.
//
// Every run draws a seed and prints it; STRETTO_SEED=<seed> repeats that run, also in the processes
// that it starts.
// Rng is xoshiro256**; its sequence is the same on every machine and library (which
// std::uniform_int_distribution does not promise).

#ifndef STRETTO_TESTS_SUPPORT_SEEDED_RNG_H_
#define STRETTO_TESTS_SUPPORT_SEEDED_RNG_H_

#include <cassert>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

namespace stretto::test {

// The seed of this process: the number in STRETTO_SEED, else a drawn one, which is left there.
inline uint64_t seed() {
  static const uint64_t value = [] {
    const char* text = std::getenv("STRETTO_SEED");
    if (text == nullptr || *text == '\0') {
      const uint64_t drawn = std::random_device()();
      setenv("STRETTO_SEED", std::to_string(drawn).c_str(), 1);
      return drawn;
    }
    char* end = nullptr;
    const uint64_t given = std::strtoull(text, &end, 0);
    if (*end != '\0') {
      std::fprintf(stderr, "STRETTO_SEED=%s: not a number\n", text);
      std::exit(EXIT_FAILURE);
    }
    return given;
  }();
  return value;
}

inline void print_seed() {
  std::fprintf(stderr, "seed %llu (repeat with STRETTO_SEED=%llu)\n",
               static_cast<unsigned long long>(seed()), static_cast<unsigned long long>(seed()));
}

class Rng {
 public:
  // `salt` gives independent sequences to the users of one process.
  explicit Rng(uint64_t salt = 0) : Rng(seed(), salt) {}

  Rng(uint64_t seed_value, uint64_t salt) {
    uint64_t x = seed_value + 0x632be59bd9b4e019ull * salt;
    for (uint64_t& word : state_) word = split_mix(x);
  }

  uint64_t next() {
    const uint64_t result = rotate(state_[1] * 5, 7) * 9;
    const uint64_t t = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = rotate(state_[3], 45);
    return result;
  }

  // Uniform in [0, bound). REQUIRES: bound > 0.
  uint64_t below(uint64_t bound) {
    assert(bound > 0);
    const uint64_t limit = ~uint64_t{0} - (~uint64_t{0} % bound + 1) % bound;
    uint64_t value = next();
    while (value > limit) value = next();
    return value % bound;
  }

  // Uniform in [low, high].
  uint64_t between(uint64_t low, uint64_t high) {
    assert(low <= high);
    return low + (high - low == ~uint64_t{0} ? next() : below(high - low + 1));
  }

  // True `numerator` times out of `denominator`.
  bool chance(uint64_t numerator, uint64_t denominator) { return below(denominator) < numerator; }

 private:
  static uint64_t rotate(uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }

  static uint64_t split_mix(uint64_t& x) {
    uint64_t z = (x += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }

  uint64_t state_[4];
};

}  // namespace stretto::test

#endif  // STRETTO_TESTS_SUPPORT_SEEDED_RNG_H_
