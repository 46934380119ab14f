#include "timer.h"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace opscope::cuda {

namespace {

// Entries queued behind a held stream. The driver's queue takes about 1000 before a launch blocks the host.
constexpr int queue_budget = 500;
constexpr unsigned long long hold_limit_ns = 2'000'000'000;
constexpr unsigned long long settle_ns = 2'000;
// A batch ends after this long, so that progress is seen and a stop is obeyed.
constexpr double batch_seconds = 0.5;
constexpr int64_t minimum_flush_bytes = 64 << 20;
// The device's state is read this often at most: a read takes the driver tens of microseconds.
constexpr double watch_seconds = 0.02;
// Clocks change over milliseconds.
constexpr double stamp_every_ns = 1e6;

// A CUDA graph of `inner` calls, destroyed with its owner.
class Graph {
 public:
  Graph(Context& context, const std::vector<Launch>& launches, int inner) {
    CUgraph graph = nullptr;
    check(api().StreamBeginCapture(context.stream(), CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), "starting to record a graph");
    for (int i = 0; i < inner; i++)
      for (const auto& launch : launches) launch.enqueue(context.stream());
    check(api().StreamEndCapture(context.stream(), &graph), "recording a graph");
    const CUresult made = api().GraphInstantiate(&exec_, graph, 0);
    api().GraphDestroy(graph);
    check(made, "preparing a graph");
  }
  ~Graph() {
    if (exec_) api().GraphExecDestroy(exec_);
  }
  Graph(const Graph&) = delete;
  CUgraphExec exec() const { return exec_; }

 private:
  CUgraphExec exec_ = nullptr;
};

}  // namespace

std::map<int, std::unique_ptr<Timer>>& Timer::all() {
  static std::map<int, std::unique_ptr<Timer>> timers;
  return timers;
}

Timer& Timer::of(Context& context) {
  auto& slot = all()[context.traits().ordinal];
  if (!slot) slot.reset(new Timer(context));
  return *slot;
}

const Timer* Timer::known(int ordinal) {
  const auto found = all().find(ordinal);
  return found == all().end() ? nullptr : found->second.get();
}

Timer::Timer(Context& context)
    : context_(context), read_(std::max(minimum_flush_bytes, 2 * context.traits().l2_bytes)), stamps_((queue_budget + 2) * sizeof(Stamp)), sink_(256) {
  void* host = nullptr;
  check(api().MemHostAlloc(&host, 2 * sizeof(uint32_t), CU_MEMHOSTALLOC_DEVICEMAP), "allocating the hold flag");
  flags_ = static_cast<uint32_t*>(host);
  flags_[0] = 0;
  flags_[1] = 0;
  check(api().MemHostGetDevicePointer(&device_flags_, host, 0), "mapping the hold flag");
  check(api().MemsetD32Async(read_.address(), 0x3f800000u, static_cast<size_t>(read_.bytes()) / 4, context_.stream()), "preparing the L2 flush");
  measure_tick();
  measure_timer_step();
  measure_costs();
}

CUevent Timer::event(size_t index) {
  while (events_.size() <= index) check(api().EventCreate(&events_.emplace_back(), CU_EVENT_DEFAULT), "creating an event");
  return events_[index];
}

void Timer::begin_hold() {
  ticket_++;
  Launch(context_.kernel("service", "hold"), {}, 1, 0, device_flags_, ticket_, hold_limit_ns).enqueue(context_.stream());
}

bool Timer::end_hold(const std::function<void()>& watch) {
  flags_[0] = ticket_;
  const double now = std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  if (watch && now - watched_s_ >= watch_seconds) {
    watch();
    watched_s_ = now;
  }
  context_.synchronize("timing a kernel");
  return flags_[1] != ticket_;
}

void Timer::flush_l2() {
  if (flush_kind_ != Flush::read) {
    if (!written_.bytes()) written_ = DeviceBuffer(read_.bytes());
    check(api().MemsetD32Async(written_.address(), 0x3f800000u + ticket_, static_cast<size_t>(written_.bytes()) / 4, context_.stream()), "flushing the L2 cache");
    if (flush_kind_ == Flush::write) return;
  }
  Launch(context_.kernel("service", "drain"), {static_cast<unsigned>(context_.traits().sm_count * 8)}, 256, 0, read_.address(), static_cast<long long>(read_.bytes() / 16), 1u,
         sink_.address())
      .enqueue(context_.stream());
}

// `stamp` below 0 notes nothing.
void Timer::settle(unsigned long long ns, int stamp) {
  const CUdeviceptr place = stamp < 0 || !stamps_on_ ? 0 : stamps_.address() + static_cast<CUdeviceptr>(stamp) * sizeof(Stamp);
  if (ns > 0 || place) Launch(context_.kernel("service", "settle"), {}, 1, 0, ns, place).enqueue(context_.stream());
}

// Times spins of many lengths; the smallest step between the values seen is what the event clock can show.
void Timer::measure_tick() {
  const CUfunction settle = context_.kernel("service", "settle");
  constexpr int pairs = 200;
  constexpr CUdeviceptr no_stamp = 0;
  Launch(settle, {}, 1, 0, settle_ns, no_stamp).enqueue(context_.stream());
  begin_hold();
  for (int i = 0; i < pairs; i++) {
    check(api().EventRecord(event(i), context_.stream()), "recording an event");
    const unsigned long long ns = 40ull * (i % 50);
    Launch(settle, {}, 1, 0, ns, no_stamp).enqueue(context_.stream());
  }
  check(api().EventRecord(event(pairs), context_.stream()), "recording an event");
  end_hold();
  std::vector<double> times;
  for (int i = 0; i < pairs; i++) {
    float ms = 0;
    check(api().EventElapsedTime(&ms, event(i), event(i + 1)), "reading an event");
    times.push_back(static_cast<double>(ms) * 1e6);
  }
  std::sort(times.begin(), times.end());
  double step = 500;  // the resolution NVIDIA documents for events
  for (size_t i = 1; i < times.size(); i++)
    if (times[i] - times[i - 1] > 0.9) step = std::min(step, times[i] - times[i - 1]);
  tick_ns_ = std::round(step);
}

