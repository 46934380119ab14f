// Takes timed samples of the calls of a case on one device with CUDA events (docs: measurement.md, "CUDA").
//   cold     L2 emptied, settled, event, one call, event
//   hot      event, `inner` calls on one set of buffers, event; one untimed call first
//   rotated  the same, each call on the next set of buffers
//   graph    as hot, with the calls in one CUDA graph
// Samples are queued in chunks behind a kernel that holds the stream, so host gaps are not measured. Between samples,
// outside the events, a kernel of one thread notes the SM's cycles and the global timer: before every cold sample, where the
// L2 was just flushed, and about once a millisecond in the other modes, whose samples find the caches and the memory as the
// one before left them (a stamp just ahead of a copy of 64 MiB costs it 0.4 of 35 us).
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "../driver/context.h"
#include "calls.h"
#include "clock.h"
#include "prepared.h"

namespace opscope::cuda {

// How the L2 cache is emptied before a cold sample. Cases use `read`: what was in the cache leaves it, dirty lines go to
// memory, and what stays is clean, as after Nsight Compute's --cache-control all. The others are for scripts/gpu/agreement.sh
// to show the difference: after `write` the timed call pays for writing back up to a cache full of dirty lines (75 instead of
// 66 us for the sum of 64M f32 on an H200), and reading elsewhere after writing gives what reading alone gives, later.
enum class Flush { read, write, write_and_read };

struct Samples {
  std::vector<double> ns;         // per call, in the order taken
  std::vector<double> clock_mhz;  // one per sample, or none
  std::vector<double> host_ns;    // time the host took to queue one call, in each
  int inner = 1;                  // calls in each sample, as made
  size_t calls = 0;               // made in all, untimed ones too
};

class Timer {
 public:
  // One per device, kept for the life of the process. Measures the events' tick on first use.
  static Timer& of(Context& context);
  // The one of this GPU where a case was opened on it already, else null.
  static const Timer* known(int ordinal);

  // At least one sample and at most `count`, of `inner` calls each or of as many as can be queued at once. `watch` is called while the GPU works, at most every 20 ms.
  Samples sample(Calls& calls, Mode mode, int count, int inner, const std::function<void()>& watch = {});
  // Smallest difference seen between two event times on this device.
  double tick_ns() const { return tick_ns_; }
  // Bytes that emptying a cache of this size takes.
  static int64_t flush_bytes(int64_t l2_bytes);
  // Smallest step of the GPU's global timer.
  double timer_step_ns() const { return timer_step_ns_; }

  // What a sample of back-to-back calls costs beyond its calls: a pair of events, and the launch of a graph. It is taken off
  // each such sample, so that the time of a call does not depend on how many make a sample. Cold samples are left as they
  // are: event, one call, event.
  double events_ns() const { return events_ns_; }
  double graph_launch_ns() const { return graph_launch_ns_; }

  // For the tools that show what these do; cases leave them alone.
  void set_costs_taken_off(bool on) { costs_taken_off_ = on; }
  void set_flush(Flush flush) { flush_kind_ = flush; }
  void set_stamps(bool on) { stamps_on_ = on; }

 private:
  explicit Timer(Context& context);
  static std::map<int, std::unique_ptr<Timer>>& all();
  // Queues and times up to `samples` samples. Empty when the hold gave up, so that the times mean nothing.
  Samples chunk(Calls& calls, Mode mode, int samples, int inner, const std::function<void()>& watch);
  // Finds the time the host takes to queue a call, with calls that are not timed.
  void measure_host(Calls& calls);
  void begin_hold(double limit_ns);
  // Releases the stream, waits, and says whether the hold lasted until the release.
  bool end_hold(const std::function<void()>& watch = {});
  void flush_l2();
  void settle(unsigned long long ns, int stamp);
  void measure_tick();
  void measure_timer_step();
  void measure_costs();
  double cost_ns(Mode mode, int inner) const;
  CUevent event(size_t index);

  Context& context_;
  DeviceBuffer read_, written_, stamps_, sink_;  // written_: taken when first asked for
  Flush flush_kind_ = Flush::read;
  bool stamps_on_ = true, costs_taken_off_ = true;
  double watched_s_ = -1e9;
  volatile uint32_t* flags_ = nullptr;  // host-mapped: [0] ticket to let pass, [1] ticket that was not waited for
  CUdeviceptr device_flags_ = 0;
  uint32_t ticket_ = 0;
  std::vector<CUevent> events_;
  double tick_ns_ = 500, timer_step_ns_ = 1024, events_ns_ = 0, graph_launch_ns_ = 0, single_graph_launch_ns_ = 0;
};

}  // namespace opscope::cuda
