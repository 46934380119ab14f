// A word for each element: the upper half orders as the values do, the lower half is the place in the row. Ascending words are the stable order of the row.
// Elements of 16 bits, of rows of up to 65536, fit one register; those of f32 take two. E: the bits of an element, unsigned short or unsigned.
#pragma once
#include <cstdint>

namespace words {

template <class E>
struct WordOf;
template <>
struct WordOf<unsigned short> {
  using type = unsigned;
};
template <>
struct WordOf<unsigned> {
  using type = unsigned long long;
};
template <class E>
using Word = typename WordOf<E>::type;

template <class E>
constexpr unsigned SIGN = 1u << (8 * sizeof(E) - 1);
template <class E>
constexpr unsigned ALL = (SIGN<E> << 1) - 1;  // every bit of an element
template <class E>
constexpr int HALF = 8 * sizeof(E);  // bits of the place
template <class E>
constexpr Word<E> LAST = ~Word<E>(0);  // above every element

// infinity: its bits; what is above it is NaN. flip: every bit of an element to sort in descending order, else 0.
struct Order {
  unsigned infinity, flip;
};

// Equal values, -0 and 0 among them, have equal orders, and so have all NaN, above infinity.
template <class E>
__device__ __forceinline__ unsigned order_of(E element, Order order) {
  const unsigned bits = element, ascending = bits & SIGN<E> ? (SIGN<E> - (bits & ~SIGN<E>)) : bits | SIGN<E>;
  return ((bits & ~SIGN<E>) > order.infinity ? ALL<E> : ascending) ^ order.flip;
}
template <class E>
__device__ __forceinline__ Word<E> word_of(E element, unsigned place, Order order) {
  return static_cast<Word<E>>(order_of(element, order)) << HALF<E> | place;
}
template <class E>
__device__ __forceinline__ unsigned place_of(Word<E> word) {
  return static_cast<unsigned>(word) & ALL<E>;
}

// The bits of an element; what several elements share an order for is read from its row.
template <class E>
__device__ __forceinline__ E element_of(unsigned order_bits, unsigned place, const E* row, Order order) {
  const unsigned ascending = order_bits ^ order.flip;
  if (ascending == SIGN<E> || ascending == ALL<E>) return row[place];
  return static_cast<E>(ascending & SIGN<E> ? ascending ^ SIGN<E> : SIGN<E> | (SIGN<E> - ascending));
}
template <class E>
__device__ __forceinline__ E element_of(Word<E> word, const E* row, Order order) {
  return element_of<E>(static_cast<unsigned>(word >> HALF<E>), place_of<E>(word), row, order);
}

}  // namespace words
