#include "evict.h"

#include <algorithm>
#include <cstring>

#include "block.h"
#include "topology.h"

namespace opscope::cpu {

namespace {

struct Job {
  const unsigned char* data;
  size_t bytes;
  int threads;
};

// Kept so that the compiler cannot drop the reads.
std::atomic<unsigned> sink{0};

void read_share(void* context, int thread) {
  const Job& job = *static_cast<const Job*>(context);
  const size_t lines = job.bytes / 64;
  const size_t from = lines * static_cast<size_t>(thread) / static_cast<size_t>(job.threads);
  const size_t to = lines * static_cast<size_t>(thread + 1) / static_cast<size_t>(job.threads);
  unsigned sum = 0;
  for (size_t i = from; i < to; i++) sum += job.data[i * 64];
  sink.fetch_add(sum, std::memory_order_relaxed);
}

}  // namespace

void evict(Team& team) {
  static std::mutex mutex;
  static Block buffer;
  std::lock_guard lock(mutex);
  const size_t bytes = 2 * static_cast<size_t>(reached_cache(team.size()));
  if (buffer.bytes() < bytes) {
    buffer = Block(bytes);
    // An untouched page is the one zero page of the system, and reading it empties nothing.
    std::memset(buffer.data(), 1, bytes);
  }
  Job job{reinterpret_cast<const unsigned char*>(buffer.data()), bytes, team.size()};
  team.run(read_share, &job);
}

}  // namespace opscope::cpu
