#include "libraries/libraries.h"

#include <chrono>
#include <cstdlib>
#include <thread>

#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#else
#include <dlfcn.h>
#endif

namespace opscope::cpu {

Library::Library(const char* variable, std::initializer_list<const char*> names) {
  const auto open = [](const char* name) -> void* {
#ifdef _WIN32
    return reinterpret_cast<void*>(LoadLibraryA(name));
#else
    return dlopen(name, RTLD_NOW | RTLD_LOCAL);
#endif
  };
  if (const char* named = std::getenv(variable); named && *named) {
    handle_ = open(named);
    return;
  }
  for (const char* name : names)
    if ((handle_ = open(name))) return;
}

void* Library::symbol(const char* name) const {
  if (!handle_) return nullptr;
#ifdef _WIN32
  return reinterpret_cast<void*>(GetProcAddress(reinterpret_cast<HMODULE>(handle_), name));
#else
  return dlsym(handle_, name);
#endif
}

void let_threads_rest(int threads) {
  // OpenBLAS: 2^26 cycles unless OPENBLAS_THREAD_TIMEOUT says otherwise; GNU's OpenMP: some milliseconds.
  if (threads > 1) std::this_thread::sleep_for(std::chrono::milliseconds(30));
}

std::vector<ImplInfo> library_impls() { return {openblas_impl(), onednn_impl()}; }

bool is_library(const std::string& impl) { return impl == "openblas" || impl == "onednn"; }

std::unique_ptr<Calls> library_calls(const CaseSpec& spec) { return spec.impl == "openblas" ? openblas_calls(spec) : onednn_calls(spec); }

}  // namespace opscope::cpu
