// A case on a GPU: buffers filled by the rule in core/random.ts, what is called on them, and timed samples.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "buffers/buffer_set.h"
#include "driver/context.h"
#include "nvml/nvml.h"
#include "prepared.h"
#include "timing/calls.h"
#include "timing/timer.h"

namespace opscope::cuda {

class CudaCase final : public Prepared {
 public:
  // Our own kernels, by their plan / somebody else's calls on buffers of this case.
  CudaCase(const CaseSpec& spec, PlanFunction plan, Context& context);
  CudaCase(const CaseSpec& spec, std::unique_ptr<Calls> calls, Context& context);
  ~CudaCase() override;

  void refill(const std::vector<Fill>& fills) override;
  void poison() override;
  // On every set: each is checked, and a kernel that remembers its output does so in each.
  void run() override;
  std::vector<OutputScan> scan() override;
  void read(size_t output, int64_t start, int64_t count, void* destination) override;
  SampleBatch sample(Mode mode, int count, int inner) override;
  int64_t case_bytes() const override;
  int64_t device_delta_bytes() const override { return delta_; }
  double tick_ns() const override { return timer_.tick_ns(); }
  std::string timer() const override { return "cuda-event"; }
  std::vector<std::string> notes() const override;
  std::vector<LaunchInfo> launches() const override;

  const std::vector<std::unique_ptr<BufferSet>>& sets() const { return sets_; }
  const Context& context() const { return context_; }

 private:
  CudaCase(const CaseSpec& spec, PlanFunction plan, std::unique_ptr<Calls> calls, Context& context);
  void run(size_t set);
  // `calls` sets from `first` on, around the end.
  void mark_used(size_t first, size_t calls);
  // Of our own kernels. Also after a fault, where the context can no longer be used.
  std::vector<LaunchInfo> launch_infos() const;

  Context& context_;
  Timer& timer_;
  std::unique_ptr<Nvml> nvml_;
  bool rotated_;
  std::string op_;
  double seconds_per_sample_ = 0;  // wall time, of the newest batch
  int64_t delta_ = -1;
  std::vector<std::unique_ptr<BufferSet>> sets_;
  std::vector<bool> used_;  // by a call since the outputs were poisoned
  std::unique_ptr<Calls> calls_;
};

}  // namespace opscope::cuda
