// Hardware counters of a case, through a perf_event interface of our own: most machines that run tests have none.
#include "hardware_counters.h"

#include <cerrno>
#include <map>
#include <string>

#include "../cpu/counters.h"
#include "expected.h"
#include "prepared.h"
#include "registry.h"

#if defined(__linux__)
#include <linux/perf_event.h>
#endif

namespace opscope {

#if defined(__linux__)

namespace {

Expected expect;

using Id = std::pair<uint32_t, uint64_t>;
constexpr uint64_t L1_READS = PERF_COUNT_HW_CACHE_L1D | PERF_COUNT_HW_CACHE_OP_READ << 8, L1_MISSES = L1_READS | PERF_COUNT_HW_CACHE_RESULT_MISS << 16;

// What each event counts between start and stop; the share of the time that it does; whether it can be opened.
struct Fake {
  std::map<Id, uint64_t> counts;
  std::map<Id, bool> shared_in_time;
  int refuse = 0;  // errno of every open
  std::map<int, Id> open;
  int next = 100, started = 0, stopped = 0;
} fake;

const cpu::PerfEvents FAKE = {
    [](uint32_t type, uint64_t config, int) {
      const Id id{type, config};
      if (fake.refuse != 0 || fake.counts.count(id) == 0) {
        errno = fake.refuse != 0 ? fake.refuse : ENOENT;
        return -1;
      }
      fake.open[++fake.next] = id;
      return fake.next;
    },
    [](int) { fake.started++; },
    [](int) { fake.stopped++; },
    [](int event, uint64_t values[3]) {
      const Id id = fake.open.at(event);
      values[0] = fake.counts.at(id);
      values[1] = 1000;
      values[2] = fake.shared_in_time[id] ? 400 : 1000;
      return true;
    },
    [](int event) { fake.open.erase(event); },
};

CallCounts counted(int threads, Mode mode, int calls) {
  CaseSpec spec;
  spec.op = "copy";
  // A build for a check may have one level alone.
  for (const cpu::Entry& entry : cpu::all_kernels())
    if (entry.op == spec.op && spec.impl.empty()) spec.impl = entry.isa;
  spec.threads = threads;
  spec.dims = {1000};
  spec.tensors = {{"x", 1000, Storage::f32, Role::in, true, {1e-5f, 11u, 7u}}, {"out", 1000, Storage::f32, Role::out, false, {}}};
  const auto prepared = cpu::open(spec);
  expect(prepared->counts(), "a case on a processor counts");
  return prepared->count(mode, calls);
}

void check_present() {
  fake = {};
  fake.counts = {{{PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS}, 30'000}, {{PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES}, 12'000},
                 {{PERF_TYPE_HW_CACHE, L1_READS}, 5'000},                    {{PERF_TYPE_HW_CACHE, L1_MISSES}, 250},
                 {{PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES}, 80}, {{PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES}, 20}};
  const CallCounts hot = counted(1, Mode::hot, 10);
  expect(hot.reason.empty(), "counters that are there give no reason: " + hot.reason);
  expect(hot.instructions == 3000 && hot.cycles == 1200, "instructions and cycles are those of one call");
  expect(hot.l1_reads == 500 && hot.l1_misses == 25 && hot.llc_reads == 8 && hot.llc_misses == 2, "reads and misses are those of one call");
  expect(fake.open.empty() && fake.started == 3 && fake.stopped == 3, "three groups are opened, counted once each and closed");
  // Of a cold call the caches are emptied before each one, and the last stands for all.
  const CallCounts cold = counted(1, Mode::cold, 10);
  expect(cold.instructions == 30'000 && cold.llc_misses == 20, "a cold call is counted by itself");
  expect(fake.open.empty(), "every event of cold calls is closed");
}

// A processor lacks an event, or others took its place for a part of the time.
void check_missing() {
  fake.counts.erase({PERF_TYPE_HW_CACHE, L1_MISSES});
  fake.shared_in_time[{PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES}] = true;
  const CallCounts counts = counted(1, Mode::hot, 10);
  expect(counts.l1_reads == 500 && counts.l1_misses == -1, "an event that the processor lacks is absent, the other one of its group is there");
  expect(counts.llc_reads == -1 && counts.llc_misses == 2, "an event that did not count all of the time is absent");
  expect(counts.instructions == 3000, "the other events stay");
  expect(counts.reason == "Not counted: L1 data cache misses (the processor has no such counter), last-level cache reads (other programs had its counter for 60 % of the time)", "each absent counter has its reason: " + counts.reason);
}

void check_absent() {
  fake.refuse = EACCES;
  expect(counted(1, Mode::hot, 10).reason.find("kernel.perf_event_paranoid is ") != std::string::npos, "a refusal names the setting");
  fake.refuse = ENOENT;
  const CallCounts counts = counted(1, Mode::hot, 10);
  expect(counts.reason.find("no hardware counters") != std::string::npos && counts.instructions == -1, "a machine without counters says so");
  fake.refuse = 0;
  expect(counted(2, Mode::hot, 10).reason.find("one thread only") != std::string::npos, "two threads are not counted");
}

}  // namespace

int check_counters() {
  cpu::use_perf_events(&FAKE);
  check_present();
  check_missing();
  check_absent();
  cpu::use_perf_events(nullptr);
  return expect.failed();
}

#else

int check_counters() { return 0; }

#endif

}  // namespace opscope
