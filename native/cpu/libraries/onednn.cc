// oneDNN: matmul, convolutions, pooling, softmax and layer_norm. Versions 2.6 and 3 differ in how primitives are described: by structs that
// are initialised (2), or by a function for each primitive (3). Both take memory descriptors by pointer, which is all that is used of them.
#include <algorithm>
#include <array>
#include <cstddef>

#include "isa.h"
#include "libraries/libraries.h"

namespace opscope::cpu {

namespace {

using Handle = void*;            // engine, stream, memory, primitive and its descriptor
using Md = const void*;          // memory descriptor
using Dims = std::array<int64_t, 12>;
using Status = int;

// dnnl_types.h
constexpr int FORWARD = 96, CONVOLUTION_DIRECT = 1, POOL_MAX = 0x1ff, POOL_AVG = 0x2ff, SOFTMAX = 0x30000, LOG_SOFTMAX = 0x30001;
constexpr int SRC = 1, WEIGHTS = 33, DST = 17, SCALE = 51, SHIFT = 52, QUERY_SRC = 129, QUERY_WEIGHTS = 131, QUERY_DST = 133;
constexpr int TAG_ANY = 1, TYPE_BF16 = 2, TYPE_F32 = 3;
const Handle ALLOCATE = reinterpret_cast<Handle>(~uintptr_t{0});

struct Argument {
  int arg;
  Handle memory;
};

struct Version {
  int major, minor, patch;
};

// An operation descriptor of version 2 is at most 6 KB, a memory descriptor 0.7 KB.
using OpStruct = std::array<std::max_align_t, 1024>;
using MdStruct = std::array<std::max_align_t, 128>;

struct OneDnn {
  Library library = open_named("OPSCOPE_ONEDNN", {"libdnnl.so.3", "libdnnl.so.2"});
  Library openmp = open_named("OPSCOPE_OPENMP", {"libgomp.so.1"});
  void (*set_threads)(int) = nullptr;
  const Version* (*version)() = nullptr;
  Status (*engine_create)(Handle*, int, size_t) = nullptr;
  Status (*stream_create)(Handle*, Handle, unsigned) = nullptr;
  Status (*stream_wait)(Handle) = nullptr;
  Status (*memory_create)(Handle*, Md, Handle, void*) = nullptr;
  Status (*memory_destroy)(Handle) = nullptr;
  Status (*primitive_create)(Handle*, Handle) = nullptr;
  Status (*primitive_destroy)(Handle) = nullptr;
  Status (*pd_destroy)(Handle) = nullptr;
  Status (*execute)(Handle, Handle, int, const Argument*) = nullptr;
  Md (*query_md)(Handle, int, int) = nullptr;
  int (*md_equal)(Md, Md) = nullptr;
  Status (*reorder)(Handle*, Md, Handle, Md, Handle, Handle) = nullptr;
  // Version 2
  Status (*md_init_strides)(void*, int, const int64_t*, int, const int64_t*) = nullptr;
  Status (*md_init_tag)(void*, int, const int64_t*, int, int) = nullptr;
  Status (*pd_create)(Handle*, const void*, Handle, Handle, Handle) = nullptr;
  Status (*matmul_init)(void*, Md, Md, Md, Md) = nullptr;
  Status (*convolution_init)(void*, int, int, Md, Md, Md, Md, const int64_t*, const int64_t*, const int64_t*, const int64_t*) = nullptr;
  Status (*pooling_init)(void*, int, int, Md, Md, const int64_t*, const int64_t*, const int64_t*, const int64_t*, const int64_t*) = nullptr;
  Status (*softmax_init)(void*, int, int, Md, Md, int) = nullptr;
  Status (*norm_init)(void*, int, Md, Md, float, unsigned) = nullptr;
  // Version 3
  Status (*md_create_strides)(void**, int, const int64_t*, int, const int64_t*) = nullptr;
  Status (*md_create_tag)(void**, int, const int64_t*, int, int) = nullptr;
  Status (*md_destroy)(void*) = nullptr;
  Status (*matmul)(Handle*, Handle, Md, Md, Md, Md, Handle) = nullptr;
  Status (*convolution)(Handle*, Handle, int, int, Md, Md, Md, Md, const int64_t*, const int64_t*, const int64_t*, const int64_t*, Handle) = nullptr;
  Status (*pooling)(Handle*, Handle, int, int, Md, Md, const int64_t*, const int64_t*, const int64_t*, const int64_t*, const int64_t*, Handle) = nullptr;
  Status (*softmax)(Handle*, Handle, int, int, Md, Md, int, Handle) = nullptr;
  Status (*norm)(Handle*, Handle, int, Md, Md, Md, float, unsigned, Handle) = nullptr;

