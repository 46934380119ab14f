#include "tensors.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

#include "composite.h"
#include "fence.h"
#include "topology.h"

namespace opscope::cpu {

namespace {

constexpr int64_t GUARD = 256;  // bytes on each side of a tensor
constexpr int MARK = 0xa5;
constexpr int64_t MOST_SETS = 256;

// All tensors of a set lie in one block, each from a page of its own on, so that where they lie modulo 4 KiB does not hang on
// their sizes or on the allocator's luck. Equal addresses there make loads wait for unrelated stores, and fall into the same
// cache sets: every tensor starts a different number of cache lines in.
int64_t stagger(size_t index) { return static_cast<int64_t>(index % 61 + 1) * 17 * 64; }

// Small pages come from anywhere in memory, and which of them share a set of the second cache is chance: the same case took up
// to 15 % longer in one process than in the next. A set beyond the first cache therefore gets a huge page, even if it is small.
constexpr int64_t PAGE = 4096;
constexpr size_t BEYOND_FIRST_CACHE = 32 << 10, HUGE_PAGE = size_t{2} << 20;

bool marked(const std::byte* from) {
  return std::all_of(from, from + GUARD, [](std::byte mark) { return mark == std::byte{MARK}; });
}

int64_t bytes_of_set(const CaseSpec& spec) {
  int64_t bytes = 0;
  for (const TensorDesc& buffer : buffers_of(spec)) bytes += tensor_bytes(buffer);
  return bytes;
}

}  // namespace

size_t set_count(const CaseSpec& spec, size_t scratch_floats) {
  const int64_t bytes = bytes_of_set(spec), scratch = static_cast<int64_t>(scratch_floats * sizeof(float)), left = available_memory();
  if (bytes + scratch > left)
    throw Error("out-of-memory", "The case needs " + size_text(bytes + scratch) + "; " + size_text(left) + " are free.");
  if (!spec.rotated) return 1;
  const int64_t wanted = 2 * reached_cache(spec.threads);
  const int64_t sets = std::max<int64_t>(2, (wanted + bytes - 1) / bytes);
  const std::string rule = "mode rotated needs " + std::to_string(sets) + " sets of buffers of " + size_text(bytes) + ", so that together they hold twice the last-level cache";
  if (sets > MOST_SETS) throw Error("unsupported", rule + "; at most " + std::to_string(MOST_SETS) + " are made: take a larger size, or mode cold");
  if (sets > left / 4 / bytes) throw Error("unsupported", rule + "; that is more than a quarter of the free memory of " + size_text(left));
  return static_cast<size_t>(sets);
}

Tensors::Tensors(const CaseSpec& spec, size_t set) : bytes_(bytes_of_set(spec)) {
  const std::vector<TensorDesc> buffers = buffers_of(spec);
  const size_t first = set * buffers.size();
  int64_t end = 0;
  for (const TensorDesc& buffer : buffers) {
    const int64_t begin = (end + PAGE - 1) / PAGE * PAGE, bytes = tensor_bytes(buffer);
    const int64_t start = begin + stagger(first + places_.size());
    end = start + bytes + GUARD;
    places_.push_back({begin, start, bytes, end});
  }
  auto bytes = static_cast<size_t>(end);
  if (!spec.rotated && bytes >= BEYOND_FIRST_CACHE) bytes = std::max(bytes, HUGE_PAGE);
  block_ = Block(bytes);
  for (size_t i = 0; i < spec.tensors.size(); i++) {
    void* data = buffer(i);
    if (spec.tensors[i].role != Role::out) inputs_.push_back(data);
    if (spec.tensors[i].role == Role::in) continue;
    outputs_.push_back(data);
    written_bytes_ += places_[i].bytes;
  }
}

std::vector<Region> Tensors::regions() const {
  std::vector<Region> out;
  for (const Place& place : places_) out.push_back({block_.data() + place.begin, static_cast<size_t>(place.end - place.begin)});
  return out;
}

void Tensors::set_guards() {
  for (const Place& place : places_)
    for (const int64_t from : {place.start - GUARD, place.start + place.bytes}) {
      std::memset(block_.data() + from, MARK, GUARD);
      forbid(block_.data() + from, GUARD);
    }
}

int Tensors::broken_guard() const {
  for (size_t i = 0; i < places_.size(); i++) {
    const Place& place = places_[i];
    for (const int64_t from : {place.start - GUARD, place.start + place.bytes}) {
      allow(block_.data() + from, GUARD);
      const bool whole = marked(block_.data() + from);
      forbid(block_.data() + from, GUARD);
      if (!whole) return static_cast<int>(i);
    }
  }
  return -1;
}

}  // namespace opscope::cpu
