#include "team.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <map>
#include <utility>

#include "clock.h"
#include "isa.h"
#include "topology.h"

namespace opscope::cpu {

namespace {

constexpr int64_t SPIN_NS = 50'000;
constexpr int SPINS = 64;

// Runs after which shares are cut anew (long ones take LONG_TICKS together, some 30 us: beside them cutting is little, and speeds change soon), how much the speed in
// them counts beside that of before, its bounds (a thread that was interrupted says little), and the smallest change of a share that is worth the data that moves
// between caches.
constexpr int RUNS_OF_CUT = 8, LONG_RUNS_OF_CUT = 2;
constexpr uint64_t LONG_TICKS = 1 << 16;
constexpr double NEW_SPEED = 0.3, SLOWEST = 0.5, FASTEST = 2, LEAST_CHANGE = 0.02;

inline uint64_t ticks() {
#if defined(__x86_64__) && defined(__GNUC__)
  return __builtin_ia32_rdtsc();
#else
  return static_cast<uint64_t>(now_ns());
#endif
}

// Spins until `done`, giving the core away when that takes long: a team with more threads than free cores must not
// burn the time that its own slowest member needs.
template <class Done>
void spin_until(Done done) {
  for (int i = 0; i < 4096; i++) {
    if (done()) return;
    relax();
  }
  while (!done()) std::this_thread::yield();
}

}  // namespace

Team::Team(int threads, Wait wait) : threads_(threads), wait_(wait), answers_(new Answer[static_cast<size_t>(threads)]), decks_(new Deck[static_cast<size_t>(threads)]), paces_(static_cast<size_t>(threads)) {
  if (threads_ == 1) one_.emplace();
  for (int i = 0; i < threads_; i++) answers_[static_cast<size_t>(i)].share = {static_cast<int>(int64_t{SHARES} * i / threads_), static_cast<int>(int64_t{SHARES} * (i + 1) / threads_)};
  workers_.reserve(static_cast<size_t>(threads_ - 1));
  for (int i = 1; i < threads_; i++) {
    workers_.push_back(std::make_unique<Worker>());
    Worker& worker = *workers_.back();
    worker.thread = std::thread([this, &worker, i] { work(worker, i); });
  }
  leader_ = std::thread([this] { follow(); });
  std::unique_lock lock(lead_mutex_);
  lead_changed_.wait(lock, [this] { return ready_; });
}

std::shared_ptr<Team> Team::shared(int threads, Wait wait) {
  thread_local std::map<std::pair<int, Wait>, std::weak_ptr<Team>> teams;
  std::weak_ptr<Team>& known = teams[{threads, wait}];
  std::shared_ptr<Team> team = known.lock();
  if (!team) known = team = std::make_shared<Team>(threads, wait);
  return team;
}

Team::~Team() {
  closing_ = true;
  for (auto& worker : workers_) {
    std::lock_guard lock(worker->mutex);
    worker->wake.notify_one();
  }
  {
    std::lock_guard lock(lead_mutex_);
    lead_changed_.notify_all();
  }
  for (auto& worker : workers_) worker->thread.join();
  leader_.join();
}

void Team::prepare_thread(int index) {
  const auto& processors = topology().processors;
  if (one_ ? one_->bind() : static_cast<size_t>(index) < processors.size() && pin(processors[static_cast<size_t>(index)])) pinned_++;
  denormals_off();
}

void Team::lead(const std::function<void()>& job) {
  std::exception_ptr problem;
  const std::function<void()> guarded = [&] {
    try {
      job();
    } catch (...) {
      problem = std::current_exception();
    }
  };
  {
    std::unique_lock lock(lead_mutex_);
    job_ = &guarded;
    job_done_ = false;
    lead_changed_.notify_all();
    lead_changed_.wait(lock, [this] { return job_done_; });
  }
  if (problem) std::rethrow_exception(problem);
}

void Team::follow() {
  prepare_thread(0);
  std::unique_lock lock(lead_mutex_);
  ready_ = true;
  lead_changed_.notify_all();
  for (;;) {
    lead_changed_.wait(lock, [this] { return job_ != nullptr || closing_; });
    if (job_ == nullptr) return;
    const auto* job = job_;
    lock.unlock();
    (*job)();
    lock.lock();
    job_ = nullptr;
    job_done_ = true;
    lead_changed_.notify_all();
  }
}

void Team::rest() {
  for (auto& worker : workers_) spin_until([&] { return worker->asleep.load(); });
}

void Team::run(void (*fn)(void*, int), void* context) {
  if (threads_ == 1) {
    fn(context, 0);
    return;
  }
  if (fn_ != fn) fn_ = fn;
  if (context_ != context) context_ = context;
  // The counter is read where the run before had shares too, as the next one mostly has.
  Answer& own = answers_[0];
  const uint64_t began = std::exchange(own.shares, false) ? ticks() : 0;
  runs_++;
  asked_.store(runs_, std::memory_order_release);
  // Between asking and looking who sleeps; a worker says that it sleeps before it looks again: one side always sees the other.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (sleepers_.load(std::memory_order_relaxed) > 0) {
    for (auto& worker : workers_)
      if (worker->asleep.load()) {
        std::lock_guard lock(worker->mutex);
        worker->wake.notify_one();
      }
    own.woke = ticks();
  }
  fn(context, 0);
  const bool paced = own.shares && began != 0;
  if (paced) own.ended = ticks();
  for (size_t i = 1; i < paces_.size(); i++) spin_until([&] { return answers_[i].done.load(std::memory_order_acquire) == runs_; });
  if (paced) note_paces(began);
}

