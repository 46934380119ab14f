#include "scaled_dot_product_attention.plan.h"

#include "attention_f32_wgmma.h"
#include "attention_short_choice.h"
#include "attention_small.h"

#include <algorithm>
#include <cmath>

#include "tensor_map.h"

namespace opscope::cuda {

namespace {

// dims: [batch, heads, kvHeads, seqQ, seqK, headDim, causal].
std::vector<TensorShape> tensors(const OpKernels&, const Dims& d) {
  const bool sensible = d[2] >= 1 && d[2] <= d[1] && d[1] % d[2] == 0;
  const int64_t q = sensible ? d[0] * d[1] * d[3] * d[5] : 0, k = sensible ? d[0] * d[2] * d[4] * d[5] : 0;
  return {in(q), in(k), in(k), out(q)};
}

// Where blocks leave their shares of keys; 0 where keys are not split.
CUdeviceptr shares_of(Planner& p, const AttentionSizes& sizes) { return sizes.splits > 1 ? p.workspace(sizes.batch_heads * sizes.queries * sizes.splits * (sizes.dim + 2) * 4) : 0; }

// Splits the keys of `blocks` blocks of `sizes` where they are few. Where the shares go; 0 where keys are not split.
CUdeviceptr split_keys(Planner& p, AttentionSizes& sizes, int64_t blocks, int64_t keys, int64_t least = 4, int64_t resident = 2) {
  sizes.splits = attention_splits(p.device.sm_count, blocks, ceil_div(attention_keys_seen(sizes), keys), least, resident);
  return shares_of(p, sizes);
}

void join_shares(Planner& p, const AttentionSizes& sizes, CUdeviceptr shares) {
  if (sizes.splits == 1) return;
  const int64_t rows = sizes.batch_heads * sizes.queries;
  if (attention_joins_wide(p.device.sm_count, rows)) p.launch(p.kernel("attention_join_wide_" + p.dtype()), {rows}, 256, 0, shares, p.output(), sizes).early(p.device);
  else p.launch(p.kernel("attention_join_" + p.dtype()), {ceil_div(rows, 4)}, 128, 0, shares, p.output(), sizes).early(p.device);
}

// Kernels wait in parts of composites alone (common/attention_output.cuh).
void mark(Launch& launch, const AttentionSizes& sizes) {
  if (sizes.tokens_first) launch.always_waits();
}

// `queries`, `keys`: of a block's tiles. Launches `kernel`, and where keys are split the join.
void launch_attention(Planner& p, AttentionSizes sizes, int64_t queries, int64_t keys, unsigned threads, CUfunction kernel, unsigned shared) {
  const int64_t blocks = sizes.batch_heads * ceil_div(sizes.queries, queries);
  const CUdeviceptr shares = split_keys(p, sizes, blocks, keys);
  mark(p.launch(kernel, {blocks * sizes.splits}, threads, shared, p.input(0), p.input(1), p.input(2), p.output(), sizes, shares), sizes);
  join_shares(p, sizes, shares);
}

// A few queries of a head (attention_few.cu).
void plan_few(Planner& p, AttentionSizes sizes, int vectors) {
  const int warps = attention_few_warps(p.device.sm_count, sizes, vectors);
  const int64_t rows = sizes.batch_heads * sizes.queries;
  const CUfunction kernel = p.kernel_in("attention_few", "attention_few_" + p.dtype() + "_" + std::to_string(vectors) + "_" + std::to_string(warps));
  const CUdeviceptr shares = warps == 1 ? 0 : split_keys(p, sizes, rows, warps == 4 ? 64 : 32 * attention_few_together(vectors), warps == 4 ? 4 : 12);
  mark(p.launch(kernel, {warps == 1 ? ceil_div(rows, attention_few_rows) : rows * sizes.splits}, warps == 1 ? attention_few_rows * 32 : warps * 32, 0, p.input(0), p.input(1), p.input(2), p.output(), sizes, shares), sizes);
  join_shares(p, sizes, shares);
}

// Few queries whose keys all arrive at once (attention_small.cu).
void plan_small(Planner& p, const AttentionSizes& s, int vectors, const AttentionSmallShape& shape) {
  constexpr double log2e = 1.4426950408889634;
  const int lanes = 16 / static_cast<int>(dtype_bytes(p.spec.dtype));
  const AttentionSmall a = {s.dim, s.dim / lanes, static_cast<int>(attention_keys_seen(s)), static_cast<float>(log2e / std::sqrt(static_cast<double>(s.dim))), s.keys * s.dim, divide_by(s.queries), divide_by(s.group)};
  const std::string name = "attention_small_" + p.dtype() + "_" + std::to_string(vectors) + "_" + std::to_string(shape.together) + "_" + std::to_string(shape.warps);
  p.launch(p.kernel_in("attention_small", name), {s.batch_heads * s.queries}, static_cast<unsigned>(shape.warps) * 32, 0, p.input(0), p.input(1), p.input(2), p.output(), a);
}

// A warp for 16 queries (attention_warp.cu).
void plan_warp(Planner& p, AttentionSizes sizes) {
  const auto element_bytes = static_cast<int>(dtype_bytes(p.spec.dtype));
  const AttentionWarps chosen = attention_warps(p.device.sm_count, p.device.shared_bytes_per_block, sizes, element_bytes);
  sizes.splits = chosen.splits;
  const int dim = attention_warp_dim(p.device.sm_count, sizes, element_bytes), parts = attention_warp_parts(dim);
  const int64_t tiles = sizes.batch_heads * ceil_div(sizes.queries, attention_warp_queries);
  const CUdeviceptr shares = shares_of(p, sizes), arrivals = sizes.splits > 1 ? p.workspace(tiles * 4) : 0;
  const int64_t blocks = chosen.sharing == 1 ? ceil_div(tiles, attention_warp_tiles(dim)) : tiles * sizes.splits;
  const long long staying = attention_warp_staying(p.device.sm_count, sizes, element_bytes, chosen);
  const unsigned threads = chosen.sharing == 1 ? attention_warp_tiles(dim) * parts * 32 : static_cast<unsigned>(chosen.sharing) * 32, bytes = attention_warp_bytes(sizes, chosen.sharing);
  mark(p.launch(p.kernel_in("attention_warp", "attention_warp_" + p.dtype() + "_" + std::to_string(dim) + "_" + std::to_string(chosen.sharing) + (staying > 0 ? "_stays" : ""), bytes), {staying > 0 ? int64_t{staying} : blocks}, threads, bytes, p.input(0), p.input(1), p.input(2), p.output(), sizes,
                shares, arrivals), sizes);
}

// A warp for the queries of several heads (attention_packed.cu).
void plan_packed(Planner& p, AttentionSizes sizes, int together) {
  sizes.together = together;
  const int dim = attention_packed_dim(sizes.dim);
  p.launch(p.kernel_in("attention_packed", "attention_packed_" + p.dtype() + "_" + std::to_string(dim)), {ceil_div(ceil_div(sizes.batch_heads, together), attention_warp_tiles(dim))}, 128, 0, p.input(0), p.input(1), p.input(2),
           p.output(), sizes);
}

// A warp for many queries of a few keys (attention_stream.cu).
void plan_stream(Planner& p, const AttentionSizes& sizes, long long run) {
  const int dim = sizes.dim <= 32 ? 32 : sizes.dim <= 64 ? 64 : 128;
  const int64_t runs = ceil_div(ceil_div(sizes.queries, attention_warp_queries), run);
  mark(p.launch(p.kernel_in("attention_stream", "attention_stream_" + p.dtype() + "_" + std::to_string(dim)), {ceil_div(sizes.batch_heads * runs, 4)}, 128, 0, p.input(0), p.input(1), p.input(2), p.output(), sizes,
                static_cast<int>(run), static_cast<int>(runs)), sizes);
}

// A warp for many queries of up to four keys (attention_line.cu).
void plan_line(Planner& p, const AttentionSizes& sizes, const AttentionLine& line) {
  const int64_t runs = ceil_div(sizes.queries, line.run);
  mark(p.launch(p.kernel_in("attention_line", "attention_line_" + p.dtype() + "_" + std::to_string(line.keys) + "_" + std::to_string(line.vectors)), {ceil_div(sizes.batch_heads * runs, 4)}, 128, 0, p.input(0), p.input(1), p.input(2),
                p.output(), sizes, static_cast<int>(line.run), static_cast<int>(runs)), sizes);
}

// Tensors as Hopper's copy engine takes them: boxes of so many queries and keys, of copies where rows do not start on 16 bytes.
struct Maps {
  CUtensorMap q, k, v;
};
Maps maps_of(Planner& p, const AttentionSizes& s, int64_t queries, int64_t keys, bool exact = false) {
  const int64_t kv_heads = s.batch_heads / s.heads * s.kv_heads, pitch = attention_pitch(s), of_q = s.batch_heads * s.queries, of_k = kv_heads * s.keys;
  CUdeviceptr q = p.input(0), k = p.input(1), v = p.input(2);
  if (pitch != s.dim) {
    const CUdeviceptr copies = p.workspace((of_q + 2 * of_k) * pitch * 2);
    const auto vectors = static_cast<int>(pitch / 8);
    p.launch(p.kernel_in("attention_rows", "attention_rows"), {ceil_div((of_q + 2 * of_k) * vectors, 256)}, 256, 0, q, k, v, copies, static_cast<long long>(of_q), static_cast<long long>(of_k), s.dim, vectors).always_waits();
    q = copies, k = q + of_q * pitch * 2, v = k + of_k * pitch * 2;
  }
  const auto of_keys = [&](CUdeviceptr x, int64_t rows) { return tensor_map(x, p.spec.dtype, {kv_heads, s.keys, s.dim, pitch}, static_cast<unsigned>(rows)); };
  return {tensor_map(q, p.spec.dtype, {s.batch_heads, s.queries, s.dim, pitch}, static_cast<unsigned>(exact ? std::min<int64_t>(queries, s.queries) : queries)), of_keys(k, exact ? std::min<int64_t>(keys, s.keys) : keys), of_keys(v, keys)};
}

// Hopper's tensor cores for 16-bit types (attention_wgmma.cu).
void plan_wgmma(Planner& p, AttentionSizes sizes, const AttentionTile& tile) {
  const int64_t blocks = sizes.batch_heads * ceil_div(sizes.queries, tile.queries);
  const CUdeviceptr shares = split_keys(p, sizes, blocks, tile.keys, attention_wgmma_least_split(tile.dim, sizes.causal, blocks * 3 > p.device.sm_count), 1);
  const Maps maps = maps_of(p, sizes, tile.queries, tile.keys);
  const auto cells = static_cast<long long>(blocks * sizes.splits);
  const auto bytes = static_cast<unsigned>(attention_wgmma_bytes(tile));
  mark(p.launch(p.kernel_in("attention_wgmma", "attention_wgmma_" + p.dtype() + "_" + std::to_string(tile.dim) + "_" + std::to_string(tile.queries) + "_" + std::to_string(tile.keys), bytes), {attention_wgmma_blocks(p.device.sm_count, sizes, cells)},
                static_cast<unsigned>(tile.queries * 2 + 128), bytes, maps.q, maps.k, maps.v, p.output(), sizes, shares, attention_heads_together(sizes), cells), sizes);
  join_shares(p, sizes, shares);
}

// Results that the copy engine writes, by groups of 64 queries; where it does not (attention_group.cuh), any map.
CUtensorMap map_of_results(Planner& p, const AttentionSizes& s, const Maps& maps) {
  return s.dim % 8 == 0 ? tensor_map(p.output(), p.spec.dtype, {s.batch_heads, s.queries, s.dim, s.dim}, attention_group_queries) : maps.q;
}

// The same for heads of few tiles of keys (attention_flow.cu).
void plan_flow(Planner& p, const AttentionSizes& sizes, const AttentionTile& tile) {
  const int64_t cells = sizes.batch_heads * ceil_div(sizes.queries, tile.queries);
  const Maps maps = maps_of(p, sizes, attention_group_queries, tile.keys);
  const auto bytes = static_cast<unsigned>(attention_flow_bytes(tile));
  mark(p.launch(p.kernel_in("attention_flow", "attention_flow_" + p.dtype() + "_" + std::to_string(tile.dim) + "_" + std::to_string(tile.queries) + "_" + std::to_string(tile.keys), bytes), {std::min<int64_t>(cells, p.device.sm_count)},
                static_cast<unsigned>(tile.queries * 2 + 128), bytes, maps.q, maps.k, maps.v, map_of_results(p, sizes, maps), p.output(), sizes), sizes);
}

// Blocks of 64 or 128 queries, several of a multiprocessor (attention_short.cu).
void plan_short(Planner& p, const AttentionSizes& sizes, const AttentionTile& tile) {
  const int64_t blocks = sizes.batch_heads * ceil_div(sizes.queries, tile.queries);
  const Maps maps = maps_of(p, sizes, tile.queries, tile.keys, true);
  const auto bytes = static_cast<unsigned>(attention_short_bytes(tile));
  mark(p.launch(p.kernel_in("attention_short", "attention_short_" + p.dtype() + "_" + std::to_string(tile.dim) + "_" + std::to_string(tile.queries) + "_" + std::to_string(tile.keys), bytes), {blocks},
                static_cast<unsigned>(tile.queries * 2), bytes, maps.q, maps.k, maps.v, map_of_results(p, sizes, maps), p.output(), sizes, attention_apart(sizes)), sizes);
}

// Blocks that hold the keys of a head and go along its queries (attention_held.cu).
void plan_held(Planner& p, const AttentionSizes& sizes, const AttentionHeld& held) {
  const Maps maps = maps_of(p, sizes, attention_group_queries, attention_held_keys);
  const auto bytes = static_cast<unsigned>(held.bytes);
  mark(p.launch(p.kernel_in("attention_held", "attention_held_" + p.dtype() + "_" + std::to_string(held.dim) + "_" + std::to_string(held.groups), bytes), {sizes.batch_heads * held.runs},
                static_cast<unsigned>(held.groups * 128), bytes, maps.q, maps.k, maps.v, p.output(), sizes, static_cast<int>(held.run), static_cast<int>(held.runs), attention_apart(sizes)), sizes);
}

// Heads of 16 bits with blocks of Hopper's warp groups. Whether they are the faster.
bool plan_groups(Planner& p, const AttentionSizes& sizes) {
  if (const AttentionHeld held = attention_held(p.device.sm_count, sizes); held.dim > 0) return plan_held(p, sizes, held), true;
  if (const AttentionTile tile = attention_short_tile(p.device.sm_count, sizes); tile.dim > 0) return plan_short(p, sizes, tile), true;
  return false;
}

void plan_mma(Planner& p, const AttentionSizes& sizes, const AttentionTile& tile) {
  const auto bytes = static_cast<unsigned>(attention_mma_bytes(tile));
  launch_attention(p, sizes, tile.queries, tile.keys, 128, p.kernel_in("attention_mma", "attention_mma_" + p.dtype() + "_" + std::to_string(tile.dim), bytes), bytes);
}

// Tensor cores, three products for one (attention_f32.cu, attention_f32_wide.cu).
void plan_f32(Planner& p, const AttentionSizes& sizes, const AttentionTile& tile) {
  const auto bytes = static_cast<unsigned>(attention_f32_bytes(tile));
  const std::string dim = std::to_string(tile.dim);
  if (attention_f32_is_wide(tile)) launch_attention(p, sizes, tile.queries, tile.keys, 256, p.kernel_in("attention_f32_wide", "attention_f32_wide_" + dim, bytes), bytes);
  else launch_attention(p, sizes, tile.queries, tile.keys, 128, p.kernel_in("attention_f32", "attention_f32_" + dim + "_" + std::to_string(tile.queries), bytes), bytes);
}

// Hopper's tensor cores for f32 (attention_f32_wgmma.cu).
void plan_f32_wgmma(Planner& p, AttentionSizes sizes) {
  const int dim = attention_f32_wgmma_dim(sizes.dim), tiles = attention_f32_wgmma_tiles(sizes);
  const int64_t blocks = sizes.batch_heads * ceil_div(sizes.queries, attention_f32_wgmma_queries);
  sizes.splits = attention_f32_wgmma_splits(p.device.sm_count, sizes, blocks, attention_f32_wgmma_keys);
  const CUdeviceptr shares = shares_of(p, sizes);
  const int64_t cells = blocks * sizes.splits;
  const CUtensorMap map = tensor_map(p.input(0), p.spec.dtype, {sizes.batch_heads, sizes.queries, sizes.dim, sizes.dim}, attention_group_queries);
  const auto bytes = static_cast<unsigned>(attention_f32_wgmma_bytes(dim));
  mark(p.launch(p.kernel_in("attention_f32_wgmma", "attention_f32_wgmma_" + std::to_string(dim) + "_" + std::to_string(tiles), bytes), {attention_f32_wgmma_blocks(p.device.sm_count, sizes, cells)}, 384, bytes, map, p.input(1), p.input(2),
                p.output(), sizes, shares, static_cast<unsigned>(cells), attention_heads_together(sizes)), sizes);
  join_shares(p, sizes, shares);
}

}  // namespace

void plan_attention(Planner& p, bool tokens_first) {
  const int64_t group = p.dim(1) / p.dim(2);
  AttentionSizes sizes = {p.dim(0) * p.dim(1), p.dim(1), p.dim(2), p.dim(3), p.dim(4), p.dim(3), static_cast<int>(p.dim(5)), static_cast<int>(p.dim(6)), 1, tokens_first};
  // The queries of heads that share their keys lie together: where they are few, or all see the same keys, they share blocks as well.
  if (group > 1 && (sizes.queries < 64 || !sizes.causal)) {
    sizes.batch_heads /= group;
    sizes.heads = sizes.kv_heads;
    sizes.queries *= group;
    if (!sizes.causal) sizes.period = sizes.queries;
  }
  sizes.group = static_cast<int>(sizes.heads / sizes.kv_heads);
  sizes.of_head = (tokens_first ? 1 : sizes.queries) * sizes.dim;
  sizes.of_query = (tokens_first ? sizes.heads : 1) * sizes.dim;
  sizes.of_batch = sizes.heads * (sizes.queries - 1) * sizes.dim;
  if (tokens_first) sizes.by_heads = divide_by(sizes.heads), sizes.by_queries = divide_by(sizes.queries);
  const auto bytes_of_element = static_cast<int>(dtype_bytes(p.spec.dtype)), lanes = 16 / bytes_of_element;
  const bool hopper = p.device.major == 9 && p.device.minor == 0;
  if (hopper && p.spec.dtype == Dtype::f32 && attention_takes_f32_wgmma(p.device.sm_count, sizes)) return plan_f32_wgmma(p, sizes);
  if (const int together = attention_together(p.device.sm_count, sizes, bytes_of_element); together > 1) return plan_packed(p, sizes, together);
  if (const int vectors = attention_few_vectors(lanes, sizes); vectors > 0 && attention_takes_few(p.device.sm_count, sizes, bytes_of_element)) {
    if (const AttentionSmallShape shape = attention_small_shape(p.device.sm_count, sizes, bytes_of_element, vectors); shape.warps > 0) return plan_small(p, sizes, vectors, shape);
    return plan_few(p, sizes, vectors);
  }
  if (const AttentionLine line = attention_line(p.device.sm_count, sizes, bytes_of_element); line.keys > 0) return plan_line(p, sizes, line);
  if (const long long run = attention_stream_run(p.device.sm_count, sizes, bytes_of_element); run > 0) return plan_stream(p, sizes, run);
  const int64_t room = p.device.shared_bytes_per_block;
  if (hopper && p.spec.dtype != Dtype::f32 && plan_groups(p, sizes)) return;
  if (attention_takes_warps(p.device.sm_count, room, sizes, bytes_of_element)) return plan_warp(p, sizes);
  if (p.spec.dtype == Dtype::f32) {
    if (const AttentionTile tile = attention_f32_tile(p.device.sm_count, room, sizes); tile.dim > 0) return plan_f32(p, sizes, tile);
    // Long heads that the tiles have no room for.
    if (sizes.dim <= 256 && sizes.dim % lanes == 0) return plan_warp(p, sizes);
  } else {
    if (const AttentionTile tile = attention_wgmma_tile(p.device.sm_count, sizes); tile.dim > 0 && hopper) {
      if (const AttentionTile flow = attention_flow_tile(p.device.sm_count, sizes); flow.dim > 0) return plan_flow(p, sizes, flow);
      return plan_wgmma(p, sizes, tile);
    }
    if (const AttentionTile tile = attention_mma_tile(room, sizes); tile.dim > 0) return plan_mma(p, sizes, tile);
  }
  const int keys = attention_any_keys(room, sizes.dim);
  if (keys == 0)
    throw Error("unsupported", "The CUDA kernel for attention keeps queries and keys in shared memory: headDim " + std::to_string(sizes.dim) + " is too large for this GPU. Choose one of up to " + std::to_string(attention_any_most_dim(room)) + ".");
  const auto bytes = static_cast<unsigned>(attention_any_bytes(keys, sizes.dim));
  launch_attention(p, sizes, attention_any_queries, keys, 256, p.kernel("scaled_dot_product_attention_" + p.dtype() + (keys < 32 ? "_8" : ""), bytes), bytes);
}

namespace {

void plan(Planner& p) { plan_attention(p, false); }

const Register registered({"scaled_dot_product_attention", real_dtypes, {7}, tensors, plan});

}  // namespace

}  // namespace opscope::cuda
