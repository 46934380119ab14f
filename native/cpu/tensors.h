// The memory of one case: sets of inputs and an output between guards.
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

  size_t inputs() const { return places_.size() - 1; }
  float* input(size_t i) const { return block_.floats() + places_[i].start; }
  float* output() const { return block_.floats() + places_.back().start; }
  // Inputs and output, without guards.
  int64_t bytes() const { return bytes_; }

  // The memory of inputs and output.
  std::vector<Region> regions() const;

  // Marks the memory around the output / says whether the marks still stand.
  void set_guards();
  bool guards_intact() const;

 private:
  // A tensor within the block, in floats: from `begin` it has the memory to itself, up to `end` with its guard.
  struct Place {
    int64_t begin, start, end;
  };

  Block block_;
  std::vector<Place> places_;  // of the inputs, then of the output
  int64_t output_elements_, bytes_;
};

}  // namespace opscope::cpu
