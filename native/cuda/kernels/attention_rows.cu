// Queries, keys and values of 16-bit heads whose rows do not start on 16 bytes, copied to where they do, for the copy engine: `pitch` elements apart, zeros behind a row.
//   attention_rows   a thread for 16 bytes of the copies, which lie one after the other
#include <cstdint>

#include "common/arithmetic.cuh"
#include "common/start_early.cuh"

extern "C" __global__ void __launch_bounds__(256) attention_rows(const uint16_t* q, const uint16_t* k, const uint16_t* v, uint4* out, const long long queries, const long long keys, const int dim, const int vectors) {
  start_early();
  const long long i = blockIdx.x * 256ll + threadIdx.x;
  long long row = quotient(i, vectors);
  const int column = static_cast<int>(i - row * vectors) * 8;
  if (row >= queries + 2 * keys) return;
  const uint16_t* x = q;
  if (row >= queries) {
    row -= queries, x = k;
    if (row >= keys) row -= keys, x = v;
  }
  x += row * dim + column;
  uint32_t half[8];
#pragma unroll
  for (int j = 0; j < 8; j++) half[j] = column + j < dim ? __ldg(x + j) : 0;
  out[i] = make_uint4(half[0] | half[1] << 16, half[2] | half[3] << 16, half[4] | half[5] << 16, half[6] | half[7] << 16);
}
