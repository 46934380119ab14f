// The JavaScript object that looks at a GPU: `new GpuWatch(name, worker)`.
#pragma once
#include <napi.h>

#include <memory>

#include "gpu_watch.h"

namespace opscope {

// Throws where the GPU cannot be watched (see gpu_watch.h).
class WatchObject : public Napi::ObjectWrap<WatchObject> {
 public:
  static void define(Napi::Env env, Napi::Object exports);
  explicit WatchObject(const Napi::CallbackInfo& info);

 private:
  // begin(countEnergy)
  Napi::Value begin(const Napi::CallbackInfo& info);
  Napi::Value read(const Napi::CallbackInfo& info);
  // end(): a state as in core/backend.ts DeviceState
  Napi::Value end(const Napi::CallbackInfo& info);

  std::unique_ptr<GpuWatch> watch_;
};

}  // namespace opscope
