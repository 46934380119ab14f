// The part of cuDNN's C interface that we call, with declarations of ours after the cuDNN API reference; they hold for versions 8 and 9.
#pragma once
#include <cstddef>
#include <memory>
#include <string>

#include "../kernels/plan.h"

namespace opscope::cuda {

struct CudnnConvolutionTime {
  int algorithm, status;
  float ms;
  size_t workspace;
  int determinism, math, reserved[3];
};

// Member, then the symbol.
#define OPSCOPE_CUDNN_FUNCTIONS(X)                                                                                                                                      \
  X(create, "cudnnCreate", int, (void** handle))                                                                                                                        \
  X(set_stream, "cudnnSetStream", int, (void* handle, CUstream))                                                                                                        \
  X(version, "cudnnGetVersion", size_t, ())                                                                                                                             \
  X(error_string, "cudnnGetErrorString", const char*, (int))                                                                                                            \
  X(create_tensor, "cudnnCreateTensorDescriptor", int, (void**))                                                                                                        \
  X(destroy_tensor, "cudnnDestroyTensorDescriptor", int, (void*))                                                                                                       \
  X(set_tensor, "cudnnSetTensorNdDescriptor", int, (void*, int type, int count, const int* extents, const int* strides))                                                \
  X(create_filter, "cudnnCreateFilterDescriptor", int, (void**))                                                                                                        \
  X(destroy_filter, "cudnnDestroyFilterDescriptor", int, (void*))                                                                                                       \
  X(set_filter, "cudnnSetFilterNdDescriptor", int, (void*, int type, int format, int count, const int* extents))                                                        \
  X(create_convolution, "cudnnCreateConvolutionDescriptor", int, (void**))                                                                                              \
  X(destroy_convolution, "cudnnDestroyConvolutionDescriptor", int, (void*))                                                                                             \
  X(set_convolution, "cudnnSetConvolutionNdDescriptor", int, (void*, int count, const int* padding, const int* stride, const int* dilation, int mode, int compute_type)) \
  X(set_groups, "cudnnSetConvolutionGroupCount", int, (void*, int))                                                                                                     \
  X(set_math, "cudnnSetConvolutionMathType", int, (void*, int))                                                                                                         \
  X(find_convolution, "cudnnFindConvolutionForwardAlgorithmEx", int,                                                                                                    \
    (void* handle, void* x_tensor, const void* x, void* w_filter, const void* w, void* convolution, void* y_tensor, void* y, int wanted, int* found, CudnnConvolutionTime*, void* workspace, size_t)) \
  X(convolve, "cudnnConvolutionForward", int,                                                                                                                           \
    (void* handle, const void* alpha, void* x_tensor, const void* x, void* w_filter, const void* w, void* convolution, int algorithm, void* workspace, size_t, const void* beta, void* y_tensor, void* y)) \
  X(create_pooling, "cudnnCreatePoolingDescriptor", int, (void**))                                                                                                      \
  X(destroy_pooling, "cudnnDestroyPoolingDescriptor", int, (void*))                                                                                                     \
  X(set_pooling, "cudnnSetPooling2dDescriptor", int,                                                                                                                    \
    (void*, int mode, int nan, int height, int width, int padding_down, int padding_across, int stride_down, int stride_across))                                        \
  X(pool, "cudnnPoolingForward", int, (void* handle, void* pooling, const void* alpha, void* x_tensor, const void* x, const void* beta, void* y_tensor, void* y))        \
  X(softmax, "cudnnSoftmaxForward", int, (void* handle, int algorithm, int mode, const void* alpha, void* x_tensor, const void* x, const void* beta, void* y_tensor, void* y)) \
  X(normalize, "cudnnBatchNormalizationForwardInference", int,                                                                                                          \
    (void* handle, int mode, const void* alpha, const void* beta, void* x_tensor, const void* x, void* y_tensor, void* y, void* channels, const void* scale, const void* bias, const void* mean, const void* variance, double eps)) \
  X(train, "cudnnBatchNormalizationForwardTraining", int,                                                                                                               \
    (void* handle, int mode, const void* alpha, const void* beta, void* x_tensor, const void* x, void* y_tensor, void* y, void* channels, const void* scale, const void* bias, double factor, void* running_mean, void* running_variance, double eps, void* mean, void* inverse_deviation)) \
  X(create_descriptor, "cudnnBackendCreateDescriptor", int, (int type, void** descriptor))                                                                              \
  X(destroy_descriptor, "cudnnBackendDestroyDescriptor", int, (void* descriptor))                                                                                       \
  X(set_attribute, "cudnnBackendSetAttribute", int, (void* descriptor, int name, int type, int64_t count, const void* elements))                                        \
  X(get_attribute, "cudnnBackendGetAttribute", int, (void* descriptor, int name, int type, int64_t wanted, int64_t* count, void* elements))                             \
  X(finalize, "cudnnBackendFinalize", int, (void* descriptor))                                                                                                          \
  X(execute, "cudnnBackendExecute", int, (void* handle, void* plan, void* pack))

struct CudnnTable {
#define OPSCOPE_MEMBER(name, symbol, result, arguments) result(*name) arguments = nullptr;
  OPSCOPE_CUDNN_FUNCTIONS(OPSCOPE_MEMBER)
#undef OPSCOPE_MEMBER
  std::string missing, file;
};

// Opens cuDNN on first use. Look at `missing`.
const CudnnTable& cudnn_table();

// The handle of this GPU, which queues on its context's stream.
void* cudnn_handle(const Context& context);

// Throws Error "unsupported" with the library's own words where a set-up step failed.
void cudnn_must(int status, const char* doing);
// The same for a timed call.
void cudnn_ran(int status);

// cudnnDataType_t.
int cudnn_type(Storage storage);

// A contiguous tensor of 4 or 5 extents. Throws Error "unsupported" where an extent or the whole exceeds what cuDNN indexes.
std::shared_ptr<void> cudnn_tensor(Storage storage, const std::vector<int64_t>& extents);
std::shared_ptr<void> cudnn_filter(Storage storage, const std::vector<int64_t>& extents);

void plan_cudnn_convolution(Planner& p);
void plan_cudnn_layer_norm(Planner& p);
void plan_cudnn_rms_norm(Planner& p);
void plan_cudnn_attention(Planner& p);

}  // namespace opscope::cuda
