// The memory of one case: sets of tensors, each between guards.
#pragma once
#include <vector>

#include "block.h"
#include "evict.h"
#include "prepared.h"

namespace opscope::cpu {

// How many sets of buffers a case takes: one, or in mode rotated as many as together hold twice the last-level caches
// that its threads reach. Throws Error("unsupported") where that would be more than 256 sets or a quarter of the free
// memory, and Error("out-of-memory") where the case itself is larger than the memory left.
size_t set_count(const CaseSpec& spec, size_t scratch_floats);

// One set of buffers.
class Tensors {
 public:
  // Allocates; touches nothing large. `set`: which of the case's sets.
  Tensors(const CaseSpec& spec, size_t set);

  // Tensors that are read / written, in the order of the case; those that are both stand in both.
  const std::vector<void*>& inputs() const { return inputs_; }
  const std::vector<void*>& outputs() const { return outputs_; }
  // A tensor of the case by its place, or behind them a scratch buffer between the parts of a composite case.
  void* buffer(size_t index) const { return block_.data() + places_[index].start; }
  // Of all tensors and scratch buffers, without guards.
  int64_t bytes() const { return bytes_; }
  // Of those that are written.
  int64_t written_bytes() const { return written_bytes_; }

  // The memory of all tensors.
  std::vector<Region> regions() const;

  // Marks the memory around every tensor and scratch buffer / the first of them around which a mark is gone, -1 where none is.
  void set_guards();
  int broken_guard() const;

 private:
  // A tensor or scratch buffer within the block, in bytes: from `begin` it has the memory to itself, up to `end` with its guard.
  struct Place {
    int64_t begin, start, bytes, end;
  };

  Block block_;
  std::vector<Place> places_;
  std::vector<void*> inputs_, outputs_;
  int64_t bytes_, written_bytes_ = 0;
};

}  // namespace opscope::cpu
