// What is queued on a stream and can be recorded as a graph of it.
#pragma once
#include "calls.h"

namespace opscope::cuda {

class StreamCalls : public Calls {
 public:
  StreamCalls() = default;
  // A class that has more to give back than the graph drops it first.
  ~StreamCalls() override { drop(); }
  StreamCalls(const StreamCalls&) = delete;

  void record(CUstream stream, size_t set, int count) final;
  void launch(CUstream stream) final;
  void drop() final;
  bool may_wait() const override { return false; }

 private:
  CUgraphExec graph_ = nullptr;
};

}  // namespace opscope::cuda
