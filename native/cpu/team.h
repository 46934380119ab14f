// A fixed set of threads that run the same function together, each bound to its own core where that is allowed.
#pragma once
#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "quiet_processor.h"

namespace opscope::cpu {

class Team {
 public:
  // How far what one thread writes lies from what others read or write: processors of Intel fetch lines in pairs.
  static constexpr size_t APART = 128;

  // What threads do between jobs: spin for a moment, for the next one is mostly near, or sleep at once.
  enum class Wait { ready, asleep };
  // `threads` >= 1. Thread 0 leads: it takes the times, so that the caller's own thread is never bound to a core.
  explicit Team(int threads, Wait wait = Wait::ready);
  // The team of so many threads that cases opened on the calling thread have already, else a new one: cases measured beside each other
  // then run on the same stacks, where a kernel finds the arguments of its call.
  static std::shared_ptr<Team> shared(int threads, Wait wait = Wait::ready);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int size() const { return threads_; }
  // Threads that could be bound to a core.
  int pinned() const { return pinned_; }

  // Runs `job` on the leading thread and waits for it. What it throws is thrown here.
  void lead(const std::function<void()>& job);

  // Outside lead(), on a team that waits asleep: returns when every thread sleeps.
  void rest();

  // Only on the leading thread: runs fn(context, thread) on every thread of the team and waits for all.
  void run(void (*fn)(void* context, int thread), void* context);

  // Only inside run(): waits until every thread of the team is here.
  void barrier();

  // Only inside run(): the next part that `thread` is to compute, of `parts` parts for each thread, or -1 when all are taken. A thread takes its
  // own parts first, in order, then the last ones of others. `parts`: at most 255. `loop` (below LOOPS): which of the shared loops of a run, in the order that threads meet them.
  int take(int thread, int parts, int loop);
  static constexpr int LOOPS = 64;

  // Only inside run(), by `thread`: where its share of the work begins and ends, in 1/SHARES of it. Shares follow when the threads ended theirs in earlier runs: one
  // may be on a core that something else uses as well, or begin later than others.
  struct Share {
    int begin, end;
  };
  static constexpr int SHARES = 1 << 14;
  Share share(int thread);

 private:
  struct Worker {
    std::atomic<bool> asleep{false};
    std::mutex mutex;
    std::condition_variable wake;
    std::thread thread;
  };

  // One store asks all; each answers by a store to a line of its own, and these overlap, where locked operations wait for one another. An
  // empty run on 16 threads of a Xeon takes 0.8 us like this, 1.1 us where each is asked by a store of its own, 1.6 us with locked operations.
  struct alignas(APART) Answer {
    std::atomic<uint64_t> done{0};  // the last run that the thread has finished
    Share share{};                  // of the next runs, by the leader
    bool shares = false;            // whether it took that in this run: written when it begins, so that the answer finds its line here
    uint64_t ended = 0;             // when it ended its share, in ticks of the processor's counter,
    uint64_t woke = 0;              // and when it was last woken from sleep, or, of the leader, had woken others
  };

  // Parts of a thread that are not taken yet, in one word: the loop that they belong to, the first one (8 bits) and the one after the last (8 bits).
  struct alignas(APART) Deck {
    std::atomic<uint64_t> left{0};
  };

  // From the call to the end of a thread's share, without sleep, in all runs since shares were last cut.
  struct Pace {
    uint64_t taken = 0;
    double speed = 1;  // beside the mean of the team
  };

  void work(Worker& self, int index);
  void note_paces(uint64_t began);
  void cut_shares();
  void follow();
  void prepare_thread(int index);

  const int threads_;
  std::optional<OneProcessor> one_;  // where that is one thread
  const Wait wait_;
  std::atomic<int> pinned_{0};
  // Polled by every worker: apart from what the leader writes.
  alignas(APART) std::atomic<bool> closing_{false};

  // Read by every thread in every run, written only where it changes.
  alignas(APART) void (*fn_)(void*, int) = nullptr;
  void* context_ = nullptr;
  std::vector<std::unique_ptr<Worker>> workers_;  // threads 1 .. threads_ - 1
  const std::unique_ptr<Answer[]> answers_;       // one for each thread
  const std::unique_ptr<Deck[]> decks_;           // likewise
  // Of the leader alone.
  alignas(APART) std::vector<Pace> paces_;  // one for each thread
  int shared_runs_ = 0;                     // since shares were last cut
  uint64_t runs_ = 0;
  alignas(APART) std::atomic<uint64_t> asked_{0};  // the last run, which every worker takes part in
  alignas(APART) std::atomic<int> sleepers_{0};
  alignas(APART) std::atomic<int> arrived_{0};
  alignas(APART) std::atomic<uint32_t> generation_{0};

  std::mutex lead_mutex_;
  std::condition_variable lead_changed_;
  const std::function<void()>* job_ = nullptr;
  bool job_done_ = false, ready_ = false;
  std::thread leader_;
};

}  // namespace opscope::cpu
