// Which instruction sets this processor has and this system lets programs use.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace opscope::cpu {

struct Isa {
  std::string id, title;
  bool available;
  std::string reason;  // when not
};

// Slowest first. Only sets this addon was built for, each with whether it can run here.
const std::vector<Isa>& isas();

// Whether the processor multiplies pairs of bf16 (AVX512_BF16).
bool multiplies_bf16_pairs();

// Whether the processor multiplies tiles of bf16 (AMX), and the system lets this process use their registers; the first call asks it to.
bool multiplies_bf16_tiles();

// How long after wide vectors the clock stays lower, in seconds; 0 where it does not follow the width of vectors.
double clock_settles_seconds();

// The processor's own words for itself, e.g. "AMD EPYC 9654"; "CPU" when it has none.
std::string brand();

// True when a hypervisor announces itself.
bool virtual_machine();

// Makes subnormal results and inputs zero on the calling thread, in every variant alike.
void denormals_off();

// Takes the cache lines of this memory out of every cache, dirty ones written back, and waits. Does nothing where programs
// have no instruction for that.
void flush_lines(const std::byte* data, size_t bytes);

// Tells the core that this is a spin loop.
void relax();

}  // namespace opscope::cpu
