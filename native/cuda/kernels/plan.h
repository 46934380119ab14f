// How an op becomes launches. Each kernels/<op>.plan.cc, and the plan of each table, states the dtypes it has kernels for, the
// tensors that follow from the dims, and one function that, given the case and the device, chooses kernels, grids and
// workspace. Planning is apart from running: a plan is made once per case and launched many times.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "../buffers/guarded.h"
#include "../driver/context.h"
#include "prepared.h"

namespace opscope::cuda {

struct CompositeStep;

// Blocks of a grid.
struct Dim3 {
  int64_t x = 1, y = 1, z = 1;
};

// One kernel launch with its arguments stored by value, or a call of a library that queues its own.
class Launch {
 public:
  // What the driver takes at most: arguments in bytes, and blocks along x and along y and z (CUDA C++ Programming Guide,
  // "Compute Capabilities"). `max_arguments` is ours: every tensor, dim and scalar of a case, and as many again.
  static constexpr size_t max_arguments = 2 * (MAX_TENSORS + MAX_DIMS + MAX_SCALARS), max_argument_bytes = 4096;
  static constexpr int64_t max_blocks_x = (int64_t{1} << 31) - 1, max_blocks_yz = 65535;

  // Throws Error "unsupported" where the grid or the arguments are beyond these limits.
  template <class... A>
  Launch(CUfunction function, Dim3 grid, unsigned threads, unsigned shared_bytes, const A&... arguments) : function_(function), threads_(threads), shared_bytes_(shared_bytes) {
    static_assert((std::is_trivially_copyable_v<A> && ...));
    set_grid(grid);
    arguments_.reserve(sizeof...(arguments));
    (store(&arguments, sizeof(A)), ...);
  }
  // `library` queues its work on the stream that it is given, and throws where it cannot.
  explicit Launch(std::function<void(CUstream)> library) : function_(nullptr), threads_(0), shared_bytes_(0), library_(std::move(library)) {}
  bool is_library_call() const { return library_ != nullptr; }
  // Blocks of a thread-block cluster along x (sm_90 and newer).
  Launch& cluster(unsigned blocks) {
    cluster_ = blocks;
    return *this;
  }
  // May start while the launch before it ends, where `device` can (sm_90 and newer): its kernel waits before it reads what that one writes (common/early.cuh).
  Launch& early(const Traits& device) {
    early_ = device.major >= 9;
    return *this;
  }
  // Its kernel waits (common/start_early.cuh) before it reads or writes anything but weights and biases, which the case has from the beginning (composite/steps.h), so that it may start early
  // behind any other launch.
  Launch& always_waits() {
    waits_ = true;
    return *this;
  }
  bool waits() const { return waits_; }
  // Of which part of a composite operation it is.
  void set_part(const std::string& name) { part_ = name; }
  void enqueue(CUstream stream) const;
  // What the driver says about this launch on the device of `context`.
  LaunchInfo info(const Context& context) const;

 private:
  struct alignas(64) Argument {
    std::array<std::byte, 128> bytes;
  };
  void set_grid(const Dim3& grid);
  void store(const void* value, size_t bytes);

  CUfunction function_;
  unsigned grid_[3] = {1, 1, 1};
  unsigned threads_, shared_bytes_, cluster_ = 1;
  bool early_ = false, waits_ = false;
  std::string part_;
  size_t argument_bytes_ = 0;
  std::vector<Argument> arguments_;
  std::function<void(CUstream)> library_;
};

class Planner {
 public:
  // `buffers`: addresses in the order of CaseSpec::tensors, and behind them those of the scratch buffers.
  Planner(const CaseSpec& spec, Context& context, const std::vector<CUdeviceptr>& buffers);

  const CaseSpec& spec;
  const Traits& device;

  int64_t dim(size_t index) const { return spec.dims.at(index); }
  double scalar(size_t index) const { return spec.scalars.at(index); }
  // Among the tensors with a fill / among those that are written; an inout tensor is both.
  CUdeviceptr input(size_t index) const { return inputs_.at(index); }
  CUdeviceptr output(size_t index = 0) const { return outputs_.at(index); }
  // `f32`, `f16`, `bf16` or `tf32`: how kernels name their dtype.
  std::string dtype() const;
  // A kernel of this op's .cu file. It is asked here for the `shared_bytes` that it is launched with. Throws Error "unsupported" where the GPU has less.
  CUfunction kernel(const std::string& name, unsigned shared_bytes = 0) const { return kernel_in(spec.op, name, shared_bytes); }
  // A kernel of another .cu file, for ops with several and for tables.
  CUfunction kernel_in(const std::string& module, const std::string& name, unsigned shared_bytes = 0) const;
  // Zeroed once, when the case is opened, with guard bands around it. Kernels leave counters at zero for the next launch.
  CUdeviceptr workspace(int64_t bytes);
  // Where the seed of the inputs lies, a uint32 that is written each time that they are filled: for ops that draw random numbers.
  CUdeviceptr seed();
  // The same, 0 where no kernel asked for it.
  CUdeviceptr seed_asked_for() const { return seed_; }
  template <class... A>
  Launch& launch(CUfunction function, Dim3 grid, unsigned threads, unsigned shared_bytes, const A&... arguments) {
    return launches_.emplace_back(function, grid, threads, shared_bytes, arguments...);
  }

