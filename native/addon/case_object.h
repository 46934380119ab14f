// The JavaScript object that holds an open case.
#pragma once
#include <napi.h>

#include <memory>
#include <string>

#include "prepared.h"

namespace opscope {

// `open(spec)` makes one. Every method throws once `dispose` was called; garbage collection disposes too.
class CaseObject : public Napi::ObjectWrap<CaseObject> {
 public:
  static void define(Napi::Env env, Napi::Object exports);
  explicit CaseObject(const Napi::CallbackInfo& info);

 private:
  Prepared& open_case() const;

  // refill([{ positive, factor, key0, key1 }])
  Napi::Value refill(const Napi::CallbackInfo& info);
  Napi::Value poison(const Napi::CallbackInfo& info);
  Napi::Value run(const Napi::CallbackInfo& info);
  Napi::Value count_unwritten(const Napi::CallbackInfo& info);
  // read(start, count): ArrayBuffer of raw elements
  Napi::Value read(const Napi::CallbackInfo& info);
  // sample(mode, count, inner): { samplesNs, clockMhz?, probeNs?, hostCallNs?, state }
  Napi::Value sample(const Napi::CallbackInfo& info);
  Napi::Value case_bytes(const Napi::CallbackInfo& info);
  Napi::Value device_delta_bytes(const Napi::CallbackInfo& info);
  Napi::Value tick_ns(const Napi::CallbackInfo& info);
  Napi::Value timer(const Napi::CallbackInfo& info);
  Napi::Value notes(const Napi::CallbackInfo& info);
  Napi::Value dispose(const Napi::CallbackInfo& info);

  std::unique_ptr<Prepared> case_;
  size_t element_bytes_ = 4;
  int64_t elements_ = 0;
  size_t inputs_ = 0;
};

}  // namespace opscope
