// A reduction of elements that lie in one piece, by the threads that share them. R: as in reduction.cu.
#pragma once
#include "../common/pairs.cuh"
#include "../common/reduce.cuh"
#include "../common/vec.cuh"
#include "../elementwise/functions.cuh"
#include "places.cuh"

// The contiguous range of n elements of x (and y), as 16-byte vectors between ragged ends of fewer elements than a vector has. `first` is the place of x[0]
// within what is reduced; I: of counts and indices.
template <class R, class T, class I = long long>
struct Range {
  using Part = typename R::Part;
  static constexpr int L = LANES<T>;
  const T *x, *y;
  I n, head, vectors;
  unsigned first;

  __device__ __forceinline__ Range(const T* from, const T* other, I count, unsigned place) : x(from), y(other), n(count), first(place) {
    head = min(n, static_cast<I>((16 - (reinterpret_cast<uintptr_t>(x) & 15)) % 16 / sizeof(T)));
    vectors = (n - head) / L;
  }

  __device__ __forceinline__ uint4 of_x(I i) const { return load16_once(x + head + i * L); }
  __device__ __forceinline__ uint4 of_y(I i) const {
    if constexpr (R::pair) return load16_once(y + head + i * L);
    return {};
  }
  __device__ __forceinline__ void add(Part& into, const uint4& a, const uint4& b, I i) const {
    float f[L], g[L] = {};
    unpack<T>(a, f);
    if constexpr (R::pair) unpack<T>(b, g);
    const unsigned place = first + static_cast<unsigned>(head + i * L);
#pragma unroll
    for (int j = 0; j < L; j += 2) into = R::join(into, R::join(R::element(f[j], g[j], place + j), R::element(f[j + 1], g[j + 1], place + j + 1)));
  }

  // Vectors i, i + threads, .., N of them.
  template <int N>
  __device__ __forceinline__ void round(Part (&part)[N], I i, int threads) const {
    uint4 a[N], b[N];
#pragma unroll
    for (int u = 0; u < N; u++) a[u] = of_x(i + u * threads), b[u] = of_y(i + u * threads);
#pragma unroll
    for (int u = 0; u < N; u++) add(part[u], a[u], b[u], i + u * threads);
  }

  // Vectors i, i + threads, .., at most N of them, and thread t's elements of the ends. All are under way before one is waited for: a short range waits for
  // memory once.
  template <int N, bool EVEN, int PARTS>
  __device__ __forceinline__ Part rest(Part (&part)[PARTS], I i, int t, int threads) const {
    const I done = head + vectors * L;
    const bool at_head = t < head, at_end = t < n - done;
    T ends[2] = {}, others[2] = {};
    uint4 a[N] = {}, b[N] = {};
    if (at_head) ends[0] = x[t];
    if (at_end) ends[1] = x[done + t];
    if (R::pair && at_head) others[0] = y[t];
    if (R::pair && at_end) others[1] = y[done + t];
    // Where nothing depends on how many there are, the compiler keeps the loads together: a thread without a vector takes the last.
    if constexpr (EVEN) {
      if (vectors > 0) {
#pragma unroll
        for (int u = 0; u < N; u++) a[u] = of_x(min(i + u * threads, vectors - 1)), b[u] = of_y(min(i + u * threads, vectors - 1));
      }
    } else {
#pragma unroll
      for (int u = 0; u < N; u++)
        if (i + u * threads < vectors) a[u] = of_x(i + u * threads), b[u] = of_y(i + u * threads);
    }
    if (EVEN || i < vectors) {
#pragma unroll
      for (int u = 0; u < N; u++) {
        // Without a branch, which a load would be moved behind.
        Part with = part[u];
        add(with, a[u], b[u], i + u * threads);
        part[u] = i + u * threads < vectors ? with : part[u];
      }
    }
    Part total = R::start();
    if (at_head) total = R::join(total, R::element(to_float(ends[0]), to_float(others[0]), first + static_cast<unsigned>(t)));
    if (at_end) total = R::join(total, R::element(to_float(ends[1]), to_float(others[1]), first + static_cast<unsigned>(done + t)));
#pragma unroll
    for (int u = 0; u < PARTS; u++) total = R::join(total, part[u]);
    return total;
  }

