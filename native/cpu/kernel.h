// What a CPU kernel is. Included by files compiled with AVX flags: plain data only, nothing with vague linkage.
#pragma once
#include <stddef.h>
#include <stdint.h>

namespace opscope::cpu {

// Parts of a thread's share of a call, at most.
enum { MOST_PARTS = 8 };

// One call as one thread of the team sees it. Every thread runs the same function (single program, multiple data).
struct Call {
  const void* const* in;  // every tensor that is read, in the op's order
  void* const* out;       // every tensor that is written; a tensor that is both stands in both
  const int64_t* dims;    // in the order the op's doc comment in core/ops states
  int dim_count;
  const double* scalars;  // likewise
  uint32_t seed;          // of the problem, or of the last refill: for ops that draw random numbers
  float* scratch;         // shared by the team, 64-byte aligned, as many floats as Kernel::scratch asks for
  int thread, threads;
  bool stream;            // the tensors exceed two thirds of the last-level cache: prefer non-temporal stores
  void (*barrier)(void*); // waits for all threads of the team
  void* team;
  bool stream_of_many;    // three eighths of it: prefer them where two tensors or more are read for one of their size that is written
  bool distant_cache;     // the last-level cache is that of many cores: one of them waits long for it
  uint8_t parts;          // of a thread's share, which threads that finish early take from others: by the bytes of the tensors; 1: they do not
  uint8_t most_parts;     // the same where the work is large enough for any
  int (*take)(void* team, int thread, int parts, int loop);  // the next part of a thread (Team::take); of 0 parts: where its share by speed begins, and its length (simd/near_parts.h)
};

using Run = void (*)(const Call&);

// One function per dtype of a case; null where there is none.
struct Runs {
  Run f32 = nullptr, f16 = nullptr, bf16 = nullptr, i8 = nullptr, f8e4m3 = nullptr;
  Run bf16_pairs = nullptr;  // in place of bf16 where the processor multiplies pairs of bf16 (AVX512_BF16)
  Run bf16_tiles = nullptr;  // in place of both where it multiplies tiles of them (AMX) and the system lets this process use these
};

struct Kernel {
  // The op's tensors in order, a letter each for the storage type: t (that of the case's dtype), f (f32), i (i32), u (u8), c (i8),
  // h (f16), b (bf16), e (f8e4m3); before it > where the tensor is written, = where it is read and written. `tt>t` adds two tensors.
  // An op whose tensors depend on its dims has several such lists, with | between them.
  const char* tensors;
  int dims_least, dims_most, scalars;  // how many of each a case has
  // Elements of every tensor, in that order; false where the dims contradict each other.
  bool (*shape)(const int64_t* dims, int count, int64_t* sizes);
  // Floats wanted, of a dtype of so many bytes; null: none.
  size_t (*scratch)(const int64_t* dims, int count, int threads, size_t element_bytes);
  Runs run;
  // Which of the lists of `tensors` the dims ask for; null: the first.
  int (*list)(const int64_t* dims) = nullptr;
};

}  // namespace opscope::cpu

// The clock that samples are timed with, in ns.
extern "C" int64_t opscope_now_ns();

#define OPSCOPE_JOIN3_(a, b, c) a##_##b##_##c
#define OPSCOPE_JOIN3(a, b, c) OPSCOPE_JOIN3_(a, b, c)

// Exports the kernel of `op` for the instruction set being compiled. Constant data: no code runs at load. CMakeLists.txt finds
// the ops of a file by the lines that start with OPSCOPE_<WORD>(op, so that such a line registers a kernel.
#define OPSCOPE_KERNEL(op, ...)                                                 \
  extern "C" {                                                                 \
  extern const opscope::cpu::Kernel OPSCOPE_JOIN3(opscope, op, OPSCOPE_ISA);    \
  const opscope::cpu::Kernel OPSCOPE_JOIN3(opscope, op, OPSCOPE_ISA) = {__VA_ARGS__}; \
  }

// The same for a function template over the storage type (simd/simd.h), with one instance for each float type.
#define OPSCOPE_TYPED(op, run, ...) OPSCOPE_KERNEL(op, __VA_ARGS__, {run<float>, run<F16>, run<BF16>})
