// Which kernel a convolution takes. Pure; see plan_test.cc for what holds over the range.
#pragma once
#include <algorithm>
#include <cstdint>

namespace opscope::cuda {

struct ConvShape {
  int64_t columns;   // outputs of a filter, over all images
  int64_t filters;   // of a group
  int64_t groups;
  int64_t terms;     // of an output: channels of a group by elements of the kernel
  int64_t plane;     // outputs of a filter and image
  bool point;        // a kernel of one element, stride 1, no padding: a product for each image and group
  bool tensor_cores; // 16-bit, and within what convolution_mma.cu packs
  int64_t outputs() const { return columns * filters * groups; }
};

enum class ConvKind {
  direct,       // a thread for each output (convolution_direct.cu)
  direct_warp,  // a warp for each output
  point,        // four filters and 16 bytes of positions of a thread (convolution_direct.cu)
  product,      // a batched product (matmul.plan.cc)
  mma,          // tiles on tensor cores (convolution_mma.cu)
  tiles,        // tiles in f32 (convolution.cu)
};

inline ConvKind conv_kind(int sm_count, const ConvShape& c) {
  const double products = static_cast<double>(c.outputs()) * static_cast<double>(c.terms);
  // Few operations are done sooner without the stages of tiles, few filters leave tiles of 64 of them empty, and few terms their steps of 16.
  constexpr double few_products = 1e7;
  constexpr int64_t narrow = 16, least_plane = 64, few_terms = 4, least_terms = 64;
  if (c.point && c.plane >= 32 && (std::min(c.filters, c.terms) <= narrow || products < few_products)) return ConvKind::point;
  if (products < few_products || c.terms <= few_terms || c.filters <= (c.tensor_cores && c.terms >= least_terms ? 2 : 8)) {
    // Sums long enough for a warp, where outputs alone would leave the GPU idle.
    return c.terms >= 64 && c.outputs() < int64_t{sm_count} * 2048 ? ConvKind::direct_warp : ConvKind::direct;
  }
  if (c.point && c.plane >= least_plane) return ConvKind::product;
  return c.tensor_cores && c.terms >= 8 ? ConvKind::mma : ConvKind::tiles;
}

// Filters of a group whose outputs a thread (`group` 1) or a warp (32) computes together: as many as there are, and as leave enough threads to fill the GPU. With a
// thread for each output, 32 filters of one term take 2.3 times as long as tiles on an H200: most of it is where the output lies, which is computed once for all of them.
inline int conv_filters_together(int sm_count, const ConvShape& c, int group) {
  for (int together = 8; together > 1; together /= 2) {
    const int64_t blocks = (c.filters + together - 1) / together;
    if (c.filters * 2 > together && c.columns * c.groups * blocks * group >= int64_t{sm_count} * 1024) return together;
  }
  return 1;
}

// Whether those outputs are computed by a thread for several positions (convolution_window.cu): where enough threads are left, and the weights lie in shared memory.
inline bool conv_takes_window(int sm_count, const ConvShape& c, int together) {
  constexpr int64_t most_weights = 12 << 10;
  return c.terms * together <= most_weights && c.columns * c.groups * ((c.filters + together - 1) / together) >= int64_t{sm_count} * (together > 1 ? 1024 : 2048);
}

// Whether outputs with long sums are computed 32 positions a block, whose warps share `channels` of a group (convolution_window.cu), rather than by a warp each: where
// there are a few channels for every warp, and two blocks for every multiprocessor.
inline bool conv_shares_window(int sm_count, const ConvShape& c, int64_t channels, int together) {
  constexpr int64_t most_weights = 8 << 10, warps = 8;
  return channels >= 2 * warps && c.terms * together <= most_weights && c.columns * c.groups * ((c.filters + together - 1) / together) >= int64_t{sm_count} * 64;
}

}  // namespace opscope::cuda
