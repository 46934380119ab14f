// Takes timed samples of a list of launches on one device with CUDA events (docs: measurement.md, "CUDA").
//   cold   L2 overwritten, settled, event, one call, event
//   hot    event, `inner` calls, event; one untimed call first
//   graph  the same with the calls in one CUDA graph
// Samples are queued in chunks behind a kernel that holds the stream, so host gaps are not measured.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "../driver/context.h"
#include "../kernels/plan.h"
#include "prepared.h"

namespace opscope::cuda {

class Timer {
 public:
  // One per device, kept for the life of the process. Measures the events' tick on first use.
  static Timer& of(Context& context);

  // Nanoseconds per call, in the order taken; at least one and at most `count`.
  std::vector<double> sample(const std::vector<Launch>& launches, Mode mode, int count, int inner);
  // Smallest difference seen between two event times on this device.
  double tick_ns() const { return tick_ns_; }

 private:
  explicit Timer(Context& context);
  // Queues and times up to `samples` samples. Empty when the hold gave up, so that the times mean nothing.
  std::vector<double> chunk(const std::vector<Launch>& launches, Mode mode, int samples, int inner, CUgraphExec graph);
  void begin_hold();
  // Releases the stream, waits, and says whether the hold lasted until the release.
  bool end_hold();
  void flush_l2();
  void measure_tick();
  CUevent event(size_t index);

  Context& context_;
  DeviceBuffer flush_;
  volatile uint32_t* flags_ = nullptr;  // host-mapped: [0] ticket to let pass, [1] ticket that was not waited for
  CUdeviceptr device_flags_ = 0;
  uint32_t ticket_ = 0;
  std::vector<CUevent> events_;
  double tick_ns_ = 500;
};

}  // namespace opscope::cuda
