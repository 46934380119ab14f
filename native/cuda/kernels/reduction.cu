// The kernels of reduction/table.h: <op>_<dtype>_group, _tile, _row, _row_cluster, _slots, _short, _groups, _pieces, _flat, _each and _columns with the width of an access, _wide or
// _one, _columns_strip and _each_few; of values also _columns_shifted, _columns_cluster, _columns_strips and _columns_strips_shifted (reduction/kernel.cuh, columns.cuh, strips.cuh, flat.cuh).
#include "elementwise/functions.cuh"
#include "reduction/columns.cuh"
#include "reduction/flat.cuh"
#include "reduction/operations.cuh"
#include "reduction/pieces.cuh"
#include "reduction/strips.cuh"

#define FLAT(T, op) \
  extern "C" __global__ void __launch_bounds__(256) op##_##T##_flat(const T* x, op##_of::Out<T>* out, op##_of::Part* parts, long long count, long long reduce, int inner, long long rows_per_split, int step, int cluster, \
                                                                       op##_of::Part* shares, unsigned* counters) { \
    reduce_flat<op##_of, T>(x, {out, parts, count}, reduce, inner, rows_per_split, step, cluster, shares, counters); \
  }
#define EACH(T, op, name, blocks, ...) \
  extern "C" __global__ void __launch_bounds__(256, blocks) op##_##T##_each_##name(const T* x, op##_of::Out<T>* out, op##_of::Part* parts, long long count, long long outer, long long reduce, long long inner) { \
    __VA_ARGS__(x, {out, parts, count}, outer, reduce, inner); \
  }
#define COLUMNS(T, op, name, width, shifted, blocks) \
  extern "C" __global__ void __launch_bounds__(256, blocks) op##_##T##_columns_##name(const T* x, op##_of::Out<T>* out, op##_of::Part* parts, long long count, long long reduce, long long inner, long long rows_per_split, \
                                                                                  op##_of::Part* shares, unsigned* counters) { \
    reduce_columns<op##_of, width, shifted, T>(x, {out, parts, count}, reduce, inner, rows_per_split, shares, counters); \
  }
#define KERNELS(T, op, blocks) \
  extern "C" __global__ void __launch_bounds__(256) op##_##T##_group(const T* x, op##_of::Out<T>* out, op##_of::Part* parts, long long count, long long rows, long long cols, int group) { \
    reduce_group<op##_of, T>(x, {out, parts, count}, rows, cols, group); \
  } \
  extern "C" __global__ void __launch_bounds__(256) op##_##T##_tile(const T* x, op##_of::Out<T>* out, op##_of::Part* parts, long long count, long long rows, int cols, int tile_rows, int group) { \
    reduce_tile<op##_of, T>(x, {out, parts, count}, rows, cols, tile_rows, group); \
  } \
  FLAT(T, op) EACH(T, op, wide, 1, reduce_each<op##_of, LANES<T>, T>) EACH(T, op, one, 1, reduce_each<op##_of, 1, T>) EACH(T, op, few, blocks, reduce_each_single<op##_of, T>) \
  COLUMNS(T, op, wide, LANES<T>, false, blocks) COLUMNS(T, op, one, 1, false, blocks) \
  extern "C" __global__ void __launch_bounds__(512) op##_##T##_columns_strip(const T* x, op##_of::Out<T>* out, op##_of::Part* parts, long long count, int reduce, long long inner) { \
    reduce_columns_strip<op##_of, T>(x, {out, parts, count}, reduce, inner); \
  } \
  extern "C" __global__ void __launch_bounds__(256) op##_##T##_groups(const op##_of::Part* parts, op##_of::Out<T>* out, long long count, long long groups, long long cells, \
                                                                      long long reduce, int lanes) {                                                               \
    reduce_groups<op##_of, T>(parts, {out, nullptr, count}, groups, cells, reduce, lanes);                                                                         \
  }                                                                                                                                                                \
  extern "C" __global__ void __launch_bounds__(256) op##_##T##_pieces(const T* x, op##_of::Out<T>* out, long long count, long long groups, long long outer, long long reduce, long long inner, int lanes) { \
    reduce_pieces<op##_of, T>(x, {out, nullptr, count}, groups, outer, reduce, inner, lanes);                                                                      \
  }
