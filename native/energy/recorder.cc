#include "recorder.h"

#include <chrono>
#include <cmath>
#include <utility>

namespace opscope {

namespace {

// A window of 2 s begins and ends on a tick: 2 ms are a thousandth of it.
constexpr auto look_every = std::chrono::milliseconds(2);
constexpr double power_every_ms = 20;

}  // namespace

EnergyRecorder::EnergyRecorder(std::unique_ptr<EnergySource> source) : source_(std::move(source)), thread_([this] { run(); }) {}

EnergyRecorder::~EnergyRecorder() { stop(); }

void EnergyRecorder::run() {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  const auto elapsed_ms = [&] { return std::chrono::duration<double, std::milli>(Clock::now() - start).count(); };
  // When the counter reached what it shows first is not known: the first tick is its first change.
  double last = source_->joules(), power_at = -power_every_ms;
  while (!ended_) {
    const double now = source_->joules(), at = elapsed_ms();
    if (now > last) {
      trace_.tick_ms.push_back(at);
      trace_.joules.push_back(now);
    }
    if (!std::isnan(now)) last = now;
    if (at - power_at >= power_every_ms) {
      power_at = at;
      const double watts = source_->watts();
      if (!std::isnan(watts)) {
        trace_.power_ms.push_back(at);
        trace_.watts.push_back(watts);
      }
    }
    std::this_thread::sleep_for(look_every);
  }
}

EnergyTrace EnergyRecorder::stop() {
  ended_ = true;
  if (thread_.joinable()) thread_.join();
  trace_.source = source_->title();
  return std::move(trace_);
}

}  // namespace opscope
