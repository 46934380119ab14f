#include "timer.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>

namespace opscope::cuda {

namespace {

// Entries queued behind a held stream. The driver's queue takes about 1000 before a launch blocks the host.
constexpr int queue_budget = 500;
constexpr unsigned long long hold_limit_ns = 2'000'000'000;
constexpr unsigned long long settle_ns = 2'000;
// A batch ends after this long, so that progress is seen and a stop is obeyed.
constexpr double batch_seconds = 0.5;
constexpr int64_t minimum_flush_bytes = 64 << 20;

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

Timer& Timer::of(Context& context) {
  static std::map<int, std::unique_ptr<Timer>> timers;
  auto& slot = timers[context.traits().ordinal];
  if (!slot) slot.reset(new Timer(context));
  return *slot;
}

Timer::Timer(Context& context) : context_(context), flush_(std::max(minimum_flush_bytes, 2 * context.traits().l2_bytes)) {
  void* host = nullptr;
  check(api().MemHostAlloc(&host, 2 * sizeof(uint32_t), CU_MEMHOSTALLOC_DEVICEMAP), "allocating the hold flag");
  flags_ = static_cast<uint32_t*>(host);
  flags_[0] = 0;
  flags_[1] = 0;
  check(api().MemHostGetDevicePointer(&device_flags_, host, 0), "mapping the hold flag");
  measure_tick();
}

CUevent Timer::event(size_t index) {
  while (events_.size() <= index) check(api().EventCreate(&events_.emplace_back(), CU_EVENT_DEFAULT), "creating an event");
  return events_[index];
}

void Timer::begin_hold() {
  ticket_++;
  Launch(context_.kernel("service", "hold"), {}, 1, 0, device_flags_, ticket_, hold_limit_ns).enqueue(context_.stream());
}

bool Timer::end_hold() {
  flags_[0] = ticket_;
  context_.synchronize("timing a kernel");
  return flags_[1] != ticket_;
}

void Timer::flush_l2() {
  check(api().MemsetD32Async(flush_.address(), 0x3f800000u + ticket_, static_cast<size_t>(flush_.bytes()) / 4, context_.stream()), "flushing the L2 cache");
  Launch(context_.kernel("service", "settle"), {}, 1, 0, settle_ns).enqueue(context_.stream());
}

// Times spins of many lengths; the smallest step between the values seen is what the event clock can show.
void Timer::measure_tick() {
  const CUfunction settle = context_.kernel("service", "settle");
  constexpr int pairs = 200;
  Launch(settle, {}, 1, 0, settle_ns).enqueue(context_.stream());
  begin_hold();
  for (int i = 0; i < pairs; i++) {
    check(api().EventRecord(event(i), context_.stream()), "recording an event");
    const unsigned long long ns = 40ull * (i % 50);
    Launch(settle, {}, 1, 0, ns).enqueue(context_.stream());
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

std::vector<double> Timer::chunk(const std::vector<Launch>& launches, Mode mode, int samples, int inner, CUgraphExec graph) {
  const auto call = [&] {
    for (const auto& launch : launches) launch.enqueue(context_.stream());
  };
  event(2 * samples - 1);
  begin_hold();
  if (mode == Mode::hot) call();
  for (int s = 0; s < samples; s++) {
    if (mode == Mode::cold) flush_l2();
    check(api().EventRecord(event(2 * s), context_.stream()), "recording an event");
    if (mode == Mode::graph)
      check(api().GraphLaunch(graph, context_.stream()), "launching a graph");
    else
      for (int i = 0; i < inner; i++) call();
    check(api().EventRecord(event(2 * s + 1), context_.stream()), "recording an event");
  }
  const bool held = end_hold();
  std::vector<double> ns;
  if (!held) return ns;
  for (int s = 0; s < samples; s++) {
    float ms = 0;
    check(api().EventElapsedTime(&ms, event(2 * s), event(2 * s + 1)), "reading an event");
    ns.push_back(static_cast<double>(ms) * 1e6 / inner);
  }
  return ns;
}

std::vector<double> Timer::sample(const std::vector<Launch>& launches, Mode mode, int count, int inner) {
  const int per_call = static_cast<int>(std::max<size_t>(1, launches.size()));
  if (mode == Mode::cold) inner = 1;
  inner = std::clamp(inner, 1, queue_budget / per_call);
  std::unique_ptr<Graph> graph;
  if (mode == Mode::graph) graph = std::make_unique<Graph>(context_, launches, inner);
  // Cold adds a flush and a settle to the two events; a graph is one entry however long it is.
  const int entries = mode == Mode::cold ? 4 + per_call : mode == Mode::hot ? 2 + inner * per_call : 3;
  int samples_per_chunk = std::max(1, std::min(mode == Mode::graph ? 32 : count, queue_budget / entries));
  check(api().CtxResetPersistingL2Cache(), "resetting persisting L2 lines");
  const auto start = std::chrono::steady_clock::now();
  std::vector<double> ns;
  int refused = 0;
  while (static_cast<int>(ns.size()) < count) {
    const int samples = std::min(samples_per_chunk, count - static_cast<int>(ns.size()));
    const auto part = chunk(launches, mode, samples, inner, graph ? graph->exec() : nullptr);
    if (part.empty()) {
      if (++refused > 4) throw Error("internal", "The GPU's launch queue filled up while the stream was held, so the times would include host gaps.");
      samples_per_chunk = std::max(1, samples_per_chunk / 4);
      continue;
    }
    ns.insert(ns.end(), part.begin(), part.end());
    if (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() > batch_seconds) break;
  }
  return ns;
}

}  // namespace opscope::cuda
