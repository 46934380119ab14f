// conv1d to conv3d by cuDNN's convolution of contiguous tensors, with the algorithm that its own search finds fastest. dims: as in
// kernels/convolution.plan.cc.
#include <algorithm>
#include <map>

#include "cudnn_api.h"
#include "vendor.h"

namespace opscope::cuda {

namespace {

enum { cross_correlation = 1 };
enum { math_tensor_op = 1, math_fma = 3 };
constexpr int most_algorithms = 8;
constexpr int64_t most_workspace = int64_t{1} << 30;

struct Convolution {
  void* handle;
  std::shared_ptr<void> x, w, convolution, y;
};

Convolution convolution_of(const Planner& p) {
  const auto dim = [&](size_t i) { return p.dim(i); };
  const bool volume = p.spec.op == "conv3d";
  const int axes = volume ? 3 : 2;
  std::vector<int64_t> x = {dim(0), dim(1)}, w = {dim(2), dim(1) / dim(3)}, y = {dim(0), dim(2)};
  std::vector<int> padding, stride, dilation;
  for (size_t at = volume ? 6 : 10; at < 18; at += 4) {
    x.push_back(dim(at));
    w.push_back(dim(at + 1));
    y.push_back(dim(at + 3));
    padding.push_back(static_cast<int>(dim(at + 2)));
    // Signals have no height to go along.
    const bool absent = p.spec.op == "conv1d" && at == 10;
    stride.push_back(absent ? 1 : static_cast<int>(dim(4)));
    dilation.push_back(absent ? 1 : static_cast<int>(dim(5)));
  }
  const Storage storage = storage_of(p.spec.dtype);
  Convolution c = {cudnn_handle(p.context()), cudnn_tensor(storage, x), cudnn_filter(storage, w), {}, cudnn_tensor(storage, y)};
  const CudnnTable& t = cudnn_table();
  void* made = nullptr;
  cudnn_must(t.create_convolution(&made), "the convolution was described");
  c.convolution = std::shared_ptr<void>(made, [](void* object) { cudnn_table().destroy_convolution(object); });
  cudnn_must(t.set_convolution(made, axes, padding.data(), stride.data(), dilation.data(), cross_correlation, cudnn_type(Storage::f32)), "the convolution was described");
  cudnn_must(t.set_groups(made, static_cast<int>(dim(3))), "the groups were described");
  // f32 stays f32: without this cuDNN may compute in tf32.
  cudnn_must(t.set_math(made, p.spec.dtype == Dtype::f32 ? math_fma : math_tensor_op), "the arithmetic was chosen");
  return c;
}

int64_t workspace_limit() {
  size_t free = 0, total = 0;
  if (api().MemGetInfo(&free, &total) != CUDA_SUCCESS) return most_workspace;
  return std::min<int64_t>(most_workspace, static_cast<int64_t>(free / 4));
}

struct Choice {
  CudnnConvolutionTime algorithm;
  int of;
};

// cuDNN runs each of its algorithms and gives them with their times, the shortest first.
Choice search(const Planner& p, const Convolution& c) {
  const DeviceBuffer workspace(workspace_limit());
  CudnnConvolutionTime found[most_algorithms] = {};
  int count = 0;
  cudnn_must(cudnn_table().find_convolution(c.handle, c.x.get(), pointer(p.input(0)), c.w.get(), pointer(p.input(1)), c.convolution.get(), c.y.get(), pointer(p.output()), most_algorithms, &count, found,
                                            pointer(workspace.address()), static_cast<size_t>(workspace.bytes())),
             "its algorithms were timed");
  p.context().synchronize("choosing an algorithm of cuDNN");
  // f32 must not come back as a product of shorter numbers.
  const auto usable = [&](const CudnnConvolutionTime& a) { return a.status == 0 && (p.spec.dtype != Dtype::f32 || a.math == math_fma || a.math == 0); };
  const auto* best = std::find_if(found, found + count, usable);
  if (best == found + count) throw Error("unsupported", "cuDNN has no algorithm for this convolution.", count ? cudnn_table().error_string(found[0].status) : "");
  return {*best, static_cast<int>(std::count_if(found, found + count, usable))};
}

const Choice& chosen(const Planner& p, const Convolution& c) {
  static std::map<std::string, Choice> known;
  std::string key = std::to_string(p.device.ordinal) + " " + p.spec.op + " " + p.dtype();
  for (const int64_t d : p.spec.dims) key += " " + std::to_string(d);
  const auto found = known.find(key);
  return found != known.end() ? found->second : known.emplace(key, search(p, c)).first->second;
}

}  // namespace

void plan_cudnn_convolution(Planner& p) {
  const Convolution c = convolution_of(p);
  const Choice choice = chosen(p, c);
  const CudnnConvolutionTime& algorithm = choice.algorithm;
  cudnn_must(cudnn_table().set_math(c.convolution.get(), p.spec.dtype == Dtype::f32 ? static_cast<int>(math_fma) : algorithm.math), "the arithmetic was chosen");
  const CUdeviceptr workspace = algorithm.workspace ? p.workspace(static_cast<int64_t>(algorithm.workspace)) : 0;
  p.note("cuDNN " + std::to_string(cudnn_table().version()) + ": algorithm " + std::to_string(algorithm.algorithm) + " was the fastest of " + std::to_string(choice.of) + ", with a workspace of " +
         std::to_string(algorithm.workspace) + " bytes; it was chosen before timing.");
  const void *x = pointer(p.input(0)), *w = pointer(p.input(1));
  void *y = pointer(p.output()), *space = pointer(workspace);
  p.launch_library([c, algorithm, x, w, y, space](CUstream) {
    const float one = 1, zero = 0;
    cudnn_ran(cudnn_table().convolve(c.handle, &one, c.x.get(), x, c.w.get(), w, c.convolution.get(), algorithm.algorithm, space, algorithm.workspace, &zero, c.y.get(), y));
  });
}

}  // namespace opscope::cuda
