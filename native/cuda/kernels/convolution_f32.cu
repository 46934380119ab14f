// Convolutions in full f32 on Hopper, as products of the filters and windows that threads gather on their way (convolution/f32_windows.cuh), in the tiles of matmul_f32.cu
// (matmul/f32.cuh). convolution/f32.h says when.
//   convolution_f32_<filters of a tile>_<outputs>            a block of a multiprocessor
//   convolution_f32_several_<filters of a tile>_<outputs>    three blocks of a multiprocessor, so that one loads or stores while others multiply
// How to build and run: scripts/gpu/kernels.sh.
#include "convolution/f32_windows.cuh"

#define CONVOLUTION(WM, WN, TY, EACH, SLICES, STAGES, BLOCKS, name)                                                                                                                                   \
  extern "C" __global__ void __launch_bounds__(WM * WN * SLICES * 32, BLOCKS) convolution_f32_##name(const float* x, const float* weight, float* out, const ConvSizes s, const ConvNarrow c, const F32Product p, \
                                                                                                     float* shares, int splits) {                                                                     \
    F32Tile<WM, WN, TY, EACH, SLICES, STAGES, false, false>::product(WindowOperands{x, weight, s, c}, p, out, shares, splits);                                                                         \
  }
CONVOLUTION(4, 2, 4, 16, 1, 4, 1, 256_128)
CONVOLUTION(2, 2, 4, 16, 2, 6, 1, 128_128)
CONVOLUTION(2, 1, 4, 16, 4, 6, 1, 128_64)
CONVOLUTION(2, 2, 4, 8, 1, 3, 3, several_64_128)
