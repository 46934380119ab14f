// Reads, writes and copies of the same memory over and over: the bandwidth of a cache. One call passes over its tensors many times,
// so that waking the threads takes no share of it. dims: [n, iterations].
#include "simd/map.h"

namespace {

// Elements that are added up together, into 16 sums whatever the width of a vector.
constexpr int64_t BLOCK = 1024;
constexpr int LANES = 16;
// Vectors of the 16 sums, and how often they are there, so that the latency of an addition is hidden.
constexpr int WIDTH = LANES / W, CHAINS = WIDTH >= 8 ? 1 : 8 / WIDTH;

inline int64_t blocks_of(int64_t n) { return (n + BLOCK - 1) / BLOCK; }

// out[b][j] of a whole block: the sum of x[b][i] over i = j, j + 16, ..., plus `passes`.
inline void sum_block(const float* x, float* out, V passes) {
  V sum[CHAINS][WIDTH];
#pragma GCC unroll 16
  for (int k = 0; k < CHAINS; k++)
#pragma GCC unroll 16
    for (int v = 0; v < WIDTH; v++) sum[k][v] = vload(x + k * LANES + v * W);
  for (int64_t i = CHAINS * LANES; i < BLOCK; i += CHAINS * LANES) {
#pragma GCC unroll 16
    for (int k = 0; k < CHAINS; k++)
#pragma GCC unroll 16
      for (int v = 0; v < WIDTH; v++) sum[k][v] = vadd(sum[k][v], vload(x + i + k * LANES + v * W));
  }
#pragma GCC unroll 16
  for (int v = 0; v < WIDTH; v++) {
    V total = sum[0][v];
#pragma GCC unroll 16
    for (int k = 1; k < CHAINS; k++) total = vadd(total, sum[k][v]);
    vstore(out + v * W, vadd(total, passes));
  }
}

void read(const Call& c) {
  const int64_t n = c.dims[0];
  const Range r = part(blocks_of(n), 1, c.thread, c.threads);
  const float* x = input(c, 0);
  float* out = output(c);
  for (int64_t pass = 1; pass <= c.dims[1]; pass++) {
    const V passes = vset(static_cast<float>(pass));
    for (int64_t b = r.begin; b < r.end; b++) {
      if ((b + 1) * BLOCK <= n) {
        sum_block(x + b * BLOCK, out + b * LANES, passes);
        continue;
      }
      for (int j = 0; j < LANES; j++) out[b * LANES + j] = static_cast<float>(pass);
      for (int64_t i = b * BLOCK; i < n; i++) out[b * LANES + i % LANES] += x[i];
    }
    // The passes happen one by one, although a compiler sees that the next one writes the same.
    in_order();
  }
}

// Every element becomes the number of passes.
void write(const Call& c) {
  const Range r = part(c.dims[0], LINE, c.thread, c.threads);
  for (int64_t pass = 1; pass <= c.dims[1]; pass++) {
    map0<false>(output(c), r.begin, r.end, [&] { return vset(static_cast<float>(pass)); });
    in_order();
  }
}

void copy(const Call& c) {
  const Range r = part(c.dims[0], LINE, c.thread, c.threads);
  for (int64_t pass = 1; pass <= c.dims[1]; pass++) {
    map1<false>(input(c, 0), output(c), r.begin, r.end, [](V v) { return v; });
    in_order();
  }
}

bool read_shape(const int64_t* d, int, int64_t* sizes) {
  sizes[0] = d[0];
  sizes[1] = times(blocks_of(d[0]), LANES);
  return true;
}

bool write_shape(const int64_t* d, int, int64_t* sizes) {
  sizes[0] = d[0];
  return true;
}

bool copy_shape(const int64_t* d, int, int64_t* sizes) {
  sizes[0] = sizes[1] = d[0];
  return true;
}

}  // namespace

OPSCOPE_KERNEL(stream_read, "f>f", 2, 2, 0, read_shape, nullptr, read)
OPSCOPE_KERNEL(stream_write, ">f", 2, 2, 0, write_shape, nullptr, write)
OPSCOPE_KERNEL(stream_copy, "f>f", 2, 2, 0, copy_shape, nullptr, copy)