  bool usable = false;
  int major = 0;
  Handle engine = nullptr, stream = nullptr;

  OneDnn() {
    if (!library.found() || !library.get("dnnl_version", version)) return;
    major = version()->major;
    const auto get = [&](const char* name, auto& function) { return library.get(name, function); };
    bool all = openmp.get("omp_set_num_threads", set_threads);
    all = all && get("dnnl_engine_create", engine_create) && get("dnnl_stream_create", stream_create) && get("dnnl_stream_wait", stream_wait) && get("dnnl_memory_create", memory_create) &&
          get("dnnl_memory_destroy", memory_destroy) && get("dnnl_primitive_create", primitive_create) && get("dnnl_primitive_destroy", primitive_destroy) &&
          get("dnnl_primitive_desc_destroy", pd_destroy) && get("dnnl_primitive_execute", execute) && get("dnnl_primitive_desc_query_md", query_md) && get("dnnl_memory_desc_equal", md_equal) &&
          get("dnnl_reorder_primitive_desc_create", reorder);
    if (major == 2) {
      all = all && get("dnnl_memory_desc_init_by_strides", md_init_strides) && get("dnnl_memory_desc_init_by_tag", md_init_tag) && get("dnnl_primitive_desc_create", pd_create) &&
            get("dnnl_matmul_desc_init", matmul_init) && get("dnnl_dilated_convolution_forward_desc_init", convolution_init) && get("dnnl_pooling_v2_forward_desc_init", pooling_init) &&
            get("dnnl_softmax_v2_forward_desc_init", softmax_init) && get("dnnl_layer_normalization_forward_desc_init", norm_init);
    } else {
      all = all && major == 3 && get("dnnl_memory_desc_create_with_strides", md_create_strides) && get("dnnl_memory_desc_create_with_tag", md_create_tag) &&
            get("dnnl_memory_desc_destroy", md_destroy) && get("dnnl_matmul_primitive_desc_create", matmul) && get("dnnl_convolution_forward_primitive_desc_create", convolution) &&
            get("dnnl_pooling_forward_primitive_desc_create", pooling) && get("dnnl_softmax_forward_primitive_desc_create", softmax) &&
            get("dnnl_layer_normalization_forward_primitive_desc_create", norm);
    }
    usable = all && engine_create(&engine, 1, 0) == 0 && stream_create(&stream, engine, 1) == 0;
  }
};

const OneDnn& dnn() {
  static const OneDnn one;
  return one;
}

void check(Status status, const char* what) {
  if (status == 1) throw Error("out-of-memory", std::string("oneDNN has no memory for ") + what + ".");
  if (status == 3) throw Error("unsupported", std::string("oneDNN does not implement ") + what + " in this form");
  if (status != 0) throw Error("kernel-failed", std::string("oneDNN failed at ") + what, "status " + std::to_string(status));
}

class Descriptor {
 public:
  // Row-major, or with these strides; `any`: in whatever layout the primitive prefers.
  Descriptor(int type, const std::vector<int64_t>& dims, const std::vector<int64_t>& given = {}, bool any = false) {
    Dims d{}, strides{};
    std::copy(dims.begin(), dims.end(), d.begin());
    const int n = static_cast<int>(dims.size());
    int64_t stride = 1;
    for (int i = n - 1; i >= 0; i--) {
      const auto at = static_cast<size_t>(i);
      strides[at] = given.empty() ? stride : given[at];
      stride *= std::max<int64_t>(dims[at], 1);
    }
    if (dnn().major == 2) check(any ? dnn().md_init_tag(place_.data(), n, d.data(), type, TAG_ANY) : dnn().md_init_strides(place_.data(), n, d.data(), type, strides.data()), "a tensor");
    else check(any ? dnn().md_create_tag(&made_, n, d.data(), type, TAG_ANY) : dnn().md_create_strides(&made_, n, d.data(), type, strides.data()), "a tensor");
  }
  ~Descriptor() {
    if (made_) dnn().md_destroy(made_);
  }
  Descriptor(const Descriptor&) = delete;
  Md get() const { return made_ ? made_ : place_.data(); }