// Registers for as many blocks on a multiprocessor as row_split and column_split (reduction/shape.h) count on.
#define ROW_KERNEL(T, op, blocks) \
  extern "C" __global__ void __launch_bounds__(512, blocks) op##_##T##_row(const T* x, const T* y, op##_of::Out<T>* out, op##_of::Part* parts, long long count, long long cols) { \
    reduce_row<op##_of, T, false>(x, y, {out, parts, count}, cols, cols); \
  } \
  extern "C" __global__ void __launch_bounds__(512, blocks) op##_##T##_row_cluster(const T* x, const T* y, op##_of::Out<T>* out, op##_of::Part* parts, long long count, long long cols, long long chunk) { \
    reduce_row<op##_of, T, true>(x, y, {out, parts, count}, cols, chunk); \
  } \
  extern "C" __global__ void __launch_bounds__(1024) op##_##T##_short(const T* x, const T* y, op##_of::Out<T>* out, op##_of::Part* parts, long long count, long long cols) { \
    reduce_short<op##_of, T>(x, y, {out, parts, count}, cols); \
  }

#define STRIPS(T, op, name, shifted) \
  extern "C" __global__ void __launch_bounds__(512, 2) op##_##T##_columns_##name(const T* x, op##_of::Out<T>* out, op##_of::Part* parts, long long count, long long reduce, long long inner, int rows_each, int splits, int cluster, \
                                                                                op##_of::Part* shares, unsigned* counters) { \
    reduce_columns_strips<op##_of, shifted, T>(x, {out, parts, count}, reduce, inner, rows_each, splits, cluster, shares, counters); \
  }
#define CLUSTER(T, op) \
  extern "C" __global__ void __launch_bounds__(256, 4) op##_##T##_columns_cluster(const T* x, op##_of::Out<T>* out, op##_of::Part* parts, long long count, long long reduce, long long inner, long long rows_per_split, \
                                                                                int cluster) { \
    reduce_columns_cluster<op##_of, LANES<T>, T>(x, {out, parts, count}, reduce, inner, rows_per_split, cluster); \
  } \
  STRIPS(T, op, strips, false) STRIPS(T, op, strips_shifted, true) \
  COLUMNS(T, op, shifted, LANES<T>, true, 6)
#define SLOTS_KERNEL(T, op, blocks) \
  extern "C" __global__ void __launch_bounds__(512, blocks) op##_##T##_slots(const T* x, const T* y, op##_of::Out<T>* out, op##_of::Part* parts, long long count, long long cols, int chunk, unsigned long long* slots) { \
    reduce_slots<op##_of, T>(x, y, {out, parts, count}, cols, chunk, slots); \
  }
#define SLOTS(op, blocks) SLOTS_KERNEL(f32, op, blocks) SLOTS_KERNEL(f16, op, blocks) SLOTS_KERNEL(bf16, op, blocks)
#define ROWS(op, blocks) ROW_KERNEL(f32, op, blocks) ROW_KERNEL(f16, op, blocks) ROW_KERNEL(bf16, op, blocks)
#define ALL(op, rows, columns) KERNELS(f32, op, columns) KERNELS(f16, op, columns) KERNELS(bf16, op, columns) ROWS(op, rows)

#define REDUCTION(op, ...) VALUES(op, __VA_ARGS__) }; ALL(op, 4, 6) SLOTS(op, 3) CLUSTER(f32, op) CLUSTER(f16, op) CLUSTER(bf16, op)
#define PRODUCT(op, ...) VALUES(op, __VA_ARGS__) static constexpr bool pair = true; }; ROWS(op, 2) SLOTS(op, 2)
#define POSITION(op, element_of) PLACES(op, element_of); ALL(op, 2, 4) SLOTS(op, 3)
#include "reduction/table.h"
