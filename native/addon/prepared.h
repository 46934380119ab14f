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

enum class Dtype { f32, f16, bf16, tf32 };
inline size_t dtype_bytes(Dtype d) { return d == Dtype::f16 || d == Dtype::bf16 ? 2 : 4; }

// Codes as in core/backend.ts CaseErrorCode. `detail` holds the driver's own words.
struct Error : std::runtime_error {
  std::string code, detail;
  Error(std::string code_, const std::string& message, std::string detail_ = {})
      : std::runtime_error(message), code(std::move(code_)), detail(std::move(detail_)) {}
};

// How an input is filled; the rule stands in core/random.ts.
struct Fill {
  bool positive;
  float factor;  // f32(scale) * UNIT, made by the caller
  uint32_t key0, key1;
};

struct InputDesc {
  int64_t elements;
  Fill fill;
};

struct CaseSpec {
  std::string op, impl;
  int device = 0;
  Dtype dtype = Dtype::f32;
  int threads = 1;             // CPU only
  bool rotated = false;        // sampled in mode rotated: open with as many sets of buffers as that takes
  std::vector<int64_t> dims;   // in the order the op's doc comment in core/ops states
  std::vector<InputDesc> inputs;
  int64_t output_elements = 0;
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
  DeviceState state;
  std::vector<double> clock_mhz = {}, probe_ns = {};
  double host_call_ns = std::numeric_limits<double>::quiet_NaN();  // CUDA: time the host took to queue one call
};

enum class Mode { cold, hot, rotated, graph };  // core/case.ts says what each means

class Prepared {
 public:
  virtual ~Prepared() = default;
  // Fills the inputs anew, of every set of buffers: one Fill per input, in the order of CaseSpec::inputs.
  virtual void refill(const std::vector<Fill>&) { throw Error("internal", "this backend cannot fill its inputs anew"); }
  virtual void poison() = 0;                                              // outputs of all sets := sentinel (core/numbers.ts)
  virtual void run() = 0;                                                 // once, and wait
  virtual int64_t count_unwritten() = 0;                                  // sentinels in the sets used since poison()
  virtual void read(int64_t start, int64_t count, void* destination) = 0; // raw output elements of the set used last
  virtual SampleBatch sample(Mode mode, int count, int inner) = 0;
  virtual int64_t case_bytes() const = 0;
  virtual int64_t device_delta_bytes() const { return -1; }               // -1: not known
  virtual double tick_ns() const = 0;
  virtual std::string timer() const = 0;                                  // core/backend.ts timerSchema
  virtual std::vector<std::string> notes() const { return {}; }
};

struct KernelInfo {
  std::string op;
  std::vector<Dtype> dtypes;
};

struct ImplInfo {
  std::string id, title;
  bool available = true, preferred = false;
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
}  // namespace cuda

}  // namespace opscope
