// What is called and timed: launches of our own kernels (kernel_calls.h), or a guest (guest/cuda).
#pragma once
#include <cstddef>

#include "../driver/api.h"

namespace opscope::cuda {

class Calls {
 public:
  virtual ~Calls() = default;
  // Queues `count` calls on one set of buffers.
  virtual void enqueue(CUstream stream, size_t set, int count) = 0;
  // Records a graph of `count` calls; queues the recorded graph; forgets it.
  virtual void record(CUstream stream, size_t set, int count) = 0;
  virtual void launch(CUstream stream) = 0;
  virtual void drop() = 0;
  // Whether queuing may wait for the device, for example to allocate: the stream is then held for a short time only.
  virtual bool may_wait() const = 0;

  size_t sets = 1;     // of buffers
  size_t next = 0;     // the set whose turn it is
  size_t last = 0;     // the set called last
  int entries = 1;     // that one call takes of the driver's queue, as far as is known
  double call_ns = 0;  // as the newest samples had it; 0 before there are any
  double host_ns = 0;  // time the host takes to queue a call, where calls may wait; 0 before it is known
};

}  // namespace opscope::cuda
