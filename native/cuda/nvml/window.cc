#include "window.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace opscope::cuda {

namespace {

constexpr double absent = std::numeric_limits<double>::quiet_NaN();

}  // namespace

void StateWindow::Mean::add(double value) {
  if (std::isnan(value)) return;
  sum += value;
  count++;
}

double StateWindow::Mean::value() const { return count ? sum / count : absent; }

void StateWindow::add(const DeviceState& reading) {
  sm_clock_.add(reading.sm_clock_mhz);
  mem_clock_.add(reading.mem_clock_mhz);
  power_.add(reading.power_w);
  if (count_++ == 0) {
    all_ = reading;
    return;
  }
  if (!(all_.temperature_c >= reading.temperature_c)) all_.temperature_c = reading.temperature_c;
  all_.foreign_processes = std::max(all_.foreign_processes, reading.foreign_processes);
  all_.has_throttle = all_.has_throttle || reading.has_throttle;
  for (const auto& reason : reading.throttle)
    if (std::find(all_.throttle.begin(), all_.throttle.end(), reason) == all_.throttle.end()) all_.throttle.push_back(reason);
}

DeviceState StateWindow::state() const {
  DeviceState s = all_;
  s.sm_clock_mhz = sm_clock_.value();
  s.mem_clock_mhz = mem_clock_.value();
  s.power_w = power_.value();
  s.energy_j = absent;
  if (count_ == 0) s.temperature_c = absent;
  return s;
}

}  // namespace opscope::cuda
