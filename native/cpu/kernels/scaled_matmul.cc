// out[i, j] = scaleA[i] * scaleB[j] * sum over l of a[i, l] * b[j, l], in bf16. dims: [m, n, k].
//
// int8: exact sums in i32, of bytes where the processor multiplies these (simd/byte_dots.h), else of 16-bit values. fp8 e4m3: widened to f32 while it is packed
// (simd/gemm.h).
#include "simd/byte_dots.h"
#include "simd/gemm.h"

namespace {

struct E4M3 {
  uint8_t bits;
};

// OCP E4M3: exponent bias 7, no infinity, 0x7f is NaN. Subnormals are multiples of 2^-9.
inline float to_float(E4M3 x) {
  const uint32_t sign = (x.bits & 0x80u) << 24, magnitude = x.bits & 0x7fu;
  if (magnitude == 0x7f) return __builtin_nanf("");
  if (magnitude < 8) return bits_float(sign | float_bits(static_cast<float>(static_cast<int32_t>(magnitude)) * 0x1p-9f));
  return bits_float(sign | ((magnitude << 20) + (120u << 23)));
}

void run_fp8(const Call& c) {
  const int64_t n = c.dims[1], k = c.dims[2];
  const float *scale_a = input(c, 2), *scale_b = input(c, 3);
  BF16* const out = output<BF16>(c);
  run_products(c, {1, c.dims[0], n, k}, true, [&](int64_t, float* sums, const auto& multiply_by) {
    const auto finished = [=](int64_t i, int64_t j, const float* row, int64_t count) {
      const V factor = vset(scale_a[i]);
      map2<false>(row, scale_b + j, out + i * n + j, 0, count, [factor](V sum, V scale) { return vmul(vmul(factor, scale), sum); });
    };
    multiply_by(LeftMatrix<E4M3>{input<E4M3>(c, 0), k, false}, RightMatrix<E4M3>{input<E4M3>(c, 1), k, true, k}, Finished<decltype(finished)>{{sums}, finished});
  });
}

constexpr int64_t ROWS = 64, COLUMNS = 32, DEPTH = 2048;  // of a block: widened it stays in the second-level cache
constexpr int TILE_ROWS = 2, TILE_COLUMNS = 4;

// `rows` rows of k elements from `l` on, `depth` of each, as 16 bits.
inline void widen(const int8_t* from, int64_t rows, int64_t k, int64_t depth, int16_t* to) {
  for (int64_t i = 0; i < rows; i++)
    for (int64_t l = 0; l < depth; l++) to[i * DEPTH + l] = from[i * k + l];
}

// sums[i][j] += sum over l of a[i][l] * b[j][l].
template <int R, int N>
inline void dots(const int16_t* a, const int16_t* b, int64_t depth, int32_t* sums) {
  int32_t total[R][N] = {};
  for (int64_t l = 0; l < depth; l++)
    for (int i = 0; i < R; i++)
      for (int j = 0; j < N; j++) total[i][j] += static_cast<int32_t>(a[i * DEPTH + l]) * b[j * DEPTH + l];
  for (int i = 0; i < R; i++)
    for (int j = 0; j < N; j++) sums[i * COLUMNS + j] += total[i][j];
}

// All blocks of ROWS x COLUMNS outputs. sums_of(first row, first column, rows, columns, sums): the sums of one, COLUMNS in a row.
template <class F>
void run_blocks(const Call& c, F sums_of) {
  const int64_t m = c.dims[0], n = c.dims[1];
  const float *scale_a = input(c, 2), *scale_b = input(c, 3);
  const int64_t across = (n + COLUMNS - 1) / COLUMNS, down = (m + ROWS - 1) / ROWS;
  const Range r = part(down * across, 1, c.thread, c.threads);
  int32_t sums[ROWS * COLUMNS];
  for (int64_t block = r.begin; block < r.end; block++) {
    const int64_t first_row = block / across * ROWS, first_column = block % across * COLUMNS, rows = least(ROWS, m - first_row), columns = least(COLUMNS, n - first_column);
    sums_of(first_row, first_column, rows, columns, sums);
    for (int64_t i = 0; i < rows; i++)
      for (int64_t j = 0; j < columns; j++)
        set(output<BF16>(c) + (first_row + i) * n + first_column + j, scale_a[first_row + i] * scale_b[first_column + j] * static_cast<float>(sums[i * COLUMNS + j]));
  }
}

#if defined(OPSCOPE_QUADS)
void run_quads(const Call& c) {
  constexpr int64_t SIDE = 4, BYTES_DEPTH = 2 * DEPTH;
  const int64_t k = c.dims[2];
  const int8_t *a = input<int8_t>(c, 0), *b = input<int8_t>(c, 1);
  run_blocks(c, [=](int64_t first_row, int64_t first_column, int64_t rows, int64_t columns, int32_t* sums) {
    int32_t above[COLUMNS];
    quad_sums(b + first_column * k, columns, k, k, above);
    for (int64_t i = 0; i < rows; i++)
      for (int64_t j = 0; j < columns; j++) sums[i * COLUMNS + j] = static_cast<int32_t>(0u - static_cast<uint32_t>(above[j]));
    for (int64_t l = 0; l < k; l += BYTES_DEPTH)
      for (int64_t j = 0; j < columns; j += SIDE)
        for (int64_t i = 0; i < rows; i += SIDE)
          quad_tile(rows - i, columns - j, a + (first_row + i) * k + l, b + (first_column + j) * k + l, k, least(BYTES_DEPTH, k - l), sums + i * COLUMNS + j, COLUMNS);
  });
}
#endif

void run_int8(const Call& c) {
#if defined(OPSCOPE_QUADS)
  if (opscope_multiplies_byte_quads()) return run_quads(c);
#endif
  const int64_t k = c.dims[2];
  const int8_t *a = input<int8_t>(c, 0), *b = input<int8_t>(c, 1);
  int16_t* const wide_b = reinterpret_cast<int16_t*>(c.scratch) + c.thread * (ROWS + COLUMNS) * DEPTH;
  int16_t* const wide_a = wide_b + COLUMNS * DEPTH;
  run_blocks(c, [=](int64_t first_row, int64_t first_column, int64_t rows, int64_t columns, int32_t* sums) {
    for (int64_t i = 0; i < ROWS * COLUMNS; i++) sums[i] = 0;
    for (int64_t l = 0; l < k; l += DEPTH) {
      const int64_t depth = least(DEPTH, k - l);
      widen(a + first_row * k + l, rows, k, depth, wide_a);
      widen(b + first_column * k + l, columns, k, depth, wide_b);
      int64_t i = 0;
      for (; i + TILE_ROWS <= rows; i += TILE_ROWS) {
        int64_t j = 0;
        for (; j + TILE_COLUMNS <= columns; j += TILE_COLUMNS) dots<TILE_ROWS, TILE_COLUMNS>(wide_a + i * DEPTH, wide_b + j * DEPTH, depth, sums + i * COLUMNS + j);
        for (; j < columns; j++) dots<TILE_ROWS, 1>(wide_a + i * DEPTH, wide_b + j * DEPTH, depth, sums + i * COLUMNS + j);
      }
      for (; i < rows; i++)
        for (int64_t j = 0; j < columns; j++) dots<1, 1>(wide_a + i * DEPTH, wide_b + j * DEPTH, depth, sums + i * COLUMNS + j);
    }
  });
}

bool shape(const int64_t* d, int, int64_t* sizes) {
  sizes[0] = times(d[0], d[2]);
  sizes[1] = times(d[1], d[2]);
  sizes[2] = d[0];
  sizes[3] = d[1];
  sizes[4] = times(d[0], d[1]);
  return true;  // core/ops/product bounds k, so that sums stay within i32
}

// The larger of what the two take: their elements have as many bytes.
size_t scratch(const int64_t* d, int, int threads, size_t) {
  const size_t fp8 = Products{1, d[0], d[1], d[2]}.scratch(threads, true), int8 = static_cast<size_t>((ROWS + COLUMNS) * DEPTH / 2 * threads);
  return fp8 > int8 ? fp8 : int8;
}

}  // namespace

OPSCOPE_KERNEL(scaled_matmul, "ttff>b", 3, 3, 0, shape, scratch, {nullptr, nullptr, nullptr, run_int8, run_fp8})