  // Gives `see` vectors i, i + threads, .. below `end`, with their numbers: U of them are under way before the first is waited for.
  template <int U, class See>
  __device__ __forceinline__ void visit(I i, I end, int threads, See see) const {
    for (; i < end; i += U * threads) {
      uint4 a[U];
#pragma unroll
      for (int u = 0; u < U; u++) a[u] = of_x(min(i + u * threads, end - 1));
#pragma unroll
      for (int u = 0; u < U; u++)
        if (i + u * threads < end) see(a[u], i + u * threads);
    }
  }

  // The largest element of thread t and its place, in one word.
  template <int U>
  __device__ __forceinline__ Part placed(int t, int threads) const {
    const I done = head + vectors * L;
    const bool at_head = t < head, at_end = t < n - done;
    T ends[2] = {};
    if (at_head) ends[0] = x[t];
    if (at_end) ends[1] = x[done + t];
    using Rows = Strip<R, T>;
    Part total = R::start();
    for (I i = t; i < vectors; i += Rows::most_rows * threads) {
      const I end = min(vectors, i + static_cast<I>(Rows::most_rows) * threads);
      Rows rows;
      unsigned at = 0;
      visit<U>(i, end, threads, [&](const uint4& v, I) { rows.see(v, at++); });
      if (rows.nan()) {
        visit<1>(i, end, threads, [&](const uint4& v, I k) { add(total, v, {}, k); });
      } else {
#pragma unroll
        for (int j = 0; j < L; j++) total = R::join(total, R::ranked(rows.value(j), first + static_cast<unsigned>(head + (i + static_cast<I>(rows.row(j)) * threads) * L + j)));
      }
    }
    if (at_head) total = R::join(total, R::element(to_float(ends[0]), 0.0f, first + static_cast<unsigned>(t)));
    if (at_end) total = R::join(total, R::element(to_float(ends[1]), 0.0f, first + static_cast<unsigned>(done + t)));
    return total;
  }
};

struct MaxOrNan {
  __device__ __forceinline__ float operator()(float a, float b) const { return max_or_nan(a, b); }
};

// The key of an element of which the largest is looked for.
template <class R>
__device__ __forceinline__ float key_of(float a) { return R::value(1.0f) > 0 ? a : -a; }

// The elements of the ragged ends of a range that thread t has.
template <class R, class T>
struct Ends {
  int t, head, done, n;
  float keys[2] = {-INFINITY, -INFINITY};

  __device__ __forceinline__ Ends(const Range<R, T, int>& range, int thread) : t(thread), head(range.head), done(range.head + range.vectors * LANES<T>), n(range.n) {
    if (t < head) keys[0] = key_of<R>(to_float(range.x[t]));
    if (t < n - done) keys[1] = key_of<R>(to_float(range.x[done + t]));
  }
  __device__ __forceinline__ float largest() const { return max_or_nan(keys[0], keys[1]); }
};

// The largest of what the threads of a block have as `own` and its place in one word, for thread 0: threads that hold it look for its first place, at their ends and by find(same), the first place among their vectors of
// an element of which same() holds, or ~0u.
template <class R, class T, class Find>
__device__ __forceinline__ typename R::Part first_place(float own, const Ends<R, T>& ends, Find find) {
  __shared__ float scratch[32];
  __shared__ unsigned first;
  if (ends.t == 0) first = ~0u;
  const float most = block_reduce(own, -INFINITY, scratch, MaxOrNan());
  __syncthreads();
  const auto same = [&](float a) { return a == most || (a != a && most != most); };
  if (same(own)) {
    unsigned place = find(same);
    if (ends.t < ends.head && same(ends.keys[0])) place = min(place, static_cast<unsigned>(ends.t));
    if (ends.t < ends.n - ends.done && same(ends.keys[1])) place = min(place, static_cast<unsigned>(ends.done + ends.t));
    atomicMin(&first, place);
  }
  __syncthreads();
  // Zeros of either sign are equal.
  return R::ranked(0.0f + most, first);
}

