#include "pressure.h"

#include <cmath>
#include <cstdlib>
#include <fstream>

namespace opscope::cpu {

namespace {
// Below this share a measurement sees a few samples disturbed, which its probes and statistics show by themselves.
constexpr double TELLING_PERCENT = 10;
}  // namespace

std::vector<std::string> disturbances() {
  // Linux 4.20 and later: "some avg10=25.39 avg60=..." is the share of the last 10 s in which a task waited for a processor.
  std::ifstream file("/proc/pressure/cpu");
  for (std::string line; std::getline(file, line);) {
    const size_t at = line.find("avg10=");
    if (!line.starts_with("some ") || at == std::string::npos) continue;
    const double percent = std::strtod(line.c_str() + at + 6, nullptr);
    if (percent < TELLING_PERCENT) return {};
    return {"CPU contention: tasks waited for " + std::to_string(std::lround(percent)) + " % of the last 10 s."};
  }
  return {};
}

double processor_quota() {
  // Control groups version 2: "200000 100000" is 2 processors' worth, "max 100000" no limit.
  std::ifstream file("/sys/fs/cgroup/cpu.max");
  double quota = 0, period = 0;
  return file >> quota >> period && period > 0 ? quota / period : 0;
}

}  // namespace opscope::cpu
