// What a CPU kernel is. Included by files compiled with AVX flags: plain data only, nothing with vague linkage.
#pragma once
#include <stddef.h>
#include <stdint.h>

namespace opscope::cpu {

// One call as one thread of the team sees it. Every thread runs the same function (single program, multiple data).
struct Call {
  const float* in[4];
  float* out;
  const int64_t* dims;    // in the order the op's doc comment in core/ops states
  float* scratch;         // shared by the team, 64-byte aligned, as many floats as Kernel::scratch asks for
  int thread, threads;
  bool stream;            // inputs and output exceed the last-level cache: prefer non-temporal stores
  void (*barrier)(void*); // waits for all threads of the team
  void* team;
};

struct Kernel {
  int dims, inputs;                                    // how many of each
  void (*shape)(const int64_t* dims, int64_t* sizes);  // elements of every input, then of the output
  size_t (*scratch)(const int64_t* dims, int threads); // floats wanted; null: none
  void (*run)(const Call&);
};

}  // namespace opscope::cpu

// The clock that samples are timed with, in ns.
extern "C" int64_t opscope_now_ns();

#define OPSCOPE_JOIN3_(a, b, c) a##_##b##_##c
#define OPSCOPE_JOIN3(a, b, c) OPSCOPE_JOIN3_(a, b, c)

// Exports the kernel of `op` (the file's name) for the instruction set being compiled. Constant data: no code runs at load.
#define OPSCOPE_KERNEL(op, ...)                                                 \
  extern "C" {                                                                 \
  extern const opscope::cpu::Kernel OPSCOPE_JOIN3(opscope, op, OPSCOPE_ISA);    \
  const opscope::cpu::Kernel OPSCOPE_JOIN3(opscope, op, OPSCOPE_ISA) = {__VA_ARGS__}; \
  }
