#include "evict.h"

#include <algorithm>
#include <cstring>

#include "block.h"
#include "isa.h"
#include "topology.h"

namespace opscope::cpu {

namespace {

constexpr size_t LINE = 64;

struct Job {
  const std::vector<Region>& regions;
  const std::byte* data;
  size_t bytes;
  int threads;
};

// Kept so that the compiler cannot drop the reads.
std::atomic<unsigned> sink{0};

// The part of `region` that belongs to one thread, in whole lines.
Region share(const Region& region, int thread, int threads) {
  const size_t lines = (region.bytes + LINE - 1) / LINE;
  const size_t from = lines * static_cast<size_t>(thread) / static_cast<size_t>(threads) * LINE;
  const size_t to = lines * (static_cast<size_t>(thread) + 1) / static_cast<size_t>(threads) * LINE;
  return {region.data + std::min(from, region.bytes), std::min(to, region.bytes) - std::min(from, region.bytes)};
}

void empty_share(void* context, int thread) {
  const Job& job = *static_cast<const Job*>(context);
  for (const Region& region : job.regions) {
    const Region mine = share(region, thread, job.threads);
    flush_lines(mine.data, mine.bytes);
  }
  const Region mine = share({job.data, job.bytes}, thread, job.threads);
  unsigned sum = 0;
  for (size_t i = 0; i < mine.bytes; i += LINE) sum += static_cast<unsigned>(mine.data[i]);
  sink.fetch_add(sum, std::memory_order_relaxed);
}

}  // namespace

void evict(Team& team, const std::vector<Region>& regions) {
  static std::mutex mutex;
  static Block buffer;
  std::lock_guard lock(mutex);
  const size_t bytes = 2 * static_cast<size_t>(reached_cache(team.size()));
  if (buffer.bytes() < bytes) {
    buffer = Block(bytes);
    // An untouched page is the one zero page of the system, and reading it empties nothing.
    std::memset(buffer.data(), 1, bytes);
  }
  Job job{regions, buffer.data(), bytes, team.size()};
  team.run(empty_share, &job);
}

}  // namespace opscope::cpu
