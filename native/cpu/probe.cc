// Compiled without vectorisers (CMakeLists.txt): chains packed into a few registers would wait for themselves again.
#include "probe.h"

#include <cstdint>

#include "clock.h"

namespace opscope::cpu {

namespace {

// Multiplies wait three or four cycles for the one before, and cores start two or more in a cycle: fourteen chains keep
// them busy with room to spare, so that the work takes the same time whatever order the core finds. (Chains of a multiply
// and an add fill twice as many pipes, but a core may find a better order now and then, and be 8 % faster.) With the
// factor they fit the sixteen vector registers of x86.
constexpr int FLOATS = 14;
// A neighbour that computes no products takes turns at decoding and dispatch. Integer steps beside the products, three
// instructions each on x86, make the work need most of that: on an AMD EPYC products alone saw nothing of a neighbour that
// made an addition of vectors 15 % slower; with four of these chains the work took 7 to 12 % longer then, with five 13 %,
// with six 19 to 27 %.
constexpr int INTEGERS = 5;
// Some three microseconds where a step of all chains takes seven cycles, so that the work lasts hundreds of ticks of most
// clocks and yet little of a sample.
constexpr int STEPS = 1550;
// Short rounds first bring the work and the clock into the caches, which a cold sample has emptied: after none the work takes
// up to a tenth of a microsecond longer than when hot, on two threads after one too, after two or more it does not.
constexpr int FIRST_ROUNDS = 3;
constexpr int FIRST_STEPS = 8;

// Not known to the compiler, so that it can neither work the chains out, nor take two for one.
volatile float factor = 1, floats[FLOATS] = {0.50f, 0.51f, 0.52f, 0.53f, 0.54f, 0.55f, 0.56f, 0.57f, 0.58f, 0.59f, 0.60f, 0.61f, 0.62f, 0.63f};
volatile uint64_t integers[INTEGERS] = {0x9e3779b97f4a7c15, 0xbf58476d1ce4e5b9, 0x94d049bb133111eb, 0xd6e8feb86659fd93, 0xa0761d6478bd642f};
// Each thread its own: a line that all write would be waited for.
thread_local volatile float float_sink;
thread_local volatile uint64_t integer_sink;

void work(int steps) {
  float a = floats[0], b = floats[1], c = floats[2], d = floats[3], e = floats[4], f = floats[5], g = floats[6];
  float h = floats[7], i = floats[8], j = floats[9], k = floats[10], l = floats[11], m = floats[12], n = floats[13];
  uint64_t p = integers[0], q = integers[1], r = integers[2], s = integers[3], t = integers[4];
  const float by = factor;
  const auto mix = [](uint64_t& x) { x += x >> 7; };
  for (; steps > 0; steps--) {
    a *= by, b *= by, mix(p), c *= by, d *= by, e *= by, mix(q), f *= by, g *= by, h *= by;
    mix(r), i *= by, j *= by, k *= by, mix(s), l *= by, m *= by, n *= by, mix(t);
  }
  float_sink = a + b + c + d + e + f + g + h + i + j + k + l + m + n;
  integer_sink = p + q + r + s + t;
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
