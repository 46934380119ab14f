// Between JavaScript values and the plain structs of prepared.h. Everything that comes in is checked: a wrong type or
// range throws Error("internal") that says what was expected and what came.
#pragma once
#include <napi.h>

#include <cstdint>
#include <string>
#include <vector>

#include "prepared.h"

namespace opscope {

// A whole number in low .. high.
int64_t to_integer(const Napi::Value& value, const char* name, int64_t low, int64_t high);
std::string to_text(const Napi::Value& value, const char* name);
std::string text_argument(const Napi::CallbackInfo& info, size_t index, const char* name);
Mode to_mode(const Napi::Value& value);

struct OpenRequest {
  std::string backend;
  CaseSpec spec;
};

// { backend, op, impl, device, dtype, threads?, rotated?, dims, scalars, tensors: [{ name, elements, storage, role, fill? }], and of a composite operation
//   scratchBytes: [number], parts: [{ name, op, dims, scalars, tensors: [{ name, elements, storage, role, buffer }] }] }
OpenRequest to_request(const Napi::Value& value);

// [{ kind, key0, key1, factor, low, below }], `count` of them: core/random.ts FillWords.
std::vector<Fill> to_fills(const Napi::Value& value, size_t count);

Napi::Object to_js(Napi::Env env, const DeviceInfo& device);
Napi::Object to_js(Napi::Env env, const SampleBatch& batch);
// [{ unwritten, nonFinite? }]
Napi::Array to_js(Napi::Env env, const std::vector<OutputScan>& outputs);
Napi::Array to_js(Napi::Env env, const std::vector<std::string>& list);
// core/backend.ts KernelLaunch
Napi::Array to_js(Napi::Env env, const std::vector<LaunchInfo>& launches);
Napi::Object to_js(Napi::Env env, const CallCounts& counts);

// Throws `error` as a JavaScript error with `code` and `detail`.
[[noreturn]] void throw_js(Napi::Env env, const std::string& code, const std::string& message, const std::string& detail);

// Runs fn and turns C++ exceptions into JavaScript errors.
template <class F>
auto guarded(Napi::Env env, F&& fn) -> decltype(fn()) {
  try {
    return fn();
  } catch (const Napi::Error&) {
    throw;
  } catch (const Error& error) {
    throw_js(env, error.code, error.what(), error.detail);
  } catch (const std::bad_alloc&) {
    throw_js(env, "out-of-memory", "the system gave no memory", "std::bad_alloc");
  } catch (const std::exception& error) {
    throw_js(env, "internal", error.what(), "");
  }
}

}  // namespace opscope
