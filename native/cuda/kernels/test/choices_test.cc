// Which kernel of its family a case takes, on GPUs of several kinds: part of opscope_cuda_plan_test.
#include <string>

#include "kernels/attention_choice.h"
#include "kernels/batch_norm/shape.h"
#include "kernels/lookup/shape.h"
#include "kernels/matmul/choice.h"
#include "kernels/rows/norm_backward.h"
#include "kernels/test/expect.h"

using namespace opscope;
using namespace opscope::cuda;

namespace {

constexpr int sm_count = 132;
constexpr int64_t hopper_shared = 227 << 10, ampere_shared = 163 << 10, ada_shared = 99 << 10;

Traits gpu(int major, int minor, int64_t shared_bytes) {
  Traits traits;
  traits.major = major, traits.minor = minor, traits.sm_count = sm_count, traits.shared_bytes_per_block = static_cast<int>(shared_bytes);
  return traits;
}
const Traits hopper = gpu(9, 0, hopper_shared), ampere = gpu(8, 0, ampere_shared), ada = gpu(8, 9, ada_shared);

void product_choices() {
  using K = ProductKernel;
  using T = TileKernel;
  constexpr Dtype f32 = Dtype::f32, f16 = Dtype::f16, bf16 = Dtype::bf16, tf32 = Dtype::tf32;
  const auto is = [](K kernel, Dtype dtype, const ProductShape& s, const Traits& device = hopper) { return product_choice(device, dtype, s).kernel == kernel; };
  const auto tiles = [](T kernel, Dtype dtype, const ProductShape& s, const Traits& device = hopper) { return product_choice(device, dtype, s).kernel == K::tiles && tile_kernel(device, dtype, s) == kernel; };
  expect(is(K::few, f32, {1, 6, 5, 1906, false, true}) && is(K::deep, tf32, {71, 38, 1, 11'432, true, false}) && is(K::short_k, bf16, {1, 116'914, 1840, 4, false, true}) && is(K::short_f32, tf32, {1, 30, 19'477, 1, false, false}) &&
             is(K::stream, bf16, {1, 40'544, 5, 9274, false, false}) && is(K::slim, f32, {1, 5, 19'968, 2880, true, true}) && is(K::narrow_split, f16, {1, 5, 13'021, 33, true, false}) && is(K::narrow_split, f32, {1, 3, 8221, 256, false, false}) && is(K::narrow, tf32, {64, 4, 124'469, 104, true, true}) && is(K::skinny, f32, {1, 1, 3072, 27'645, false, true}) &&
             is(K::shallow, f16, {1, 27, 610'816, 5, true, true}) && is(K::each, f32, {1, 185'832, 5, 1, false, true}) && is(K::long_side, f16, {1, 279'431, 124, 33, true, false}),
         "each kernel of narrow products and short sums has its cases");
  expect(tiles(T::f32, f32, {1, 88'319, 3178, 11'594, false, false}) && tiles(T::f32_small, f32, {1, 229, 512, 920, false, false}) && tiles(T::simt, f32, {1, 66, 1843, 46, true, true}, ampere) &&
             tiles(T::shifted, f16, {3, 183'743, 35, 572, true, true}) && tiles(T::shifted, bf16, {1, 23, 110'917, 1409, false, false}) && is(K::stream, bf16, {1, 23, 110'917, 1409, false, false}, gpu(10, 0, hopper_shared)) && tiles(T::middle, bf16, {65, 166, 47, 14'461, true, false}) && tiles(T::small, bf16, {1, 256, 23, 211, false, false}) &&
             tiles(T::wgmma, bf16, {1, 4145, 942, 2036, true, false}) && tiles(T::mma, f16, {1, 20, 59, 38'817, true, true}),
         "and each kernel of tiles");
  expect(tiles(T::wgmma, tf32, {1, 10, 20'000, 1024, false, true}) && is(K::resident, tf32, {1, 16, 65'536, 84, true, true}) && is(K::tall, tf32, {1, 15, 65'536, 84, true, true}) && tiles(T::unaligned, tf32, {1, 15, 65'536, 85, true, true}) && tiles(T::wgmma, f16, {1, 197, 7, 65'536, false, false}) && tiles(T::small, f16, {8, 257, 7, 256, true, false}) && tiles(T::f32_small, f32, {1, 16, 557, 1024, false, false}),
         "tensor cores take few vectors where a copy of the short side is all they need, blocks of few tiles those of a small matrix");
  expect(tiles(T::wgmma, tf32, {1, 5, 256, 30'000, false, true}) && tiles(T::wgmma, tf32, {1, 128, 3, 120'000, false, true}) && !tiles(T::wgmma, tf32, {1, 5, 600, 20'000, false, true}) && !tiles(T::wgmma, tf32, {1, 5, 256, 16'384, false, true}),
         "two to eight vectors in tf32 with a long k and few results take parts of k by wgmma");
  expect(product_choice(hopper, tf32, {1, 1, 4941, 31'723, false, false}).stream.scalar && !product_choice(hopper, tf32, {1, 7, 65'536, 513, false, false}).stream.scalar && is(K::narrow, f16, {1, 3, 262'144, 83, true, true}) &&
             is(K::narrow, f16, {1, 12, 65'536, 9, true, false}) && is(K::narrow_split, tf32, {1, 3704, 20, 264, true, true}) && is(K::narrow_split, bf16, {1, 38'629, 5, 64, true, false}) && !is(K::narrow_split, f32, {1, 5, 32'769, 513, false, false}),
         "one vector streams in f32 arithmetic, long rows of large matrices are copied whole, and warps share the k of small ones");
  expect(tiles(T::runs, f32, {1, 477, 2560, 284, true, true}) && tiles(T::several, f32, {1, 72, 5310, 131, false, true}) && tiles(T::several, f32, {1, 66, 1843, 46, true, true}) && tiles(T::runs, f32, {1, 585, 8192, 209, false, true}) && tiles(T::runs, f32, {1, 7443, 1025, 144, false, true}) && tiles(T::several, f32, {1, 384, 1572, 72, true, false}) && !tiles(T::runs, f32, {1, 585, 8192, 209, false, true}, ampere),
         "k of a few hundred takes tiles by runs on Hopper, a shorter one and a few dozen rows those of which a multiprocessor has several");
  expect(tiles(T::shifted, tf32, {1, 599, 259, 195, true, false}) && tiles(T::unaligned, tf32, {1, 9, 262'144, 89, true, true}) && tiles(T::unaligned, tf32, {1, 128, 123, 524'289, false, true}) && tiles(T::shifted, tf32, {1, 64, 65, 100'001, false, true}) && tiles(T::shifted, tf32, {1, 9, 5001, 301, false, true}) && tiles(T::unaligned, tf32, {1, 64, 38, 101'495, true, true}) && tiles(T::panels, tf32, {1, 173, 2048, 37, true, true}) &&
             tiles(T::panels, f16, {1, 130'001, 50, 30, true, false}) && tiles(T::panels, bf16, {1, 41, 2'097'153, 61, true, true}) && is(K::slim, f32, {2, 9, 2316, 257, false, true}) && is(K::slim, f32, {1, 50'001, 12, 64, false, true}) && is(K::short_k, tf32, {16, 125'531, 17, 23, true, false}) &&
             is(K::few, f16, {1, 151, 901, 5, true, false}) && is(K::short_k, bf16, {1, 4096, 65, 8, false, true}) && is(K::deep, tf32, {1, 1, 5, 30'001, false, true}),
         "long sums, few vectors and short sums off 16 bytes are read as they lie");
  expect(is(K::slim, f32, {1, 8192, 16, 2697, false, false}) && is(K::stream, f32, {1, 154'841, 15, 103, false, false}) && tiles(T::shifted, f16, {1, 79, 33, 787'997, false, true}) && !tiles(T::shifted, f16, {1, 79, 33, 30'001, false, true}) && tiles(T::panels, bf16, {37, 17, 263, 256, true, false}) &&
             !tiles(T::panels, bf16, {46, 125, 27, 281, true, false}) && is(K::short_k, f16, {1, 13'794, 769, 33, false, false}) && !is(K::short_k, f16, {1, 100'001, 777, 37, false, false}) && is(K::few, f32, {1, 2, 1, 4097, true, false}) && !is(K::few, tf32, {1, 60, 2, 8000, true, false}) && !is(K::few, f32, {1, 1, 1, 16'385, false, false}),
         "longer sums of few results and of narrow ones have their kernels");
  expect(tiles(T::wgmma, f16, {1, 3, 8192, 8192, false, true}) && tiles(T::wgmma, bf16, {1, 4, 8192, 8192, false, false}) && tiles(T::wgmma, tf32, {1, 2, 8192, 8192, false, true}) && tiles(T::wgmma, tf32, {1, 16'384, 6, 2048, false, true}) && is(K::skinny, f16, {1, 1, 8192, 8192, false, true}) &&
             is(K::skinny, f16, {1, 3, 4096, 2048, false, true}) && is(K::skinny, tf32, {1, 2, 4096, 2048, false, true}) && is(K::skinny, f16, {1, 3, 8192, 8192, false, true}, ampere),
         "a few rows and a large matrix that the copy engine reads as it lies are left to it");
  expect(is(K::vectors, tf32, {1, 1, 4097, 513, false, false}) && is(K::vectors, f16, {1, 40'000, 1, 256, true, false}) && is(K::vectors, f16, {17, 2, 7663, 137, false, false}) && is(K::vectors, bf16, {1, 3, 9521, 257, false, true}) && is(K::vectors, f16, {1, 1, 4097, 585, true, true}) &&
             !is(K::vectors, f32, {1, 1, 4097, 513, false, false}) && !is(K::vectors, bf16, {1, 4, 5856, 64, false, true}) && !is(K::vectors, f16, {1, 3251, 2, 5280, false, true}),
         "one and two vectors read a matrix in pieces of 16 bytes wherever rows start");
  expect(tiles(T::small_tf32, tf32, {1, 395, 17, 170, true, false}) && tiles(T::small_tf32, tf32, {1, 1669, 257, 87, true, false}) && !tiles(T::small_tf32, tf32, {1, 483, 672, 33, false, true}) && tiles(T::small_joined, f16, {1, 249, 14, 4679, true, true}) && tiles(T::small_joined, bf16, {1, 415, 54, 441, false, false}) &&
             !tiles(T::small_joined, f16, {1, 112, 112, 4995, true, true}) && !tiles(T::small_joined, f16, {1, 249, 14, 4679, true, true}, ampere),
         "few multiplications take blocks that have all of a share of k at once");
  expect(is(K::wide, bf16, {1, 7323, 5209, 31, false, false}) && is(K::wide, f16, {1, 4097, 15'607, 7, true, false}) && is(K::wide, f16, {1, 90, 8192, 8, false, true}) && is(K::wide, tf32, {1, 151, 524'289, 31, false, true}) && is(K::wide, f16, {1, 96, 147'589, 5, false, true}) && !is(K::wide, f16, {1, 1100, 10'843, 8, false, true}) && !is(K::wide, f16, {1, 1239, 16'061, 40, false, true}) &&
             !is(K::wide, f16, {1, 5682, 1584, 10, true, false}) && !is(K::wide, f16, {1, 13'794, 769, 33, false, false}),
         "long rows of results off words are stored in runs that start on sectors");
  expect(is(K::tall, f16, {1, 511'272, 48, 72, false, true}) && is(K::tall, bf16, {1, 33, 131'072, 104, false, true}) && is(K::tall, tf32, {1, 343'744, 48, 56, true, true}) && is(K::tall, bf16, {1, 326'096, 32, 336, false, false}) && is(K::tall, tf32, {1, 40, 237'240, 168, true, false}) &&
             tiles(T::wgmma, bf16, {1, 167'272, 40, 272, false, true}) && !is(K::tall, f16, {1, 585'376, 49, 48, true, true}) && !is(K::tall, f16, {1, 20'000, 48, 48, true, true}) && !is(K::tall, f16, {1, 585'376, 64, 48, true, true}) && tiles(T::small, f16, {1, 5, 4097, 257, true, false}) && tiles(T::small, f16, {1, 2447, 5, 615, false, false}) &&
             tiles(T::small_joined, bf16, {1, 1501, 12, 333, true, false}) && !tiles(T::small, f16, {1, 6, 5001, 265, false, false}),
         "many rows of half a tile of columns, and a few vectors of a longer k");
  expect(is(K::resident, bf16, {1, 286'664, 104, 104, true, false}) && is(K::resident, bf16, {1, 485'192, 112, 32, false, false}) && is(K::resident, f16, {1, 326'096, 32, 248, false, false}) && is(K::resident, f16, {1, 72, 218'784, 44, true, false}) && is(K::resident, f16, {1, 250'000, 33, 64, false, false}) && is(K::resident, tf32, {1, 30'000, 120, 60, false, true}) &&
             is(K::resident, bf16, {1, 7702, 74, 184, false, true}) && is(K::short_k, f16, {1, 262'144, 128, 16, false, true}) && !is(K::resident, f16, {1, 6472, 128, 124, true, false}) && !is(K::resident, f16, {1, 286'663, 104, 104, true, false}) && !is(K::resident, bf16, {1, 286'664, 136, 104, true, false}) && !is(K::resident, tf32, {1, 30'000, 120, 60, true, true}) && !is(K::resident, bf16, {1, 286'664, 104, 104, true, false}, ampere),
         "a short operand stays in shared memory beside a long one of a short k");
  const WgmmaPlan turns = turns_plan(132, {1, 8192, 8192, 256}), narrow_turns = turns_plan(132, {1, 11'848, 616, 96}), long_sum = wgmma_plan(132, {1, 65, 128, 131'072}, 64);
  expect(turns.turns && turns.columns == 192 && narrow_turns.turns && narrow_turns.columns == 128 && !turns_plan(132, {1, 8192, 8192, 512}).turns && !turns_plan(132, {1, 8192, 8191, 256}).turns && !turns_plan(132, {1, 1320, 1000, 72}).turns, "warp groups take turns in products of a short k with many tiles");
  const auto rows_of_turns = [](const WgmmaShape& shape) { return turns_plan(132, shape).rows; };
  expect(rows_of_turns({16, 129, 26'208, 256}) == 192 && rows_of_turns({1, 192, 16'384, 2048}) == 192 && rows_of_turns({1, 193, 65'536, 256}) == 128 && rows_of_turns({1, 128, 65'536, 256}) == 128 && !turns_plan(132, {1, 129, 8192, 256}).turns && !turns_plan(132, {16, 129, 26'207, 256}).turns && !turns_plan(132, {16, 129, 26'208, 4096}).turns &&
             wgmma_shared_bytes(turns_plan(132, {16, 129, 26'208, 256})) <= 227 << 10,
         "one tile of 192 rows in the place of two of 128");
  expect(long_sum.rows == 128 && long_sum.columns == 128 && long_sum.splits > 100 && tiles(T::panels, tf32, {1, 937'265, 9, 3, false, true}) && tiles(T::unaligned, tf32, {1, 141'963, 11, 47, false, true}), "one tile has all results of a very long k, and a few vectors of a few terms take panels");
  const auto direct = [&](const ProductShape& s, int rows, int warps) { return tiles(T::direct, bf16, s) && direct_plan(132, s).rows == rows && direct_plan(132, s).warps == warps; };
  expect(direct({1, 256, 256, 256, false, false}, 16, 8) && direct({1, 256, 256, 256, false, true}, 32, 8) && direct({1, 264, 264, 91, true, false}, 32, 8) && direct({1, 72, 136, 320, false, false}, 16, 16) && direct({1, 72, 135, 320, true, true}, 32, 16) && direct({4, 256, 256, 128, true, false}, 32, 8) &&
             tiles(T::wgmma, bf16, {1, 512, 512, 512, false, false}) && tiles(T::wgmma, bf16, {1, 256, 256, 520, false, false}) && !tiles(T::direct, bf16, {1, 256, 256, 250, false, false}) && !tiles(T::direct, f16, {1, 1, 4096, 256, false, false}),
         "aligned products of a few hundred results a side are read straight into registers");
  expect(is(K::tall, tf32, {1, 13, 524'288, 64, false, false}) && is(K::tall, tf32, {1, 9, 120'000, 32, true, false}) && is(K::tall, f16, {1, 9, 524'288, 96, true, false}) && is(K::tall, bf16, {1, 100'000, 8, 96, true, false}) && !is(K::tall, tf32, {1, 8, 524'288, 64, false, false}),
         "so are long operands with nine rows or eight columns of the other side");
  const auto paired = [](const WgmmaShape& s) { return pairs_pay(132, s, wgmma_plan(132, s, 64)); };
  expect(paired({1, 6944, 5096, 2680}) && paired({1, 3272, 5904, 2712}) && paired({2, 2321, 3096, 1784}) && !paired({1, 5168, 808, 952}) && !paired({1, 512, 512, 512}), "pairs of blocks take products of whole waves of their tiles");
  expect(is(K::stream, f16, {1, 1'048'577, 1, 64, true, false}) && product_choice(hopper, f16, {1, 1, 71'935, 705, false, false}).stream.scalar && !product_choice(hopper, f16, {1, 1, 501, 20'001, false, false}).stream.scalar && is(K::narrow, f16, {1, 1, 30'001, 64, false, false}),
         "one vector of 16 bits streams in f32 arithmetic, too, where windows of the matrix are full");
  expect(is(K::stream, f32, {1, 2945, 1, 3210, true, false}) && is(K::stream, f32, {1, 1, 300, 20'000, false, false}) && is(K::stream, bf16, {1, 1, 1024, 32'768, false, false}) && !is(K::stream, bf16, {1, 1, 4096, 4096, false, false}) && !is(K::stream, tf32, {1, 1, 1501, 801, false, false}),
         "so does one of a matrix of 12 MB, but for whole vectors of 16 bits in many columns");
  expect(skinny_plan(132, 4, {1, 887, 1, 204'905, false, false}).splits > 12 && skinny_plan(132, 4, {1, 129, 1, 1'000'001, false, false}).splits < 66, "many rows of a long sum are shared by more blocks than a few are");
  expect(tiles(T::simt, f32, {1, 4096, 4096, 4096, false, false}, ampere) && tiles(T::mma, bf16, {1, 4096, 4096, 4096, false, false}, ampere) && tiles(T::mma, tf32, {1, 4096, 4096, 4096, false, false}, gpu(10, 0, hopper_shared)) &&
             !is(K::long_side, f16, {1, 279'431, 124, 33, true, false}, ampere),
         "other GPUs than Hopper take no kernel with wgmma");
  const auto tile = [](const Traits& device, int side) { return std::string(product_tile(device, simt_tiles, {1, side, side, 1000, false, false}).name); };
  expect(tile(hopper, 4096) == "256" && tile(hopper, 1500) == "128" && tile(hopper, 200) == "64" && tile(ampere, 4096) == "256" && tile(ada, 4096) == "128_2" && tile(ada, 200) == "64_4", "tiles of f32 fit into shared memory");
}

void row_choices() {
  const auto norm = [](int64_t batch, int64_t channels, int64_t plane, bool training, bool clusters = true) { return batch_norm_shape(sm_count, clusters, 8, batch, channels, plane, training); };
  expect(norm(16, 336, 32, true).kind == BatchNorm::few && norm(1709, 24, 3371, true).kind == BatchNorm::parts && norm(34, 689, 520, true).kind == BatchNorm::held && norm(5000, 64, 7, true).kind == BatchNorm::cluster && norm(14, 768, 1, false).kind == BatchNorm::each &&
             norm(14, 768, 100, false).kind == BatchNorm::apply && norm(2, 5000, 65, true).kind == BatchNorm::channels,
         "each kernel of batch_norm has its cases");
  expect(norm(5000, 64, 7, true).blocks > 1 && norm(5000, 64, 7, true, false).kind == BatchNorm::parts && norm(40, 689, 1024, true).held.vectors.parts == 2 && norm(40, 689, 1024, true, false).kind == BatchNorm::parts,
         "blocks share a channel where there are clusters");
  bool covered = true;
  for (int64_t batch = 1; batch <= 5000; batch = batch * 3 / 2 + 1)
    for (int64_t plane = 1; plane <= 1 << 20; plane = plane * 5 / 3 + 1)
      for (const int64_t channels : {1, 7, 64, 1056, 5000})
        for (const bool clusters : {false, true}) {
          const BatchNormShape s = norm(batch, channels, plane, true, clusters);
          if (s.kind == BatchNorm::cluster) covered = covered && s.images * s.blocks >= batch && s.images * (s.blocks - 1) < batch && s.blocks <= (clusters ? 8 : 1) && s.group <= 256;
          const BatchNormVectors& v = s.kind == BatchNorm::held ? s.held.vectors : s.vectors;
          if (v.vectors > 0) covered = covered && int64_t{v.per_image} * batch == v.vectors && int64_t{v.part} * v.parts >= v.vectors && int64_t{v.part} * (v.parts - 1) < v.vectors;
          if (s.kind == BatchNorm::held) covered = covered && int64_t{s.held.threads} * s.held.each >= v.part && s.held.threads <= batch_norm_threads && v.parts <= (clusters ? 8 : 1) && (v.parts & (v.parts - 1)) == 0;
          else if (v.vectors > 0) covered = covered && s.kind == BatchNorm::parts && s.parts == v.parts;
          else if (s.kind == BatchNorm::parts || s.kind == BatchNorm::channels) covered = covered && s.part * s.parts >= batch * plane && s.part * (s.parts - 1) < batch * plane && (s.kind == BatchNorm::parts || s.parts == 1);
        }
  expect(covered, "blocks and parts of batch_norm cover each channel once");
  const auto gradient = [](int64_t bytes, int64_t tokens, int64_t dim, bool centered = true) { return norm_backward_shape(sm_count, hopper_shared, bytes, tokens, dim, centered).kind; };
  expect(gradient(2, 2, 7) == NormBackward::small && gradient(4, 65, 1288) == NormBackward::few && gradient(2, 608, 1535) == NormBackward::few && gradient(2, 532'201, 1304) == NormBackward::once &&
             gradient(2, 1440, 6539) == NormBackward::once && gradient(4, 40, 16'768) == NormBackward::long_rows && gradient(4, 524'289, 25) == NormBackward::short_rows && gradient(2, 1000, 50'000) == NormBackward::wide && gradient(2, 1000, 50'001) == NormBackward::apart,
         "each kernel of the gradients of norms has its cases");
  expect(gradient(2, 100'000, 901, false) == NormBackward::once && gradient(2, 100'000, 901) == NormBackward::apart, "without sums for a bias, longer rows off 16 bytes fit the registers of a warp");
}

void move_choices() {
  const auto is = [](Embedding kind, int64_t bytes, int64_t dim, int64_t indices, int64_t rows = 1000) {
    const EmbeddingShape s = embedding_shape(bytes, rows, dim, indices);
    return s.kind == kind && s.unit * s.columns == dim * bytes;
  };
  expect(is(Embedding::units, 4, 4, 1120) && is(Embedding::shifted, 2, 2053, 9769) && is(Embedding::gathered, 2, 139, 110'888) && is(Embedding::gathered, 4, 41, 2'841'345) && is(Embedding::narrow, 2, 3, 140'425) && is(Embedding::many, 2, 896'064, 128) && is(Embedding::parts, 4, 262'144, 257, 64) && is(Embedding::many, 4, 262'144, 257, 4) && is(Embedding::each, 2, 1, 16'738'401) && is(Embedding::units, 2, 1, 12),
         "each kernel of embedding has its cases");
  expect(rope_has_many(4, many_from, true) && !rope_has_many(2, many_from, true) && !rope_has_many(4, many_from - 1, false), "a thread has several pairs of rope where there are many");
}

void attention_choices() {
  bool fits = true, found = true;
  for (const int64_t shared : {ada_shared, ampere_shared, hopper_shared})
    for (int dim = 1; dim <= 256; dim++) {
      const AttentionSizes s = {8, 8, 8, 500, 1000, 500, dim, 1, 1};
      const AttentionTile half = attention_mma_tile(shared, s), single = attention_f32_tile(sm_count, shared, s);
      fits = fits && half.dim >= dim && attention_mma_bytes(half) <= shared && attention_f32_bytes(single) * (single.dim > 0) <= shared;
      found = found && attention_any_keys(shared, dim) > 0;
      for (const long long queries : {1, 16, 100})
        for (const int bytes : {2, 4}) fits = fits && attention_warp_bytes({8, 8, 8, queries, 50'000, queries, dim, 0, 1}, attention_warps(sm_count, shared, {8, 8, 8, queries, 50'000, queries, dim, 0, 1}, bytes).sharing) + attention_warp_own <= shared;
    }
  expect(fits, "tiles of attention fit into shared memory");
  expect(found && attention_any_keys(hopper_shared, 256) == 32 && attention_any_keys(ada_shared, 256) == attention_any_few_keys && attention_any_most_dim(ada_shared) >= 300, "every head dim of up to 256 has a kernel on every GPU");
}

}  // namespace

void choices() {
  product_choices();
  row_choices();
  move_choices();
  attention_choices();
}
