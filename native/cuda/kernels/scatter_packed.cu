// scatter_add (scatter_add.cu) of rows of up to 6 bytes: an index goes to a bin in one word with its elements, so nothing of src is read at random.
//   scatter_pack_<bytes>_<bins>  fills bins; bytes of a row
//   scatter_packed_<t>_<dim>     a block has a tile of rows in shared memory, adds what its bin has for them and writes them; some tiles share a bin
// Words come in an order that depends on the race. Of three elements or more of a cell the lowest is added first, so results repeat. A row with more than `most_listed` indices is left to its whole block, which looks
// through all indices in their order, and a tile with more indices than its block has room for is taken in parts.
#include "common/early.cuh"
#include "common/piece.cuh"
#include "scatter_add/bins.cuh"
#include "scatter_add/packed.cuh"
#include "scatter_add/tile.cuh"

namespace {

// counts: one for each bin, zero before and after; bins [.., room]. A block puts its words in the order of bins first, so that those of a bin are written together.
template <int BYTES, int BINS>
__device__ __forceinline__ void pack(const int* __restrict__ index, const unsigned short* __restrict__ src, unsigned* counts, Packed<BYTES>* bins, long long rows, int n, int shift, int room) {
  constexpr int THREADS = pack_block(BINS, BYTES).threads, EACH = pack_block(BINS, BYTES).each, K = BINS / THREADS, H = Packed<BYTES>::H;
  extern __shared__ uint4 memory[];
  __shared__ unsigned sums[32];
  Packed<BYTES>* const sorted = reinterpret_cast<Packed<BYTES>*>(memory);
  unsigned *const own = reinterpret_cast<unsigned*>(sorted + THREADS * EACH), *const base = own + BINS;
  unsigned short* const bin_of = reinterpret_cast<unsigned short*>(base + BINS);
  next_may_start();
  const int t = threadIdx.x;
#pragma unroll
  for (int k = 0; k < K; k++) own[k * THREADS + t] = 0;
  int row[EACH];
  uint2 elements[EACH / 4][H];  // of four rows
#pragma unroll
  for (int j = 0; j < EACH; j += 4) {
    const long long i = ((static_cast<long long>(blockIdx.x) * (EACH / 4) + j / 4) * THREADS + t) * 4;
    if (i + 4 <= n) {
      const int4 v = __ldcs(reinterpret_cast<const int4*>(index + i));
      row[j] = v.x, row[j + 1] = v.y, row[j + 2] = v.z, row[j + 3] = v.w;
#pragma unroll
      for (int h = 0; h < H; h++) elements[j / 4][h] = __ldcs(reinterpret_cast<const uint2*>(src + i * H) + h);
    } else {
#pragma unroll
      for (int k = 0; k < 4; k++) row[j + k] = i + k < n ? index[i + k] : -1;
      const auto half = [&](int h) -> unsigned { return i + h / H < n ? src[i * H + h] : 0; };
#pragma unroll
      for (int h = 0; h < H; h++) elements[j / 4][h] = make_uint2(half(h * 4) | half(h * 4 + 1) << 16, half(h * 4 + 2) | half(h * 4 + 3) << 16);
    }
  }
  __syncthreads();
  unsigned short rank[EACH];
#pragma unroll
  for (int j = 0; j < EACH; j++) {
    if (row[j] >= rows) row[j] = -1;
    if (row[j] >= 0) rank[j] = static_cast<unsigned short>(atomicAdd(own + (row[j] >> shift), 1u));
  }
  __syncthreads();
  const unsigned all = place_bins<THREADS, BINS>(own, base, counts, sums);
  const unsigned mask = (1u << shift) - 1;
#pragma unroll
  for (int j = 0; j < EACH; j++)
    if (row[j] >= 0) {
      const unsigned bin = static_cast<unsigned>(row[j]) >> shift, at = own[bin] + rank[j];
      unsigned short halves[H];
#pragma unroll
      for (int h = 0; h < H; h++) {
        const int of_four = j % 4 * H + h;
        const uint2 four = elements[j / 4][of_four / 4];
        halves[h] = static_cast<unsigned short>((of_four % 4 < 2 ? four.x : four.y) >> of_four % 2 * 16);
      }
      sorted[at] = Packed<BYTES>::of(static_cast<unsigned>(row[j]) & mask, halves);
      bin_of[at] = static_cast<unsigned short>(bin);
    }
  __syncthreads();
  for (unsigned e = t; e < all; e += THREADS) {
    const unsigned bin = bin_of[e], at = base[bin] + e;
    if (at < static_cast<unsigned>(room)) bins[static_cast<long long>(bin) * room + at] = sorted[e];
  }
}

// The bits of an element and the number of its word, in one.
template <class T>
struct Keys {
  using Type = unsigned;
};
template <>
struct Keys<float> {
  using Type = unsigned long long;
};

// The lower one to `a`.
__device__ __forceinline__ void order(unsigned& a, unsigned& b) {
  const unsigned low = min(a, b);
  b = max(a, b), a = low;
}

// Adds the elements of the list that begins with `head` to the row at `cells`, those of lower bits first. False, and nothing done, where these are more than `most_listed`.
template <int DIM, class T, int B>
__device__ __forceinline__ bool add_packed(const Packed<B>* words, const unsigned short* next, unsigned head, T* cells) {
  using Key = typename Keys<T>::Type;
  constexpr int few = 4;
  Packed<B> first[few];
  int listed = 0;
  unsigned at = head;
#pragma unroll
  for (int k = 0; k < few; k++)
    if (at != 0) first[k] = words[at - 1], at = next[at - 1], listed = k + 1;
  float sum[DIM];
  if (at == 0) {
#pragma unroll
    for (int c = 0; c < DIM; c++) {
      unsigned bits[few];
#pragma unroll
      for (int k = 0; k < few; k++) bits[k] = k < listed ? first[k].template bits<T>(c) : ~0u;
      // Two in either order are the same.
      if (listed > 2) order(bits[0], bits[1]), order(bits[2], bits[3]), order(bits[0], bits[2]), order(bits[1], bits[3]), order(bits[1], bits[2]);
      sum[c] = value_of<T>(bits[0]);
#pragma unroll
      for (int k = 1; k < few; k++)
        if (k < listed) sum[c] += value_of<T>(bits[k]);
    }
  } else {
    for (; at != 0 && listed <= most_listed; at = next[at - 1]) listed++;
    if (listed > most_listed) return false;
#pragma unroll
    for (int c = 0; c < DIM; c++) {
      sum[c] = 0;
      Key from = 0;
      for (int left = listed; left > 0; left--) {
        Key least = ~Key{0};
        for (at = head; at != 0; at = next[at - 1]) {
          const Key own = static_cast<Key>(words[at - 1].template bits<T>(c)) << 16 | at;
          if (own >= from && own < least) least = own;
        }
        sum[c] += value_of<T>(static_cast<unsigned>(least >> 16));
        from = least + 1;
      }
    }
  }
#pragma unroll
  for (int c = 0; c < DIM; c++) cells[c] = from_float<T>(to_float(cells[c]) + sum[c]);
  return true;
}

// grid: tiles of `span` rows, of which 1 << `tiles` share a bin. Shared memory: rows [span, DIM], words [room], heads of lists [span] and what follows each word in its list [room]; heads and what follows are 0 or a number
// and 1. counts: of bins [.., room_of_bin], and of tiles that have read one: zero before and after.
template <int DIM, class T>
__device__ __forceinline__ void by_tile(const T* __restrict__ x, const int* __restrict__ index, const T* __restrict__ src, T* __restrict__ out, unsigned* counts, unsigned* readers, const Packed<DIM * sizeof(T)>* bins, long long rows,
                                        int n, int span, int tiles, int room_of_bin, int room) {
  using Word = Packed<DIM * sizeof(T)>;
  constexpr int L = LANES<T>, U = 4, THREADS = packed_threads;
  extern __shared__ uint4 memory[];
  __shared__ Part<THREADS> part;
  T* const tile = reinterpret_cast<T*>(memory);
  Word* const words = reinterpret_cast<Word*>(memory + span * DIM / L);
  unsigned* const heads = reinterpret_cast<unsigned*>(words + room);
  unsigned short* const next = reinterpret_cast<unsigned short*>(heads + span);
  const int t = threadIdx.x, lane = t % 32;
  const long long begin = static_cast<long long>(blockIdx.x) * span, base = begin * DIM;
  const int own = static_cast<int>(min(static_cast<long long>(span), rows - begin)), elements = own * DIM;
  __shared__ alignas(8) unsigned long long barrier;
  const int vectors = elements / L;
  begin_piece(&barrier, memory, reinterpret_cast<const uint4*>(x + base), vectors);
  for (int i = vectors * L + t; i < elements; i += THREADS) tile[i] = x[base + i];
  const unsigned bin = blockIdx.x >> tiles, offset = (blockIdx.x & ((1u << tiles) - 1)) * static_cast<unsigned>(span);
  const auto put = [&](int number, const Word& word, unsigned row) {
    words[number] = word;
    next[number] = static_cast<unsigned short>(atomicExch(heads + row, static_cast<unsigned>(number) + 1));
  };
  const auto from_bin = [&] {
    wait_for_last();
    const unsigned all = __ldcg(counts + bin), has = min(all, static_cast<unsigned>(room_of_bin));
    const Word* const from = bins + static_cast<long long>(bin) * room_of_bin;
    for (unsigned start = t - lane; start < has; start += U * THREADS) {
      Word w[U];
#pragma unroll
      for (int u = 0; u < U; u++) w[u] = Word::load_once(from + min(start + u * THREADS + lane, has - 1));
#pragma unroll
      for (int u = 0; u < U; u++) {
        const unsigned e = start + u * THREADS + lane, row = w[u].row() - offset;
        const bool mine = e < has && row < static_cast<unsigned>(own);
        const unsigned votes = __ballot_sync(0xffffffffu, mine);
        if (votes == 0) continue;
        int number = 0;
        if (lane == 0) number = atomicAdd(&part.found, __popc(votes));
        number = __shfl_sync(0xffffffffu, number, 0) + __popc(votes & ((1u << lane) - 1));
        if (mine && number < room) put(number, w[u], row);
      }
    }
    if (all > has && t == 0) atomicAdd(&part.found, room + 1);
    await_piece(&barrier);
  };
  const auto from_all = [&](int first, int count) {
    for (int i = t; i < n; i += THREADS) {
      const long long row = index[i] - begin;
      if (row < first || row >= first + count) continue;
      const int number = atomicAdd(&part.found, 1);
      unsigned short halves[DIM * sizeof(T) / 2];
      for (int h = 0; h < static_cast<int>(DIM * sizeof(T) / 2); h++) halves[h] = reinterpret_cast<const unsigned short*>(src + static_cast<long long>(i) * DIM)[h];
      if (number < room) put(number, Word::of(static_cast<unsigned>(row) + offset, halves), static_cast<unsigned>(row));
    }
  };
  add_in_parts(
      part, heads, own, room, from_bin, from_all, [&](int e) { return words[e].row() - offset; }, [&](unsigned row) { return add_packed<DIM>(words, next, heads[row], tile + row * DIM); },
      [&](unsigned row) { add_long<THREADS>(index, tile - base, src, tile - base, begin + row, DIM, n); });
  write_elements<THREADS>(memory, out, base, elements);
  leave_bin(counts, readers, bin, tiles);
}

}  // namespace

