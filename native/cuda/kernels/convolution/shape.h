// A convolution as its kernels see it, and how those without tiles share the work. Pure; see plan_test.cc for what holds over the range.
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
  int64_t channels = 1;  // of a group
  bool depthwise = false;  // single planes that convolution_depthwise.cu has a kernel for (convolution/depthwise.h)
  int64_t packed_terms = 0, packed_bytes = 0;  // elements of a packed sum, 0 where it cannot be packed (convolution/packed.h); what packing reads and writes
  bool split_runs = false;  // packed operands, of more than L2 holds, of whose positions a stage of the sum meets parts that are no whole lines of memory
  int64_t largest = 0, bytes = 0;  // elements of a tensor; of all tensors
  int64_t element_bytes = 4;
  bool clusters = false;  // whether the GPU has them
  bool wgmma = false;     // and wgmma
  bool padded = false;    // along any axis
  bool sampled = false;   // a kernel of one element without padding, of any stride
  double taps_cost = 0;   // of convolution_taps.cu (convolution/taps.h), 0 where it cannot
  double winograd_cost = 0;  // of convolution_winograd.cu (convolution/winograd.h), 0 where it cannot
  double strips_cost = 0;  // of convolution_strips.cu (convolution/strips.h), 0 where it does not take the convolution
  double patches_cost = 0; // of convolution_patches.cu (convolution/patches.h), 0 where it does not take the convolution
  double group_cost = 0;  // of convolution_group.cu (convolution/group.h), 0 where it cannot take the convolution
  double halo_cost = 0;   // of convolution_halo.cu (convolution/halo.h), 0 where it cannot take the convolution
  bool whole = false;     // one output of an image and filter, which meets the whole image
  bool dense = false;     // one output of an image and filter, which meets the whole image: one product for all images
  int64_t outputs() const { return columns * filters * groups; }
};

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
// there are a few channels for every warp, and two blocks for every multiprocessor. Ten channels of a warp with several elements of the kernel each are read so soon that
// half a block is enough, and that the weights may keep other blocks off the multiprocessor.
inline bool conv_shares_window(int sm_count, const ConvShape& c, int64_t channels, int together) {
  constexpr int64_t warps = 8;
  const bool soon = channels <= warps * 10 && c.terms > channels;
  const int64_t most_weights = (soon ? 20 : 8) << 10, least = soon ? 16 : 64;
  return channels >= 2 * warps && c.terms * together <= most_weights && c.columns * c.groups * ((c.filters + together - 1) / together) >= sm_count * least;
}

}  // namespace opscope::cuda