void Team::work(Worker& self, int index) {
  prepare_thread(index);
  uint64_t seen = 0;
  Answer& answer = answers_[static_cast<size_t>(index)];
  const auto asked = [&] { return asked_.load(std::memory_order_acquire) != seen || closing_.load(std::memory_order_relaxed); };
  for (;;) {
    // The next run mostly comes at once: the clock is read when it does not.
    for (int64_t until = 0; wait_ == Wait::ready && !asked();) {
      for (int i = 0; i < SPINS && !asked(); i++) relax();
      if (asked()) break;
      const int64_t now = now_ns();
      if (until == 0) until = now + SPIN_NS;
      if (now >= until) break;
    }
    if (!asked()) {
      std::unique_lock lock(self.mutex);
      self.asleep.store(true);
      sleepers_.fetch_add(1);
      std::atomic_thread_fence(std::memory_order_seq_cst);
      self.wake.wait(lock, asked);
      sleepers_.fetch_sub(1);
      self.asleep.store(false);
      answer.woke = ticks();
    }
    if (asked_.load(std::memory_order_acquire) == seen) return;  // closing
    seen++;
    fn_(context_, index);
    if (answer.shares) answer.shares = false, answer.ended = ticks();
    answer.done.store(seen, std::memory_order_release);
  }
}

void Team::barrier() {
  if (threads_ == 1) return;
  const uint32_t generation = generation_.load(std::memory_order_acquire);
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == threads_) {
    arrived_.store(0, std::memory_order_relaxed);
    generation_.store(generation + 1, std::memory_order_release);
    return;
  }
  spin_until([&] { return generation_.load(std::memory_order_acquire) != generation; });
}

int Team::take(int thread, int parts, int loop) {
  const uint64_t now = asked_.load(std::memory_order_relaxed) * LOOPS + static_cast<uint64_t>(loop);
  // A deck of an earlier loop has all its parts: its thread has not begun this one. One of a later loop has none left.
  const auto try_take = [&](int owner, bool first) {
    std::atomic<uint64_t>& deck = decks_[static_cast<size_t>(owner)].left;
    uint64_t left = deck.load(std::memory_order_acquire);
    for (;;) {
      const uint64_t of = left >> 16;
      uint64_t begin = left >> 8 & 0xff, end = left & 0xff;
      if (of < now) begin = 0, end = static_cast<uint64_t>(parts);
      if (of > now || begin == end) return -1;
      const uint64_t taken = first ? begin++ : --end;
      if (deck.compare_exchange_weak(left, now << 16 | begin << 8 | end, std::memory_order_acq_rel)) return owner * parts + static_cast<int>(taken);
    }
  };
  if (const int own = try_take(thread, true); own >= 0) return own;
  for (int i = 1; i < threads_; i++)
    if (const int other = try_take((thread + i) % threads_, false); other >= 0) return other;
  return -1;
}

Team::Share Team::share(int thread) {
  Answer& own = answers_[static_cast<size_t>(thread)];
  own.shares = true;
  return own.share;
}

void Team::note_paces(uint64_t began) {
  // Where counters of processors differ by more than a run, shares stay as they are.
  for (size_t i = 0; i < paces_.size(); i++)
    if (answers_[i].ended <= began) return;
  for (size_t i = 0; i < paces_.size(); i++) paces_[i].taken += answers_[i].ended - std::max(began, answers_[i].woke);
  if (++shared_runs_ == RUNS_OF_CUT || (shared_runs_ >= LONG_RUNS_OF_CUT && paces_[0].taken >= LONG_TICKS)) cut_shares();
}

void Team::cut_shares() {
  shared_runs_ = 0;
  const auto count = static_cast<size_t>(threads_);
  double mean = 0, all = 0;
  const auto width = [&](size_t i) { return static_cast<double>(answers_[i].share.end - answers_[i].share.begin); };
  for (size_t i = 0; i < count; i++) mean += width(i) / static_cast<double>(paces_[i].taken + 1) / static_cast<double>(count);
  for (size_t i = 0; i < count; i++) {
    Pace& pace = paces_[i];
    const double now = width(i) / static_cast<double>(pace.taken + 1) / mean;
    pace.speed += NEW_SPEED * (std::clamp(now, SLOWEST, FASTEST) - pace.speed);
    pace.taken = 0;
    all += pace.speed;
  }
  bool changes = false;
  for (size_t i = 0; i < count; i++) changes |= std::abs(SHARES * paces_[i].speed / all - width(i)) > LEAST_CHANGE * width(i);
  double at = 0;
  for (size_t i = 0; changes && i + 1 < count; i++) answers_[i].share.end = answers_[i + 1].share.begin = static_cast<int>(SHARES * (at += paces_[i].speed / all));
}

}  // namespace opscope::cpu
