#include "case_object.h"

#include <new>

#include "beside.h"
#include "convert.h"

namespace opscope {

namespace {
constexpr int64_t MAX_READ_BYTES = int64_t{1} << 31;
constexpr int64_t MAX_SAMPLES = 1 << 20;
constexpr int64_t MAX_INNER = 1 << 30;
}  // namespace

void CaseObject::define(Napi::Env env, Napi::Object exports) {
  Napi::Function constructor = DefineClass(env, "Case",
                                           {
                                               InstanceMethod("refill", &CaseObject::refill),
                                               InstanceMethod("poison", &CaseObject::poison),
                                               InstanceMethod("run", &CaseObject::run),
                                               InstanceMethod("scan", &CaseObject::scan),
                                               InstanceMethod("read", &CaseObject::read),
                                               InstanceMethod("sample", &CaseObject::sample),
                                               InstanceMethod("caseBytes", &CaseObject::case_bytes),
                                               InstanceMethod("deviceDeltaBytes", &CaseObject::device_delta_bytes),
                                               InstanceMethod("tickNs", &CaseObject::tick_ns),
                                               InstanceMethod("clockSettlesSeconds", &CaseObject::clock_settles_seconds),
                                               InstanceMethod("timer", &CaseObject::timer),
                                               InstanceMethod("notes", &CaseObject::notes),
                                               InstanceMethod("launches", &CaseObject::launches),
                                               InstanceMethod("counters", &CaseObject::counters),
                                               InstanceMethod("dispose", &CaseObject::dispose),
                                           });
  // Constructing is opening: `new Case(spec)`, or `new Case(spec, beside)` on the memory of another case.
  exports.Set("Case", constructor);
}

CaseObject::CaseObject(const Napi::CallbackInfo& info) : Napi::ObjectWrap<CaseObject>(info) {
  guarded(info.Env(), [&] {
    const OpenRequest request = to_request(info[0]);
    const bool is_case = info[1].IsObject() && info[1].As<Napi::Object>().InstanceOf(info.NewTarget().As<Napi::Function>());
    const CaseObject* beside = is_case ? CaseObject::Unwrap(info[1].As<Napi::Object>()) : nullptr;
    if (request.backend == "cpu") case_ = cpu::open_beside(request.spec, beside ? beside->case_.get() : nullptr);
    else if (request.backend == "cuda") case_ = cuda::open(request.spec);
    else throw Error("internal", "no native backend is called \"" + request.backend + "\"; expected cpu or cuda");
    for (const TensorDesc& tensor : request.spec.tensors) {
      if (tensor.role != Role::in) outputs_.push_back({tensor.elements, static_cast<int64_t>(storage_bytes(tensor.storage))});
      fills_ += tensor.has_fill;
    }
  });
}

Prepared& CaseObject::open_case() const {
  if (!case_) throw Error("internal", "the case was disposed");
  return *case_;
}

Napi::Value CaseObject::refill(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&] {
    // Reading the fills may run JavaScript (getters), which may dispose this very case.
    const std::vector<Fill> fills = to_fills(info[0], fills_);
    open_case().refill(fills);
    return info.Env().Undefined();
  });
}

Napi::Value CaseObject::poison(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&] {
    open_case().poison();
    return info.Env().Undefined();
  });
}

Napi::Value CaseObject::run(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&] {
    open_case().run();
    return info.Env().Undefined();
  });
}

Napi::Value CaseObject::scan(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&] { return Napi::Value(to_js(info.Env(), open_case().scan())); });
}

Napi::Value CaseObject::read(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&] {
    open_case();  // a case that was never opened has no outputs to count
    const auto output = static_cast<size_t>(to_integer(info[0], "output", 0, static_cast<int64_t>(outputs_.size()) - 1));
    const auto [elements, element_bytes] = outputs_[output];
    const int64_t start = to_integer(info[1], "start", 0, elements);
    const int64_t count = to_integer(info[2], "count", 0, elements - start);
    const int64_t bytes = count * element_bytes;
    if (bytes > MAX_READ_BYTES) throw Error("internal", "read: expected at most 2 GiB at a time");
    Napi::ArrayBuffer buffer = Napi::ArrayBuffer::New(info.Env(), static_cast<size_t>(bytes));
    Prepared& prepared = open_case();
    if (count > 0) prepared.read(output, start, count, buffer.Data());
    return Napi::Value(buffer);
  });
}

Napi::Value CaseObject::sample(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&] {
    const Mode mode = to_mode(info[0]);
    const int count = static_cast<int>(to_integer(info[1], "count", 1, MAX_SAMPLES));
    const int inner = static_cast<int>(to_integer(info[2], "inner", 1, MAX_INNER));
    return Napi::Value(to_js(info.Env(), open_case().sample(mode, count, inner)));
  });
}

Napi::Value CaseObject::case_bytes(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&] { return Napi::Value(Napi::Number::New(info.Env(), static_cast<double>(open_case().case_bytes()))); });
}

Napi::Value CaseObject::device_delta_bytes(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    const int64_t bytes = open_case().device_delta_bytes();
    if (bytes < 0) return info.Env().Undefined();
    return Napi::Number::New(info.Env(), static_cast<double>(bytes));
  });
}

Napi::Value CaseObject::tick_ns(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&] { return Napi::Value(Napi::Number::New(info.Env(), open_case().tick_ns())); });
}

Napi::Value CaseObject::clock_settles_seconds(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&] { return Napi::Value(Napi::Number::New(info.Env(), open_case().clock_settles_seconds())); });
}

Napi::Value CaseObject::timer(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&] { return Napi::Value(Napi::String::New(info.Env(), open_case().timer())); });
}

Napi::Value CaseObject::notes(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&] { return Napi::Value(to_js(info.Env(), open_case().notes())); });
}

Napi::Value CaseObject::launches(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&] { return Napi::Value(to_js(info.Env(), open_case().launches())); });
}

Napi::Value CaseObject::counters(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    const Mode mode = to_mode(info[0]);
    const int calls = static_cast<int>(to_integer(info[1], "calls", 1, MAX_INNER));
    if (!open_case().counts()) return info.Env().Undefined();
    return to_js(info.Env(), open_case().count(mode, calls));
  });
}

Napi::Value CaseObject::dispose(const Napi::CallbackInfo& info) {
  case_.reset();
  return info.Env().Undefined();
}

}  // namespace opscope
