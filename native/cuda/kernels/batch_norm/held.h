// batch_norm in training whose channels a block, or a cluster of blocks, keeps in registers, so that x is read once (batch_norm_held.cu): which, and how. Pure; see test/choices_test.cc.
#pragma once
#include <cstdint>

#include "../common/divide.h"

namespace opscope::cuda {

// Threads of a block at most, and vectors of a thread at most.
constexpr int64_t batch_norm_threads = 512, batch_norm_each = 8;

// Vectors of 16 bytes that a channel lies in, counted over its images; the same for host and device.
struct BatchNormVectors {
  int plane, channels;
  int per_image, vectors;  // of an image; of all of them
  int part, parts;         // vectors of a block, blocks of a channel
  Divide by_image;
};

struct BatchNormHeld {
  int each = 0;  // vectors of a thread: 4 or 8; 0: other kernels take the case
  unsigned threads = 0;
  bool ragged = false;  // images that do not start on 16 bytes
  BatchNormVectors vectors = {};
};

// `lanes`: elements of 16 bytes. No vectors where most of them would be of other channels, or more than are counted with 32 bits.
inline BatchNormVectors batch_norm_vectors(int64_t lanes, int64_t batch, int64_t channels, int64_t plane) {
  constexpr int64_t most = int64_t{1} << 30;
  const bool ragged = plane % lanes != 0;
  const int64_t per_image = (plane + (ragged ? 2 * (lanes - 1) : 0)) / lanes;
  if (plane < (ragged ? 2 * lanes : lanes) || plane >= most || channels >= most || batch >= most / per_image) return {};
  return {static_cast<int>(plane), static_cast<int>(channels), static_cast<int>(per_image), static_cast<int>(batch * per_image), static_cast<int>(batch * per_image), 1, divide_by(per_image)};
}

// `clusters`: whether blocks can share a channel so.
inline BatchNormHeld batch_norm_held(int sm_count, bool clusters, int64_t lanes, int64_t batch, int64_t channels, int64_t plane) {
  // Channels of fewer vectors take a warp or less; where there are many of them, three launches would (H200: f16 1x3482x163x5 18.1 to 9.2 us, f32 8x2048x7x7 21.3 to 7.7).
  const int64_t least = channels >= int64_t{sm_count} * 8 ? 33 : 129;
  const auto over = [](int64_t a, int64_t b) { return (a + b - 1) / b; };
  BatchNormHeld h;
  h.vectors = batch_norm_vectors(lanes, batch, channels, plane);
  const int64_t vectors = h.vectors.vectors, most = clusters ? 8 : 1;
  if (vectors < least || vectors > most * batch_norm_threads * batch_norm_each) return {};
  int64_t parts = 1;
  while (over(vectors, parts) > batch_norm_threads * batch_norm_each) parts *= 2;
  // Few channels: more blocks for each.
  while (parts < most && channels * parts * 2 <= sm_count && vectors >= parts * 4 * batch_norm_threads) parts *= 2;
  const int64_t part = over(vectors, parts);
  h.each = part <= 256 || (part <= batch_norm_threads * 4 && channels * parts <= sm_count * 2) || (lanes == 4 && part <= 1024) ? 4 : 8;
  h.threads = static_cast<unsigned>(over(over(part, h.each), 32) * 32);
  h.ragged = plane % lanes != 0;
  h.vectors.part = static_cast<int>(part), h.vectors.parts = static_cast<int>(parts);
  return h;
}

}  // namespace opscope::cuda
