// Libraries of others that compute on the processor, opened at run time where they are installed. Each is an implementation of the CPU
// backend like any other; one that is missing says which command installs it.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "calls.h"
#include "library.h"
#include "prepared.h"

namespace opscope::cpu {

// The library that the environment variable names, else the first of `names` that there is. Does not throw: ask found().
Library open_named(const char* variable, std::initializer_list<const char*> names);

// Waits until the threads of a library have stopped looking for work, which they do for a while after a call: what is measured next would
// share the processors with them. Nothing to wait for on one thread.
void let_threads_rest(int threads);

// What each library offers here, installed or not.
std::vector<ImplInfo> library_impls();

// Whether `impl` names a library / its calls for this case, whose dims were checked. Throws Error("unsupported") with the reason.
bool is_library(const std::string& impl);
std::unique_ptr<Calls> library_calls(const CaseSpec& spec);
// Why the library that `impl` describes is not called for a case that it does not list.
std::string why_not_called(const ImplInfo& impl, const CaseSpec& spec);

ImplInfo openblas_impl();
std::unique_ptr<Calls> openblas_calls(const CaseSpec& spec);
ImplInfo onednn_impl();
std::unique_ptr<Calls> onednn_calls(const CaseSpec& spec);

}  // namespace opscope::cpu
