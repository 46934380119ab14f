// What happened beside the samples of a batch: how fast the processors were, and whether they were taken away.
#pragma once
#include <cstdint>
#include <vector>

#include "prepared.h"
#include "team.h"

namespace opscope::cpu {

// All methods on the leading thread of the team.
class Witness {
 public:
  explicit Witness(Team& team);

  // Time in ns of a fixed chain of dependent multiply-adds of a few microseconds, run by every thread at once: that of the
  // slowest. A team larger than the processors runs it on the leading thread alone, for waiting for a turn is no slowness.
  double probe();

  // Adds what happened since construction to `state`; what cannot be read stays absent.
  void report(DeviceState& state);

 private:
  // Times the system took a processor from a thread of the team while it had work; -1 where that is not counted.
  int64_t switches();

  Team& team_;
  std::vector<double> times_;  // of the last probe, by thread
  int64_t switches_;
  double stolen_ms_;
};

}  // namespace opscope::cpu
