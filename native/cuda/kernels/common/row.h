// How a row-wise op is spread over the GPU. Kernels, for every dtype:
//   <op>_<t>_warp_<V>   one warp per row, V vectors of 16 bytes per lane
//   <op>_<t>_block_<V>, <op>_<t>_wide_8  one block per row; wide: of more than 256 threads
//   rows_<op>_<t>       many long rows (rows/shape.h); short ones are in softmax/shape.h and rows/several.h, and those that blocks take in turn in rows/stay.h
//   <op>_<t>_cluster   few rows of 4,096 to 8,192 vectors: a cluster of blocks per row (sm_90 and newer)
//   layer_norm_<t>_stay_<S>   many rows of 129 to 1,024 vectors that start on 16 bytes: blocks that take one row after another
//   <op>_<t>_part, <op>_<t>_join   rows longer than a block's registers, or too few rows to fill the GPU:
//                       chunks of 1024 vectors are summarised, then every chunk joins its row's summaries and writes
#pragma once
#include <algorithm>

#include "../elementwise/launch.h"
#include "../layer_norm.h"
#include "../plan.h"
#include "../rows/launch.h"

namespace opscope::cuda {

struct RowShape {
  enum class Kind { warp, block, cluster, chunks } kind;
  unsigned threads;  // per block
  int vectors;       // per thread
  int64_t blocks;
  int64_t chunks = 1;  // per row; blocks of a cluster
};

// Rows of so many vectors that are fewer than the multiprocessors take a cluster each. Shorter ones are as soon done by a block, longer ones sooner by parts
// (on an H200, f32: 65 rows of 8,192 vectors 14.1 us, by a block each 21.2; layer_norm of 131 rows of 16,385 53 us, by parts 37). So are some longer ones where there is nearly one for each multiprocessor
// (layer_norm f32 115x22359 19.2 to 15.8, bf16 120x40000 18.4 to 14.6, softmax bf16 125x40000 15.7 to 13.7; softmax f32 115x22359 16.5 and 19.1).
constexpr int64_t cluster_vectors_from = 4096, cluster_vectors_to = 8192, cluster_vectors_nearly = 6144;
// Blocks of a cluster that every GPU with clusters takes, and threads of one.
constexpr int64_t most_row_blocks = 8, most_row_threads = 512;

// A cluster for each row: no more blocks than fill the GPU twice, or than hold the row, four vectors per thread.
inline RowShape row_cluster(const Traits& device, int64_t rows, int64_t vectors) {
  int64_t blocks = 4;
  while (blocks < most_row_blocks && (ceil_div(vectors, blocks) > most_row_threads * 4 || rows * blocks < device.sm_count * 2)) blocks *= 2;
  return {RowShape::Kind::cluster, static_cast<unsigned>(ceil_div(ceil_div(ceil_div(vectors, blocks), 4), 32) * 32), 4, rows * blocks, blocks};
}

constexpr int64_t most_columns = int64_t{1} << 30;
constexpr unsigned chunk_threads = 256;
constexpr int chunk_vectors = 4;

// Vectors of a row from which a thread takes eight where rows are many: small blocks, so that more of them are at different steps. Norms keep weight and bias beside
// them (on an H200, bf16 8192x8192 of 1,024 vectors: log_softmax 70 us, with four 79; f32 4096x4096: layer_norm 43 us, with four 39).
constexpr int64_t eight_from = 512, eight_from_with_weights = 1024;
constexpr int64_t narrow_threads = 256;

// `weights`: whether the operation has some.
inline RowShape row_shape(const Traits& device, Dtype dtype, int64_t rows, int64_t cols, bool weights = true) {
  const int64_t lanes = 16 / static_cast<int64_t>(dtype_bytes(dtype));
  // A row that starts off a 16-byte boundary can touch one vector more.
  const int64_t vectors = cols % lanes == 0 ? cols / lanes : ceil_div(cols + lanes - 1, lanes);
  const auto warps = [](int64_t threads) { return static_cast<unsigned>(ceil_div(threads, 32) * 32); };
  if (vectors <= 128) {
    const int per_lane = vectors <= 32 ? 1 : vectors <= 64 ? 2 : 4;
    // Blocks as small as fill a multiprocessor (layer_norm f32 3000x500: 10.6 us, with four rows 13.0).
    const unsigned rows_per_block = rows < device.sm_count * 8 ? 1 : per_lane == 4 ? 2 : 4;
    return {RowShape::Kind::warp, rows_per_block * 32, per_lane, ceil_div(rows, rows_per_block)};
  }
  const bool few = rows <= device.sm_count / 4;
  // Nearly a row for each multiprocessor: a block each, but for softmax of f32.
  const bool nearly = (weights || lanes > 4) && rows * 5 >= device.sm_count * 4 && vectors <= cluster_vectors_nearly;
  if (device.major >= 9 && rows < device.sm_count && !nearly && vectors > cluster_vectors_from && vectors <= cluster_vectors_to) return row_cluster(device, rows, vectors);
  if (vectors > 8192 || (few && vectors >= 4096)) {
    const int64_t chunks = ceil_div(vectors, chunk_threads * chunk_vectors);
    return {RowShape::Kind::chunks, chunk_threads, chunk_vectors, rows * chunks, chunks};
  }
  // Few rows: as many threads as there are vectors. Many: more work per thread and more rows at a time.
  if (rows <= device.sm_count && vectors <= 1024) return {RowShape::Kind::block, warps(vectors), 1, rows};
  // With weights beside them, two vectors of a thread (log_softmax f32 20x8192 on an H200: 8.5 us, with four 7.5; layer_norm f32 38x6416 7.8 and 8.2).
  if (weights && rows <= device.sm_count && vectors <= 2048) return {RowShape::Kind::block, warps(ceil_div(vectors, 2)), 2, rows};
  // Ragged rows of 16 bits lose by eight (log_softmax bf16 10000x5001: 66 us, with four 55).
  if (vectors <= 2048 && (vectors <= (weights ? eight_from_with_weights : eight_from) || rows <= device.sm_count * 2 || cols % lanes != 0)) return {RowShape::Kind::block, warps(ceil_div(vectors, 4)), 4, rows};
  return {RowShape::Kind::block, warps(ceil_div(vectors, 8)), 8, rows};
}

// layer_norm by blocks that stay.
struct StayShape {
  int stages = 0;  // rows of a block in shared memory; 0: other kernels take the case
  unsigned threads = 0;
  int64_t blocks = 0, shared = 0;
};

// `lanes`: elements of 16 bytes. Shorter rows have a warp each, and few rows as many threads as they have vectors.
inline StayShape layer_norm_stays(int sm_count, int64_t lanes, int64_t rows, int64_t cols) {
  const int64_t vectors = cols / lanes;
  if (cols % lanes != 0 || vectors <= 128 || vectors > 1024 || rows < int64_t{sm_count} * 4) return {};
  const int64_t threads = (vectors + stay_vectors * 32 - 1) / (stay_vectors * 32) * 32;
  const int stages = threads <= 128 ? 3 : 2;
  // Blocks that fit at once: the registers of a multiprocessor hold 512 threads with four vectors of row, weight and bias each.
  const int64_t fit = sm_count * (512 / threads);
  return {stages, static_cast<unsigned>(threads), fit < rows ? fit : rows, stages * stay_vectors * threads * 16};
}

// What rows.cu does better: many rows so long that a block which keeps one in registers is alone on its multiprocessor (10367 rows of 22623 f32 on an H200: 48 % of the bandwidth).
inline bool from_rows(const Traits& device, int64_t lanes, int64_t rows, int64_t cols) {
  const int64_t vectors = ceil_div(cols, lanes);
  // So many rows that none is split (rows_split): rows.cu has no kernels for parts of these.
  return vectors > 4096 && vectors <= 8192 && rows >= device.sm_count * 4;
}

// Launches for `<op>` from `module`; `extra` are the op's inputs after x. Chunk summaries are two floats each.
template <class... Extra>
void plan_row_op(Planner& p, const char* module, const Extra&... extra) {
  const int64_t rows = p.dim(0), cols = p.dim(1);
  if (cols > most_columns) throw Error("unsupported", "The CUDA kernels for " + p.spec.op + " take rows of up to 2^30 elements.");
  // 1, or its logarithm, in every row of one element: the difference of an element and itself is 0, or NaN where it is not finite.
  if (cols == 1 && p.spec.op == "softmax") {
    p.launch(p.kernel_in(module, "softmax_" + p.dtype() + "_single"), {blocks_of(p.spec.dtype, rows)}, 256, 0, p.input(0), p.output(), static_cast<long long>(rows));
    return;
  }
  if (cols == 1 && p.spec.op == "log_softmax") return launch_elementwise(p, "sub_" + p.dtype(), p.spec.dtype, rows, p.input(0), p.input(0));
  if (from_rows(p.device, lanes_of(p.spec.dtype), rows, cols)) {
    launch_rows(p, arguments_of(p, rows, cols));
    return;
  }
  const RowShape shape = row_shape(p.device, p.spec.dtype, rows, cols, sizeof...(extra) > 0);
  const auto kernel = [&](const std::string& name) { return p.kernel_in(module, p.spec.op + "_" + p.dtype() + name); };
  const Dim3 grid{shape.blocks};
  const auto r = static_cast<long long>(rows);
  const auto c = static_cast<int>(cols);
  if (shape.kind == RowShape::Kind::chunks) {
    const CUdeviceptr summaries = p.workspace(shape.blocks * 8);
    const auto chunks = static_cast<int>(shape.chunks);
    p.launch(kernel("_part"), grid, shape.threads, 0, p.input(0), summaries, c, chunks);
    p.launch(kernel("_join"), grid, shape.threads, 0, p.input(0), extra..., p.output(), summaries, c, chunks).early(p.device);
    return;
  }
  if (shape.kind == RowShape::Kind::cluster) {
    p.launch(kernel("_cluster"), grid, shape.threads, 0, p.input(0), extra..., p.output(), c, static_cast<int>(shape.chunks)).cluster(static_cast<unsigned>(shape.chunks));
    return;
  }
  const std::string kind = shape.kind == RowShape::Kind::warp ? "_warp_" : shape.vectors == 8 && shape.threads > narrow_threads ? "_wide_" : "_block_";
  Launch& launch = p.launch(kernel(kind + std::to_string(shape.vectors)), grid, shape.threads, 0, p.input(0), extra..., p.output(), r, c);
  if (p.spec.op == "layer_norm") launch.always_waits();
}

}  // namespace opscope::cuda
