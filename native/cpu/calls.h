// What a case calls on its sets of buffers: a kernel of ours, run by the team, or a guest (native/guest).
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "team.h"
#include "tensors.h"

namespace opscope::cpu {

class Calls {
 public:
  virtual ~Calls() = default;
  // Floats that the calls of a case share beside inputs and outputs.
  virtual size_t scratch_floats() const { return 0; }
  // The seed of the inputs, each time that they are filled.
  virtual void set_seed(uint32_t) {}
  // Once, when the buffers are there. They stay where they are for the life of the case.
  virtual void bind(const std::vector<Tensors>& sets, float* scratch, Team& team) = 0;
  // `count` calls on one set of buffers, one after the other.
  virtual void run(size_t set, int count) = 0;
  // Whether they are made on the thread that asks for samples, while the team sleeps; else on the team's leading thread.
  virtual bool alone() const = 0;
  // Time in ns that run() takes beyond its calls, taken off every sample.
  virtual double overhead_ns() const { return 0; }
};

}  // namespace opscope::cpu
