// Compiled without vectorisers (CMakeLists.txt): chains packed into a few registers would wait for themselves again.
#include "probe.h"

#include "clock.h"

namespace opscope::cpu {

namespace {

// A step is a multiply and an add in a row, six to eight cycles. Cores that start two of each in a cycle need fourteen
// chains for that time, and with the two constants these are just the sixteen vector registers of x86.
constexpr int CHAINS = 14;
// Some three microseconds where a step of all chains takes seven cycles, so that the work lasts hundreds of ticks of most
// clocks and yet little of a sample.
constexpr int STEPS = 1400;
// Short rounds first bring the work and the clock into the caches, which a cold sample has emptied: after none the work takes
// up to a tenth of a microsecond longer than when hot, on two threads after one too, after two or more it does not.
constexpr int FIRST_ROUNDS = 3;
constexpr int FIRST_STEPS = 8;

// Not known to the compiler, so that it can neither work the chains out, nor take two for one.
volatile float starts[CHAINS] = {0.50f, 0.51f, 0.52f, 0.53f, 0.54f, 0.55f, 0.56f, 0.57f, 0.58f, 0.59f, 0.60f, 0.61f, 0.62f, 0.63f};
// Each thread its own: a line that all write would be waited for.
thread_local volatile float sink;

void work(int steps) {
  float a = starts[0], b = starts[1], c = starts[2], d = starts[3], e = starts[4], f = starts[5], g = starts[6];
  float h = starts[7], i = starts[8], j = starts[9], k = starts[10], l = starts[11], m = starts[12], n = starts[13];
  const auto step = [](float& y) { y = y * 0.999f + 0.001f; };
  for (; steps > 0; steps--) {
    step(a), step(b), step(c), step(d), step(e), step(f), step(g);
    step(h), step(i), step(j), step(k), step(l), step(m), step(n);
  }
  sink = a + b + c + d + e + f + g + h + i + j + k + l + m + n;
}

// Not known either: a copy of the work made for each place would leave that of the timed one cold.
void (*volatile chains)(int) = work;

}  // namespace

double probe_ns() {
  int64_t ns = 0;
  for (int before = FIRST_ROUNDS; before >= 0; before--) {
    const int64_t from = now_ns();
    chains(before > 0 ? FIRST_STEPS : STEPS);
    ns = now_ns() - from;
  }
  return static_cast<double>(ns) - clock_cost().read_ns;
}

}  // namespace opscope::cpu