  void launch_library(std::function<void(CUstream)> library) { launches_.emplace_back(std::move(library)); }
  // Plans a step of a composite case, behind what is planned.
  void plan_step(const CompositeStep& step);
  // For libraries, which take the stream when they are set up, and time their algorithms.
  const Context& context() const { return context_; }
  // A fact that belongs on the result, such as the algorithm that a library chose. One sentence.
  void note(std::string sentence) { notes_.push_back(std::move(sentence)); }

  std::vector<std::string> take_notes() { return std::move(notes_); }
  std::vector<Launch> take_launches() { return std::move(launches_); }
  std::vector<GuardedBuffer> take_workspaces() { return std::move(workspaces_); }

 private:
  Context& context_;
  std::vector<CUdeviceptr> buffers_, inputs_, outputs_;
  CUdeviceptr seed_ = 0;
  std::vector<Launch> launches_;
  std::vector<GuardedBuffer> workspaces_;
  std::vector<std::string> notes_;
};

using Dims = std::vector<int64_t>;
using PlanFunction = void (*)(Planner&);

// A tensor that kernels take; without a storage type of its own it has that of the case's dtype.
struct TensorShape {
  int64_t elements;
  Role role;
  std::optional<Storage> storage = {};
};
inline TensorShape in(int64_t elements, std::optional<Storage> storage = {}) { return {elements, Role::in, storage}; }
inline TensorShape out(int64_t elements, std::optional<Storage> storage = {}) { return {elements, Role::out, storage}; }
inline TensorShape inout(int64_t elements, std::optional<Storage> storage = {}) { return {elements, Role::inout, storage}; }

struct OpKernels {
  std::string op;
  std::vector<Dtype> dtypes;
  // Numbers of dims that the op comes with: one, or several where some are left out.
  std::vector<size_t> dims;
  // The tensors that follow from the dims; with no element where the dims make no sense.
  std::vector<TensorShape> (*tensors)(const OpKernels&, const Dims&);
  PlanFunction plan;
  size_t scalars = 0;
  // The place in its family's table of an op that comes from one.
  size_t row = 0;
  // Whether `tensors` finds dims that are too large by itself: where they are no factors of one size, such as strides, their product means nothing.
  bool bounds_dims = false;
};

// Throws Error "internal" when a case's dims, scalars and tensors do not fit together: nothing that came from outside may
// make a kernel touch memory it does not own.
void check_shape(const CaseSpec& spec, const OpKernels& op);

// Plans the parts of a composite case in their order. The first launch of a plan by itself is never early; of the parts behind the first, one is whose kernel always waits.
void plan_parts(Planner& planner);

// Ops found at load time, each registered by its own file or by its family's table.
const std::vector<OpKernels>& registered_ops();
const OpKernels* find_op(const std::string& op);

struct Register {
  explicit Register(OpKernels op);
};

inline const std::vector<Dtype> real_dtypes = {Dtype::f32, Dtype::f16, Dtype::bf16};

inline int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Whether `blocks`, all of which run at once, may wait for the launch before (common/start_early.cuh). Each of more blocks would take half a microsecond to find that it has ended (H200: layer_norm f16 1048576x128 159 to 127 us).
inline bool few_wait(int sm_count, int64_t blocks) { return blocks <= int64_t{sm_count} * 8; }

// Blocks of 256 threads for n elements: a thread for each whole vector of 16 bytes, and from the next multiple of 32 on one for each element behind the last.
inline int64_t blocks_of(Dtype dtype, int64_t n) {
  const int64_t lanes = 16 / static_cast<int64_t>(dtype_bytes(dtype)), vectors = n / lanes, behind = n % lanes;
  return ceil_div(behind == 0 ? vectors : ceil_div(vectors, 32) * 32 + behind, 256);
}

}  // namespace opscope::cuda
