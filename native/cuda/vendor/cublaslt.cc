// cuBLASLt: matmul, row-major by computing the transposed product. The declarations are ours, after the cuBLAS Library User Guide; they hold for
// versions 12 and 13.
#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <memory>
#include <vector>

#include "search.h"
#include "vendor.h"

namespace opscope::cuda {

namespace {

const std::vector<std::string>& names() {
#ifdef _WIN32
  static const std::vector<std::string> list = {"cublasLt64_13.dll", "cublasLt64_12.dll"};
#else
  static const std::vector<std::string> list = {"libcublasLt.so.13", "libcublasLt.so.12"};
#endif
  return list;
}

struct Algorithm {
  uint64_t data[8];
};
struct Heuristic {
  Algorithm algorithm;
  size_t workspace;
  int status;
  float waves;
  int reserved[4];
};
enum { op_n = 0, op_t = 1 };
enum { compute_f32 = 68, compute_f32_fast_tf32 = 77 };
enum { description_trans_a = 3, description_trans_b = 4 };
enum { layout_batch_count = 5, layout_batch_offset = 6 };
enum { preference_workspace = 1 };
using Handle = void*;

struct Table {
  int (*create)(Handle*) = nullptr;
  size_t (*version)() = nullptr;
  const char* (*status_name)(int) = nullptr;
  int (*description_create)(void**, int compute, int scale) = nullptr;
  int (*description_destroy)(void*) = nullptr;
  int (*description_set)(void*, int, const void*, size_t) = nullptr;
  int (*layout_create)(void**, int type, uint64_t rows, uint64_t columns, int64_t leading) = nullptr;
  int (*layout_destroy)(void*) = nullptr;
  int (*layout_set)(void*, int, const void*, size_t) = nullptr;
  int (*preference_create)(void**) = nullptr;
  int (*preference_destroy)(void*) = nullptr;
  int (*preference_set)(void*, int, const void*, size_t) = nullptr;
  int (*heuristic)(Handle, void* description, void* a, void* b, void* c, void* d, void* preference, int wanted, Heuristic*, int* found) = nullptr;
  int (*matmul)(Handle, void* description, const void* alpha, const void* a, void* a_layout, const void* b, void* b_layout, const void* beta, const void* c, void* c_layout, void* d, void* d_layout,
                const Algorithm*, void* workspace, size_t workspace_bytes, CUstream) = nullptr;
  std::string missing, file;
};

Table load() {
  Table t;
  static const Library library = open_library(names());
  if (!library.found()) {
    t.missing = not_found("cuBLASLt", names(), "nvidia-cublas");
    return t;
  }
  t.file = library.name();
  const auto find = [&](auto& slot, const char* name, bool needed = true) {
    slot = reinterpret_cast<std::remove_reference_t<decltype(slot)>>(library.symbol(name));
    if (!slot && needed && t.missing.empty()) t.missing = "cuBLASLt at " + t.file + " cannot be used: it has no " + name + ".";
  };
  find(t.create, "cublasLtCreate");
  find(t.version, "cublasLtGetVersion");
  find(t.status_name, "cublasLtGetStatusName", false);
  find(t.description_create, "cublasLtMatmulDescCreate");
  find(t.description_destroy, "cublasLtMatmulDescDestroy");
  find(t.description_set, "cublasLtMatmulDescSetAttribute");
  find(t.layout_create, "cublasLtMatrixLayoutCreate");
  find(t.layout_destroy, "cublasLtMatrixLayoutDestroy");
  find(t.layout_set, "cublasLtMatrixLayoutSetAttribute");
  find(t.preference_create, "cublasLtMatmulPreferenceCreate");
  find(t.preference_destroy, "cublasLtMatmulPreferenceDestroy");
  find(t.preference_set, "cublasLtMatmulPreferenceSetAttribute");
  find(t.heuristic, "cublasLtMatmulAlgoGetHeuristic");
  find(t.matmul, "cublasLtMatmul");
  return t;
}

const Table& table() {
  static const Table t = load();
  return t;
}

std::string status_words(int status) {
  const char* name = table().status_name ? table().status_name(status) : nullptr;
  return name ? name : "status " + std::to_string(status);
}

void must(int status, const char* doing) {
  if (status != 0) throw Error("unsupported", std::string("cuBLASLt failed while ") + doing + ".", status_words(status));
}

Handle handle_of(const Context& context) {
  static std::map<int, Handle> handles;
  Handle& handle = handles[context.traits().ordinal];
  if (!handle) must(table().create(&handle), "it was started");
  return handle;
}

// An object of the library that is destroyed with its last owner.
std::shared_ptr<void> owned(void* object, int (*destroy)(void*)) {
  return {object, [destroy](void* p) { destroy(p); }};
}

// Everything that one call passes, but for the tensors.
struct Product {
  Handle handle;
  std::shared_ptr<void> description, a, b, d;

