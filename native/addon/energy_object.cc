#include "energy_object.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "convert.h"

namespace opscope {

namespace {

std::unique_ptr<EnergySource> source_of(const Napi::Value& given) {
  if (!given.IsObject()) throw Error("internal", "source: expected an object");
  const Napi::Object source = given.As<Napi::Object>();
  if (source.Has("cuda")) return cuda::energy_source(static_cast<int>(to_integer(source.Get("cuda"), "cuda", 0, INT32_MAX)));
  if (source.Has("gpu")) return cuda::energy_source(to_text(source.Get("gpu"), "gpu"));
  return rapl_source();
}

Napi::Value array_of(Napi::Env env, const std::vector<double>& values) {
  Napi::Float64Array array = Napi::Float64Array::New(env, values.size());
  std::copy(values.begin(), values.end(), array.Data());
  return array;
}

}  // namespace

void EnergyObject::define(Napi::Env env, Napi::Object exports) { exports.Set("EnergyRecorder", DefineClass(env, "EnergyRecorder", {InstanceMethod("stop", &EnergyObject::stop)})); }

EnergyObject::EnergyObject(const Napi::CallbackInfo& info) : Napi::ObjectWrap<EnergyObject>(info) {
  guarded(info.Env(), [&] { recorder_ = std::make_unique<EnergyRecorder>(source_of(info[0])); });
}

Napi::Value EnergyObject::stop(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&] {
    if (!recorder_) throw Error("internal", "the recorder has ended");
    const EnergyTrace trace = std::exchange(recorder_, nullptr)->stop();
    Napi::Object object = Napi::Object::New(info.Env());
    object.Set("source", trace.source);
    object.Set("tickMs", array_of(info.Env(), trace.tick_ms));
    object.Set("joules", array_of(info.Env(), trace.joules));
    object.Set("powerMs", array_of(info.Env(), trace.power_ms));
    object.Set("watts", array_of(info.Env(), trace.watts));
    return Napi::Value(object);
  });
}

}  // namespace opscope
