// A fixed piece of work that tells how fast a core is.
#pragma once

namespace opscope::cpu {

// Runs independent chains of multiplies and adds on the calling thread, as many as keep its floating-point pipes full, and
// gives their time in ns: some three microseconds. It grows when the clock falls, and when the other hardware thread of the
// core computes something: one chain alone, which mostly waits for itself, shows nothing of that. It touches no memory but
// its own code.
double probe_ns();

}  // namespace opscope::cpu
