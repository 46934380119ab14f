// topk by a block for each row, which counts elements by their highest bits, then those that have the bits of the k-th by the next ones, until few enough reach it, and sorts these (order/choose.cuh):
//   order_choose_<bits>      rows that lie in shared memory
//   order_choose_far_<bits>  others, which are read again for each count
// 16: f16 and bf16; 32: f32. grid: rows.
#include "order/choose.cuh"

#define CHOOSE_OF(NAME, E, HELD, MOST)                                                                                                                                               \
  extern "C" __global__ void __launch_bounds__(choose_threads, 2) order_choose_##NAME(const E* x, E* values, int* indices, int cols, int k, unsigned infinity, unsigned flip) { \
    extern __shared__ uint4 memory[];                                                                                                                                                \
    __shared__ choose::Shared<MOST> s;                                                                                                                                               \
    choose::of_row<HELD>(s, memory, choose::Out<E>{values, indices, x, cols, k, {infinity, flip}}, blockIdx.x);                                                                      \
  }
#define CHOOSE(bits, E) CHOOSE_OF(bits, E, true, most_chosen) CHOOSE_OF(far_##bits, E, false, most_chosen_far)
CHOOSE(16, unsigned short)
CHOOSE(32, unsigned)
