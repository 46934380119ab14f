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
  // Few operations are done sooner without the stages of tiles, and few filters leave tiles of 64 of them empty. With 32 filters of one channel a thread
  // for each output takes 2.3 times as long as tiles on an H200, with 3 filters a quarter of it.
  constexpr double few_products = 1e7;
  constexpr int64_t narrow = 16, least_plane = 64;
  if (c.point && c.plane >= 32 && (std::min(c.filters, c.terms) <= narrow || products < few_products)) return ConvKind::point;
  if (products < few_products || c.filters <= (c.tensor_cores && c.terms >= 8 ? 2 : 8)) {
    // Sums long enough for a warp, where outputs alone would leave the GPU idle.
    return c.terms >= 64 && c.outputs() < int64_t{sm_count} * 2048 ? ConvKind::direct_warp : ConvKind::direct;
  }
  if (c.point && c.plane >= least_plane) return ConvKind::product;
  return c.tensor_cores && c.terms >= 8 ? ConvKind::mma : ConvKind::tiles;
}

}  // namespace opscope::cuda
