#include "quiet_processor.h"

#include <algorithm>
#include <array>
#include <limits>
#include <mutex>
#include <thread>

#include "clock.h"
#include "probe.h"
#include "topology.h"

namespace opscope::cpu {

namespace {

constexpr size_t PROBES = 5, MOST_LOOKED_AT = 16;
// How much longer than the least the probe takes on a quiet processor, at most: clocks of a guest differ by a tenth, and what runs on the same core adds a fifth and more.
constexpr double QUIET = 1.12;
// A processor that comes back later than this from being offered to others has something else to run; so many of them, and the search ends.
constexpr int64_t TAKEN_NS = 50'000;
constexpr int MOST_TAKEN = 2;

std::mutex mutex;
bool asked_for = false;
int users = 0;
size_t at = 0;        // among the usable processors
size_t quietest = 0;  // likewise, when it was last looked for
double least_ns = std::numeric_limits<double>::infinity();  // of the probe, on any of them

double usual_probe_ns() {
  std::array<double, PROBES> times;
  for (double& ns : times) ns = probe_ns();
  std::nth_element(times.begin(), times.begin() + PROBES / 2, times.end());
  return times[PROBES / 2];
}

bool is_taken() {
  const int64_t from = now_ns();
  std::this_thread::yield();
  return now_ns() - from > TAKEN_NS;
}

// Stays where it is quiet. A processor may seem quiet because what else it runs has just been interrupted, so others are offered before they are moved to.
void look_for_quiet() {
  const auto& processors = topology().processors;
  const bool known = least_ns < std::numeric_limits<double>::infinity();
  double best_ns = std::numeric_limits<double>::infinity();
  size_t best = quietest;
  int taken = 0;
  for (size_t i = 0; i < std::min(processors.size(), MOST_LOOKED_AT) && taken < MOST_TAKEN; i++) {
    const size_t place = (quietest + i) % processors.size();
    if (!pin(processors[place])) continue;
    if (i > 0 && is_taken()) {
      taken++;
      continue;
    }
    const double ns = usual_probe_ns();
    least_ns = std::min(least_ns, ns);
    if (ns < best_ns) best_ns = ns, best = place;
    if (known && ns <= QUIET * least_ns) break;
  }
  at = quietest = best;
}

}  // namespace

void set_quietest(bool asked) {
  const std::lock_guard lock(mutex);
  asked_for = asked;
}

OneProcessor::OneProcessor() {
  const std::lock_guard lock(mutex);
  users++;
}

OneProcessor::~OneProcessor() {
  const std::lock_guard lock(mutex);
  users--;
}

bool OneProcessor::bind() {
  const std::lock_guard lock(mutex);
  if (users == 1) {
    at = 0;
    if (asked_for && topology().cores_of_guest) look_for_quiet();
  }
  return at < topology().processors.size() && pin(topology().processors[at]);
}

int processor_of_one() {
  const std::lock_guard lock(mutex);
  return at < topology().processors.size() ? topology().processors[at] : -1;
}

}  // namespace opscope::cpu