  int run(const Algorithm& algorithm, const void* first, const void* second, void* out, void* workspace, size_t bytes, CUstream stream) const {
    const float one = 1, zero = 0;
    return table().matmul(handle, description.get(), &one, first, a.get(), second, b.get(), &zero, out, d.get(), out, d.get(), &algorithm, workspace, bytes, stream);
  }
};

std::shared_ptr<void> layout(Dtype dtype, int64_t rows, int64_t columns, int64_t batch) {
  void* made = nullptr;
  must(table().layout_create(&made, cuda_data_type(storage_of(dtype)), static_cast<uint64_t>(rows), static_cast<uint64_t>(columns), rows), "a matrix was described");
  auto object = owned(made, table().layout_destroy);
  const auto count = static_cast<int32_t>(batch);
  const int64_t offset = rows * columns;
  if (batch > 1) {
    must(table().layout_set(made, layout_batch_count, &count, sizeof count), "a batch was described");
    must(table().layout_set(made, layout_batch_offset, &offset, sizeof offset), "a batch was described");
  }
  return object;
}

// What the user guide suggests for Hopper and newer GPUs; PyTorch takes the same.
constexpr size_t most_workspace = size_t{32} << 20;
constexpr int wanted = 8, rounds = 3;
constexpr double round_ns = 4e6;

struct Choice {
  Heuristic heuristic;
  int place, of;
};

// Column-major sees our C [m, n] as its transpose: C' [n, m] = B' A'. dims: [batch, m, n, k, transA, transB].
Product product_of(const Planner& p) {
  const int64_t batch = p.dim(0), m = p.dim(1), n = p.dim(2), k = p.dim(3);
  const int trans_a = p.dim(4) ? op_t : op_n, trans_b = p.dim(5) ? op_t : op_n;
  if (batch > std::numeric_limits<int32_t>::max()) throw Error("unsupported", "cuBLASLt takes at most 2^31 - 1 products in a batch.");
  Product product = {handle_of(p.context()), {}, {}, {}, {}};
  void* description = nullptr;
  // f32 products take no tensor cores; tf32 ones do. NVIDIA_TF32_OVERRIDE would change that, and is not set by Opscope.
  must(table().description_create(&description, p.spec.dtype == Dtype::tf32 ? compute_f32_fast_tf32 : compute_f32, cuda_data_type(Storage::f32)), "a product was described");
  product.description = owned(description, table().description_destroy);
  must(table().description_set(description, description_trans_a, &trans_b, sizeof trans_b), "a product was described");
  must(table().description_set(description, description_trans_b, &trans_a, sizeof trans_a), "a product was described");
  product.a = p.dim(5) ? layout(p.spec.dtype, k, n, batch) : layout(p.spec.dtype, n, k, batch);
  product.b = p.dim(4) ? layout(p.spec.dtype, m, k, batch) : layout(p.spec.dtype, k, m, batch);
  product.d = layout(p.spec.dtype, n, m, batch);
  return product;
}

// Takes rounds of calls of each algorithm in turn, and chooses the one whose best round is the shortest.
Choice fastest(const Planner& p, const Product& product, const std::vector<Heuristic>& found) {
  const DeviceBuffer workspace(static_cast<int64_t>(most_workspace));
  const CUstream stream = p.context().stream();
  std::array<CUevent, 2> events = {};
  for (CUevent& event : events) check(api().EventCreate(&event, CU_EVENT_DEFAULT), "creating an event");
  const struct Destroy {
    std::array<CUevent, 2>& events;
    ~Destroy() {
      for (CUevent event : events) api().EventDestroy(event);
    }
  } destroy{events};
  const auto time_ns = [&](const Heuristic& h, int calls) {
    check(api().EventRecord(events[0], stream), "recording an event");
    for (int i = 0; i < calls; i++)
      if (product.run(h.algorithm, pointer(p.input(1)), pointer(p.input(0)), pointer(p.output()), pointer(workspace.address()), h.workspace, stream) != 0) return std::numeric_limits<double>::infinity();
    check(api().EventRecord(events[1], stream), "recording an event");
    p.context().synchronize("choosing an algorithm of cuBLASLt");
    float ms = 0;
    check(api().EventElapsedTime(&ms, events[0], events[1]), "reading an event");
    return static_cast<double>(ms) * 1e6 / calls;
  };
  std::vector<double> best(found.size(), std::numeric_limits<double>::infinity());
  std::vector<int> calls(found.size(), 1);
  for (int round = 0; round < rounds; round++)
    for (size_t i = 0; i < found.size(); i++) {
      const double ns = time_ns(found[i], calls[i]);
      // The first round loads the kernel, and finds how many calls make a round.
      if (round == 0) calls[i] = static_cast<int>(std::clamp(round_ns / std::max(1.0, ns), 1.0, 50.0));
      else best[i] = std::min(best[i], ns);
    }
  const size_t winner = static_cast<size_t>(std::min_element(best.begin(), best.end()) - best.begin());
  if (best[winner] == std::numeric_limits<double>::infinity()) throw Error("unsupported", "None of the algorithms that cuBLASLt proposes for this product runs here.");
  return {found[winner], static_cast<int>(winner) + 1, static_cast<int>(found.size())};
}

Choice choose(const Planner& p, const Product& product) {
  void* preference = nullptr;
  must(table().preference_create(&preference), "an algorithm was chosen");
  const auto own = owned(preference, table().preference_destroy);
  must(table().preference_set(preference, preference_workspace, &most_workspace, sizeof most_workspace), "an algorithm was chosen");
  std::vector<Heuristic> found(wanted);
  int count = 0;
  const int status = table().heuristic(product.handle, product.description.get(), product.a.get(), product.b.get(), product.d.get(), product.d.get(), preference, wanted, found.data(), &count);
  found.resize(static_cast<size_t>(std::max(0, count)));
  found.erase(std::remove_if(found.begin(), found.end(), [](const Heuristic& h) { return h.status != 0; }), found.end());
  if (status != 0 || found.empty()) throw Error("unsupported", "cuBLASLt has no algorithm for this product.", status_words(status));
  return fastest(p, product, found);
}

// Chosen once for a problem and GPU, for all sets of buffers of a case and later cases of the same problem.
const Choice& chosen(const Planner& p, const Product& product) {
  static std::map<std::string, Choice> known;
  std::string key = std::to_string(p.device.ordinal) + " " + p.dtype();
  for (const int64_t d : p.spec.dims) key += " " + std::to_string(d);
  const auto found = known.find(key);
  return found != known.end() ? found->second : known.emplace(key, choose(p, product)).first->second;
}

void plan_matmul(Planner& p) {
  const Product product = product_of(p);
  const Choice& choice = chosen(p, product);
  const size_t bytes = choice.heuristic.workspace;
  const CUdeviceptr workspace = bytes ? p.workspace(static_cast<int64_t>(bytes)) : 0;
  p.note("cuBLASLt " + std::to_string(table().version()) + ": heuristic result " + std::to_string(choice.place) + " of " + std::to_string(choice.of) + " was the fastest, with a workspace of " +
         std::to_string(bytes) + " bytes; it was chosen before timing.");
  const void *first = pointer(p.input(1)), *second = pointer(p.input(0));
  void *out = pointer(p.output()), *space = pointer(workspace);
  p.launch_library([product, algorithm = choice.heuristic.algorithm, first, second, out, space, bytes](CUstream stream) {
    const int status = product.run(algorithm, first, second, out, space, bytes, stream);
    if (status != 0) throw Error("kernel-failed", "cuBLASLt refused a call that it had taken before.", status_words(status));
  });
}

}  // namespace

Vendor cublaslt() {
  Vendor vendor = {"cublaslt", "cuBLASLt", {{"matmul", {Dtype::f32, Dtype::f16, Dtype::bf16, Dtype::tf32}, plan_matmul}}, table().missing, {}};
  if (vendor.missing.empty()) {
    const size_t version = table().version();
    vendor.version = std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." + std::to_string(version % 100) + ", " + origin_of(table().file);
  }
  return vendor;
}

}  // namespace opscope::cuda
