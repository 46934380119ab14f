// OpenBLAS: matmul, dot and norms in f32.
#include <cmath>
#include <limits>

#include "libraries/libraries.h"

namespace opscope::cpu {

namespace {

struct OpenBlas {
  Library library = open_named("OPSCOPE_OPENBLAS", {"libopenblas.so.0", "libopenblas.so", "libopenblas.dylib", "libopenblas.dll"});
  void (*set_threads)(int) = nullptr;
  char *(*config)() = nullptr, *(*core)() = nullptr;
  // Row-major 101, plain 111, transposed 112 (cblas.h).
  void (*sgemm)(int, int, int, int, int, int, float, const float*, int, const float*, int, float, float*, int) = nullptr;
  float (*sdot)(int, const float*, int, const float*, int) = nullptr;
  float (*sasum)(int, const float*, int) = nullptr;
  float (*snrm2)(int, const float*, int) = nullptr;
  size_t (*isamax)(int, const float*, int) = nullptr;
  bool usable = false;

  OpenBlas() {
    library.get("openblas_get_config", config);
    library.get("openblas_get_corename", core);
    usable = library.get("openblas_set_num_threads", set_threads) && library.get("cblas_sgemm", sgemm) && library.get("cblas_sdot", sdot) && library.get("cblas_sasum", sasum) &&
             library.get("cblas_snrm2", snrm2) && library.get("cblas_isamax", isamax);
  }
};

const OpenBlas& blas() {
  static const OpenBlas one;
  return one;
}

class BlasCalls final : public Calls {
 public:
  explicit BlasCalls(const CaseSpec& spec) : op_(spec.op), dims_(spec.dims), threads_(spec.threads) {
    for (const int64_t d : dims_)
      if (d > std::numeric_limits<int>::max()) throw Error("unsupported", "OpenBLAS takes extents below 2^31");
    for (const TensorDesc& tensor : spec.tensors)
      if (tensor.elements > std::numeric_limits<int>::max()) throw Error("unsupported", "OpenBLAS takes tensors of fewer than 2^31 elements");
  }

  ~BlasCalls() override {
    if (sets_) let_threads_rest(threads_);
  }

  void bind(const std::vector<Tensors>& sets, float*, Team&) override { sets_ = &sets; }
  bool alone() const override { return true; }

  void run(size_t set, int count) override {
    const Tensors& tensors = (*sets_)[set];
    const auto* const a = static_cast<const float*>(tensors.inputs()[0]);
    const auto* const b = tensors.inputs().size() > 1 ? static_cast<const float*>(tensors.inputs()[1]) : nullptr;
    auto* const out = static_cast<float*>(tensors.outputs()[0]);
    blas().set_threads(threads_);
    for (int i = 0; i < count; i++) call(a, b, out);
  }

 private:
  int at(size_t i) const { return static_cast<int>(dims_[i]); }

  void call(const float* a, const float* b, float* out) const {
    if (op_ == "dot") {
      out[0] = blas().sdot(at(0), a, 1, b, 1);
      return;
    }
    if (op_ == "matmul") {
      const int m = at(1), n = at(2), k = at(3);
      const bool ta = dims_[4] != 0, tb = dims_[5] != 0;
      for (int64_t i = 0; i < dims_[0]; i++)
        blas().sgemm(101, ta ? 112 : 111, tb ? 112 : 111, m, n, k, 1, a + i * m * k, ta ? m : k, b + i * k * n, tb ? k : n, 0, out + i * m * n, n);
      return;
    }
    // Axes that are apart make several groups, whose norms are joined.
    const int n = at(1), stride = at(2);
    const int64_t groups = dims_.size() == 4 ? dims_[3] : 1, group = dims_[0] * n * stride;
    for (int64_t o = 0; o < dims_[0]; o++)
      for (int64_t i = 0; i < stride; i++) {
        const float* const x = a + o * n * stride + i;
        float total = norm(x, n, stride);
        for (int64_t g = 1; g < groups; g++) {
          const float more = norm(x + g * group, n, stride);
          total = op_ == "norm_l1" ? total + more : op_ == "norm_l2" ? std::hypot(total, more) : std::fmax(total, more);
        }
        out[o * stride + i] = total;
      }
  }

  float norm(const float* x, int n, int stride) const {
    if (op_ == "norm_l1") return blas().sasum(n, x, stride);
    if (op_ == "norm_l2") return blas().snrm2(n, x, stride);
    return std::fabs(x[static_cast<int64_t>(blas().isamax(n, x, stride)) * stride]);
  }

  const std::string op_;
  const std::vector<int64_t> dims_;
  const int threads_;
  const std::vector<Tensors>* sets_ = nullptr;
};

}  // namespace

ImplInfo openblas_impl() {
  ImplInfo impl;
  impl.id = "openblas";
  impl.title = "OpenBLAS";
  impl.available = blas().usable;
  if (!impl.available) impl.reason = blas().library.found() ? "The OpenBLAS found here lacks functions that are called; Debian and Ubuntu: apt install libopenblas0-pthread" : "OpenBLAS is not installed; Debian and Ubuntu: apt install libopenblas0-pthread";
  if (impl.available && blas().config) {
    // "OpenBLAS 0.3.21 NO_LAPACK ..."
    const std::string config = blas().config();
    const size_t from = config.find(' ');
    if (from != std::string::npos) impl.title += " " + config.substr(from + 1, config.find(' ', from + 1) - from - 1);
  }
  // The processor whose kernels it takes: a version older than this processor may take those of a much older one.
  if (impl.available && blas().core) impl.title += " (" + std::string(blas().core()) + ")";
  for (const char* op : {"matmul", "dot", "norm_l1", "norm_l2", "norm_linf"}) impl.kernels.push_back({op, {Dtype::f32}});
  return impl;
}

std::unique_ptr<Calls> openblas_calls(const CaseSpec& spec) {
  if (!blas().usable) throw Error("unsupported", openblas_impl().reason);
  return std::make_unique<BlasCalls>(spec);
}

}  // namespace opscope::cpu
