#include "library.h"

#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#else
#include <dlfcn.h>
#endif

namespace opscope {

Library::Library(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
#ifdef _WIN32
    handle_ = reinterpret_cast<void*>(LoadLibraryA(name.c_str()));
    if (!handle_) error_ = name + ": error " + std::to_string(GetLastError());
#else
    handle_ = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle_) {
      const char* said = dlerror();
      error_ = said ? said : name;
    }
#endif
    if (handle_) {
      name_ = name;
      return;
    }
  }
}

void* Library::symbol(const char* name) const {
  if (!handle_) return nullptr;
#ifdef _WIN32
  return reinterpret_cast<void*>(GetProcAddress(reinterpret_cast<HMODULE>(handle_), name));
#else
  return dlsym(handle_, name);
#endif
}

}  // namespace opscope
