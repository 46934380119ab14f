// A shared library opened at run time, so that the addon loads on machines that do not have it.
#pragma once
#include <string>

namespace opscope::cuda {

class Library {
 public:
  // Tries the names in order. Does not throw: ask `found`.
  explicit Library(std::initializer_list<const char*> names);
  Library(const Library&) = delete;
  bool found() const { return handle_ != nullptr; }
  // What the loader said about the last name tried.
  const std::string& error() const { return error_; }
  void* symbol(const char* name) const;

 private:
  void* handle_ = nullptr;  // never closed: the driver does not support being unloaded
  std::string error_;
};

}  // namespace opscope::cuda