// The key of the largest element of a vector.
template <class R, class T>
__device__ __forceinline__ float largest_of(const uint4& v) {
  if constexpr (sizeof(T) == 4) {
    return max_or_nan(max_or_nan(key_of<R>(__uint_as_float(v.x)), key_of<R>(__uint_as_float(v.y))), max_or_nan(key_of<R>(__uint_as_float(v.z)), key_of<R>(__uint_as_float(v.w))));
  } else {
    const auto larger = [](uint32_t a, uint32_t b) { return of_pairs<T>(a, b, [](auto p, auto q) { return R::value(1.0f) > 0 ? __hmax2_nan(p, q) : __hmin2_nan(p, q); }); };
    float low, high;
    unpack_pair(larger(larger(v.x, v.y), larger(v.z, v.w)), low, high, T());
    return max_or_nan(key_of<R>(low), key_of<R>(high));
  }
}

// The largest of n elements and its place in one word, for thread 0 of the block, whose threads hold up to N vectors each: the largest first, by one
// instruction for an element, and then its place, by the threads that hold it.
template <class R, class T, int N>
__device__ __forceinline__ typename R::Part first_largest(const T* x, int n, int t, int threads) {
  constexpr int L = LANES<T>;
  const Range<R, T, int> range(x, x, n, 0);
  const Ends<R, T> ends(range, t);
  uint4 a[N];
  float own = ends.largest();
  // Where nothing depends on how many there are, the compiler keeps the loads together: a thread without a vector takes the last.
  if (range.vectors > 0) {
#pragma unroll
    for (int u = 0; u < N; u++) a[u] = range.of_x(min(t + u * threads, range.vectors - 1));
#pragma unroll
    for (int u = 0; u < N; u++) {
      if constexpr (sizeof(T) == 2) {
        own = max_or_nan(own, largest_of<R, T>(a[u]));
      } else {
        float f[L];
        unpack<T>(a[u], f);
#pragma unroll
        for (int j = 0; j < L; j++) own = max_or_nan(own, key_of<R>(f[j]));
      }
    }
  }
  return first_place<R, T>(own, ends, [&](auto same) {
    unsigned place = ~0u;
#pragma unroll
    for (int u = 0; u < N; u++) {
      float f[L];
      unpack<T>(a[u], f);
#pragma unroll
      for (int j = 0; j < L; j++)
        if (t + u * threads < range.vectors && same(key_of<R>(f[j]))) place = min(place, static_cast<unsigned>(range.head + (t + u * threads) * L + j));
    }
    return place;
  });
}

// The largest word of a block, for its first warp: places with their elements (Places in operations.cuh).
__device__ __forceinline__ unsigned long long largest_word(unsigned long long own, unsigned long long* scratch) {
  const auto of_warp = [](unsigned long long word) {
    const unsigned high = static_cast<unsigned>(word >> 32), most = __reduce_max_sync(0xffffffffu, high);
    return static_cast<unsigned long long>(most) << 32 | __reduce_max_sync(0xffffffffu, high == most ? static_cast<unsigned>(word) : 0u);
  };
  own = of_warp(own);
  if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = own;
  __syncthreads();
  return threadIdx.x < 32 ? of_warp(threadIdx.x < blockDim.x / 32 ? scratch[threadIdx.x] : 0) : 0;
}

// Which halves of a word are equal to those of another, as masks.
__device__ __forceinline__ uint32_t equal_halves(uint32_t a, uint32_t b, f16) { return __heq2_mask(*reinterpret_cast<const __half2*>(&a), *reinterpret_cast<const __half2*>(&b)); }
__device__ __forceinline__ uint32_t equal_halves(uint32_t a, uint32_t b, bf16) { return __heq2_mask(*reinterpret_cast<const __nv_bfloat162*>(&a), *reinterpret_cast<const __nv_bfloat162*>(&b)); }

