// Which kernel a product takes, its tiles, and into how many shares k is split. Pure; see plan_test.cc for what holds over the range.
#pragma once
#include <algorithm>
#include <cstdint>
#include <utility>

namespace opscope::cuda {

struct ProductShape {
  int64_t batch;
  int m, n, k;
  bool trans_a, trans_b;
  int64_t batch_a = batch;  // of different left operands; they repeat after so many
};

constexpr int64_t up(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Shares of k, each of at least `least` of its `steps`, so that `tiles` tiles give every multiprocessor work.
inline int64_t k_splits(int sm_count, int64_t tiles, int64_t steps, int64_t least) {
  const int64_t wanted = std::clamp<int64_t>(std::min(sm_count / tiles, steps / least), 1, 512);
  return up(steps, up(steps, wanted));
}

// ---- a matrix times a few vectors (matmul_skinny.cu) ----

constexpr int most_vectors = 16;

struct SkinnyPlan {
  bool columns_are_few;  // n is the short side, not m
  bool k_contiguous;     // in the matrix
  int vectors;           // as kernels are built: 1, 2, 4, 8 or 16, at least the short side
  bool wide;             // 16 bytes of the matrix at a time
  int64_t tile, tiles;   // of the long side
  int64_t share, splits; // of k
};

// Whether the short side is short enough (tensor cores take over sooner than f32 units), and k long enough to stream.
inline bool is_skinny(const ProductShape& s, bool f32) { return s.k >= 16 && std::min(s.m, s.n) <= (f32 ? most_vectors : 4); }

inline SkinnyPlan skinny_plan(int sm_count, int64_t element_bytes, const ProductShape& s) {
  const int64_t lanes = 16 / element_bytes;
  SkinnyPlan p = {};
  p.columns_are_few = s.n < s.m;
  const int few = std::min(s.m, s.n);
  const int64_t length = std::max(s.m, s.n);
  p.k_contiguous = p.columns_are_few ? !s.trans_a : s.trans_b;
  p.vectors = 1;
  while (p.vectors < few) p.vectors *= 2;
  int64_t least;  // of k in a share
  if (p.k_contiguous) {
    p.wide = s.k % lanes == 0;
    p.tile = 8 * (p.vectors >= 4 ? 4 : 2);  // eight warps
    least = p.wide ? 32 * lanes * (p.vectors >= 4 ? 2 : 4) : 256;
  } else {
    p.wide = length % lanes == 0 && length >= 16 * lanes;
    p.tile = 32 * (p.wide ? lanes : 1);
    least = 64;
  }
  p.tiles = up(length, p.tile);
  const int64_t wanted = std::clamp<int64_t>(std::min(up(int64_t{sm_count} * 4, p.tiles * s.batch), up(s.k, least)), 1, 512);
  // Whole chunks of k, as they lie in shared memory, or a row for each of eight warps.
  const int64_t chunk = p.k_contiguous ? least : 8;
  p.share = up(up(s.k, wanted), chunk) * chunk;
  p.splits = up(s.k, p.share);
  return p;
}

// ---- tensor cores by wgmma ----

struct WgmmaPlan {
  int width;       // columns of a tile; rows are 128
  int64_t splits;  // of k
};

// `step`: elements of k in a stage. Cost of a tile per column and stage relative to the widest, seen on an H200: the wider tile does
// more per byte of shared memory, the narrower ones fill the GPU sooner; the narrowest lost where it would be cut at an edge.
inline WgmmaPlan wgmma_plan(int sm_count, const ProductShape& s, int64_t step) {
  // Of adding shares up, in the same unit: the launch, and the traffic per element of a share.
  constexpr double join = 1000, traffic = 6.4e-4;
  const int64_t steps = up(s.k, step);
  const bool uncut = s.m % 128 == 0 && s.n % 64 == 0;
  WgmmaPlan best = {256, 1};
  double least = 0;
  for (const auto& [width, factor] : {std::pair{256, 1.0}, std::pair{128, 1.15}, std::pair{64, 1.6}}) {
    const int64_t tiles = s.batch * up(s.m, 128) * up(s.n, width), most = k_splits(sm_count, tiles, steps, 4);
    for (int64_t splits = 1; splits <= most; splits = splits == 1 && most > 1 ? most : most + 1) {
      const double added = splits > 1 ? join + traffic * static_cast<double>(splits * s.batch) * s.m * s.n : 0;
      const double cost = static_cast<double>(up(tiles * splits, sm_count) * up(steps, splits) * width) * factor + added;
      if (least == 0 || (cost < least && (width > 64 || uncut || splits > 1))) least = cost, best = {width, splits};
    }
  }
  return best;
}

}  // namespace opscope::cuda
