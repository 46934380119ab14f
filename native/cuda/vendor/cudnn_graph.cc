#include "cudnn_graph.h"

#include <string>

namespace opscope::cuda {

namespace {

// cudnnBackendDescriptorType_t
enum { d_pointwise = 0, d_engine_config = 3, d_heuristics = 4, d_plan = 5, d_pointwise_operation = 13, d_graph = 15, d_pack = 16, d_tensor = 17, d_matmul = 18, d_matmul_operation = 19, d_reduction = 21, d_reduction_operation = 22 };
// cudnnBackendAttributeType_t
enum { t_handle = 0, t_data_type = 1, t_boolean = 2, t_int64 = 3, t_pointer = 6, t_heuristic = 8, t_pointwise = 14, t_descriptor = 15, t_reduction = 18 };
// cudnnBackendAttributeName_t
enum { pointwise_mode = 0, pointwise_type = 1, pointwise_axis = 9, heuristic_mode = 200, heuristic_graph = 201, heuristic_results = 202, plan_handle = 400, plan_config = 401, plan_workspace = 402 };
enum { operation_pointwise = 750, operation_pointwise_x = 751, operation_pointwise_b = 752, operation_pointwise_y = 753, operation_pointwise_t = 758, graph_handle = 800, graph_operations = 801 };
enum { tensor_alignment = 900, tensor_type = 901, tensor_extents = 902, tensor_strides = 903, tensor_id = 906, tensor_virtual = 907, tensor_by_value = 908 };
enum { pack_ids = 1000, pack_addresses = 1001, pack_workspace = 1003, matmul_type = 1500, matmul_a = 1520, matmul_b = 1521, matmul_c = 1522, matmul_descriptor = 1523 };
enum { reduction_mode = 1600, reduction_type = 1601, reduction_x = 1610, reduction_y = 1611, reduction_descriptor = 1612 };
// cudnnBackendHeurMode_t, in the order in which they are asked.
constexpr int heuristics[] = {3, 1, 2};
constexpr int64_t alignment = 16;

std::vector<int64_t> contiguous(const std::vector<int64_t>& extents) {
  std::vector<int64_t> strides(extents.size(), 1);
  for (size_t i = extents.size() - 1; i > 0; i--) strides[i - 1] = strides[i] * extents[i];
  return strides;
}

std::shared_ptr<void> descriptor_of(int type) {
  void* made = nullptr;
  cudnn_must(cudnn_table().create_descriptor(type, &made), "its graph was described");
  return {made, [](void* descriptor) { cudnn_table().destroy_descriptor(descriptor); }};
}

}  // namespace

CudnnPlan::CudnnPlan(void* handle, std::vector<std::shared_ptr<void>> owned, void* plan, std::shared_ptr<std::deque<float>> numbers, std::vector<int64_t> ids, std::vector<void*> addresses)
    : handle_(handle), owned_(std::move(owned)), plan_(plan), numbers_(std::move(numbers)), ids_(std::move(ids)), addresses_(std::move(addresses)) {
  int64_t count = 0;
  cudnn_must(cudnn_table().get_attribute(plan_, plan_workspace, t_int64, 1, &count, &workspace_bytes_), "the workspace of its plan was read");
}

void CudnnPlan::bind(void* workspace) {
  const CudnnTable& t = cudnn_table();
  owned_.push_back(descriptor_of(d_pack));
  pack_ = owned_.back().get();
  const auto count = static_cast<int64_t>(ids_.size());
  constexpr const char* doing = "tensors were bound to its plan";
  cudnn_must(t.set_attribute(pack_, pack_ids, t_int64, count, ids_.data()), doing);
  cudnn_must(t.set_attribute(pack_, pack_addresses, t_pointer, count, addresses_.data()), doing);
  cudnn_must(t.set_attribute(pack_, pack_workspace, t_pointer, 1, &workspace), doing);
  cudnn_must(t.finalize(pack_), doing);
}

void CudnnPlan::run() const { cudnn_ran(cudnn_table().execute(handle_, plan_, pack_)); }

void* CudnnGraph::make(int type) {
  owned_.push_back(descriptor_of(type));
  return owned_.back().get();
}

void CudnnGraph::set(void* descriptor, int name, int type, int64_t count, const void* elements, const char* doing) { cudnn_must(cudnn_table().set_attribute(descriptor, name, type, count, elements), doing); }

void CudnnGraph::link(void* descriptor, int name, void* other) { set(descriptor, name, t_descriptor, 1, &other, "an operation was described"); }

void CudnnGraph::finish(void* descriptor, const char* doing) { cudnn_must(cudnn_table().finalize(descriptor), doing); }

void* CudnnGraph::tensor(int type, const std::vector<int64_t>& extents, const std::vector<int64_t>& strides, bool between, bool by_value) {
  constexpr const char* doing = "a tensor was described";
  void* made = make(d_tensor);
  const int64_t id = ++last_id_;
  const auto axes = static_cast<int64_t>(extents.size());
  set(made, tensor_type, t_data_type, 1, &type, doing);
  set(made, tensor_extents, t_int64, axes, extents.data(), doing);
  set(made, tensor_strides, t_int64, axes, strides.data(), doing);
  set(made, tensor_id, t_int64, 1, &id, doing);
  set(made, tensor_alignment, t_int64, 1, &alignment, doing);
  if (between) set(made, tensor_virtual, t_boolean, 1, &between, doing);
  if (by_value) set(made, tensor_by_value, t_boolean, 1, &by_value, doing);
  finish(made, doing);
  return made;
}

void* CudnnGraph::memory(int type, const std::vector<int64_t>& extents, const std::vector<int64_t>& strides, void* address) {
  void* made = tensor(type, extents, strides, false, false);
  ids_.push_back(last_id_);
  addresses_.push_back(address);
  return made;
}

void* CudnnGraph::memory(int type, const std::vector<int64_t>& extents, void* address) { return memory(type, extents, contiguous(extents), address); }

void* CudnnGraph::number(float value, size_t axes) {
  const std::vector<int64_t> ones(axes, 1);
  void* made = tensor(cudnn_f32, ones, ones, false, true);
  // A deque leaves its elements where they are when it grows.
  numbers_->push_back(value);
  ids_.push_back(last_id_);
  addresses_.push_back(&numbers_->back());
  return made;
}

void* CudnnGraph::between(int type, const std::vector<int64_t>& extents) { return tensor(type, extents, contiguous(extents), true, false); }

void CudnnGraph::pointwise(int mode, void* x, void* b, void* y, void* t, int64_t axis) {
  constexpr const char* doing = "an element-wise operation was described";
  const int type = mode == cudnn_greater_or_equal ? cudnn_boolean : cudnn_f32;
  void* words = make(d_pointwise);
  set(words, pointwise_mode, t_pointwise, 1, &mode, doing);
  set(words, pointwise_type, t_data_type, 1, &type, doing);
  if (axis >= 0) set(words, pointwise_axis, t_int64, 1, &axis, doing);
  finish(words, doing);
  void* made = make(d_pointwise_operation);
  link(made, operation_pointwise, words);
  link(made, operation_pointwise_x, x);
  if (b) link(made, operation_pointwise_b, b);
  if (t) link(made, operation_pointwise_t, t);
  link(made, operation_pointwise_y, y);
  finish(made, doing);
  operations_.push_back(made);
}

void CudnnGraph::reduce(int mode, void* x, void* y) {
  constexpr const char* doing = "a reduction was described";
  constexpr int type = cudnn_f32;
  void* words = make(d_reduction);
  set(words, reduction_mode, t_reduction, 1, &mode, doing);
  set(words, reduction_type, t_data_type, 1, &type, doing);
  finish(words, doing);
  void* made = make(d_reduction_operation);
  link(made, reduction_descriptor, words);
  link(made, reduction_x, x);
  link(made, reduction_y, y);
  finish(made, doing);
  operations_.push_back(made);
}

void CudnnGraph::matmul(void* a, void* b, void* c) {
  constexpr const char* doing = "a product was described";
  constexpr int type = cudnn_f32;
  void* words = make(d_matmul);
  set(words, matmul_type, t_data_type, 1, &type, doing);
  finish(words, doing);
  void* made = make(d_matmul_operation);
  link(made, matmul_descriptor, words);
  link(made, matmul_a, a);
  link(made, matmul_b, b);
  link(made, matmul_c, c);
  finish(made, doing);
  operations_.push_back(made);
}

void CudnnGraph::operation(int descriptor, const std::vector<Word>& words, const std::vector<std::pair<int, void*>>& tensors) {
  constexpr const char* doing = "its operation was described";
  void* made = make(descriptor);
  for (const Word& word : words) set(made, word.attribute, word.type, 1, &word.value, doing);
  for (const auto& [attribute, tensor] : tensors) link(made, attribute, tensor);
  finish(made, doing);
  operations_.push_back(made);
}

// A plan of the first configuration that can be built, else null.
void* CudnnGraph::engine_of(void* graph, int heuristic) {
  const CudnnTable& t = cudnn_table();
  void* asked = make(d_heuristics);
  link(asked, heuristic_graph, graph);
  set(asked, heuristic_mode, t_heuristic, 1, &heuristic, "its heuristics were asked");
  int64_t count = 0, found = 0;
  if (t.finalize(asked) != 0 || t.get_attribute(asked, heuristic_results, t_descriptor, 0, &count, nullptr) != 0) return nullptr;
  std::vector<void*> configs;
  for (int64_t i = 0; i < count; i++) configs.push_back(make(d_engine_config));
  if (t.get_attribute(asked, heuristic_results, t_descriptor, count, &found, configs.data()) != 0) return nullptr;
  for (int64_t i = 0; i < found; i++) {
    void* plan = make(d_plan);
    set(plan, plan_handle, t_handle, 1, &handle_, "a plan was made");
    link(plan, plan_config, configs[static_cast<size_t>(i)]);
    if (t.finalize(plan) == 0) return plan;
  }
  return nullptr;
}

CudnnPlan CudnnGraph::plan() {
  void* graph = make(d_graph);
  set(graph, graph_handle, t_handle, 1, &handle_, "its graph was described");
  set(graph, graph_operations, t_descriptor, static_cast<int64_t>(operations_.size()), operations_.data(), "its graph was described");
  finish(graph, "its graph was described");
  for (const int heuristic : heuristics) {
    if (void* plan = engine_of(graph, heuristic)) return {handle_, owned_, plan, numbers_, ids_, addresses_};
  }
  throw Error("unsupported", "cuDNN has no engine for this case.");
}

}  // namespace opscope::cuda
