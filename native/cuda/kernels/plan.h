// How an op becomes launches. Each kernels/<op>.plan.cc states the dtypes it has kernels for and one function that,
// given the case and the device, chooses kernels, grids and workspace. Planning is apart from running: a plan is made
// once per case and launched many times.
#pragma once
#include <array>
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "../driver/context.h"
#include "prepared.h"

namespace opscope::cuda {

struct Dim3 {
  unsigned x = 1, y = 1, z = 1;
};

// One kernel launch with its arguments stored by value.
class Launch {
 public:
  template <class... A>
  Launch(CUfunction function, Dim3 grid, unsigned threads, unsigned shared_bytes, const A&... arguments)
      : function_(function), grid_(grid), threads_(threads), shared_bytes_(shared_bytes) {
    (store(arguments), ...);
  }
  // Blocks of a thread-block cluster along x (sm_90 and newer).
  Launch& cluster(unsigned blocks) {
    cluster_ = blocks;
    return *this;
  }
  void enqueue(CUstream stream) const;

 private:
  struct alignas(64) Argument {
    std::array<std::byte, 128> bytes;
  };
  template <class A>
  void store(const A& value) {
    static_assert(sizeof(A) <= sizeof(Argument));
    std::memcpy(arguments_.emplace_back().bytes.data(), &value, sizeof(A));
  }
  CUfunction function_;
  Dim3 grid_;
  unsigned threads_, shared_bytes_, cluster_ = 1;
  std::vector<Argument> arguments_;
};

class Planner {
 public:
  Planner(const CaseSpec& spec, Context& context, std::string module, std::vector<CUdeviceptr> inputs, CUdeviceptr output)
      : spec(spec), device(context.traits()), context_(context), module_(std::move(module)), inputs_(std::move(inputs)), output_(output) {}

  const CaseSpec& spec;
  const Traits& device;

  int64_t dim(size_t index) const { return spec.dims.at(index); }
  CUdeviceptr input(size_t index) const { return inputs_.at(index); }
  CUdeviceptr output() const { return output_; }
  // `f32`, `f16`, `bf16` or `tf32`: how kernels name their dtype.
  std::string dtype() const;
  // A kernel of this op's .cu file; `shared_bytes` above 48 KB are asked for here.
  CUfunction kernel(const std::string& name, unsigned shared_bytes = 0) const { return kernel_in(module_, name, shared_bytes); }
  // A kernel of another .cu file, for ops with several.
  CUfunction kernel_in(const std::string& module, const std::string& name, unsigned shared_bytes = 0) const;
  // Zeroed once, when the case is opened. Kernels leave counters at zero for the next launch.
  CUdeviceptr workspace(int64_t bytes);
  template <class... A>
  Launch& launch(CUfunction function, Dim3 grid, unsigned threads, unsigned shared_bytes, const A&... arguments) {
    return launches_.emplace_back(function, grid, threads, shared_bytes, arguments...);
  }

  std::vector<Launch> take_launches() { return std::move(launches_); }
  std::vector<DeviceBuffer> take_workspaces() { return std::move(workspaces_); }

 private:
  Context& context_;
  std::string module_;
  std::vector<CUdeviceptr> inputs_;
  CUdeviceptr output_;
  std::vector<Launch> launches_;
  std::vector<DeviceBuffer> workspaces_;
};

// How many dims an op has, and the elements of its inputs and, last, its output that follow from them.
struct OpShape {
  size_t dims;
  std::vector<int64_t> (*elements)(const std::vector<int64_t>& dims);
};

using PlanFunction = void (*)(Planner&);

struct OpKernels {
  const char* op;
  std::vector<Dtype> dtypes;
  OpShape shape;
  PlanFunction plan;
};

// Throws Error "internal" when a case's dims, inputs and output do not fit together: nothing that came from outside may
// make a kernel touch memory it does not own.
void check_shape(const CaseSpec& spec, const OpShape& shape);

// Ops found at load time, each registered by its own file.
const std::vector<OpKernels>& registered_ops();
const OpKernels* find_op(const std::string& op);

struct Register {
  Register(const char* op, std::vector<Dtype> dtypes, OpShape shape, PlanFunction plan);
};

inline int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

}  // namespace opscope::cuda
