// The JavaScript object that holds an open case.
#pragma once
#include <napi.h>

#include <memory>
#include <string>
#include <vector>

#include "prepared.h"

namespace opscope {

// `open(spec)` makes one. Every method throws once `dispose` was called; garbage collection disposes too.
class CaseObject : public Napi::ObjectWrap<CaseObject> {
 public:
  static void define(Napi::Env env, Napi::Object exports);
  explicit CaseObject(const Napi::CallbackInfo& info);

 private:
  Prepared& open_case() const;

  // refill(fills), as to_fills takes them
  Napi::Value refill(const Napi::CallbackInfo& info);
  Napi::Value poison(const Napi::CallbackInfo& info);
  Napi::Value run(const Napi::CallbackInfo& info);
  // scan(): [{ unwritten, nonFinite? }] per output
  Napi::Value scan(const Napi::CallbackInfo& info);
  // read(output, start, count): ArrayBuffer of raw elements
  Napi::Value read(const Napi::CallbackInfo& info);
  // sample(mode, count, inner): { samplesNs, clockMhz?, probeNs?, hostCallNs?, state }
  Napi::Value sample(const Napi::CallbackInfo& info);
  Napi::Value case_bytes(const Napi::CallbackInfo& info);
  Napi::Value device_delta_bytes(const Napi::CallbackInfo& info);
  Napi::Value tick_ns(const Napi::CallbackInfo& info);
  Napi::Value clock_settles_seconds(const Napi::CallbackInfo& info);
  Napi::Value timer(const Napi::CallbackInfo& info);
  Napi::Value notes(const Napi::CallbackInfo& info);
  Napi::Value launches(const Napi::CallbackInfo& info);
  Napi::Value counters(const Napi::CallbackInfo& info);
  Napi::Value dispose(const Napi::CallbackInfo& info);

  std::unique_ptr<Prepared> case_;
  // Elements of an output, and bytes of each.
  struct Output {
    int64_t elements, element_bytes;
  };
  std::vector<Output> outputs_;
  size_t fills_ = 0;
};

}  // namespace opscope
