// Convolutions over the range, as they are drawn, for the tests of their plans.
#pragma once
#include <tuple>

#include "kernels/convolution.h"

namespace opscope::cuda {

inline ConvAxis axis(int input, int kernel, int padding, int stride, int dilation) { return {input, kernel, padding, (input + 2 * padding - dilation * (kernel - 1) - 1) / stride + 1}; }

// f(sizes) for convolutions over the range, as they are drawn.
template <class F>
void each_convolution(F f) {
  for (const int batch : {1, 3, 64, 5000})
    for (const int channels : {1, 3, 8, 13, 64, 72, 96, 130, 512, 4096})
      for (const int filters : {1, 17, 64, 300, 4096})
        for (const int groups : {1, 8})
          for (const int stride : {1, 2, 5})
            for (const int dilation : {1, 3})
              for (const auto& [depth, height, width] : {std::tuple{1, 1, 1}, {1, 1, 3001}, {1, 7, 7}, {1, 56, 57}, {1, 224, 224}, {9, 10, 11}, {1, 3, 1 << 20}})
                for (const int kernel : {1, 2, 3, 7, 11, 31})
                  for (const int padding : {0, kernel / 2, 40}) {
                    if (channels % groups != 0 || filters % groups != 0) continue;
                    const int span = dilation * (kernel - 1) + 1;
                    ConvSizes s = {batch, channels, filters, groups, stride, dilation, {1, 1, 0, 1}, {1, 1, 0, 1}, axis(width, kernel, padding, stride, dilation)};
                    if (height > 1) s.height = axis(height, kernel, padding, stride, dilation);
                    if (depth > 1) s.depth = axis(depth, kernel, padding, stride, dilation);
                    if (width + 2 * padding < span || (height > 1 && height + 2 * padding < span) || (depth > 1 && depth + 2 * padding < span)) continue;
                    f(s);
                  }
}

}  // namespace opscope::cuda
