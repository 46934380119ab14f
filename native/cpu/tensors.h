// The memory of one case: inputs, output between guards, scratch.
#pragma once
#include <vector>

#include "kernel.h"
#include "block.h"
#include "prepared.h"

namespace opscope::cpu {

class Tensors {
 public:
  // Allocates; touches nothing. Throws Error("out-of-memory") before asking for more than the machine has left.
  Tensors(const CaseSpec& spec, size_t scratch_floats);

  float* input(size_t i) const { return inputs_[i].block.floats() + inputs_[i].offset; }
  float* output() const { return output_.block.floats() + output_.offset; }
  float* scratch() const { return scratch_.floats(); }
  int64_t bytes() const { return bytes_; }

  // Marks the memory around the output / says whether the marks still stand.
  void set_guards();
  bool guards_intact() const;

 private:
  struct Placed {
    Block block;
    int64_t offset = 0;  // floats
  };

  std::vector<Placed> inputs_;
  Placed output_;
  Block scratch_;
  int64_t output_elements_, bytes_ = 0;
};

}  // namespace opscope::cpu
