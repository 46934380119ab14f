// The one interface between the Node-API glue (native/addon) and what computes (native/cpu, native/cuda).
// Everything here is plain C++20; neither side sees the other's types. Errors are thrown as opscope::Error.
#pragma once
#include <cstdint>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace opscope {

// What a case computes in / how an element lies in memory: core/case.ts DTYPES and STORAGE_TYPES, in their order.
enum class Dtype { f32, f16, bf16, tf32, i8, f8e4m3 };
enum class Storage { f32, f16, bf16, i8, f8e4m3, i32, u8 };
inline size_t storage_bytes(Storage s) {
  if (s == Storage::f32 || s == Storage::i32) return 4;
  return s == Storage::f16 || s == Storage::bf16 ? 2 : 1;
}
inline Storage storage_of(Dtype d) {
  switch (d) {
    case Dtype::f16: return Storage::f16;
    case Dtype::bf16: return Storage::bf16;
    case Dtype::i8: return Storage::i8;
    case Dtype::f8e4m3: return Storage::f8e4m3;
    default: return Storage::f32;
  }
}
inline size_t dtype_bytes(Dtype d) { return storage_bytes(storage_of(d)); }
inline bool is_float(Storage s) { return s != Storage::i8 && s != Storage::i32 && s != Storage::u8; }
// The bits that outputs are filled with before a run: core/numbers.ts SENTINEL.
inline uint32_t sentinel_of(Storage s) {
  switch (s) {
    case Storage::f16: return 0x7ede;
    case Storage::bf16: return 0x7fde;
    case Storage::f8e4m3: return 0xff;
    case Storage::i8: return 0x80;
    case Storage::u8: return 0xde;
    default: return 0x7fedc0de;
  }
}

// Codes as in core/backend.ts CaseErrorCode. `detail` holds the driver's own words.
struct Error : std::runtime_error {
  std::string code, detail;
  Error(std::string code_, const std::string& message, std::string detail_ = {})
      : std::runtime_error(message), code(std::move(code_)), detail(std::move(detail_)) {}
};

// core/random.ts FILL_KINDS, in their order.
enum class FillKind { normal, positive, uniform, integers, permutation, constant };

// How a tensor is filled: core/random.ts FillWords, which states the rule.
struct Fill {
  float factor = 1;       // that the integer is multiplied by; of a constant its value
  uint32_t key0 = 0, key1 = 0;
  FillKind kind = FillKind::normal;
  int32_t low = 0;     // lowest integer
  uint32_t below = 0;  // how many integers there are
};

// The seed of a problem from the fill of its first filled tensor, whose first key is mix(seed) (core/random.ts): lowbias32 backwards.
inline uint32_t seed_of(const Fill& first) {
  uint32_t x = first.key0;
  x = (x ^ x >> 16) * 0x43021123u;
  x = (x ^ x >> 15 ^ x >> 30) * 0x1d69e2a5u;
  return x ^ x >> 16;
}

enum class Role { in, out, inout };

// One tensor of a call. Inputs are those with a fill (`in`, `inout`), outputs those that are not `in`; both are counted in the
// order of CaseSpec::tensors.
struct TensorDesc {
  std::string name;
  int64_t elements = 0;
  Storage storage = Storage::f32;
  Role role = Role::in;
  bool has_fill = false;
  Fill fill = {};
};

// core/ops/define.ts LIMITS.
constexpr size_t MAX_TENSORS = 32, MAX_DIMS = 32, MAX_SCALARS = 16;
// Operations of a composite case, and scratch buffers between them.
constexpr size_t MAX_PARTS = 64, MAX_SCRATCH = 64;
// Elements of one tensor, and the largest dim.
constexpr int64_t MAX_ELEMENTS = int64_t{1} << 40;

// One operation of a composite case. Its tensors have no fills; each lies in the buffer at the same place of `buffers`: a tensor of the case by its
// place, or behind them a scratch buffer.
struct PartSpec {
  std::string name, op;
  std::vector<int64_t> dims;
  std::vector<double> scalars;
  std::vector<TensorDesc> tensors;
  std::vector<size_t> buffers;
};

struct CaseSpec {
  std::string op, impl;
  int device = 0;
  Dtype dtype = Dtype::f32;
  int threads = 1;              // CPU only
  bool rotated = false;         // sampled in mode rotated: open with as many sets of buffers as that takes
  std::vector<int64_t> dims;    // in the order the op's doc comment in core/ops states
  std::vector<double> scalars;  // likewise
  std::vector<TensorDesc> tensors;
  std::vector<PartSpec> parts = {};         // of a composite operation, in the order that they run; others have none
  std::vector<int64_t> scratch_bytes = {};   // of the buffers between them
};

// Absent readings are NaN / -1 / empty and become absent fields in JavaScript.
struct DeviceState {
  double sm_clock_mhz, mem_clock_mhz, temperature_c, power_w, energy_j;
  int foreign_processes = -1;
  bool has_throttle = false;
  std::vector<std::string> throttle;
  int64_t involuntary_switches = -1;                              // CPU: of the measuring threads, during the batch
  double steal_ms = std::numeric_limits<double>::quiet_NaN();     // CPU: time a hypervisor took, during the batch
  double probe_best_ns = std::numeric_limits<double>::quiet_NaN(); // CPU: best probe of this process with as many threads
};

