// The watch of a GPU that another process works on, on an invented machine:
//   cmake --build native/build --target opscope_watch_test && native/build/opscope_watch_test
#include <cmath>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "fake_nvml.h"
#include "gpu_watch.h"

using namespace opscope;

namespace {

int failed = 0;

void expect(bool right, const char* what) {
  std::printf("%s: %s\n", what, right ? "right" : "WRONG");
  failed += !right;
}

constexpr unsigned chromium = 3'000'001, stranger = 3'000'002;

std::string refusal(const std::string& name) {
  try {
    cuda::watch(name, chromium);
  } catch (const Error& error) {
    return error.code + ": " + error.what();
  }
  return {};
}

// Processes are counted once a second at most, so every count needs a watch of its own.
int others(std::vector<unsigned> computing, std::vector<unsigned> drawing, unsigned worker = chromium) {
  machine.computing = std::move(computing);
  machine.drawing = std::move(drawing);
  const auto watch = cuda::watch("NVIDIA One", worker);
  watch->begin(false);
  return watch->end().foreign_processes;
}

void names() {
  machine.gpus = {"NVIDIA One", "NVIDIA Two", "NVIDIA Two"};
  expect(refusal("NVIDIA One").empty(), "the one card of a name");
  expect(refusal("NVIDIA Two") == "unsupported: There are 2 GPUs called NVIDIA Two; expected one.", "of two equal cards nobody can say which it is");
  expect(refusal("AMD Radeon").rfind("unsupported: There are 0", 0) == 0, "a card that is not NVIDIA's");
}

void windows() {
  machine.clock_mhz = 1000;
  machine.millijoules = 5'000;
  const auto watch = cuda::watch("NVIDIA One", chromium);
  watch->begin(true);
  watch->read();
  machine.clock_mhz = 2000;
  machine.throttle = 0x4;
  watch->read();
  machine.millijoules = 17'000;
  machine.throttle = 0;
  const DeviceState s = watch->end();
  expect(s.sm_clock_mhz == 1500 && s.energy_j == 12, "a window has the mean clock and the energy between its ends");
  expect(s.has_throttle && s.throttle == std::vector<std::string>{"power limit"}, "a throttle seen once is not missed");
  expect(std::isnan(s.power_w) && std::isnan(s.temperature_c), "what the library does not tell is absent");
  watch->begin(false);
  const DeviceState next = watch->end();
  expect(next.sm_clock_mhz == 2000 && next.throttle.empty() && std::isnan(next.energy_j), "the next window knows nothing of it, and is looked at once at its end");
  watch->begin(true);
  expect(std::isnan(watch->end().energy_j), "a counter that did not move gives no energy");
}

void processes() {
  expect(others({chromium}, {}) == 0, "the process that computes for this app is no stranger");
  expect(others({chromium, stranger}, {}) == 1, "another is");
  expect(others({stranger}, {chromium}) == 1, "also where Chromium's is listed among those that draw");
  expect(others({17}, {}) == 0 && others({17, 18}, {}) == 1, "in a container, whose numbers differ, Chromium's is one of those listed");
  expect(others({stranger}, {}, 0) == -1, "without knowing Chromium's nobody is counted");
}

}  // namespace

int main() {
  names();
  windows();
  processes();
  return failed ? 1 : 0;
}
