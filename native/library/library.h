// A shared library opened at run time, so that the addon loads on machines that do not have it.
#pragma once
#include <initializer_list>
#include <string>
#include <vector>

namespace opscope {

class Library {
 public:
  // Tries the names in order. Does not throw: ask `found`.
  explicit Library(std::initializer_list<const char*> names) : Library(std::vector<std::string>(names.begin(), names.end())) {}
  explicit Library(const std::vector<std::string>& names);
  Library(const Library&) = delete;
  bool found() const { return handle_ != nullptr; }
  // What the loader said about the last name tried.
  const std::string& error() const { return error_; }
  // The name that was opened; empty where none was.
  const std::string& name() const { return name_; }
  // Null where there is none.
  void* symbol(const char* name) const;
  // Sets `function` to the symbol; false where there is none.
  template <class F>
  bool get(const char* name, F& function) const {
    function = reinterpret_cast<F>(symbol(name));
    return function != nullptr;
  }

 private:
  void* handle_ = nullptr;  // never closed: drivers do not support being unloaded, and threads of a library may live on
  std::string error_, name_;
};

}  // namespace opscope
