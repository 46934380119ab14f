#include "watch_object.h"

#include <cstdint>
#include <utility>

#include "convert.h"

namespace opscope {

void WatchObject::define(Napi::Env env, Napi::Object exports) {
  exports.Set("GpuWatch", DefineClass(env, "GpuWatch",
                                      {
                                          InstanceMethod("begin", &WatchObject::begin),
                                          InstanceMethod("read", &WatchObject::read),
                                          InstanceMethod("end", &WatchObject::end),
                                      }));
}

WatchObject::WatchObject(const Napi::CallbackInfo& info) : Napi::ObjectWrap<WatchObject>(info) {
  guarded(info.Env(), [&] {
    const auto worker = static_cast<unsigned>(to_integer(info[1], "worker", 0, INT32_MAX));
    watch_ = cuda::watch(text_argument(info, 0, "name"), worker);
  });
}

Napi::Value WatchObject::begin(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&] {
    watch_->begin(info[0].ToBoolean());
    return info.Env().Undefined();
  });
}

Napi::Value WatchObject::read(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&] {
    watch_->read();
    return info.Env().Undefined();
  });
}

Napi::Value WatchObject::end(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&] {
    SampleBatch batch;
    batch.state = watch_->end();
    return to_js(info.Env(), batch).Get("state");
  });
}

}  // namespace opscope