 private:
  MdStruct place_{};
  void* made_ = nullptr;
};

// A tensor of the case as a primitive takes it: `index` of the inputs, or the output.
struct Operand {
  int arg, query, index;
  std::unique_ptr<Descriptor> plain;
};

class DnnCalls final : public Calls {
 public:
  explicit DnnCalls(const CaseSpec& spec) : threads_(spec.threads), type_(spec.dtype == Dtype::bf16 ? TYPE_BF16 : TYPE_F32) {
    dnn().set_threads(threads_);
    try {
      describe(spec);
      check(dnn().primitive_create(&primitive_, pd_), spec.op.c_str());
    } catch (...) {
      close();
      throw;
    }
  }
  ~DnnCalls() override {
    close();
    if (!steps_.empty()) let_threads_rest(threads_);
  }

  void bind(const std::vector<Tensors>& sets, float*, Team&) override {
    for (const Tensors& set : sets) {
      Steps steps;
      for (const Operand& operand : operands_) {
        const bool out = operand.arg == DST;
        const Handle plain = memory(operand.plain->get(), out ? set.outputs()[0] : set.inputs()[static_cast<size_t>(operand.index)]);
        const Md wanted = operand.query ? dnn().query_md(pd_, operand.query, 0) : nullptr;
        if (!wanted || dnn().md_equal(wanted, operand.plain->get())) {
          steps.main.push_back({operand.arg, plain});
          continue;
        }
        // A layout of its own: reordered in each call, as for a user whose tensors are row-major.
        const Handle own = memory(wanted, ALLOCATE);
        steps.main.push_back({operand.arg, own});
        Handle pd = nullptr, step = nullptr;
        check(dnn().reorder(&pd, out ? wanted : operand.plain->get(), dnn().engine, out ? operand.plain->get() : wanted, dnn().engine, nullptr), "a reorder");
        const Status made = dnn().primitive_create(&step, pd);
        dnn().pd_destroy(pd);
        check(made, "a reorder");
        primitives_.push_back(step);
        (out ? steps.after : steps.before).push_back({step, {Argument{SRC, out ? own : plain}, Argument{DST, out ? plain : own}}});
      }
      steps_.push_back(std::move(steps));
    }
  }
  bool alone() const override { return true; }

  void run(size_t set, int count) override {
    dnn().set_threads(threads_);
    const Steps& steps = steps_[set];
    for (int i = 0; i < count; i++) {
      for (const Reorder& step : steps.before) check(dnn().execute(step.primitive, dnn().stream, 2, step.arguments.data()), "a reorder");
      check(dnn().execute(primitive_, dnn().stream, static_cast<int>(steps.main.size()), steps.main.data()), "a call");
      for (const Reorder& step : steps.after) check(dnn().execute(step.primitive, dnn().stream, 2, step.arguments.data()), "a reorder");
      check(dnn().stream_wait(dnn().stream), "a call");
    }
  }

 private:
  struct Reorder {
    Handle primitive;
    std::array<Argument, 2> arguments;
  };
  struct Steps {
    std::vector<Reorder> before, after;
    std::vector<Argument> main;
  };

  Handle memory(Md md, void* data) {
    Handle made = nullptr;
    check(dnn().memory_create(&made, md, dnn().engine, data), "a tensor");
    memories_.push_back(made);
    return made;
  }

  void close() {
    for (const Handle one : memories_) dnn().memory_destroy(one);
    for (const Handle one : primitives_) dnn().primitive_destroy(one);
    if (primitive_) dnn().primitive_destroy(primitive_);
    if (pd_) dnn().pd_destroy(pd_);
  }

