// Hardware counters of the calling thread, by perf_event_open.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace opscope::cpu {

// What the processor counted in user space; -1 where it has no such counter, or others took its place.
struct Counts {
  double instructions = -1, cycles = -1, l1_reads = -1, l1_misses = -1, llc_reads = -1, llc_misses = -1;
  std::vector<std::string> gaps;  // a counter that is absent, and why
};

// The system's events (perf_event_open). A test puts another one in its place.
struct PerfEvents {
  int (*open)(uint32_t type, uint64_t config, int leader);  // an event of the calling thread, in the group of `leader` unless that is -1; -1 and errno where there is none
  void (*start)(int leader), (*stop)(int leader);           // of the whole group; counts begin at 0
  bool (*read)(int event, uint64_t values[3]);              // count, ns enabled, ns counting
  void (*close)(int event);
};

// Counts through these from now on, through the system's where null.
void use_perf_events(const PerfEvents* events);

// Why there are no counters here, in one sentence; empty where there are.
std::string no_counters_reason();

// Events that are counted together; a processor has few counters, so the others are counted in another pass.
enum class CounterGroup { instructions, l1, llc };

// Counts from construction to read(), on the thread that constructs it.
class Counters {
 public:
  explicit Counters(CounterGroup group);
  ~Counters();
  Counters(const Counters&) = delete;
  Counters& operator=(const Counters&) = delete;
  // Stops and writes what was counted.
  void read(Counts& counts);

 private:
  const CounterGroup group_;
  int first_ = -1, second_ = -1;
  int first_error_ = 0, second_error_ = 0;  // errno of an event that could not be opened
};

}  // namespace opscope::cpu
