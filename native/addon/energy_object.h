// The JavaScript object that records a counter of energy: `new EnergyRecorder(source)`.
#pragma once
#include <napi.h>

#include <memory>

#include "../energy/recorder.h"

namespace opscope {

// source: { cuda: ordinal }, { gpu: name } or { cpu: true }. Starts at once; throws where there is no counter that can be read.
class EnergyObject : public Napi::ObjectWrap<EnergyObject> {
 public:
  static void define(Napi::Env env, Napi::Object exports);
  explicit EnergyObject(const Napi::CallbackInfo& info);

 private:
  // stop(): { source, tickMs, joules, powerMs, watts }, as core/backend.ts EnergyTrace
  Napi::Value stop(const Napi::CallbackInfo& info);

  std::unique_ptr<EnergyRecorder> recorder_;
};

}  // namespace opscope
