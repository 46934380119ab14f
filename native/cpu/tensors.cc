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

// Large blocks all start on a 2 MiB boundary; equal addresses modulo 4 KiB make loads wait for unrelated stores, and
// fall into the same cache sets. So every tensor starts a different number of cache lines in.
int64_t stagger(size_t index) { return static_cast<int64_t>(index + 1) * 17 * 16; }

size_t bytes_of(int64_t floats) { return static_cast<size_t>(floats) * sizeof(float); }

void mark(float* from) {
  for (int64_t i = 0; i < GUARD; i++) std::memcpy(from + i, &MARK, sizeof MARK);
}

bool marked(const float* from) {
  for (int64_t i = 0; i < GUARD; i++)
    if (std::memcmp(from + i, &MARK, sizeof MARK) != 0) return false;
  return true;
}

}  // namespace

Tensors::Tensors(const CaseSpec& spec, size_t scratch_floats) : output_elements_(spec.output_elements) {
  int64_t floats = spec.output_elements + static_cast<int64_t>(scratch_floats);
  for (const InputDesc& input : spec.inputs) floats += input.elements;
  bytes_ = floats * static_cast<int64_t>(sizeof(float));
  const int64_t left = available_memory();
  if (bytes_ > left)
    throw Error("out-of-memory", "the case needs " + std::to_string(bytes_ >> 20) + " MiB and " + std::to_string(left >> 20) + " MiB are free");

  inputs_.resize(spec.inputs.size());
  for (size_t i = 0; i < inputs_.size(); i++) {
    inputs_[i].offset = stagger(i);
    inputs_[i].block = Block(bytes_of(inputs_[i].offset + spec.inputs[i].elements));
  }
  output_.offset = stagger(inputs_.size());
  output_.block = Block(bytes_of(output_.offset + output_elements_ + GUARD));
  if (scratch_floats > 0) scratch_ = Block(scratch_floats * sizeof(float));
}

void Tensors::set_guards() {
  mark(output() - GUARD);
  mark(output() + output_elements_);
}

bool Tensors::guards_intact() const { return marked(output() - GUARD) && marked(output() + output_elements_); }

}  // namespace opscope::cpu
