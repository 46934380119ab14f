// cuDNN: pooling, softmax and batch normalisation; convolutions are in cudnn_convolution.cc, what its graph interface alone has in cudnn_graph_ops.cc.
#include <algorithm>
#include <array>

#include "cudnn_api.h"
#include "search.h"
#include "vendor.h"

namespace opscope::cuda {

namespace {

constexpr float one = 1, zero = 0;

// dims: [rows, cols].
template <bool LOG>
void plan_softmax(Planner& p) {
  enum { accurate = 1, logarithm = 2 };
  enum { over_each_item = 0 };
  void* handle = cudnn_handle(p.context());
  const auto tensor = cudnn_tensor(storage_of(p.spec.dtype), {p.dim(0), p.dim(1), 1, 1});
  const void* x = pointer(p.input(0));
  void* y = pointer(p.output());
  p.launch_library([=](CUstream) { cudnn_ran(cudnn_table().softmax(handle, LOG ? logarithm : accurate, over_each_item, &one, tensor.get(), x, &zero, tensor.get(), y)); });
}

// dims: [planes, height, width, outHeight, outWidth, kernel, stride, padding]; signals have height 1.
template <bool MAX, bool SIGNALS>
void plan_pooling(Planner& p) {
  enum { largest = 0, mean_with_padding = 1 };
  enum { pass_nan_on = 1 };
  void* handle = cudnn_handle(p.context());
  // Planes as items and channels, so that neither is long.
  int64_t channels = std::min<int64_t>(p.dim(0), 512);
  while (p.dim(0) % channels != 0) channels--;
  const Storage storage = storage_of(p.spec.dtype);
  const auto input = cudnn_tensor(storage, {p.dim(0) / channels, channels, p.dim(1), p.dim(2)}), output = cudnn_tensor(storage, {p.dim(0) / channels, channels, p.dim(3), p.dim(4)});
  void* made = nullptr;
  cudnn_must(cudnn_table().create_pooling(&made), "the windows were described");
  const std::shared_ptr<void> pooling(made, [](void* object) { cudnn_table().destroy_pooling(object); });
  const auto [kernel, stride, padding] = std::array{static_cast<int>(p.dim(5)), static_cast<int>(p.dim(6)), static_cast<int>(p.dim(7))};
  cudnn_must(cudnn_table().set_pooling(made, MAX ? largest : mean_with_padding, pass_nan_on, SIGNALS ? 1 : kernel, kernel, SIGNALS ? 0 : padding, padding, SIGNALS ? 1 : stride, stride), "the windows were described");
  const void* x = pointer(p.input(0));
  void* y = pointer(p.output());
  p.launch_library([=](CUstream) { cudnn_ran(cudnn_table().pool(handle, pooling.get(), &one, input.get(), x, &zero, output.get(), y)); });
}

// dims: [batch, channels, plane, training]; scalars: [eps].
void plan_batch_norm(Planner& p) {
  enum { per_channel = 1 };
  void* handle = cudnn_handle(p.context());
  const auto image = cudnn_tensor(storage_of(p.spec.dtype), {p.dim(0), p.dim(1), p.dim(2), 1}), channels = cudnn_tensor(Storage::f32, {1, p.dim(1), 1, 1});
  const void *x = pointer(p.input(0)), *weight = pointer(p.input(1)), *bias = pointer(p.input(2));
  void* y = pointer(p.output());
  const double eps = p.scalar(0);
  if (p.dim(3) != 0) {
    void *mean = pointer(p.output(1)), *rstd = pointer(p.output(2));
    p.launch_library([=](CUstream) {
      cudnn_ran(cudnn_table().train(handle, per_channel, &one, &zero, image.get(), x, image.get(), y, channels.get(), weight, bias, 0, nullptr, nullptr, eps, mean, rstd));
    });
    return;
  }
  const void *mean = pointer(p.input(3)), *variance = pointer(p.input(4));
  p.launch_library([=](CUstream) { cudnn_ran(cudnn_table().normalize(handle, per_channel, &one, &zero, image.get(), x, image.get(), y, channels.get(), weight, bias, mean, variance, eps)); });
}

std::string version_of(const CudnnTable& t) {
  const size_t v = t.version();
  // 8907 is 8.9.7; from 9 on 91002 is 9.10.2.
  const bool wide = v >= 90000;
  return std::to_string(v / (wide ? 10000 : 1000)) + "." + std::to_string(v % (wide ? 10000 : 1000) / 100) + "." + std::to_string(v % 100) + ", " + origin_of(t.file);
}

}  // namespace

Vendor cudnn() {
  const CudnnTable& t = cudnn_table();
  Vendor vendor = {"cudnn", "cuDNN", {}, t.missing, t.missing.empty() ? version_of(t) : ""};
  const auto add = [&](const char* op, PlanFunction plan) { vendor.ops.push_back({op, real_dtypes, plan}); };
  for (const char* op : {"conv1d", "conv2d", "conv3d"}) add(op, plan_cudnn_convolution);
  add("softmax", plan_softmax<false>);
  add("log_softmax", plan_softmax<true>);
  add("max_pool1d", plan_pooling<true, true>);
  add("avg_pool1d", plan_pooling<false, true>);
  add("max_pool2d", plan_pooling<true, false>);
  add("avg_pool2d", plan_pooling<false, false>);
  add("batch_norm", plan_batch_norm);
  add("layer_norm", plan_cudnn_layer_norm);
  add("rms_norm", plan_cudnn_rms_norm);
  // Its engines take 16 bits.
  vendor.ops.push_back({"scaled_dot_product_attention", {Dtype::f16, Dtype::bf16}, plan_cudnn_attention});
  return vendor;
}

}  // namespace opscope::cuda