// clock_mhz and probe_ns are empty or have one entry per sample (core/backend.ts SampleBatch says what they hold).
struct SampleBatch {
  std::vector<double> ns;  // per call
  int inner = 1;           // calls in each of these samples, as made
  DeviceState state;
  std::vector<double> clock_mhz = {}, probe_ns = {};
  double host_call_ns = std::numeric_limits<double>::quiet_NaN();  // CUDA: time the host took to queue one call
};

// What a search of one whole output finds.
struct OutputScan {
  int64_t unwritten = 0;    // elements that hold the sentinel, over the sets used since poison(); 0 for inout tensors
  int64_t non_finite = -1;  // NaN and infinite elements of the set used last; 0 for integers; -1: not counted
};

// How one kernel of a call is launched, and what it takes of a multiprocessor (core/backend.ts KernelLaunch). -1: not known.
struct LaunchInfo {
  std::string kernel;
  std::string part;               // of a composite operation; empty where it is none
  int64_t blocks[3] = {1, 1, 1};  // of the grid
  int threads = 0, cluster = 1;   // of a block; blocks of a cluster
  int registers = -1;             // per thread
  int64_t shared_bytes = -1;      // per block, static and dynamic
  int64_t local_bytes = -1;       // per thread: what registers have no room for
  int blocks_per_sm = -1;         // that fit on one multiprocessor at a time
  double occupancy = -1;          // their threads by those that a multiprocessor has room for
  double waves = -1;              // blocks of the grid by those that fit on the device at a time
};

// What the processor counted of one call in user space; -1: not counted. `reason`: why nothing was, or which counters are absent and why.
struct CallCounts {
  std::string reason;
  double instructions = -1, cycles = -1, l1_reads = -1, l1_misses = -1, llc_reads = -1, llc_misses = -1;
};

enum class Mode { cold, hot, rotated, graph };  // core/case.ts says what each means

class Prepared {
 public:
  virtual ~Prepared() = default;
  // Fills the tensors with a fill anew, of every set of buffers: one Fill each, in their order.
  virtual void refill(const std::vector<Fill>&) { throw Error("internal", "this backend cannot fill its inputs anew"); }
  virtual void poison() = 0;  // every `out` tensor of all sets := sentinel
  virtual void run() = 0;     // once, and wait
  // One entry per output. Throws Error("kernel-failed") where a kernel wrote outside its outputs.
  virtual std::vector<OutputScan> scan() = 0;
  // Raw elements of an output, of the set used last.
  virtual void read(size_t output, int64_t start, int64_t count, void* destination) = 0;
  virtual SampleBatch sample(Mode mode, int count, int inner) = 0;
  virtual int64_t case_bytes() const = 0;
  virtual int64_t device_delta_bytes() const { return -1; }               // -1: not known
  virtual double tick_ns() const = 0;
  virtual std::string timer() const = 0;                                  // core/backend.ts timerSchema
  virtual double clock_settles_seconds() const { return 0; }              // core/backend.ts PreparedCase
  virtual std::vector<std::string> notes() const { return {}; }
  virtual std::vector<LaunchInfo> launches() const { return {}; }  // of one call, in their order
  virtual bool counts() const { return false; }                    // whether count() is there
  virtual CallCounts count(Mode, int) { return {}; }               // of a call, from so many calls that are not timed
};

struct KernelInfo {
  std::string op;
  std::vector<Dtype> dtypes;
};

struct ImplInfo {
  std::string id, title;
  bool available = true, preferred = false;
  bool joins = false;  // runs the parts of a composite operation as one call, where it has kernels for all of them
  std::string reason;  // why not, when not available
  std::vector<KernelInfo> kernels;
};

struct DeviceInfo {
  std::string backend, id, name;
  bool available = true;
  std::string reason;
  std::vector<ImplInfo> impls;
  std::vector<Mode> modes;
  std::vector<int> threads;
  double memory_bytes = 0;
  double max_tensor_bytes = 0;  // 0: no limit of its own
  std::string driver;           // version; empty where there is none
  std::vector<std::pair<std::string, double>> caches;  // name, bytes of all usable instances; smallest first
  bool virtual_machine = false;                        // a processor that other guests may share
  std::vector<std::string> disturbances;               // what computes on the device now; one sentence each
  std::vector<std::pair<std::string, std::string>> facts;
  std::vector<std::string> warnings;
};

namespace cpu {
std::vector<DeviceInfo> devices();
std::unique_ptr<Prepared> open(const CaseSpec& spec);
}  // namespace cpu

namespace cuda {
// Always declared. Built without nvcc (OPSCOPE_CUDA undefined) it lists one unavailable device that says how to get it.
std::vector<DeviceInfo> devices();
std::unique_ptr<Prepared> open(const CaseSpec& spec);
// Folders to look in for NVIDIA's libraries, after the loader's own, best first. Before the first call of `devices`.
void set_library_folders(std::vector<std::string> folders);
// Opening a case throws Error "compiling" while its kernels are compiled, instead of waiting: the caller opens it again.
void set_compile_in_background(bool on);
}  // namespace cuda

}  // namespace opscope
