#include "tensors.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

#include "topology.h"

namespace opscope::cpu {

namespace {

constexpr int64_t GUARD = 64;  // floats on each side of the output
constexpr uint32_t MARK = 0x7fa5a5a5;
constexpr int64_t MOST_SETS = 256;

// All tensors of a set lie in one block, each from a page of its own on, so that where they lie modulo 4 KiB does not hang on
// their sizes or on the allocator's luck. Equal addresses there make loads wait for unrelated stores, and fall into the same
// cache sets: every tensor starts a different number of cache lines in.
int64_t stagger(size_t index) { return static_cast<int64_t>(index % 61 + 1) * 17 * 16; }

// Small pages come from anywhere in memory, and which of them share a set of the second cache is chance: the same case took up
// to 15 % longer in one process than in the next. A set beyond the first cache therefore gets a huge page, even if it is small.
constexpr int64_t PAGE_FLOATS = 1024;
constexpr size_t BEYOND_FIRST_CACHE = 32 << 10, HUGE_PAGE = size_t{2} << 20;

size_t bytes_of(int64_t floats) { return static_cast<size_t>(floats) * sizeof(float); }

void mark(float* from) {
  for (int64_t i = 0; i < GUARD; i++) std::memcpy(from + i, &MARK, sizeof MARK);
}

bool marked(const float* from) {
  for (int64_t i = 0; i < GUARD; i++)
    if (std::memcmp(from + i, &MARK, sizeof MARK) != 0) return false;
  return true;
}

int64_t bytes_of_set(const CaseSpec& spec) {
  int64_t floats = spec.output_elements;
  for (const InputDesc& input : spec.inputs) floats += input.elements;
  return floats * static_cast<int64_t>(sizeof(float));
}

}  // namespace

size_t set_count(const CaseSpec& spec, size_t scratch_floats) {
  const int64_t bytes = bytes_of_set(spec), scratch = static_cast<int64_t>(scratch_floats * sizeof(float)), left = available_memory();
  if (bytes + scratch > left)
    throw Error("out-of-memory", "the case needs " + size_text(bytes + scratch) + " and " + size_text(left) + " are free");
  if (!spec.rotated) return 1;
  const int64_t wanted = 2 * reached_cache(spec.threads);
  const int64_t sets = std::max<int64_t>(2, (wanted + bytes - 1) / bytes);
  const std::string rule = "mode rotated needs " + std::to_string(sets) + " sets of buffers of " + size_text(bytes) + ", so that together they hold twice the last-level cache";
  if (sets > MOST_SETS) throw Error("unsupported", rule + "; at most " + std::to_string(MOST_SETS) + " are made: take a larger size, or mode cold");
  if (sets > left / 4 / bytes) throw Error("unsupported", rule + "; that is more than a quarter of the free memory of " + size_text(left));
  return static_cast<size_t>(sets);
}

Tensors::Tensors(const CaseSpec& spec, size_t set) : output_elements_(spec.output_elements), bytes_(bytes_of_set(spec)) {
  const size_t first = set * (spec.inputs.size() + 1);
  int64_t end = 0;
  const auto place = [&](int64_t elements) {
    const int64_t begin = (end + PAGE_FLOATS - 1) / PAGE_FLOATS * PAGE_FLOATS;
    const int64_t start = begin + stagger(first + places_.size());
    end = start + elements + GUARD;
    places_.push_back({begin, start, end});
  };
  for (const InputDesc& input : spec.inputs) place(input.elements);
  place(output_elements_);
  size_t bytes = bytes_of(end);
  if (!spec.rotated && bytes >= BEYOND_FIRST_CACHE) bytes = std::max(bytes, HUGE_PAGE);
  block_ = Block(bytes);
}

std::vector<Region> Tensors::regions() const {
  std::vector<Region> out;
  for (const Place& place : places_) out.push_back({block_.data() + bytes_of(place.begin), bytes_of(place.end - place.begin)});
  return out;
}

void Tensors::set_guards() {
  mark(output() - GUARD);
  mark(output() + output_elements_);
}

bool Tensors::guards_intact() const { return marked(output() - GUARD) && marked(output() + output_elements_); }

}  // namespace opscope::cpu
