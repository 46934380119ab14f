// oneDNN: matmul, convolutions, pooling, softmax and the normalizations that it has.
#include <algorithm>

#include "isa.h"
#include "libraries/onednn_api.h"

namespace opscope::cpu {

using namespace onednn;

namespace {

// A tensor of the case as a primitive takes it: `index` of the inputs, or of the outputs.
struct Operand {
  int arg, query, index;
  bool output;
  std::unique_ptr<Descriptor> plain;
};

class DnnCalls final : public Calls {
 public:
  explicit DnnCalls(const CaseSpec& spec) : threads_(spec.threads) {
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
        const bool out = operand.output;
        const Handle plain = memory(operand.plain->get(), (out ? set.outputs() : set.inputs())[static_cast<size_t>(operand.index)]);
        if (operand.arg == VARIANCE && out) {
          // The operation asks for 1 / sqrt(variance + eps), which two more calls make.
          const Handle variance = memory(operand.plain->get(), ALLOCATE);
          steps.main.push_back({VARIANCE, variance});
          steps.after.push_back({add_eps_, {Argument{SRC, variance}, Argument{DST, variance}}});
          steps.after.push_back({reciprocal_root_, {Argument{SRC, variance}, Argument{DST, plain}}});
          continue;
        }
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
      for (const Step& step : steps.before) check(dnn().execute(step.primitive, dnn().stream, 2, step.arguments.data()), "a call");
      check(dnn().execute(primitive_, dnn().stream, static_cast<int>(steps.main.size()), steps.main.data()), "a call");
      for (const Step& step : steps.after) check(dnn().execute(step.primitive, dnn().stream, 2, step.arguments.data()), "a call");
      check(dnn().stream_wait(dnn().stream), "a call");
    }
  }

 private:
  // A reorder, or an element-wise operation.
  struct Step {
    Handle primitive;
    std::array<Argument, 2> arguments;
  };
  struct Steps {
    std::vector<Step> before, after;
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

  void operand(int arg, int query, int index, const std::vector<int64_t>& dims, const std::vector<int64_t>& strides = {}) { add(arg, query, index, arg == DST, dims, strides); }
  void add(int arg, int query, int index, bool output, const std::vector<int64_t>& dims, const std::vector<int64_t>& strides = {}) {
    operands_.push_back({arg, query, index, output, std::make_unique<Descriptor>(dims, strides)});
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
    if (spec.op == "batch_norm") return describe_batch_norm(d, static_cast<float>(spec.scalars[0]));
    if (spec.op == "group_norm") return describe_group_norm(d, static_cast<float>(spec.scalars[0]));
    if (spec.op.find("_pool") != std::string::npos) return describe_pooling(d, spec.op.ends_with("1d"), spec.op.starts_with("max"));
    operand(SRC, 0, 0, {d[0], d[1]});
    operand(DST, 0, 0, {d[0], d[1]});
    if (spec.op == "layer_norm") {
      const auto eps = static_cast<float>(spec.scalars[0]);
      make("layer_norm", [&](void* op) { return dnn().norm_init(op, FORWARD, plain(0), nullptr, eps, dnn().scale_and_shift()); },
           [&](Handle* pd) { return dnn().norm(pd, dnn().engine, FORWARD, plain(0), plain(1), nullptr, eps, dnn().scale_and_shift(), nullptr); });
      operand(SCALE, 0, 1, {d[1]});
      operand(SHIFT, 0, 2, {d[1]});
      return;
    }
    const int algorithm = spec.op == "softmax" ? SOFTMAX : LOG_SOFTMAX;
    make("softmax", [&](void* op) { return dnn().softmax_init(op, FORWARD, algorithm, plain(0), plain(1), 1); },
         [&](Handle* pd) { return dnn().softmax(pd, dnn().engine, FORWARD, algorithm, plain(0), plain(1), 1, nullptr); });
  }

  void describe_batch_norm(const std::vector<int64_t>& d, float eps) {
    const bool training = d[3] != 0;
    const std::vector<int64_t> x{d[0], d[1], d[2], 1}, channels{d[1]};  // of three dims only the reference kernel takes them
    const int kind = training ? TRAINING : FORWARD;
    const unsigned flags = dnn().scale_and_shift() | (training ? 0 : GLOBAL_STATISTICS);
    operand(SRC, 0, 0, x);
    operand(DST, 0, 0, x);
    make("batch_norm", [&](void* op) { return dnn().batch_norm_init(op, kind, plain(0), eps, flags); },
         [&](Handle* pd) { return dnn().batch_norm(pd, dnn().engine, kind, plain(0), plain(1), eps, flags, nullptr); });
    operand(SCALE, 0, 1, channels);
    operand(SHIFT, 0, 2, channels);
    add(MEAN, 0, training ? 1 : 3, training, channels);
    add(VARIANCE, 0, training ? 2 : 4, training, channels);
    if (!training) return;
    add_eps_ = elementwise(dnn().linear(), channels, 1, eps);
    reciprocal_root_ = elementwise(dnn().power(), channels, 1, -0.5f);
  }

  // A primitive for tensors of these dims: alpha x + beta, or alpha x^beta.
  Handle elementwise(int algorithm, const std::vector<int64_t>& dims, float alpha, float beta) {
    const Descriptor x(dims);
    const Handle norm = pd_;
    make("an element-wise operation", [&](void* op) { return dnn().eltwise_init(op, FORWARD, algorithm, x.get(), alpha, beta); },
         [&](Handle* pd) { return dnn().eltwise(pd, dnn().engine, FORWARD, algorithm, x.get(), x.get(), alpha, beta, nullptr); });
    Handle made = nullptr;
    const Status status = dnn().primitive_create(&made, pd_);
    dnn().pd_destroy(pd_);
    pd_ = norm;
    check(status, "an element-wise operation");
    primitives_.push_back(made);
    return made;
  }

  void describe_group_norm(const std::vector<int64_t>& d, float eps) {
    const std::vector<int64_t> x{d[0], d[1], d[2]};
    operand(SRC, 0, 0, x);
    operand(DST, 0, 0, x);
    make("group_norm", [](void*) { return Status{3}; },
         [&](Handle* pd) { return dnn().group_norm(pd, dnn().engine, FORWARD, plain(0), plain(1), d[3], eps, dnn().scale_and_shift(), nullptr); });
    operand(SCALE, 0, 1, {d[1]});
    operand(SHIFT, 0, 2, {d[1]});
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
    const Descriptor any_src(src, {}, true), any_weights(weights, {}, true), any_dst(dst, {}, true);
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

  const int threads_;
  std::vector<Operand> operands_;
  Handle pd_ = nullptr, primitive_ = nullptr, add_eps_ = nullptr, reciprocal_root_ = nullptr;
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
  for (const char* op : {"matmul", "conv1d", "conv2d", "conv3d", "max_pool1d", "max_pool2d", "avg_pool1d", "avg_pool2d", "softmax", "log_softmax", "layer_norm", "batch_norm"}) impl.kernels.push_back({op, {Dtype::f32}});
  if (dnn().group_norm) impl.kernels.push_back({"group_norm", {Dtype::f32}});
  return impl;
}

std::unique_ptr<Calls> onednn_calls(const CaseSpec& spec) {
  if (!dnn().usable) throw Error("unsupported", onednn_impl().reason);
  return std::make_unique<DnnCalls>(spec);
}

}  // namespace opscope::cpu