void Timer::measure_timer_step() {
  Launch(context_.kernel("service", "timer_step"), {}, 1, 0, sink_.address()).enqueue(context_.stream());
  context_.synchronize("reading the GPU's timer");
  unsigned long long step = 0;
  check(api().MemcpyDtoH(&step, sink_.address(), sizeof step), "reading the GPU's timer");
  timer_step_ns_ = static_cast<double>(step);
}

Samples Timer::chunk(Calls& calls, Mode mode, int samples, int inner, CUgraphExec graph, const std::function<void()>& watch) {
  Samples taken;
  const auto call = [&] {
    taken.calls++;
    for (const auto& launch : *calls.sets[calls.next]) launch.enqueue(context_.stream());
    calls.last = calls.next;
    if (mode == Mode::rotated) calls.next = (calls.next + 1) % calls.sets.size();
  };
  calls.last = calls.next;
  event(static_cast<size_t>(2 * samples - 1));
  const int stride = mode == Mode::cold || calls.call_ns <= 0 ? 1 : std::max(1, static_cast<int>(stamp_every_ns / (calls.call_ns * inner)));
  std::vector<int> before;
  const auto stamp = [&](int taken_so_far, unsigned long long wait_ns) {
    settle(wait_ns, static_cast<int>(before.size()));
    before.push_back(taken_so_far);
  };
  begin_hold();
  if (mode != Mode::cold) stamp(0, 0);
  if (mode == Mode::hot || mode == Mode::rotated) call();
  for (int s = 0; s < samples; s++) {
    if (mode == Mode::cold) {
      flush_l2();
      stamp(s, settle_ns);
    } else if (s > 0 && s % stride == 0) {
      stamp(s, 0);
    }
    check(api().EventRecord(event(static_cast<size_t>(2 * s)), context_.stream()), "recording an event");
    if (mode == Mode::graph)
      check(api().GraphLaunch(graph, context_.stream()), "launching a graph");
    else
      for (int i = 0; i < inner; i++) call();
    check(api().EventRecord(event(static_cast<size_t>(2 * s + 1)), context_.stream()), "recording an event");
  }
  stamp(samples, 0);
  if (!end_hold(watch)) return taken;
  const double cost = cost_ns(mode, inner);
  double sum_ns = 0;
  for (int s = 0; s < samples; s++) {
    float ms = 0;
    check(api().EventElapsedTime(&ms, event(static_cast<size_t>(2 * s)), event(static_cast<size_t>(2 * s + 1))), "reading an event");
    const double ns = std::max(tick_ns_, static_cast<double>(ms) * 1e6 - cost);
    taken.ns.push_back(ns / inner);
    sum_ns += ns;
  }
  calls.call_ns = sum_ns / samples / inner;
  if (stamps_on_) {
    std::vector<Stamp> stamps(before.size());
    check(api().MemcpyDtoH(stamps.data(), stamps_.address(), stamps.size() * sizeof(Stamp)), "reading the clocks beside the samples");
    taken.clock_mhz = clocks_mhz(stamps, before, timer_step_ns_);
  }
  return taken;
}

Samples Timer::sample(Calls& calls, Mode mode, int count, int inner, const std::function<void()>& watch) {
  const std::vector<Launch>& launches = *calls.sets.at(calls.next);
  const int per_call = static_cast<int>(std::max<size_t>(1, launches.size()));
  if (mode == Mode::cold) inner = 1;
  inner = std::clamp(inner, 1, queue_budget / per_call);
  std::unique_ptr<Graph> graph;
  if (mode == Mode::graph) graph = std::make_unique<Graph>(context_, launches, inner);
  // Beside the two events: the flush and the settle of cold, the stamp of the others. A graph is one entry however long it is.
  const int entries = mode == Mode::cold ? 5 + per_call : mode == Mode::graph ? 4 : 3 + inner * per_call;
  int samples_per_chunk = std::max(1, std::min(mode == Mode::graph ? 32 : count, queue_budget / entries));
  check(api().CtxResetPersistingL2Cache(), "resetting persisting L2 lines");
  const auto start = std::chrono::steady_clock::now();
  watched_s_ = -1e9;
  Samples all;
  bool clocks = true;
  int refused = 0;
  while (static_cast<int>(all.ns.size()) < count) {
    const int samples = std::min(samples_per_chunk, count - static_cast<int>(all.ns.size()));
    const Samples part = chunk(calls, mode, samples, inner, graph ? graph->exec() : nullptr, watch);
    all.calls += part.calls;
    if (part.ns.empty()) {
      if (++refused > 4) throw Error("internal", "The GPU's launch queue filled up while the stream was held, so the times would include host gaps.");
      samples_per_chunk = std::max(1, samples_per_chunk / 4);
      continue;
    }
    all.ns.insert(all.ns.end(), part.ns.begin(), part.ns.end());
    all.clock_mhz.insert(all.clock_mhz.end(), part.clock_mhz.begin(), part.clock_mhz.end());
    clocks = clocks && !part.clock_mhz.empty();
    if (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() > batch_seconds) break;
  }
  if (!clocks) all.clock_mhz.clear();
  return all;
}

}  // namespace opscope::cuda
