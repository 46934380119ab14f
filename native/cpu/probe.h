// A fixed piece of work that tells how fast a core is.
#pragma once

namespace opscope::cpu {

// Runs independent chains of floating-point and integer steps on the calling thread, as many as leave little of a core
// unused, and gives their time in ns: some three microseconds. It grows when the clock falls, and when the other hardware
// thread of the core computes something: a chain alone, which mostly waits for itself, shows nothing of that. It touches no
// memory but its own code.
double probe_ns();

}  // namespace opscope::cpu
