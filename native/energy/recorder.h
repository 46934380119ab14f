// Reads a counter of energy in a thread of its own and keeps when it moved.
#pragma once
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "source.h"

namespace opscope {

// Times in ms since the recorder was made.
struct EnergyTrace {
  std::string source;
  std::vector<double> tick_ms, joules, power_ms, watts;
};

class EnergyRecorder {
 public:
  // Starts at once.
  explicit EnergyRecorder(std::unique_ptr<EnergySource> source);
  ~EnergyRecorder();
  EnergyRecorder(const EnergyRecorder&) = delete;
  // Ends it, and gives what was seen; once.
  EnergyTrace stop();

 private:
  void run();
  std::unique_ptr<EnergySource> source_;
  EnergyTrace trace_;
  std::atomic<bool> ended_{false};
  std::thread thread_;
};

}  // namespace opscope
