// Launches of the convolutions that are computed in tiles (convolution_tiles.plan.cc).
#pragma once
#include "../convolution.h"
#include "../plan.h"
#include "packed.h"
#include "tiles.h"
#include "winograd.h"

namespace opscope::cuda {

// Where the input and the filters lie.
struct ConvOperands {
  CUdeviceptr x, weight;
};

// The numbers of a convolution that kernels with windows of their own take.
inline ConvNarrow narrow_of(const ConvSizes& s, const ConvShape& shape) {
  const int area = s.height.output * s.width.output;
  return {static_cast<int>(shape.columns), s.channels / s.groups, s.filters / s.groups, static_cast<int>(shape.terms), static_cast<int>(shape.terms / shape.channels), static_cast<int>(shape.plane), area,
          s.depth.input * s.height.input * s.width.input, conv_divisor(static_cast<int>(shape.plane)), conv_divisor(area), conv_divisor(s.width.output)};
}

void plan_conv_mma(Planner& p, const ConvOperands& from, const ConvSizes& s, int axes, const ConvShape& shape);
void plan_conv_wgmma(Planner& p, const ConvOperands& from, const ConvSizes& s, const ConvPacked& packed, const ConvShape& shape);
void plan_conv_halo(Planner& p, const ConvOperands& from, const ConvSizes& s, const ConvPacked& packed, const ConvShape& shape);
void plan_conv_several(Planner& p, const ConvOperands& from, const ConvSizes& s, const ConvShape& shape);
void plan_conv_f32(Planner& p, const ConvOperands& from, const ConvSizes& s, const ConvShape& shape);
void plan_conv_winograd(Planner& p, const ConvOperands& from, const ConvSizes& s, const ConvShape& shape);
void plan_conv_tiles(Planner& p, const ConvOperands& from, const ConvSizes& s, const ConvShape& shape);

}  // namespace opscope::cuda