#define PACK(BYTES, BINS)                                                                                                                                                                                                            \
  extern "C" __global__ void __launch_bounds__(pack_block(BINS, BYTES).threads, 1024 / pack_block(BINS, BYTES).threads)                                                                                                        \
      scatter_pack_##BYTES##_##BINS(const int* index, const unsigned short* src, unsigned* counts, Packed<BYTES>* bins, long long rows, int n, int shift, int room) {                                                         \
    pack<BYTES, BINS>(index, src, counts, bins, rows, n, shift, room);                                                                                                                                                         \
  }
#define PACKS(BYTES) PACK(BYTES, 1024) PACK(BYTES, 2048) PACK(BYTES, 4096)
PACKS(2)
PACKS(4)
PACKS(6)

#define SCATTER(T, DIM)                                                                                                                                                                                                   \
  extern "C" __global__ void __launch_bounds__(packed_threads, 3) scatter_packed_##T##_##DIM(const T* x, const int* index, const T* src, T* out, unsigned* counts, unsigned* readers, const Packed<DIM * sizeof(T)>* bins,         \
                                                                                            long long rows, int n, int span, int tiles, int room_of_bin, int room) {                                                          \
    by_tile<DIM>(x, index, src, out, counts, readers, bins, rows, n, span, tiles, room_of_bin, room);                                                                                                                        \
  }
SCATTER(f32, 1)
SCATTER(f16, 1)
SCATTER(f16, 2)
SCATTER(f16, 3)
SCATTER(bf16, 1)
SCATTER(bf16, 2)
SCATTER(bf16, 3)
