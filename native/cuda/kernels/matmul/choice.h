// Which kernel a product takes. Pure; see test/choices_test.cc.
#pragma once
#include "../../driver/context.h"
#include "../common/few_launch.h"
#include "prepared.h"
#include "deep.h"
#include "direct.h"
#include "each.h"
#include "f32.h"
#include "few.h"
#include "long.h"
#include "narrow.h"
#include "narrow_split.h"
#include "panels.h"
#include "resident.h"
#include "shallow.h"
#include "shifted.h"
#include "runs.h"
#include "short.h"
#include "several.h"
#include "slab.h"
#include "slim.h"
#include "small.h"
#include "small_tf32.h"
#include "stream.h"
#include "tall.h"
#include "unaligned.h"
#include "vectors.h"
#include "wide.h"

namespace opscope::cuda {

enum class ProductKernel {
  few,        // matmul_few: few multiplications
  vectors,    // matmul_vectors: f16, bf16 and tf32 with m or n of up to 4
  wide,       // matmul_wide: f16, bf16 and tf32 with a short k and long rows of results
  deep,       // matmul_deep: few results and a long k
  slab,       // matmul_slab_f32: f32 with a short k where both sides have more than a few rows
  short_k,    // matmul_short: f16, bf16 and tf32 with a short k and a large result
  short_f32,  // matmul_short_f32: f32 with a short k, and tf32 with up to 4 of it
  stream,     // matmul_stream, matmul_stream_f32: m or n of a few elements, and a large operand whose rows other kernels do not read as fast
  narrow_split,  // matmul_narrow_split: m or n of 5 to 32, k of up to 512, and few columns of a matrix whose k is not contiguous
  slim,       // matmul_slim_f32: f32 with m or n of up to 72
  narrow,     // matmul_narrow: m or n of a few elements and a short k
  skinny,     // matmul_skinny: m or n of a few elements
  shallow,    // matmul_shallow: f16 and bf16 with up to 8 of k and few rows, or whole vectors in rows
  each,       // matmul_each: other narrow results of a short k
  tall,       // matmul_tall: f16, bf16 and tf32 with one long side, a few dozen of the other, a short k and rows that start on 16 bytes
  resident,   // matmul_resident: f16, bf16 and tf32 on sm_90 with one long side, up to 128 of the other, a short k and a long operand whose rows start on 16 bytes
  long_side,  // matmul_long: f16, bf16 and tf32 on sm_90 with one long side, a short k and rows that do not start on 16 bytes
  tiles,      // others, by tile_kernel
};

enum class TileKernel {
  runs,       // matmul_f32_runs: f32 on sm_90 by large tiles, in equal runs of their stages where whole tiles do not fill the GPU
  slab,       // matmul_slab_f32, as above
  several,    // matmul_f32_several: f32 on sm_90 with 9 to 20,000 of k, where it is faster than the tiles below
  f32,        // matmul_f32: f32 on sm_90, products that fill the GPU; operands whose rows do not start on 16 bytes are copied so first, and those with k contiguous turned, where the
              // product is large enough to pay for it; matmul_f32_copied: threads copy them, where it is not; matmul_f32_even: blocks share tiles that would not fill the GPU
  f32_small,  // matmul_f32_small: f32 of a few tiles
  simt,       // matmul_simt: other f32
  direct,     // matmul_direct: f16 and bf16 of few results, with rows that start on 16 bytes
  unaligned,  // matmul_unaligned_<dtype>: tf32 of few tiles and a long k, with an operand whose rows do not start on 16 bytes; a large matrix times 4 to 16 vectors, where kernels that stream it are slower
  panels,     // matmul_panels_<dtype>: f16, bf16 and tf32 with a short k, whatever the alignment of rows
  shifted,    // matmul_shifted_<dtype>: f16, bf16, tf32 on sm_90 with a large operand whose rows do not start on 16 bytes and a shorter other side
  middle,     // matmul_small: f16 and bf16 whose rows do not start on 16 bytes, with a large operand that few blocks use, or up to 128 of k and few blocks, in blocks of 64 x 64 results
  small,      // the same of a few tiles and a short k, in blocks of 32 x 32
  small_joined,  // the same of a longer k, which blocks of a cluster share
  small_tf32,  // matmul_small_tf32: tf32 of few multiplications
  wgmma,      // matmul_wgmma_<dtype>: f16, bf16, tf32 on sm_90; operands whose rows do not start on 16 bytes are copied so first, where the product is large enough to pay for it
  mma,        // matmul_mma: other f16, bf16, tf32
};

// What the kernels that were chosen take: of the others it may say anything.
struct ProductChoice {
  ProductKernel kernel = ProductKernel::tiles;
  FewLaunch few = {};
  VectorsPlan vectors = {};
  WidePlan wide = {};
  DeepPlan deep = {};
  StreamPlan stream = {};
  NarrowSplitPlan narrow_split = {};
  TallPlan tall = {};
  ResidentPlan resident = {};
  SlimPlan slim = {};
  NarrowPlan narrow = {};
  LongPlan long_side = {};
};

inline bool has_wgmma(const Traits& device) { return device.major == 9 && device.minor == 0; }

inline bool takes_several(const Traits& device, const ProductShape& s, bool only_tiles = false) { return has_wgmma(device) && is_several(device.sm_count, device.shared_bytes_per_block, s, only_tiles); }

// In the place of matmul_slim_f32.
inline bool takes_several_of_slim(const Traits& device, const ProductShape& s, const SlimPlan& slim) {
  constexpr int least_side = 17;
  constexpr double slower = 1.1, start = 2.5;  // of the cost of slim tiles, which has no launch in it, in microseconds
  if (slim.few == 0 || std::min(s.m, s.n) < least_side || !takes_several(device, s, true)) return false;
  return several_plan(device.sm_count, s).cost < slim.cost / 1000 * slower + start;
}

inline bool takes_runs(const Traits& device, const ProductShape& s) { return has_wgmma(device) && is_runs(device.sm_count, device.shared_bytes_per_block, s); }

inline bool takes_panels(const Traits& device, Dtype dtype, const ProductShape& s) {
  if (dtype != Dtype::tf32) return takes_panels_16(device.sm_count, s);
  // Of few terms, in the place of matmul_unaligned, whose stages would be mostly empty.
  constexpr int few_terms = 16;
  return is_panels_tf32(s) || (s.k <= few_terms && unaligned_pays_few(device.sm_count, device.shared_bytes_per_block, 4, s));
}

// Two to eight vectors (four in 16 bits) with k contiguous and a large matrix, all rows on 16 bytes: the copy engine reads both as they lie, no more rows than there are. Bounds are where it was faster than kernels that stream
// the matrix (NOTES.md).
inline bool takes_wgmma_few(const Traits& device, Dtype dtype, const ProductShape& s) {
  if (!has_wgmma(device) || dtype == Dtype::f32) return false;
  const bool tf32 = dtype == Dtype::tf32, columns = s.n < s.m, rows = columns ? !s.trans_a : s.trans_b, few_rows = columns ? s.trans_b : !s.trans_a;  // k is contiguous in the matrix; in the vectors
  const int few = std::min(s.m, s.n), most = tf32 ? 8 : 4, least_k = tf32 ? 1024 : 4096;
  const double least_bytes = tf32 ? 6e7 : 3e7;
  const auto bytes = static_cast<int64_t>(dtype_bytes(dtype));
  if (few < 2 || few > most || s.k < least_k || !few_rows || (!rows && (tf32 || columns)) || !rows_aligned_a(s, bytes) || !rows_aligned_b(s, bytes)) return false;
  return static_cast<double>(s.batch) * std::max(s.m, s.n) * s.k * static_cast<double>(bytes) >= least_bytes;
}

inline FewLaunch few_choice(const Traits& device, Dtype dtype, const ProductShape& s) {
  const auto bytes = static_cast<int64_t>(dtype_bytes(dtype));
  const bool aligned = bytes == 2 && rows_aligned_a(s, 2) && rows_aligned_b(s, 2), streamed = is_skinny(s, bytes == 4) && skinny_plan(device.sm_count, bytes, s).k_contiguous;
  return few_product(device.sm_count, s.batch * s.m * s.n, s.k, aligned, streamed, bytes == 2);
}

inline ProductChoice product_choice(const Traits& device, Dtype dtype, const ProductShape& s) {
  const auto bytes = static_cast<int64_t>(dtype_bytes(dtype));
  const int64_t shared = device.shared_bytes_per_block;
  const bool tf32 = dtype == Dtype::tf32, tensor_cores = dtype != Dtype::f32;
  ProductChoice c;
  const auto take = [&](ProductKernel kernel) {
    c.kernel = kernel;
    return c;
  };
  if (tensor_cores) c.vectors = vectors_plan(device.sm_count, device.major >= 9, bytes, s);
  if (c.vectors.vectors > 0) return take(ProductKernel::vectors);
  c.few = few_choice(device, dtype, s);
  if (c.few.taken) return take(ProductKernel::few);
  if (bytes == 2 && direct_plan(device.sm_count, s).rows > 0) return c;
  if (takes_wgmma_few(device, dtype, s)) return c;
  if (tf32 && small_plan_tf32(device.sm_count, device.major >= 9, shared, s).rows > 0) return c;
  if (bytes == 2 && small_joined(device.sm_count, device.major >= 9, s) > 1) return c;
  if (tensor_cores) c.wide = wide_plan(device.sm_count, bytes, s);
  if (c.wide.words > 0) return take(ProductKernel::wide);
  if (tensor_cores && has_wgmma(device)) c.resident = resident_plan(device.sm_count, shared, bytes, s);
  if (tensor_cores) c.tall = tall_plan(device.sm_count, shared, bytes, s);
  // Of fewer terms matmul_short was not timed beside it.
  constexpr int least_resident_k_tf32 = 32;
  const bool keeps_short = is_short(bytes, s) && (bytes == 2 || s.k < least_resident_k_tf32);
  if (c.resident.lines > 0 && !keeps_short && !(c.tall.chunks > 0 && tall_before_resident(bytes, s))) return take(ProductKernel::resident);
  if (c.tall.chunks > 0) return take(ProductKernel::tall);
  if (tensor_cores && (takes_panels(device, dtype, s) || unaligned_pays_few(device.sm_count, shared, bytes, s))) return c;
  const int few = std::min(s.m, s.n), length = std::max(s.m, s.n);
  const bool rows = s.n < s.m ? !s.trans_a : s.trans_b, long_aligned = s.n < s.m ? rows_aligned_a(s, bytes) : rows_aligned_b(s, bytes);  // k is contiguous in the long matrix; its rows start on 16 bytes
  // Small ones of 16 bits are done by blocks that load all of k at once.
  constexpr int least_small = 5;
  if (bytes == 2 && !rows && few >= least_small && few <= most_narrow_16 && ((s.batch * up(s.m, small_tile) * up(s.n, small_tile) <= device.sm_count && is_small(device.sm_count, s)) || is_small_of_few(device.sm_count, s))) return c;
  // f32 of a few tiles, whose k a cluster shares.
  constexpr int least_shared = 8, most_shared_length = 1024, least_shared_k = 128;
  if (dtype == Dtype::f32 && device.major >= 9 && !rows && few >= least_shared && few <= most_vectors && length * s.batch <= most_shared_length && s.k >= least_shared_k && s.k <= 1024) return c;
  // tf32 with k contiguous in rows that start on 16 bytes, which wgmma reads as they lie.
  constexpr int least_wgmma = 9, least_wgmma_k = 33;
  constexpr double least_wgmma_bytes = 2e7;
  // Fewer where parts of a long k are all that there is to share.
  constexpr int fewer_wgmma = 2, most_wgmma_length = 512, long_wgmma_k = 20'000;
  const bool shares_k = length <= most_wgmma_length && s.k >= long_wgmma_k;
  if (tf32 && rows && long_aligned && has_wgmma(device) && few >= (shares_k ? fewer_wgmma : least_wgmma) && few <= most_vectors && s.k >= least_wgmma_k && static_cast<double>(s.batch * length) * s.k * 4 >= least_wgmma_bytes && wgmma_pays(s, true)) return c;
  // A long matrix off 16 bytes times more vectors than the kernels below read as fast.
  if (tensor_cores && has_wgmma(device) && std::min(s.m, s.n) < few_of_shifted && shifted_pays(s, bytes)) return c;
  c.narrow_split = narrow_split_plan(device.sm_count, shared, bytes, s);
  const bool splits = c.narrow_split.vectors > 0;
  if (splits && narrow_split_small(bytes, s)) return take(ProductKernel::narrow_split);
  c.stream = stream_plan(device.sm_count, bytes, tensor_cores, s);
  c.deep = deep_plan(device.sm_count, shared, bytes, tensor_cores, c.stream.vectors > 0, s);
  if (c.deep.x > 0) return take(ProductKernel::deep);
  if (dtype == Dtype::f32 && (takes_runs(device, s) || takes_several(device, s))) return c;
  if (dtype == Dtype::f32 && is_slab(shared, s)) return take(ProductKernel::slab);
  if (tensor_cores && is_short(bytes, s)) return take(ProductKernel::short_k);
  if (bytes == 4 && is_short_f32(s, tf32)) return take(ProductKernel::short_f32);
  c.slim = slim_plan(device.sm_count, shared, s);
  if (dtype == Dtype::f32 && takes_several_of_slim(device, s, c.slim)) return c;
  const bool slims = !tensor_cores && c.slim.few > 0;
  // f32 of more than eight vectors whose rows of k are long.
  constexpr int least_slim_rows = 9, most_slim_rows = 16, long_slim_k = 200;
  if (c.stream.vectors > 0) return take(slims && rows && few >= least_slim_rows && few <= most_slim_rows && s.k >= long_slim_k ? ProductKernel::slim : ProductKernel::stream);
  if (splits && std::min(s.m, s.n) <= most_vectors) return take(ProductKernel::narrow_split);
  constexpr int least_slim_k = 64;
  const bool slim_rows = rows && long_aligned && few >= least_slim_rows && s.k >= least_slim_k;
  if (slims && ((few > most_vectors && s.k >= slim_before_narrow) || slim_rows)) return take(ProductKernel::slim);
  // A few more vectors than tensor cores have in two groups.
  constexpr int most_split_tf32 = 20, least_split_tf32_k = 128;
  if (tf32 && splits && few <= most_split_tf32 && s.k >= least_split_tf32_k) return take(ProductKernel::narrow_split);
  c.narrow = narrow_plan(device.sm_count, shared, bytes, s, tf32);
  if (c.narrow.parts > 0 && !(tf32 && narrow_suits_wgmma(s))) return take(splits ? ProductKernel::narrow_split : ProductKernel::narrow);
  if (tensor_cores && is_short(bytes, s, true)) return take(ProductKernel::short_k);
  if (slims) return take(ProductKernel::slim);
  if (is_skinny(s, bytes == 4)) return take(ProductKernel::skinny);
  if (bytes == 2 && is_shallow_16(s)) return take(ProductKernel::shallow);
  if (is_each(s, bytes)) return take(ProductKernel::each);
  if (!tensor_cores || !has_wgmma(device)) return c;
  c.long_side = long_plan(device.sm_count, shared, bytes, s);
  if (c.long_side.row_groups > 0 && ((bytes == 2 && s.k <= long_before_shifted) || !shifted_pays(s, bytes))) return take(ProductKernel::long_side);
  return c;
}

// `stores_more`: it is a linear layer, whose bias and the rest only matmul_f32_small can store, which saves a launch.
inline TileKernel f32_tile_kernel(const Traits& device, const ProductShape& s, bool stores_more = false) {
  if (takes_runs(device, s)) return TileKernel::runs;
  if (takes_several(device, s, !stores_more)) return TileKernel::several;
  if (is_slab(device.shared_bytes_per_block, s)) return TileKernel::slab;
  if (has_wgmma(device) && f32_plan(device.sm_count, s).rows > 0) return TileKernel::f32;
  return is_f32_small(device.sm_count, device.major >= 9, s) ? TileKernel::f32_small : TileKernel::simt;
}

// Of products that no other kernel takes.
inline TileKernel tile_kernel(const Traits& device, Dtype dtype, const ProductShape& s) {
  if (dtype == Dtype::f32) return f32_tile_kernel(device, s);
  if (dtype != Dtype::tf32 && direct_plan(device.sm_count, s).rows > 0) return TileKernel::direct;
  if (takes_wgmma_few(device, dtype, s)) return TileKernel::wgmma;
  if (dtype == Dtype::tf32 && small_plan_tf32(device.sm_count, device.major >= 9, device.shared_bytes_per_block, s).rows > 0) return TileKernel::small_tf32;
  if (dtype != Dtype::tf32 && small_joined(device.sm_count, device.major >= 9, s) > 1) return TileKernel::small_joined;
  if (takes_panels(device, dtype, s)) return TileKernel::panels;
  if (unaligned_pays_few(device.sm_count, device.shared_bytes_per_block, static_cast<int64_t>(dtype_bytes(dtype)), s) || (dtype == Dtype::tf32 && unaligned_pays(device.sm_count, device.shared_bytes_per_block, s))) return TileKernel::unaligned;
  if (has_wgmma(device) && shifted_pays(s, static_cast<int64_t>(dtype_bytes(dtype)))) return TileKernel::shifted;
  if (dtype != Dtype::tf32 && is_small_of_few(device.sm_count, s)) return TileKernel::small;
  if (dtype != Dtype::tf32 && is_middle(device.sm_count, s)) return TileKernel::middle;
  if (dtype != Dtype::tf32 && is_small(device.sm_count, s)) return TileKernel::small;
  if (dtype != Dtype::tf32 && is_middle_at_once(device.sm_count, s)) return TileKernel::middle;
  if (has_wgmma(device) && wgmma_pays(s, dtype == Dtype::tf32)) return TileKernel::wgmma;
  if (has_wgmma(device) && dtype == Dtype::tf32 && shifted_pays_small(s)) return TileKernel::shifted;
  return dtype == Dtype::tf32 && is_panels_of_few_tiles(s) ? TileKernel::panels : TileKernel::mma;
}

// Tiles of matmul_simt and matmul_mma, the largest first; those with the same sides have fewer stages, for GPUs with less shared memory. `row_bytes`: of a stage, for a row or a column of results.
struct ProductTile {
  const char* name;
  int m, n;
  unsigned threads, stages, row_bytes;
  unsigned shared() const { return stages * static_cast<unsigned>(m + n) * row_bytes; }
};
// 32 of k, and their padding (matmul_simt.cu); 64 bytes of k (common/product.cuh).
constexpr ProductTile simt_tiles[] = {{"256", 256, 128, 256, 3, 144}, {"128", 128, 128, 256, 3, 144}, {"128_2", 128, 128, 256, 2, 144}, {"64", 64, 64, 256, 6, 144}, {"64_4", 64, 64, 256, 4, 144}};
constexpr ProductTile mma_tiles[] = {{"128", 128, 128, 256, 4, 64}, {"64", 64, 64, 128, 8, 64}};

// The largest that gives every multiprocessor one, of those that shared memory holds.
template <size_t COUNT>
const ProductTile& product_tile(const Traits& device, const ProductTile (&tiles)[COUNT], const ProductShape& s) {
  const ProductTile* chosen = nullptr;
  for (const ProductTile& t : tiles) {
    if (static_cast<int>(t.shared()) > device.shared_bytes_per_block || (chosen && chosen->m == t.m)) continue;
    chosen = &t;
    // A full wave that is 90 % there is as good as one.
    if (s.batch * up(s.m, t.m) * up(s.n, t.n) * 10 >= int64_t{device.sm_count} * 9) break;
  }
  return *chosen;
}

}  // namespace opscope::cuda
