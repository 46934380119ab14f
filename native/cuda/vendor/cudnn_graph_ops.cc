// layer_norm, rms_norm and attention, which cuDNN has in its graph interface only.
#include <cmath>
#include <limits>

#include "cudnn_graph.h"
#include "vendor.h"

namespace opscope::cuda {

namespace {

// cudnnBackendAttributeName_t of the two operations of one node.
enum { norm_mode = 2000, norm_phase = 2001, norm_x = 2002, norm_scale = 2005, norm_bias = 2006, norm_epsilon = 2007, norm_y = 2013 };
enum { attention_q = 2800, attention_k = 2801, attention_v = 2802, attention_o = 2803, attention_scale = 2805 };
enum { layer_norm = 0, rms_norm = 4, inference = 0 };
// The first version with an operation of one node for attention (cuDNN release notes, 9.13.1).
constexpr size_t first_with_attention = 91301;

void run(Planner& p, CudnnPlan plan) {
  p.note("cuDNN " + std::to_string(cudnn_table().version()) + ": the first engine of its heuristics that takes this case, with a workspace of " + std::to_string(plan.workspace_bytes()) + " bytes; it was chosen before timing.");
  plan.bind(plan.workspace_bytes() > 0 ? pointer(p.workspace(plan.workspace_bytes())) : nullptr);
  p.launch_library([plan](CUstream) { plan.run(); });
}

// dims: [rows, cols]; scalars: [eps]; inputs x, weight and, of layer_norm, bias. Columns are cuDNN's channels.
void plan_norm(Planner& p, int mode) {
  const int type = cudnn_type(storage_of(p.spec.dtype));
  const int64_t rows = p.dim(0), cols = p.dim(1);
  const std::vector<int64_t> strides = {cols, 1, cols, cols}, channels = {1, cols, 1, 1}, image = {rows, cols, 1, 1};
  CudnnGraph graph(cudnn_handle(p.context()));
  std::vector<std::pair<int, void*>> tensors = {{norm_x, graph.memory(type, image, strides, pointer(p.input(0)))}, {norm_scale, graph.memory(type, channels, strides, pointer(p.input(1)))}};
  if (mode == layer_norm) tensors.emplace_back(norm_bias, graph.memory(type, channels, strides, pointer(p.input(2))));
  tensors.emplace_back(norm_epsilon, graph.number(static_cast<float>(p.scalar(0)), 4));
  tensors.emplace_back(norm_y, graph.memory(type, image, strides, pointer(p.output())));
  graph.operation(cudnn_norm_forward, {{norm_mode, cudnn_norm_mode, mode}, {norm_phase, cudnn_norm_phase, inference}}, tensors);
  run(p, graph.plan());
}

// dims: [batch, heads, kvHeads, seqQ, seqK, headDim, causal].
struct Attention {
  int64_t batch, heads, kv_heads, queries, keys, depth;
  bool causal;
  int type;
  float scale;
};

CudnnPlan one_node(const Planner& p, const Attention& a) {
  CudnnGraph graph(cudnn_handle(p.context()));
  const std::vector<int64_t> q = {a.batch, a.heads, a.queries, a.depth}, k = {a.batch, a.kv_heads, a.keys, a.depth};
  graph.operation(cudnn_attention_forward, {},
                  {{attention_q, graph.memory(a.type, q, pointer(p.input(0)))},
                   {attention_k, graph.memory(a.type, k, pointer(p.input(1)))},
                   {attention_v, graph.memory(a.type, k, pointer(p.input(2)))},
                   {attention_o, graph.memory(a.type, q, pointer(p.output()))},
                   {attention_scale, graph.number(a.scale, 4)}});
  return graph.plan();
}

// softmax(q k^T * scale, masked) v, operation by operation, which the library computes as one.
CudnnPlan many_nodes(const Planner& p, const Attention& a) {
  CudnnGraph graph(cudnn_handle(p.context()));
  const std::vector<int64_t> q = {a.batch, a.heads, a.queries, a.depth}, v = {a.batch, a.kv_heads, a.keys, a.depth}, scores = {a.batch, a.heads, a.queries, a.keys}, rows = {a.batch, a.heads, a.queries, 1};
  void* across = graph.memory(a.type, {a.batch, a.kv_heads, a.depth, a.keys}, {a.kv_heads * a.keys * a.depth, a.keys * a.depth, 1, a.depth}, pointer(p.input(1)));
  void* product = graph.between(cudnn_f32, scores);
  graph.matmul(graph.memory(a.type, q, pointer(p.input(0))), across, product);
  void* score = graph.between(cudnn_f32, scores);
  graph.pointwise(cudnn_mul, product, graph.number(a.scale, 4), score);
  if (a.causal) {
    void *query = graph.between(cudnn_i32, scores), *key = graph.between(cudnn_i32, scores), *seen = graph.between(cudnn_boolean, scores), *masked = graph.between(cudnn_f32, scores);
    graph.pointwise(cudnn_index, score, nullptr, query, nullptr, 2);
    graph.pointwise(cudnn_index, score, nullptr, key, nullptr, 3);
    graph.pointwise(cudnn_greater_or_equal, query, key, seen);
    // The lowest number rather than an infinity: cuDNN subtracts it from itself in rows that are masked whole.
    graph.pointwise(cudnn_select, score, graph.number(std::numeric_limits<float>::lowest(), 4), masked, seen);
    score = masked;
  }
  void *largest = graph.between(cudnn_f32, rows), *below = graph.between(cudnn_f32, scores), *power = graph.between(cudnn_f32, scores), *sum = graph.between(cudnn_f32, rows), *weight = graph.between(a.type, scores);
  graph.reduce(cudnn_reduce_max, score, largest);
  graph.pointwise(cudnn_sub, score, largest, below);
  graph.pointwise(cudnn_exp, below, nullptr, power);
  graph.reduce(cudnn_reduce_add, power, sum);
  graph.pointwise(cudnn_div, power, sum, weight);
  graph.matmul(weight, graph.memory(a.type, v, pointer(p.input(2))), graph.memory(a.type, q, pointer(p.output())));
  return graph.plan();
}

CudnnPlan attention_plan(const Planner& p, const Attention& a) {
  if (!a.causal && cudnn_table().version() >= first_with_attention) {
    try {
      return one_node(p, a);
    } catch (const Error&) {
      // Shapes that it does not take may have an engine in the older form.
    }
  }
  return many_nodes(p, a);
}

}  // namespace

void plan_cudnn_layer_norm(Planner& p) { plan_norm(p, layer_norm); }

void plan_cudnn_rms_norm(Planner& p) { plan_norm(p, rms_norm); }

void plan_cudnn_attention(Planner& p) {
  const Attention a = {p.dim(0), p.dim(1), p.dim(2), p.dim(3), p.dim(4), p.dim(5), p.dim(6) != 0, cudnn_type(storage_of(p.spec.dtype)), 1 / std::sqrt(static_cast<float>(p.dim(5)))};
  run(p, attention_plan(p, a));
}

}  // namespace opscope::cuda
