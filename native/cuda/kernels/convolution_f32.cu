// Convolutions in full f32 on Hopper, as products of the filters and windows that threads gather on their way (convolution/f32_windows.cuh), in the tiles of matmul_f32.cu
// (matmul/f32.cuh). convolution/f32.h says when.
//   convolution_f32_<filters of a tile>_<outputs>
// How to build and run: scripts/gpu/kernels.sh.
#include "convolution/f32_windows.cuh"

#define CONVOLUTION(WM, WN, SLICES, STAGES, BM, BN)                                                                                                                                                     \
  extern "C" __global__ void __launch_bounds__(256) convolution_f32_##BM##_##BN(const float* x, const float* weight, float* out, const ConvSizes s, const ConvNarrow c, const F32Product p, float* shares, int splits) { \
    F32Tile<WM, WN, 4, 16, SLICES, STAGES, false, false>::product(WindowOperands{x, weight, s, c}, p, out, shares, splits);                                                                             \
  }
CONVOLUTION(4, 2, 1, 4, 256, 128)
CONVOLUTION(2, 2, 2, 6, 128, 128)
CONVOLUTION(2, 1, 4, 6, 128, 64)
