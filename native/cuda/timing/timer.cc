#include "timer.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "../kernels/plan.h"
#include "queue.h"

namespace opscope::cuda {

namespace {

constexpr double hold_limit_ns = 2e9;
// For calls that may wait for the device while they are queued, which the hold would make last until it gives up.
constexpr double hold_at_least_ns = 5e7;
constexpr unsigned long long settle_ns = 2'000;
// A batch ends after this long, so that progress is seen and a stop is obeyed.
constexpr double batch_seconds = 0.5;
constexpr int64_t minimum_flush_bytes = 64 << 20;
// The device's state is read this often at most: a read takes the driver tens of microseconds.
constexpr double watch_seconds = 0.02;
// Clocks change over milliseconds.
constexpr double stamp_every_ns = 1e6;

double now_ns() { return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// How long the stream is held at most while so many calls are queued.
double hold_ns(const Calls& calls, int count) {
  if (!calls.may_wait()) return hold_limit_ns;
  return std::min(hold_limit_ns, hold_at_least_ns + 8 * count * calls.host_ns);
}

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
    : context_(context), read_(flush_bytes(context.traits().l2_bytes)), stamps_((queue_budget + 2) * sizeof(Stamp)), sink_(256) {
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

int64_t Timer::flush_bytes(int64_t l2_bytes) { return std::max(minimum_flush_bytes, 2 * l2_bytes); }

CUevent Timer::event(size_t index) {
  while (events_.size() <= index) check(api().EventCreate(&events_.emplace_back(), CU_EVENT_DEFAULT), "creating an event");
  return events_[index];
}

void Timer::begin_hold(double limit_ns) {
  ticket_++;
  Launch(context_.kernel("service", "hold"), {}, 1, 0, device_flags_, ticket_, static_cast<unsigned long long>(limit_ns)).enqueue(context_.stream());
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
  begin_hold(hold_limit_ns);
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

Samples Timer::chunk(Calls& calls, Mode mode, int samples, int inner, const std::function<void()>& watch) {
  Samples taken;
  const auto call = [&](int count) {
    taken.calls += static_cast<size_t>(count);
    for (int i = 0; i < (mode == Mode::rotated ? count : 1); i++) {
      calls.enqueue(context_.stream(), calls.next, mode == Mode::rotated ? 1 : count);
      calls.last = calls.next;
      if (mode == Mode::rotated) calls.next = (calls.next + 1) % calls.sets;
    }
  };
  calls.last = calls.next;
  event(static_cast<size_t>(2 * samples - 1));
  const int stride = mode == Mode::cold || calls.call_ns <= 0 ? 1 : std::max(1, static_cast<int>(stamp_every_ns / (calls.call_ns * inner)));
  std::vector<int> before;
  const auto stamp = [&](int taken_so_far, unsigned long long wait_ns) {
    settle(wait_ns, static_cast<int>(before.size()));
    before.push_back(taken_so_far);
  };
  begin_hold(hold_ns(calls, samples * inner + 1));
  // A call that fails must not leave the stream held.
  const struct Release {
    volatile uint32_t* flag;
    uint32_t ticket;
    ~Release() { *flag = ticket; }
  } release{flags_, ticket_};
  if (mode != Mode::cold) stamp(0, 0);
  if (mode == Mode::hot || mode == Mode::rotated) call(1);
  for (int s = 0; s < samples; s++) {
    if (mode == Mode::cold) {
      flush_l2();
      stamp(s, settle_ns);
    } else if (s > 0 && s % stride == 0) {
      stamp(s, 0);
    }
    check(api().EventRecord(event(static_cast<size_t>(2 * s)), context_.stream()), "recording an event");
    const double queued_from = now_ns();
    if (mode == Mode::graph)
      calls.launch(context_.stream());
    else
      call(inner);
    taken.host_ns.push_back((now_ns() - queued_from) / inner);
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

void Timer::measure_host(Calls& calls) {
  for (int i = 0; i < 3; i++) {
    const double from = now_ns();
    calls.enqueue(context_.stream(), calls.next, 1);
    const double took = now_ns() - from;
    calls.host_ns = i == 0 ? took : std::min(calls.host_ns, took);
  }
  context_.synchronize("running a call");
}

Samples Timer::sample(Calls& calls, Mode mode, int count, int inner, const std::function<void()>& watch) {
  if (calls.may_wait() && calls.host_ns <= 0) measure_host(calls);
  CallCost call{calls.entries, calls.host_ns};
  inner = calls_per_sample(mode, inner, call);
  const struct Drop {
    Calls* recorded;
    ~Drop() {
      if (recorded) recorded->drop();
    }
  } drop{mode == Mode::graph ? &calls : nullptr};
  if (mode == Mode::graph) calls.record(context_.stream(), calls.next, inner);
  check(api().CtxResetPersistingL2Cache(), "resetting persisting L2 lines");
  const auto start = std::chrono::steady_clock::now();
  watched_s_ = -1e9;
  Samples all;
  bool clocks = true;
  int refused = 0;
  while (static_cast<int>(all.ns.size()) < count) {
    const int samples = std::min({mode == Mode::graph ? 32 : count, samples_at_once(mode, inner, call), count - static_cast<int>(all.ns.size())});
    const Samples part = chunk(calls, mode, samples, inner, watch);
    all.calls += part.calls;
    if (part.ns.empty()) {
      if (++refused > 4) throw Error("internal", "The GPU's launch queue filled up while the stream was held, so the times would include host gaps.");
      call.entries *= 4;
      const int fewer = mode == Mode::graph ? inner : calls_per_sample(mode, inner, call);
      // Samples of one batch have as many calls each; the next batch has fewer.
      if (fewer != inner && !all.ns.empty()) break;
      inner = fewer;
      continue;
    }
    // What a guest's call takes of the queue is found out by this alone.
    if (calls.may_wait()) calls.entries = call.entries;
    all.ns.insert(all.ns.end(), part.ns.begin(), part.ns.end());
    all.host_ns.insert(all.host_ns.end(), part.host_ns.begin(), part.host_ns.end());
    all.clock_mhz.insert(all.clock_mhz.end(), part.clock_mhz.begin(), part.clock_mhz.end());
    clocks = clocks && !part.clock_mhz.empty();
    if (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() > batch_seconds) break;
  }
  if (!clocks) all.clock_mhz.clear();
  all.inner = inner;
  return all;
}

}  // namespace opscope::cuda
