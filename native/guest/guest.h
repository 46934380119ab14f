// The buffers, clocks, flushes and timers of the backends for a computation that lives elsewhere: a shared library with C
// functions (libopscope_guest), loaded by the Python worker through ctypes. The guest's calls are timed by the very code
// that times Opscope's own kernels, on buffers that this library allocates, fills, poisons and reads.
//
// Unless said otherwise, functions return 0, or -1 (no address: null) with the reason in opscope_guest_error(). One thread
// calls them all, and the guest is called on it.
#pragma once
#include <stdint.h>

#define OPSCOPE_GUEST_VERSION 3

#if defined(_WIN32)
#define OPSCOPE_GUEST_API __declspec(dllexport)
#else
#define OPSCOPE_GUEST_API __attribute__((visibility("default")))
#endif

extern "C" {

// What the guest is asked to do. Returns 0, or -1 when it failed; it keeps the reason itself.
typedef int (*opscope_guest_call)(int action, int set, int count);
enum {
  OPSCOPE_GUEST_RUN = 0,     // run (CPU) or queue on opscope_guest_stream (CUDA) `count` calls, also none, on buffers `set`
  OPSCOPE_GUEST_RECORD = 1,  // record a CUDA graph of `count` calls on buffers `set`, ready to be launched
  OPSCOPE_GUEST_LAUNCH = 2,  // queue the recorded graph once
  OPSCOPE_GUEST_DROP = 3,    // forget the recorded graph
};

// core/random.ts FillWords.
struct opscope_guest_fill {
  int32_t kind;
  uint32_t key0, key1;
  float factor;
  int32_t low;
  uint32_t below;
};

struct opscope_guest_tensor {
  int64_t elements;
  int32_t storage;  // 0 f32, 1 f16, 2 bf16, 3 i8, 4 f8e4m3, 5 i32, 6 u8
  int32_t role;     // 0 in, 1 out, 2 inout
  opscope_guest_fill fill;  // of what is read
};

// A case of any tensors, in the op's order. Inputs are those that are read, outputs those that are written, in that order.
struct opscope_guest_case {
  int32_t cuda;     // 0: CPU; 1: CUDA
  int32_t device;   // ordinal of the GPU
  int32_t dtype;    // 0 f32, 1 f16, 2 bf16, 3 tf32, 4 i8, 5 f8e4m3; tf32 on GPUs only
  int32_t threads;  // CPU: threads of the guest, for eviction and probes
  int32_t rotated;  // many sets of buffers, for mode rotated
  int32_t tensors;  // 1 to 32
  const opscope_guest_tensor* tensor;
  opscope_guest_call call;
};

// A case of inputs and one output in the storage type of its dtype.
struct opscope_guest_input {
  int64_t elements;
  int32_t positive;
  float factor;
  uint32_t key0, key1;
};

struct opscope_guest_spec {
  int32_t cuda;     // 0: CPU; 1: CUDA
  int32_t device;   // ordinal of the GPU
  int32_t dtype;    // 0 f32, 1 f16, 2 bf16, 3 tf32 (on GPUs only)
  int32_t threads;  // CPU: threads of the guest, for eviction and probes
  int32_t rotated;  // many sets of buffers, for mode rotated
  int32_t inputs;
  const opscope_guest_input* input;
  int64_t output_elements;
  opscope_guest_call call;
};

// JSON {"code","message","detail"?} of the last failure, code as core/backend.ts caseErrorCodeSchema; valid until the next call.
OPSCOPE_GUEST_API const char* opscope_guest_error();
OPSCOPE_GUEST_API int opscope_guest_version();

// A handle above 0. Inputs are filled.
OPSCOPE_GUEST_API int opscope_guest_open_case(const opscope_guest_case* spec);
OPSCOPE_GUEST_API int opscope_guest_open(const opscope_guest_spec* spec);
OPSCOPE_GUEST_API void opscope_guest_close(int handle);

OPSCOPE_GUEST_API int opscope_guest_sets(int handle);
// Address of a buffer (on the GPU for CUDA), aligned to 64 bytes at least; null when there is no such buffer.
OPSCOPE_GUEST_API void* opscope_guest_input_at(int handle, int set, int input);
OPSCOPE_GUEST_API void* opscope_guest_output_at(int handle, int set);
OPSCOPE_GUEST_API void* opscope_guest_outputs_at(int handle, int set, int output);
// CUDA: the stream that calls are queued on, of the device's primary context.
OPSCOPE_GUEST_API void* opscope_guest_stream(int handle);
// Bytes of all buffers.
OPSCOPE_GUEST_API int64_t opscope_guest_bytes(int handle);
// Drop of the device's free memory by opening; -1 where it is not known.
OPSCOPE_GUEST_API int64_t opscope_guest_delta_bytes(int handle);
// Smallest step of the clock, in ns.
OPSCOPE_GUEST_API double opscope_guest_tick_ns(int handle);
// CPU: what asking the guest for no calls costs, which is taken off every sample (in mode rotated off every call), in ns;
// measured when first wanted, by asking many times. CUDA: 0.
OPSCOPE_GUEST_API double opscope_guest_callback_ns(int handle);

// One fill for each input of the case, those that a call changes included.
OPSCOPE_GUEST_API int opscope_guest_fill_again(int handle, const opscope_guest_fill* fills);
// As many inputs as the case has.
OPSCOPE_GUEST_API int opscope_guest_refill(int handle, const opscope_guest_input* inputs);
OPSCOPE_GUEST_API int opscope_guest_poison(int handle);
// One call on every set, and waits.
OPSCOPE_GUEST_API int opscope_guest_run(int handle);
// Output elements that still hold the sentinel, over the sets used since poison; -1 on failure.
OPSCOPE_GUEST_API int64_t opscope_guest_count_unwritten(int handle);
// For every output: elements that still hold the sentinel, over the sets used since poison (0 where a call changes it), and elements
// of the set used last that are NaN or infinite (-1: not counted). Gives how many outputs there are, at most 32, or -1.
OPSCOPE_GUEST_API int opscope_guest_scan(int handle, int64_t* unwritten, int64_t* non_finite);
// Raw elements of an output, of the set used last.
OPSCOPE_GUEST_API int opscope_guest_read_output(int handle, int output, int64_t start, int64_t count, void* destination);
// The same of the first output.
OPSCOPE_GUEST_API int opscope_guest_read(int handle, int64_t start, int64_t count, void* destination);

// Up to `count` samples; CPU: the guest is asked for `inner` calls at once, in mode rotated for each call. mode 0 cold, 1 hot, 2 rotated, 3 graph. Arrays have room for `count`. Gives how many were taken,
// or -1. calls: made in each sample, which are fewer than `inner` where the device's queue takes no more. clock_mhz and probe_ns: NaN where there is none. host_call_ns: time the host took to queue one call (CUDA), else NaN.
OPSCOPE_GUEST_API int opscope_guest_sample(int handle, int mode, int count, int inner, double* ns, double* clock_mhz, double* probe_ns, double* host_call_ns, int* calls);
// JSON of core/backend.ts DeviceState for the samples taken last.
OPSCOPE_GUEST_API const char* opscope_guest_state(int handle);

}  // extern "C"