  void operand(int arg, int query, int index, const std::vector<int64_t>& dims, const std::vector<int64_t>& strides = {}, int type = 0) {
    operands_.push_back({arg, query, index, std::make_unique<Descriptor>(type ? type : type_, dims, strides)});
  }
  Md plain(size_t i) const { return operands_[i].plain->get(); }
  // Makes pd_ with `initialise(desc)` of version 2 or `create(pd)` of version 3.
  template <class Two, class Three>
  void make(const char* what, const Two& initialise, const Three& create) {
    if (dnn().major == 3) return check(create(&pd_), what);
    OpStruct op{};
    check(initialise(op.data()), what);
    check(dnn().pd_create(&pd_, op.data(), nullptr, dnn().engine, nullptr), what);
  }

  void describe(const CaseSpec& spec) {
    const std::vector<int64_t>& d = spec.dims;
    if (spec.op == "matmul") return describe_matmul(d);
    if (spec.op.starts_with("conv")) return describe_convolution(d, spec.op[4] - '0');
    if (spec.op.find("_pool") != std::string::npos) return describe_pooling(d, spec.op.ends_with("1d"), spec.op.starts_with("max"));
    operand(SRC, 0, 0, {d[0], d[1]});
    operand(DST, 0, 0, {d[0], d[1]});
    if (spec.op == "layer_norm") {
      const auto eps = static_cast<float>(spec.scalars[0]);
      make("layer_norm", [&](void* op) { return dnn().norm_init(op, FORWARD, plain(0), nullptr, eps, 8 | 16); },
           [&](Handle* pd) { return dnn().norm(pd, dnn().engine, FORWARD, plain(0), plain(1), nullptr, eps, 2 | 4, nullptr); });
      operand(SCALE, 0, 1, {d[1]}, {}, TYPE_F32);
      operand(SHIFT, 0, 2, {d[1]}, {}, TYPE_F32);
      return;
    }
    const int algorithm = spec.op == "softmax" ? SOFTMAX : LOG_SOFTMAX;
    make("softmax", [&](void* op) { return dnn().softmax_init(op, FORWARD, algorithm, plain(0), plain(1), 1); },
         [&](Handle* pd) { return dnn().softmax(pd, dnn().engine, FORWARD, algorithm, plain(0), plain(1), 1, nullptr); });
  }

  void describe_matmul(const std::vector<int64_t>& d) {
    const int64_t batch = d[0], m = d[1], n = d[2], k = d[3];
    const auto matrix = [&](int arg, int query, int index, int64_t rows, int64_t cols, bool transposed) {
      std::vector<int64_t> dims{rows, cols}, strides = transposed ? std::vector<int64_t>{1, rows} : std::vector<int64_t>{cols, 1};
      if (batch > 1) {
        dims.insert(dims.begin(), batch);
        strides.insert(strides.begin(), rows * cols);
      }
      operand(arg, query, index, dims, strides);
    };
    matrix(SRC, 0, 0, m, k, d[4] != 0);
    matrix(WEIGHTS, 0, 1, k, n, d[5] != 0);
    matrix(DST, 0, 0, m, n, false);
    make("matmul", [&](void* op) { return dnn().matmul_init(op, plain(0), plain(1), nullptr, plain(2)); },
         [&](Handle* pd) { return dnn().matmul(pd, dnn().engine, plain(0), plain(1), nullptr, plain(2), nullptr); });
  }

