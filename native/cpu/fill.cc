#include "fill.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>

#include "narrow.h"

namespace opscope::cpu {

namespace {

inline uint32_t mix(uint32_t x) {
  x = (x ^ (x >> 16)) * 0x7feb352du;
  x = (x ^ (x >> 15)) * 0x846ca68bu;
  return x ^ (x >> 16);
}

inline int32_t bell(uint32_t i, uint32_t key, uint32_t key1) {
  const uint32_t a = mix(i + key);
  const uint32_t b = mix(a ^ key1);
  return static_cast<int32_t>((a & 0xffff) + (a >> 16) + (b & 0xffff) + (b >> 16)) - 131070;
}

// A bijection on 0 .. below - 1.
uint32_t permuted(uint32_t x, const Fill& fill) {
  const uint32_t bits = std::max(1u, static_cast<uint32_t>(std::bit_width(fill.below - 1)));
  const uint32_t mask = bits == 32 ? ~0u : (1u << bits) - 1, shift = std::max(1u, bits / 2);
  do {
    for (int round = 0; round < 2; round++) {
      x = (x * 0x9e3779b1u + fill.key0) & mask;
      x ^= x >> shift;
      x = (x * 0x85ebca77u + fill.key1) & mask;
      x ^= x >> shift;
    }
  } while (x >= fill.below);
  return x;
}

// Elements of one block of 2^32, which has a key of its own: `i` counts within the block.
template <class T, class Round>
void fill_block(const Fill& fill, uint32_t key, int64_t first, int64_t count, T* out, const Round& round) {
  const auto at = [first](int64_t j) { return static_cast<uint32_t>(first + j); };
  const float factor = fill.factor;
  switch (fill.kind) {
    case FillKind::normal:
      for (int64_t j = 0; j < count; j++) out[j] = round(static_cast<float>(bell(at(j), key, fill.key1)) * factor);
      return;
    case FillKind::positive:
      for (int64_t j = 0; j < count; j++) out[j] = round(static_cast<float>(std::abs(bell(at(j), key, fill.key1)) + 1) * factor);
      return;
    case FillKind::uniform:
      for (int64_t j = 0; j < count; j++) out[j] = round(static_cast<float>(mix(at(j) + key) >> 8) * factor);
      return;
    case FillKind::integers:
      for (int64_t j = 0; j < count; j++) out[j] = round(fill.low + static_cast<int64_t>(static_cast<uint64_t>(mix(at(j) + key)) * fill.below >> 32));
      return;
    case FillKind::constant:
      std::fill(out, out + count, round(factor));
      return;
    case FillKind::permutation:  // goes by the whole index, below
      return;
  }
}

template <class T, class Round>
void fill_as(const Fill& fill, int64_t begin, int64_t end, T* out, const Round& round) {
  if (fill.kind == FillKind::permutation) {
    for (int64_t i = begin; i < end; i++) out[i] = round(static_cast<int64_t>(permuted(static_cast<uint32_t>(i % fill.below), fill)));
    return;
  }
  constexpr int64_t BLOCK = int64_t{1} << 32;
  for (int64_t i = begin; i < end;) {
    const int64_t high = i / BLOCK, next = std::min(end, (high + 1) * BLOCK);
    const uint32_t key = high == 0 ? fill.key0 : mix(fill.key0 ^ mix(static_cast<uint32_t>(high)));
    fill_block(fill, key, i % BLOCK, next - i, out + i, round);
    i = next;
  }
}

}  // namespace

void fill_range(const Fill& fill, Storage storage, int64_t begin, int64_t end, void* out) {
  switch (storage) {
    case Storage::f32: return fill_as(fill, begin, end, static_cast<float*>(out), [](auto value) { return static_cast<float>(value); });
    case Storage::f16: return fill_as(fill, begin, end, static_cast<uint16_t*>(out), [](auto value) { return to_f16(static_cast<float>(value)); });
    case Storage::bf16: return fill_as(fill, begin, end, static_cast<uint16_t*>(out), [](auto value) { return to_bf16(static_cast<float>(value)); });
    case Storage::f8e4m3: return fill_as(fill, begin, end, static_cast<uint8_t*>(out), [](auto value) { return to_e4m3(static_cast<float>(value)); });
    case Storage::i32: return fill_as(fill, begin, end, static_cast<int32_t*>(out), [](auto value) { return static_cast<int32_t>(static_cast<int64_t>(value)); });
    case Storage::i8: return fill_as(fill, begin, end, static_cast<int8_t*>(out), [](auto value) { return static_cast<int8_t>(static_cast<int64_t>(value)); });
    case Storage::u8: return fill_as(fill, begin, end, static_cast<uint8_t*>(out), [](auto value) { return static_cast<uint8_t>(static_cast<int64_t>(value)); });
  }
}

}  // namespace opscope::cpu
