// How kernels hand tensors to Hopper's copy engine.
#pragma once
#include <cstdint>

#include "../driver/context.h"
#include "prepared.h"

namespace opscope::cuda {

// [batch, rows, cols] with rows `pitch` elements apart, which start on 16 bytes.
struct Rows3d {
  int64_t batch, rows, cols, pitch;
};

// Boxes of 128 bytes of columns by `box_rows`, swizzled as wgmma reads them, or of `box_cols` columns as they lie; zeroes beyond the tensor. `ahead`: L2 fetches 256 bytes for less, which takes longer where rows start off
// 32 bytes and L2 has them (NOTES.md).
inline CUtensorMap tensor_map(CUdeviceptr address, Dtype dtype, const Rows3d& x, unsigned box_rows, unsigned box_cols = 0, bool ahead = true) {
  const auto size = static_cast<int64_t>(dtype_bytes(dtype));
  const CUtensorMapDataType type = dtype == Dtype::f16    ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16
                                   : dtype == Dtype::bf16 ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16
                                     : size == 1          ? CU_TENSOR_MAP_DATA_TYPE_UINT8
                                                          : CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
  const cuuint64_t dims[3] = {static_cast<cuuint64_t>(x.cols), static_cast<cuuint64_t>(x.rows), static_cast<cuuint64_t>(x.batch)};
  const cuuint64_t strides[2] = {static_cast<cuuint64_t>(x.pitch * size), static_cast<cuuint64_t>(x.rows * x.pitch * size)};
  const cuuint32_t box[3] = {box_cols ? box_cols : static_cast<cuuint32_t>(128 / size), box_rows, 1}, steps[3] = {1, 1, 1};
  CUtensorMap map = {};
  check(api().TensorMapEncodeTiled(&map, type, 3, reinterpret_cast<void*>(address), dims, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                   box_cols ? CU_TENSOR_MAP_SWIZZLE_NONE : CU_TENSOR_MAP_SWIZZLE_128B, ahead ? CU_TENSOR_MAP_L2_PROMOTION_L2_256B : CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
        "describing a matrix to the copy engine");
  return map;
}

}  // namespace opscope::cuda
