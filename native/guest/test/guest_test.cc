// The guest library through its C functions, with an add in C as the guest, on the CPU:
//   cmake --build native/build --target opscope_guest_test && native/build/opscope_guest_test
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#if defined(__linux__)
#include <sched.h>
#endif

#include "guest.h"

namespace {

int failed = 0;

void expect(bool right, const std::string& what) {
  std::printf("%s: %s%s\n", what.c_str(), right ? "right" : "WRONG ", right ? "" : opscope_guest_error());
  failed += !right;
}

// The guest: adds its two inputs.
struct Guest {
  int handle = 0;
  int64_t n = 0;
  bool fails = false, skips_last = false, writes_beyond = false;
  int asked = 0, calls = 0, bound_to = 0;  // times asked for calls; calls made; processors of the thread that was asked
  std::thread::id thread;
} guest;

int processors_of_thread() {
#if defined(__linux__)
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
#else
  return 0;
#endif
}

int call(int action, int set, int count) {
  if (action != OPSCOPE_GUEST_RUN || guest.fails) return -1;
  if (count == 0) return 0;
  guest.thread = std::this_thread::get_id();
  guest.bound_to = processors_of_thread();
  guest.asked++;
  guest.calls += count;
  const auto* a = static_cast<const float*>(opscope_guest_input_at(guest.handle, set, 0));
  const auto* b = static_cast<const float*>(opscope_guest_input_at(guest.handle, set, 1));
  auto* out = static_cast<float*>(opscope_guest_output_at(guest.handle, set));
  for (int k = 0; k < count; k++)
    for (int64_t i = 0; i < guest.n - guest.skips_last + guest.writes_beyond; i++) out[i] = i < guest.n ? a[i] + b[i] : 0;
  return 0;
}

// The keys of seed 20260101, streams 0 and 1, a standard deviation of 1, and the bits of the first elements in f32, as
// test/fixtures/random.json has them.
constexpr uint32_t KEYS[2][2] = {{0xa7283cd6u, 0xd1a3c80u}, {0x312f3b2au, 0x6b3da64fu}};
const float FACTOR = static_cast<float>(1 / std::sqrt((65536.0 * 65536.0 - 1) / 3));
constexpr uint32_t FIRST[2][4] = {{3217663499, 3210041981, 3211967689, 1060109851}, {1072158989, 3218372725, 1068191844, 1059642945}};

opscope_guest_input inputs[2];

int open(int64_t n, int threads, bool rotated) {
  for (int i = 0; i < 2; i++) inputs[i] = {n, 0, FACTOR, KEYS[i][0], KEYS[i][1]};
  opscope_guest_spec spec{0, 0, 0, threads, rotated, 2, inputs, n, call};
  guest = {};
  guest.n = n;
  return guest.handle = opscope_guest_open(&spec);
}

bool failed_with(const char* code) { return std::strstr(opscope_guest_error(), ("\"code\":\"" + std::string(code) + "\"").c_str()) != nullptr; }

std::vector<double> ns, clock_mhz, probe_ns;
double host_call_ns;
int calls_made;

int sample(int mode, int count, int inner) {
  for (auto* list : {&ns, &clock_mhz, &probe_ns}) list->assign(static_cast<size_t>(count), -1);
  return opscope_guest_sample(guest.handle, mode, count, inner, ns.data(), clock_mhz.data(), probe_ns.data(), &host_call_ns, &calls_made);
}

void check_one(int threads) {
  const std::string who = std::to_string(threads) + " threads, ";
  const int processors = processors_of_thread();
  constexpr int64_t n = 50'021;
  const int handle = open(n, threads, false);
  expect(handle > 0 && opscope_guest_sets(handle) == 1 && opscope_guest_bytes(handle) == 3 * 4 * n, who + "one set of buffers");
  const auto* a = static_cast<const float*>(opscope_guest_input_at(handle, 0, 0));
  const auto* b = static_cast<const float*>(opscope_guest_input_at(handle, 0, 1));
  const auto* out = static_cast<const float*>(opscope_guest_output_at(handle, 0));
  bool aligned = true;
  for (const auto* place : {a, b, out}) aligned = aligned && reinterpret_cast<uintptr_t>(place) % 64 == 0;
  expect(aligned, who + "buffers are aligned to 64 bytes");
  expect(!opscope_guest_input_at(handle, 0, 2) && !opscope_guest_input_at(handle, 1, 0) && !opscope_guest_output_at(handle, -1) && !opscope_guest_stream(handle), who + "other buffers and a stream are not there");
  expect(std::memcmp(a, FIRST[0], sizeof FIRST[0]) == 0 && std::memcmp(b, FIRST[1], sizeof FIRST[1]) == 0, who + "inputs are those of core/random.ts");

  expect(opscope_guest_count_unwritten(handle) == n, who + "the output is poisoned when opened");
  expect(opscope_guest_run(handle) == 0 && opscope_guest_count_unwritten(handle) == 0, who + "a run writes every element");
  expect(guest.thread == std::this_thread::get_id(), who + "the guest runs on the thread that asks");
#if defined(__linux__)
  expect(guest.bound_to == (threads == 1 ? 1 : processors), who + "only one thread alone is bound to a processor");
  expect(processors_of_thread() == processors, who + "processors are given back");
#endif
  float middle = 0;
  expect(opscope_guest_read(handle, n / 2, 1, &middle) == 0 && middle == a[n / 2] + b[n / 2], who + "read");
  expect(opscope_guest_read(handle, n, 1, &middle) == -1 && failed_with("internal"), who + "a read outside is refused");

  guest.skips_last = true;
  opscope_guest_poison(handle);
  expect(sample(1, 3, 4) == 3 && opscope_guest_count_unwritten(handle) == 1, who + "an element that is never written is seen");
  guest.skips_last = false;
  guest.asked = guest.calls = 0;
  expect(sample(1, 5, 4) == 5 && guest.asked == 5 && guest.calls == 20 && ns[4] > 0 && probe_ns[4] > 0 && std::isnan(clock_mhz[4]) && std::isnan(host_call_ns), who + "hot samples ask once for all calls");
  expect(calls_made == 4, who + "hot samples say how many calls they have");
  guest.asked = guest.calls = 0;
  expect(sample(0, 4, 9) == 4 && guest.asked == 4 && guest.calls == 4 && calls_made == 1, who + "cold samples have one call");
#if defined(__linux__)
  expect(std::strstr(opscope_guest_state(handle), "\"involuntarySwitches\":"), who + "the state counts switches");
#endif
  sample(1, 40, 1);
  if (threads == 1) expect(std::strstr(opscope_guest_state(handle), "\"probeBestNs\":"), who + "the state knows the best probe");
  expect(sample(2, 1, 1) == -1 && failed_with("internal"), who + "a case with one set is not rotated");
  expect(sample(3, 1, 1) == -1 && failed_with("unsupported"), who + "graphs are refused");
  expect(opscope_guest_callback_ns(handle) >= 0 && opscope_guest_callback_ns(handle) < 1e5 && opscope_guest_tick_ns(handle) > 0, who + "the cost of asking is known");

  const float before = a[0];
  opscope_guest_input others[2] = {inputs[0], inputs[1]};
  others[0].key0 ^= 77;
  expect(opscope_guest_refill(handle, others) == 0 && a[0] != before && std::memcmp(b, FIRST[1], sizeof FIRST[1]) == 0, who + "other inputs are filled in place");
  guest.fails = true;
  expect(opscope_guest_run(handle) == -1 && failed_with("kernel-failed") && sample(0, 2, 1) == -1 && failed_with("kernel-failed"), who + "a guest that fails ends the samples");
  guest.fails = false;
  expect(sample(0, 2, 1) == 2, who + "it may be asked again");
  guest.writes_beyond = true;
  expect(opscope_guest_run(handle) == 0 && opscope_guest_count_unwritten(handle) == -1 && failed_with("kernel-failed"), who + "a guest that writes beyond its output is seen");
  opscope_guest_close(handle);
  expect(opscope_guest_run(handle) == -1 && failed_with("internal"), who + "a closed case is gone");
}

void check_rotated() {
  const int handle = open(1 << 21, 2, true);
  const int sets = opscope_guest_sets(handle);
  expect(handle > 0 && sets >= 2, "rotated: many sets of buffers");
  expect(opscope_guest_run(handle) == 0 && guest.calls == sets && opscope_guest_count_unwritten(handle) == 0, "rotated: a run writes every set");
  opscope_guest_poison(handle);
  guest.asked = guest.calls = 0;
  expect(sample(2, 1, 2) == 1 && guest.asked == 2 && guest.calls == 2 && opscope_guest_count_unwritten(handle) == 0, "rotated: each call is on the next set");
  expect(sample(0, 1, 1) == 1, "rotated: such a case gives cold samples too");
  opscope_guest_close(handle);
}

// Every other storage type on the CPU, through the functions for cases of any tensors: filled, poisoned, written and read.
void check_storage() {
  const size_t bytes[] = {4, 2, 2, 1, 1, 4, 1};
  const int dtypes[] = {0, 1, 2, 4, 5, 0, 0};
  for (int storage = 0; storage < 7; storage++) {
    const std::string who = "storage type " + std::to_string(storage) + ", ";
    constexpr int64_t n = 1021;
    const bool integers = storage == 3 || storage > 4;
    const opscope_guest_fill fill{integers ? 3 : 0, KEYS[0][0], KEYS[0][1], FACTOR, 0, 100};
    const opscope_guest_tensor tensors[] = {{n, storage, 0, fill}, {n, storage, 1, {}}};
    const opscope_guest_case spec{0, 0, dtypes[storage], 1, 0, 2, tensors, [](int action, int set, int count) {
      if (action == OPSCOPE_GUEST_RUN && count > 0) std::memcpy(opscope_guest_outputs_at(guest.handle, set, 0), opscope_guest_input_at(guest.handle, set, 0), static_cast<size_t>(guest.n));
      return 0;
    }};
    guest = {};
    guest.n = n * static_cast<int64_t>(bytes[storage]);
    guest.handle = opscope_guest_open_case(&spec);
    expect(guest.handle > 0 && opscope_guest_bytes(guest.handle) == 2 * guest.n, who + "a case is opened");
    std::vector<char> read(static_cast<size_t>(guest.n));
    int64_t unwritten = 0, non_finite = 0;
    expect(opscope_guest_run(guest.handle) == 0 && opscope_guest_scan(guest.handle, &unwritten, &non_finite) == 1 && unwritten == 0 && non_finite <= 0, who + "a run writes every element");
    expect(opscope_guest_read_output(guest.handle, 0, 0, n, read.data()) == 0 && std::memcmp(read.data(), opscope_guest_input_at(guest.handle, 0, 0), read.size()) == 0, who + "and is read bit for bit");
    expect(sample(1, 2, 2) == 2 && ns[1] > 0, who + "and timed");
    opscope_guest_close(guest.handle);
  }
}

void check_refusals() {
  opscope_guest_spec spec{0, 0, 3, 1, 0, 2, inputs, 8, call};
  expect(opscope_guest_open(&spec) == -1 && failed_with("unsupported"), "tf32 on the CPU is refused");
  spec.dtype = 0;
  spec.output_elements = 0;
  expect(opscope_guest_open(&spec) == -1 && failed_with("internal"), "a case without output is refused");
  spec.output_elements = int64_t{1} << 40;
  expect(opscope_guest_open(&spec) == -1 && failed_with("out-of-memory"), "a case larger than the memory is refused");
  spec.output_elements = 8;
  spec.cuda = 1;
  spec.device = 1000;
  expect(opscope_guest_open(&spec) == -1 && failed_with("unsupported"), "a GPU that is not there is refused");
}

}  // namespace

int main() {
  expect(opscope_guest_version() == OPSCOPE_GUEST_VERSION, "version");
  check_one(1);
  check_one(2);
  check_rotated();
  check_storage();
  check_refusals();
  return failed ? 1 : 0;
}
