// Which kernels a batch_norm takes. Pure; see test/rows_test.cc.
#pragma once
#include <algorithm>
#include <cstdint>

#include "../rows/few.h"
#include "held.h"

namespace opscope::cuda {

enum class BatchNorm {
  few,       // few elements of training: lanes of a warp or a block have a channel (batch_norm_few.cu)
  each,      // few elements of inference: a thread for each (batch_norm_few.cu)
  held,      // training of channels in registers (batch_norm_held.cu)
  cluster,   // training in one launch: a block, or a cluster of them, has a channel
  channels,  // moments by a warp for each channel, then what follows from them
  parts,     // moments by blocks for parts of a channel, which a third launch joins
  apply,     // inference of more
};

struct BatchNormShape {
  BatchNorm kind;
  FewLaunch few = {};
  int64_t blocks = 0, images = 0;  // cluster: blocks of a channel, a power of two, and images of each
  int group = 0;                   // cluster: threads that share an image
  int64_t part = 0, parts = 1;     // channels, parts: elements of a part
  BatchNormHeld held = {};
  BatchNormVectors vectors = {};   // parts: those of a channel, none where its planes are small
};

// `clusters`: whether blocks can share a channel so. `lanes`: elements of 16 bytes.
inline BatchNormShape batch_norm_shape(int sm_count, bool clusters, int64_t lanes, int64_t batch, int64_t channels, int64_t plane, bool training) {
  // Elements up to which inference has a thread for each; of a channel that one block reads twice, the second time from a cache, sooner than two launches do.
  constexpr int64_t few_inferred = int64_t{1} << 15, most_of_block = 16384, few_ragged = 64, few_ragged_of_block = 128;
  const auto over = [](int64_t a, int64_t b) { return (a + b - 1) / b; };
  const int64_t count = batch * plane;
  if (!training) return {count * channels <= few_inferred ? BatchNorm::each : BatchNorm::apply};
  if (const FewLaunch few = few_shape(sm_count, channels, count); few.taken) return {BatchNorm::few, few};
  BatchNormShape s = {BatchNorm::cluster};
  // Many channels of few elements, which lie in pieces that a warp can read.
  const bool by_warps = count <= 8192 && plane >= 32 && channels >= int64_t{sm_count} * 8;
  s.blocks = 1;
  while (s.blocks < (clusters ? 8 : 1) && s.blocks * 2 <= batch && (over(batch, s.blocks) * plane > most_of_block || (channels * s.blocks < sm_count && over(batch, s.blocks) * plane > 1024))) s.blocks *= 2;
  // Every block has an image.
  while (s.blocks > 1 && over(batch, over(batch, s.blocks)) != s.blocks) s.blocks /= 2;
  s.images = over(batch, s.blocks);
  // A vector for each thread of an image.
  for (s.group = 1; s.group < 256 && s.group * 2 * lanes <= plane;) s.group *= 2;
  const bool one_launch = !by_warps && s.images * plane <= most_of_block;
  // Images of a few vectors off 16 bytes, where most lanes of a warp write single elements, of 16 bits: blocks that read twice, in one launch (H200: bf16 64x512x49 11.6 us, held 16.6; in three launches 64x2048x49 86.6 and 36.8; a block for a channel and 99 elements 12.4 and 12.9 on an H100).
  if (s.held = batch_norm_held(sm_count, clusters, lanes, batch, channels, plane); s.held.each > 0 && !(one_launch && s.held.ragged && lanes > 4 && plane < (s.blocks > 1 ? few_ragged : few_ragged_of_block))) {
    s.kind = BatchNorm::held;
    return s;
  }
  s.held = {};
  if (one_launch) return s;
  const int64_t wanted = std::clamp<int64_t>(std::min(over(int64_t{sm_count} * 8, channels), over(count, 4096)), 1, 1024);
  s.part = over(over(count, wanted), 8) * 8;
  s.parts = over(count, s.part);
  s.kind = s.parts == 1 && by_warps ? BatchNorm::channels : BatchNorm::parts;
  if (s.kind == BatchNorm::channels) return s;
  if (s.vectors = batch_norm_vectors(lanes, batch, channels, plane); s.vectors.vectors > 0) {
    s.vectors.part = static_cast<int>(over(s.vectors.vectors, wanted)), s.vectors.parts = static_cast<int>(over(s.vectors.vectors, s.vectors.part));
    s.parts = s.vectors.parts;
  }
  return s;
}

}  // namespace opscope::cuda
