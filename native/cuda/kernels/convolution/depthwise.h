// Which convolutions of single planes take tiles of planes (convolution_depthwise.cu). Pure; see plan_test.cc.
#pragma once
#include <string>

#include "../convolution.h"
#include "../pooling/shape.h"

namespace opscope::cuda {

// The kernel for such windows, behind the name of the dtype; empty where there is none.
inline std::string conv_depthwise_kernel(const PoolTile& t) {
  const bool signals = t.kernel_down == 1 && t.height == 1, square = t.kernel_down == t.kernel;
  const bool own = signals ? t.stride == 1 && t.kernel >= 3 && t.kernel <= 7 && t.kernel != 6 : square && ((t.stride <= 2 && (t.kernel == 3 || t.kernel == 5)) || (t.stride == 1 && t.kernel == 7));
  return own ? std::to_string(t.kernel_down) + "_" + std::to_string(t.kernel) + "_" + std::to_string(t.stride) : "";
}

// No blocks: other kernels take it. `size`: bytes of an element.
inline PoolTiling conv_depthwise(int64_t size, const ConvSizes& s) {
  // Every window has an element of the plane.
  const auto narrow = [](const ConvAxis& a) { return a.padding < a.kernel; };
  if (s.groups != s.channels || s.groups != s.filters || s.dilation != 1 || s.depth.input != 1 || s.depth.kernel != 1 || s.depth.padding != 0 || !narrow(s.height) || !narrow(s.width)) return {};
  PoolTile t = {};
  t.planes = static_cast<long long>(s.batch) * s.channels;
  t.height = s.height.input, t.width = s.width.input, t.out_height = s.height.output, t.out_width = s.width.output;
  t.kernel_down = s.height.kernel, t.stride_down = s.stride, t.padding_down = s.height.padding;
  t.kernel = s.width.kernel, t.stride = s.stride, t.padding = s.width.padding;
  // Elements of a plane are counted with 32 bits.
  constexpr int64_t most = int64_t{1} << 30;
  if (conv_depthwise_kernel(t).empty() || int64_t{t.height} * t.width >= most || int64_t{t.out_height} * t.out_width >= most) return {};
  // Small inputs make smaller tiles, so that there are enough of them.
  constexpr int64_t least = 1 << 10, blocks = 264;
  const int64_t bytes = t.planes * t.height * t.width * size;
  const PoolTiling tiling = plane_tiling(size, t, std::clamp(bytes / blocks, least, pool_tile_bytes(bytes)));
  return tiling.blocks < int64_t{1} << 31 ? tiling : PoolTiling{};
}

}  // namespace opscope::cuda
