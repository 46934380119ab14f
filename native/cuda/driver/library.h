// A shared library opened at run time, so that the addon loads on machines that do not have it.
#pragma once
#include <initializer_list>
#include <string>
#include <vector>

namespace opscope::cuda {

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
  void* symbol(const char* name) const;

 private:
  void* handle_ = nullptr;  // never closed: the driver does not support being unloaded
  std::string error_, name_;
};

}  // namespace opscope::cuda