  void describe_convolution(const std::vector<int64_t>& d, int axes) {
    const int64_t batch = d[0], channels = d[1], filters = d[2], groups = d[3], stride = d[4], dilation = d[5];
    std::vector<int64_t> src{batch, channels}, weights{filters / groups, channels / groups}, dst{batch, filters};
    if (groups > 1) weights.insert(weights.begin(), groups);
    Dims strides{}, dilates{}, left{}, right{};
    for (int i = 0; i < axes; i++) {
      const auto at = static_cast<size_t>(i), from = static_cast<size_t>(6 + 4 * (3 - axes + i));
      const int64_t input = d[from], kernel = d[from + 1], padding = d[from + 2], output = d[from + 3];
      src.push_back(input);
      weights.push_back(kernel);
      dst.push_back(output);
      strides[at] = stride;
      dilates[at] = dilation - 1;
      left[at] = padding;
      right[at] = (output - 1) * stride + (kernel - 1) * dilation + 1 - input - padding;
    }
    operand(SRC, QUERY_SRC, 0, src);
    operand(WEIGHTS, QUERY_WEIGHTS, 1, weights);
    operand(DST, QUERY_DST, 0, dst);
    const Descriptor any_src(type_, src, {}, true), any_weights(type_, weights, {}, true), any_dst(type_, dst, {}, true);
    make("a convolution",
         [&](void* op) { return dnn().convolution_init(op, FORWARD, CONVOLUTION_DIRECT, any_src.get(), any_weights.get(), nullptr, any_dst.get(), strides.data(), dilates.data(), left.data(), right.data()); },
         [&](Handle* pd) {
           return dnn().convolution(pd, dnn().engine, FORWARD, CONVOLUTION_DIRECT, any_src.get(), any_weights.get(), nullptr, any_dst.get(), strides.data(), dilates.data(), left.data(), right.data(), nullptr);
         });
  }

  void describe_pooling(const std::vector<int64_t>& d, bool signals, bool largest) {
    const std::vector<int64_t> inputs = signals ? std::vector<int64_t>{d[2]} : std::vector<int64_t>{d[1], d[2]}, outputs = signals ? std::vector<int64_t>{d[4]} : std::vector<int64_t>{d[3], d[4]};
    std::vector<int64_t> src{1, d[0]}, dst{1, d[0]};
    src.insert(src.end(), inputs.begin(), inputs.end());
    dst.insert(dst.end(), outputs.begin(), outputs.end());
    Dims kernels{}, strides{}, dilates{}, left{}, right{};
    for (size_t i = 0; i < inputs.size(); i++) {
      kernels[i] = d[5];
      strides[i] = d[6];
      left[i] = d[7];
      right[i] = std::max<int64_t>(0, (outputs[i] - 1) * d[6] + d[5] - inputs[i] - d[7]);
    }
    operand(SRC, 0, 0, src);
    operand(DST, 0, 0, dst);
    const int algorithm = largest ? POOL_MAX : POOL_AVG;
    make("pooling", [&](void* op) { return dnn().pooling_init(op, FORWARD, algorithm, plain(0), plain(1), strides.data(), kernels.data(), dilates.data(), left.data(), right.data()); },
         [&](Handle* pd) { return dnn().pooling(pd, dnn().engine, FORWARD, algorithm, plain(0), plain(1), strides.data(), kernels.data(), dilates.data(), left.data(), right.data(), nullptr); });
  }

  const int threads_, type_;
  std::vector<Operand> operands_;
  Handle pd_ = nullptr, primitive_ = nullptr;
  std::vector<Handle> memories_, primitives_;
  std::vector<Steps> steps_;  // one for each set
};

}  // namespace

ImplInfo onednn_impl() {
  ImplInfo impl;
  impl.id = "onednn";
  impl.title = "oneDNN";
  impl.available = dnn().usable;
  if (dnn().usable) {
    const Version& v = *dnn().version();
    impl.title += " " + std::to_string(v.major) + "." + std::to_string(v.minor) + "." + std::to_string(v.patch);
  } else {
    impl.reason = dnn().library.found() ? "The oneDNN found here is not one of versions 2.6 to 3 built with OpenMP; Debian and Ubuntu: apt install libdnnl3" : "oneDNN is not installed; Debian and Ubuntu: apt install libdnnl3 (Debian 12: libdnnl2)";
  }
  for (const char* op : {"matmul", "conv1d", "conv2d", "conv3d", "max_pool1d", "max_pool2d", "avg_pool1d", "avg_pool2d", "softmax", "log_softmax", "layer_norm"}) impl.kernels.push_back({op, {Dtype::f32}});
  return impl;
}

std::unique_ptr<Calls> onednn_calls(const CaseSpec& spec) {
  if (!dnn().usable) throw Error("unsupported", onednn_impl().reason);
  return std::make_unique<DnnCalls>(spec);
}

}  // namespace opscope::cpu
