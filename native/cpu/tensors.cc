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

// Large blocks all start on a 2 MiB boundary; equal addresses modulo 4 KiB make loads wait for unrelated stores, and
// fall into the same cache sets. So every tensor starts a different number of cache lines in.
int64_t stagger(size_t index) { return static_cast<int64_t>(index % 61 + 1) * 17 * 16; }

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
  inputs_.resize(spec.inputs.size());
  for (size_t i = 0; i < inputs_.size(); i++) {
    inputs_[i].offset = stagger(first + i);
    inputs_[i].block = Block(bytes_of(inputs_[i].offset + spec.inputs[i].elements));
  }
  output_.offset = stagger(first + inputs_.size());
  output_.block = Block(bytes_of(output_.offset + output_elements_ + GUARD));
}

std::vector<Region> Tensors::regions() const {
  std::vector<Region> out;
  for (const Placed& placed : inputs_) out.push_back({placed.block.data(), placed.block.bytes()});
  out.push_back({output_.block.data(), output_.block.bytes()});
  return out;
}

void Tensors::set_guards() {
  mark(output() - GUARD);
  mark(output() + output_elements_);
}

bool Tensors::guards_intact() const { return marked(output() - GUARD) && marked(output() + output_elements_); }

}  // namespace opscope::cpu
