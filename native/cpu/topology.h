// Cores, caches and memory as the operating system tells them, caches by the processor's word where the system does not.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "caches.h"

namespace opscope::cpu {

struct Topology {
  // Logical processors this process may use; one per physical core first, then their hardware siblings. In their own order where it is not known
  // which share a core.
  std::vector<int> processors;
  int physical = 1;
  bool cores_known = false;
  bool cores_of_guest = false;  // each processor is told to be a core, but by a hypervisor, whose host may run two of them on one core and change these
  std::vector<Cache> caches;
  int64_t llc_bytes = 32 << 20;  // one instance of the last-level cache
  int llc_instances = 1;         // instances that the usable processors reach
  bool llc_known = false;
  std::string governor;          // empty where it cannot be read
};

// Read once.
const Topology& topology();

#if defined(__linux__)
// From a folder such as /sys/devices/system/cpu, of the processors that may be used.
Topology read_topology(const std::string& cpus, const std::vector<int>& usable);
#endif

// Of the logical processors of each core, as bits.
Topology topology_of_cores(const std::vector<uint64_t>& cores);

// Whether this system lets a thread be bound to a processor.
#if defined(__linux__) || defined(_WIN32)
inline constexpr bool threads_can_be_bound = true;
#else
inline constexpr bool threads_can_be_bound = false;
#endif

// Where the threads of a team go, in their order.
std::string placement_text(const Topology& topology, bool bound = threads_can_be_bound);

// Bytes of last-level cache that a team of so many threads reaches: threads take processors in the order of their
// numbers, so they may reach up to one instance each.
int64_t reached_cache(int threads);

// Whether the last-level cache is so large that its parts lie beside many cores, far from most of them.
bool distant_cache();

// "32 MiB", "48 KiB".
std::string size_text(int64_t bytes);

// Bytes that can be taken now without swapping, limits of the control group respected.
int64_t available_memory();

// Binds the calling thread to one logical processor. False where that is not allowed or not known here.
bool pin(int processor);

// Binds the calling thread to a processor while it lives, unless that is -1; then gives it back those it had.
class Bound {
 public:
  explicit Bound(int processor);
  ~Bound();
  Bound(const Bound&) = delete;

 private:
  std::vector<int> before_;  // none: nothing to give back
};

}  // namespace opscope::cpu
