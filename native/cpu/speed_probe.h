// What happened beside the samples of a batch: how fast the processors were, and whether they were taken away.
#pragma once
#include <cstdint>
#include <vector>

#include "prepared.h"
#include "team.h"

namespace opscope::cpu {

// All methods on the thread that takes the samples.
class SpeedProbe {
 public:
  // Whom it watches: the threads of the team, from the leading one; or the thread that calls a guest, whose own threads
  // are not known, and with it, for what the system counts, the whole process.
  enum class Of { team, calling_thread };
  SpeedProbe(Team& team, Of of);

  // Time in ns of the fixed work of probe.h, run by every thread of the team at once: that of the slowest. A team larger
  // than the processors runs it on the leading thread alone, for waiting for a turn is no slowness; nor is what threads of a
  // guest's do that still spin after a call.
  double take_ns();

  // Adds what happened since construction, and the best probe that this process has seen, those of the batch included, to
  // the state of the batch; what cannot be read stays absent.
  void report(SampleBatch& batch);

 private:
  // Whether every case with as many threads finds the same processors as free: not beside threads of a guest's that may spin
  // on the same core, nor where threads take turns.
  bool comparable() const;
  // Times the system took a processor from a watched thread while it had work; -1 where that is not counted.
  int64_t switches();

  Team& team_;
  const Of of_;
  std::vector<double> times_;  // of the last probe, by thread
  int64_t switches_;
  double stolen_ms_;
};

}  // namespace opscope::cpu