// The first of the elements of N vectors, in their order, that is equal to `value`, if one is; of 16 bits, two are compared at a time.
template <class T, int N>
__device__ __forceinline__ int first_equal(const uint4 (&a)[N], float value) {
  int at = 0;
  if constexpr (sizeof(T) == 4) {
#pragma unroll
    for (int u = N - 1; u >= 0; u--) {
      const uint32_t words[4] = {a[u].x, a[u].y, a[u].z, a[u].w};
#pragma unroll
      for (int k = 3; k >= 0; k--) at = __uint_as_float(words[k]) == value ? u * 4 + k : at;
    }
    return at;
  } else {
    const uint32_t both = pack_pair(value, value, T());
    uint32_t halves = 0;
#pragma unroll
    for (int u = N - 1; u >= 0; u--) {
      const uint32_t words[4] = {a[u].x, a[u].y, a[u].z, a[u].w};
#pragma unroll
      for (int k = 3; k >= 0; k--) {
        const uint32_t same = equal_halves(words[k], both, T());
        at = same != 0 ? u * 8 + k * 2 : at;
        halves = same != 0 ? same : halves;
      }
    }
    return at + ((halves & 0xffff) == 0);
  }
}

// The first NaN of N vectors, in their order, if there is one.
template <class T, int N>
__device__ __forceinline__ int first_nan(const uint4 (&a)[N]) {
  constexpr int L = LANES<T>;
  int at = 0;
#pragma unroll
  for (int u = N - 1; u >= 0; u--) {
    float f[L];
    unpack<T>(a[u], f);
#pragma unroll
    for (int j = L - 1; j >= 0; j--) at = f[j] != f[j] ? u * L + j : at;
  }
  return at;
}

// The largest of thread t's elements and its first place in one word: the largest of N vectors at a time, and where it leads, its place among these, which are still in registers.
template <class R, class T, int N>
__device__ __forceinline__ typename R::Part leading_largest(const T* x, int n, int t, int threads) {
  constexpr int L = LANES<T>;
  const Range<R, T, int> range(x, x, n, 0);
  const Ends<R, T> ends(range, t);
  constexpr unsigned none = ~0u;
  float most = ends.keys[0];
  unsigned place = t < ends.head ? static_cast<unsigned>(t) : none;
  const auto leads = [&](float a) { return a > most || (a != a && most == most) || place == none; };
  for (int i = t; i - t < range.vectors; i += N * threads) {
    uint4 a[N];
    // A thread without a vector takes the last, which changes nothing.
#pragma unroll
    for (int u = 0; u < N; u++) a[u] = range.of_x(min(i + u * threads, range.vectors - 1));
    float m = largest_of<R, T>(a[0]);
#pragma unroll
    for (int u = 1; u < N; u++) m = max_or_nan(m, largest_of<R, T>(a[u]));
    if (!leads(m)) continue;
    most = m;
    const int at = m == m ? first_equal<T>(a, key_of<R>(m)) : first_nan<T>(a);
    place = static_cast<unsigned>(range.head + min(i + at / L * threads, range.vectors - 1) * L + at % L);
  }
  if (t < ends.n - ends.done && leads(ends.keys[1])) most = ends.keys[1], place = static_cast<unsigned>(ends.done + t);
  // Zeros of either sign are equal.
  return R::ranked(0.0f + most, place);
}

// Elements t, t + threads, ... of a range.
template <class R, class T>
__device__ __forceinline__ typename R::Part reduce_range(const T* x, const T* y, long long n, unsigned first, int t, int threads) {
  constexpr int U = 4;
  const Range<R, T> range(x, y, n, first);
  if constexpr (R::placed) {
    return range.template placed<U>(t, threads);
  } else {
    typename R::Part part[U];
#pragma unroll
    for (int u = 0; u < U; u++) part[u] = R::start();
    long long i = t;
    for (; i + (U - 1) * threads < range.vectors; i += U * threads) range.template round<U>(part, i, threads);
    return range.template rest<U - 1, false>(part, i, t, threads);
  }
}
