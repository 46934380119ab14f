// How much is queued at once while the stream is held. Needs no GPU.
#pragma once
#include <algorithm>

#include "prepared.h"

namespace opscope::cuda {

// Entries queued behind a held stream. The driver's queue takes about 1000 before a launch blocks the host.
inline constexpr int queue_budget = 500;
// Time that queuing may take while the stream is held, of calls that the host needs long to queue.
inline constexpr double queuing_ns = 1e8;

// What one call takes: entries of the queue, as far as is known, and time of the host (0: not known, and short).
struct CallCost {
  int entries = 1;
  double host_ns = 0;
};

// Calls that may be queued at once.
inline int calls_at_once(const CallCost& call) {
  const int by_queue = queue_budget / call.entries;
  return std::max(1, call.host_ns > 0 ? std::min(by_queue, static_cast<int>(queuing_ns / call.host_ns)) : by_queue);
}

// Calls that a sample has where `wanted` were asked for.
inline int calls_per_sample(Mode mode, int wanted, const CallCost& call) { return mode == Mode::cold ? 1 : std::clamp(wanted, 1, calls_at_once(call)); }

// Samples of `inner` calls that may be queued at once. A graph is one entry however many calls are in it.
inline int samples_at_once(Mode mode, int inner, const CallCost& call) {
  const int queued = mode == Mode::graph ? 1 : inner;
  // Beside the calls: two events, and the flush and the settle of cold or the stamp of the others.
  const int entries = (mode == Mode::cold ? 5 : 3) + queued * call.entries;
  return std::clamp(calls_at_once(call) / queued, 1, std::max(1, queue_budget / entries));
}

}  // namespace opscope::cuda
