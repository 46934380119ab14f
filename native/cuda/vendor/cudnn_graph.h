// cuDNN's graph interface (cudnnBackend*): operations between tensors, which the library computes as one by an engine that it chooses. Names and
// values after the cuDNN backend API reference; they hold for versions 8.9 and 9.
#pragma once
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "cudnn_api.h"

namespace opscope::cuda {

// cudnnDataType_t of tensors that are no operand of ours.
enum { cudnn_f32 = 0, cudnn_i32 = 4, cudnn_boolean = 11 };
// cudnnPointwiseMode_t and cudnnReduceTensorOp_t.
enum { cudnn_mul = 1, cudnn_div = 6, cudnn_sub = 9, cudnn_exp = 13, cudnn_greater_or_equal = 303, cudnn_index = 501, cudnn_select = 601 };
enum { cudnn_reduce_add = 0, cudnn_reduce_max = 3 };
// cudnnBackendDescriptorType_t of operations that one node stands for.
enum { cudnn_norm_forward = 29, cudnn_attention_forward = 41 };
// cudnnBackendAttributeType_t of what an operation is told.
enum { cudnn_norm_mode = 27, cudnn_norm_phase = 28 };

// An engine's plan with the tensors bound to it. Copies share it.
class CudnnPlan {
 public:
  CudnnPlan(void* handle, std::vector<std::shared_ptr<void>> owned, void* plan, std::shared_ptr<std::deque<float>> numbers, std::vector<int64_t> ids, std::vector<void*> addresses);
  // Bytes of workspace that `bind` wants.
  int64_t workspace_bytes() const { return workspace_bytes_; }
  // Once, before the first run.
  void bind(void* workspace);
  // Queues the computation on the handle's stream. Throws Error "unsupported" in the library's words.
  void run() const;

 private:
  void* handle_;
  std::vector<std::shared_ptr<void>> owned_;
  void* plan_;
  void* pack_ = nullptr;
  std::shared_ptr<std::deque<float>> numbers_;
  std::vector<int64_t> ids_;
  std::vector<void*> addresses_;
  int64_t workspace_bytes_ = 0;
};

// Tensors are named by the descriptors that these functions return; the graph owns them. Everything throws Error "unsupported" where the library refuses.
class CudnnGraph {
 public:
  explicit CudnnGraph(void* handle) : handle_(handle) {}

  // A tensor in device memory. Extents and strides in elements, of `cudnn_type`.
  void* memory(int type, const std::vector<int64_t>& extents, const std::vector<int64_t>& strides, void* address);
  // The same, contiguous.
  void* memory(int type, const std::vector<int64_t>& extents, void* address);
  // A number that the operations take by value, of as many axes as the tensors have.
  void* number(float value, size_t axes);
  // A tensor between two operations, which need not exist in memory.
  void* between(int type, const std::vector<int64_t>& extents);

  // y = mode(x, b); by select, t chooses between x and b; by index, y counts along `axis`.
  void pointwise(int mode, void* x, void* b, void* y, void* t = nullptr, int64_t axis = -1);
  // y = x reduced over the axes along which y has extent 1.
  void reduce(int mode, void* x, void* y);
  // c = a b over the last two axes, the others as batches; f32 sums.
  void matmul(void* a, void* b, void* c);
  // An operation of one node: what it is told as (attribute, type, value), and its tensors as (attribute, tensor).
  struct Word {
    int attribute, type, value;
  };
  void operation(int descriptor, const std::vector<Word>& words, const std::vector<std::pair<int, void*>>& tensors);

  // The plan of the first engine in the order of the library's heuristics that takes this graph.
  CudnnPlan plan();

 private:
  void* make(int type);
  void set(void* descriptor, int name, int type, int64_t count, const void* elements, const char* doing);
  void link(void* descriptor, int name, void* other);
  void finish(void* descriptor, const char* doing);
  void* tensor(int type, const std::vector<int64_t>& extents, const std::vector<int64_t>& strides, bool between, bool by_value);
  void* engine_of(void* graph, int heuristic);

  void* handle_;
  int64_t last_id_ = 0;
  std::vector<std::shared_ptr<void>> owned_;
  std::vector<void*> operations_;
  std::shared_ptr<std::deque<float>> numbers_ = std::make_shared<std::deque<float>>();
  std::vector<int64_t> ids_;
  std::vector<void*> addresses_;
};

}  // namespace opscope::cuda
