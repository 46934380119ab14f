// Node-API glue. Nothing is computed here: JavaScript values are checked, handed to native/cpu or native/cuda, and
// what comes back is turned into JavaScript. Errors carry `code` and `detail` as core/backend.ts CaseError wants them.
#include <napi.h>

#include "case_object.h"
#include "convert.h"
#include "energy_object.h"
#include "quiet_processor.h"
#include "watch_object.h"

namespace opscope {
namespace {

std::vector<DeviceInfo> devices_of(const std::string& backend) {
  if (backend == "cpu") return cpu::devices();
  if (backend == "cuda") return cuda::devices();
  throw Error("internal", "no native backend is called \"" + backend + "\"; expected cpu or cuda");
}

// devices(backend): what one backend offers, see core/backend.ts Device.
Napi::Value devices(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&] {
    const std::string backend = text_argument(info, 0, "backend");
    Napi::Array list = Napi::Array::New(info.Env());
    for (const DeviceInfo& device : devices_of(backend)) list.Set(list.Length(), to_js(info.Env(), device));
    return Napi::Value(list);
  });
}

// info(): the parts of this build and whether each can be used here, with the reason where not.
Napi::Value parts(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&] {
    const Napi::Env env = info.Env();
    Napi::Array list = Napi::Array::New(env);
    const auto add = [&](const std::string& id, const std::string& title, bool available, const std::string& reason) {
      Napi::Object part = Napi::Object::New(env);
      part.Set("id", id);
      part.Set("title", title);
      part.Set("available", available);
      if (!available) part.Set("reason", reason);
      list.Set(list.Length(), part);
    };
    for (const DeviceInfo& device : cpu::devices())
      for (const ImplInfo& impl : device.impls) add("cpu." + impl.id, impl.title, impl.available, impl.reason);
#if defined(OPSCOPE_CUDA)
    add("cuda.build", "CUDA kernels", true, "");
#else
    add("cuda.build", "CUDA kernels", false, "built without CUDA: install the CUDA toolkit, or the headers of CUDA alone, and run npm run setup");
#endif
    bool any = false;
    std::string reason = "no CUDA device was found";
    for (const DeviceInfo& device : cuda::devices()) {
      any = any || device.available;
      if (!device.available && !device.reason.empty()) reason = device.reason;
    }
    add("cuda.device", "CUDA driver and device", any, reason);
    return Napi::Value(list);
  });
}

// setLibraryFolders(folders): where NVIDIA's libraries are looked for, beside the loader's own places. From then on a case whose kernels are being
// compiled throws with code `compiling`, and is to be opened again.
Napi::Value set_library_folders(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&] {
    if (!info[0].IsArray()) throw Error("internal", "folders: expected an array of paths");
    const Napi::Array list = info[0].As<Napi::Array>();
    std::vector<std::string> folders;
    for (uint32_t i = 0; i < list.Length(); i++) folders.push_back(to_text(list.Get(i), "folder"));
    cuda::set_library_folders(std::move(folders));
    cuda::set_compile_in_background(true);
    return info.Env().Undefined();
  });
}

// setQuietest(asked): whether cases of one thread that are opened while none is open compute on the quietest processor of a virtual machine, else on the first.
Napi::Value set_quietest(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&] {
    if (!info[0].IsBoolean()) throw Error("internal", "asked: expected a boolean");
    cpu::set_quietest(info[0].As<Napi::Boolean>().Value());
    return info.Env().Undefined();
  });
}

Napi::Object init(Napi::Env env, Napi::Object exports) {
  exports.Set("info", Napi::Function::New(env, parts, "info"));
  exports.Set("devices", Napi::Function::New(env, devices, "devices"));
  exports.Set("setLibraryFolders", Napi::Function::New(env, set_library_folders, "setLibraryFolders"));
  exports.Set("setQuietest", Napi::Function::New(env, set_quietest, "setQuietest"));
  CaseObject::define(env, exports);
  EnergyObject::define(env, exports);
  WatchObject::define(env, exports);
  return exports;
}

}  // namespace
}  // namespace opscope

static Napi::Object initialize(Napi::Env env, Napi::Object exports) { return opscope::init(env, exports); }
NODE_API_MODULE(opscope, initialize)
