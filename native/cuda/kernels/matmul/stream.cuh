// What both kernels of a long matrix times a short side do with their sums (matmul_stream.cu, matmul_stream_f32.cu).
#pragma once
#include "../common/mma.cuh"
#include "../common/reduce.cuh"
#include "sizes.h"
#include "skinny.h"
#include "stream_task.h"

__device__ __forceinline__ void add_to(float4& total, const float4& v) { total.x += v.x, total.y += v.y, total.z += v.z, total.w += v.w; }

// `count` results of a block to the output, to the shares of a launch that joins them, or to those that the last block of a tile adds up. `place(e)`: where result e lies in the output of the
// product, -1 for none.
template <class T, class Place>
struct Results {
  const SkinnyArguments& a;
  int batch, batches, count;
  Place place;

  __device__ __forceinline__ void store(int e, float sum) const {
    const long long at = place(e);
    if (at >= 0) (reinterpret_cast<T*>(a.out) + batch * a.out_batch)[at] = from_float<T>(sum);
  }
  __device__ __forceinline__ void store(int e, const float4& sums) const { store(e, sums.x), store(e + 1, sums.y), store(e + 2, sums.z), store(e + 3, sums.w); }
  __device__ __forceinline__ float* cell() const { return reinterpret_cast<float*>(a.shares) + static_cast<long long>(blockIdx.x) * gridDim.y * count; }

  __device__ __forceinline__ void give(int e, float sum) const {
    if (gridDim.y == 1) {
      store(e, sum);
    } else if (a.counters != 0) {
      cell()[blockIdx.y * count + e] = sum;
    } else {
      const long long at = place(e);
      if (at >= 0) (reinterpret_cast<float*>(a.shares) + (blockIdx.y * batches + batch) * a.out_batch)[at] = sum;
    }
  }

  // After all are given. `scratch`: one for each of 256 threads.
  __device__ __forceinline__ void add_up(float4* scratch) const {
    const int splits = gridDim.y, quads = count / 4;
    if (splits == 1 || a.counters == 0 || !last_to_arrive(reinterpret_cast<unsigned*>(a.counters) + blockIdx.x, splits)) return;
    const float4* shares = reinterpret_cast<const float4*>(cell());
    const auto sum_of = [&](int quad, int begin, int end) {
      float4 total = {};
#pragma unroll 8
      for (int s = begin; s < end; s++) add_to(total, __ldcg(shares + s * quads + quad));
      return total;
    };
    if (quads > 128) {
      for (int quad = threadIdx.x; quad < quads; quad += 256) store(quad * 4, sum_of(quad, 0, splits));
      return;
    }
    const int parts = 256 / quads, part = threadIdx.x / quads, quad = threadIdx.x - part * quads, each = (splits + parts - 1) / parts;
    scratch[threadIdx.x] = sum_of(quad, min(splits, part * each), min(splits, (part + 1) * each));
    __syncthreads();
    // Lanes of a warp that add up the parts of four results.
    int lanes = 32;
    while (lanes > parts) lanes /= 2;
    const int own = threadIdx.x / lanes, lane = threadIdx.x - own * lanes;
    float4 total = {};
    for (int p = lane; p < parts && own < quads; p += lanes) add_to(total, scratch[p * quads + own]);
    for (int apart = lanes / 2; apart > 0; apart /= 2)
      add_to(total, make_float4(__shfl_xor_sync(0xffffffffu, total.x, apart), __shfl_xor_sync(0xffffffffu, total.y, apart), __shfl_xor_sync(0xffffffffu, total.z, apart), __shfl_xor_sync(0xffffffffu, total.w, apart)));
    if (lane == 0 && own < quads) store(own * 4, total);
  }
};

// The short side as it lies in memory, a part of k at a time: the 16-byte pieces that hold it, on their way to shared memory while the part before is multiplied.
template <class T>
struct FewRaw {
  const SkinnyArguments& a;
  const T* vectors;
  char* raw;
  int pitch;  // bytes between rows of k, where k is contiguous
  bool along_k;
  int first = 0;  // of k in `raw`

  __device__ __forceinline__ FewRaw(const SkinnyArguments& arguments, int batch, char* to, int between)
      : a(arguments), vectors(reinterpret_cast<const T*>(arguments.vectors) + batch * arguments.vectors_batch), raw(to), pitch(between), along_k(arguments.vectors_k == 1 && arguments.few > 1) {}

  __device__ __forceinline__ void load(int begin, int end) {
    const int k = static_cast<int>(a.k);
    first = max(begin, 0);
    const int lines = along_k ? a.few : 1, bytes = max(0, min(end, k) - first) * (along_k ? 1 : a.few) * static_cast<int>(sizeof(T)), pieces = (bytes + 30) / 16;
    const auto last = reinterpret_cast<unsigned long long>(vectors + a.few * a.k);
    for (int i = threadIdx.x; i < lines * pieces; i += 256) {
      const int line = along_k ? i / pieces : 0, piece = i - line * pieces;
      const auto start = reinterpret_cast<unsigned long long>(vectors + (along_k ? line * a.k + first : static_cast<long long>(first) * a.few)), at = (start & ~15ull) + piece * 16;
      if (at < start + bytes) copy_async_16(shared_address(raw + line * pitch + piece * 16), reinterpret_cast<const void*>(at), static_cast<int>(min(16ull, last - at)));
    }
    copy_commit();
  }

  // Element s at k, which is in what was loaded.
  __device__ __forceinline__ T at(int k, int s) const {
    const unsigned start = static_cast<unsigned>(reinterpret_cast<unsigned long long>(vectors)), line = along_k ? s * static_cast<unsigned>(a.k) + first : first * static_cast<unsigned>(a.few);
    const int behind = (start + line * static_cast<unsigned>(sizeof(T))) & 15, element = along_k ? k - first : (k - first) * a.few + s;
    return *reinterpret_cast<const T*>(raw + (along_k ? s * pitch : 0) + behind + element * static_cast<int>(sizeof(T)));
  }
};

// What a block has of rows of a long matrix with k contiguous goes out: sums of `across` rows from `first` of those alike on, times S of the short side, as warps left them in `warp_sums`, [ways][across]
// and a word behind each S, `ways` of which have parts of the same k. Row i of those alike is row residue + period * i.
template <int S, class T>
__device__ __forceinline__ void give_rows(const SkinnyArguments& a, const StreamTask& t, float* warp_sums, int batch, int across, int ways, long long first, long long rows_alike, int residue) {
  // Neighbouring threads have what lies together in the output.
  const bool rows_first = a.out_few != 1;
  const auto row_of = [&](int e) { return rows_first ? e % across : e / S; };
  const auto few_of = [&](int e) { return rows_first ? e / across : e % S; };
  const auto place = [&](int e) {
    const long long i = first + row_of(e);
    return i < rows_alike && few_of(e) < a.few ? (residue + t.period * i) * a.out_length + static_cast<long long>(few_of(e)) * a.out_few : -1ll;
  };
  const Results<T, decltype(place)> results = {a, batch, static_cast<int>(gridDim.x / t.blocks), across * S, place};
  for (int e = threadIdx.x; e < across * S; e += opscope::cuda::stream_warps * 32) {
    float total = 0;
    for (int w = 0; w < ways; w++) total += warp_sums[(w * across + row_of(e)) * (S + 1) + few_of(e)];
    results.give(e, total);
  }
  __syncthreads();
  results.add_up(reinterpret_cast<float4*>(warp_sums));
}
