// Libraries of others that compute on the processor, opened at run time where they are installed. Each is an implementation of the CPU
// backend like any other; one that is missing says which command installs it.
#pragma once
#include <memory>
#include <vector>

#include "calls.h"
#include "prepared.h"

namespace opscope::cpu {

// Exported functions of a shared library, opened once and never closed: its threads may live on.
class Library {
 public:
  // `variable`: an environment variable that names another file. Tries the names in order. Does not throw: ask found().
  Library(const char* variable, std::initializer_list<const char*> names);
  bool found() const { return handle_ != nullptr; }
  // Sets `function` to the symbol; false where there is none.
  template <class F>
  bool get(const char* name, F& function) const {
    function = reinterpret_cast<F>(symbol(name));
    return function != nullptr;
  }

 private:
  void* symbol(const char* name) const;
  void* handle_ = nullptr;
};

// Waits until the threads of a library have stopped looking for work, which they do for a while after a call: what is measured next would
// share the processors with them. Nothing to wait for on one thread.
void let_threads_rest(int threads);

// What each library offers here, installed or not.
std::vector<ImplInfo> library_impls();

// Whether `impl` names a library / its calls for this case, whose dims were checked. Throws Error("unsupported") with the reason.
bool is_library(const std::string& impl);
std::unique_ptr<Calls> library_calls(const CaseSpec& spec);

ImplInfo openblas_impl();
std::unique_ptr<Calls> openblas_calls(const CaseSpec& spec);
ImplInfo onednn_impl();
std::unique_ptr<Calls> onednn_calls(const CaseSpec& spec);

}  // namespace opscope::cpu
