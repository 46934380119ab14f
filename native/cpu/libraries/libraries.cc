#include "libraries/libraries.h"

#include <chrono>
#include <cstdlib>
#include <thread>

namespace opscope::cpu {

Library open_named(const char* variable, std::initializer_list<const char*> names) {
  const char* named = std::getenv(variable);
  return named && *named ? Library({named}) : Library(names);
}

void let_threads_rest(int threads) {
  // OpenBLAS: 2^26 cycles unless OPENBLAS_THREAD_TIMEOUT says otherwise; GNU's OpenMP: some milliseconds.
  if (threads > 1) std::this_thread::sleep_for(std::chrono::milliseconds(30));
}

std::vector<ImplInfo> library_impls() { return {openblas_impl(), onednn_impl()}; }

bool is_library(const std::string& impl) { return impl == "openblas" || impl == "onednn"; }

std::unique_ptr<Calls> library_calls(const CaseSpec& spec) { return spec.impl == "openblas" ? openblas_calls(spec) : onednn_calls(spec); }

std::string why_not_called(const ImplInfo& impl, const CaseSpec& spec) {
  if (impl.id == "onednn" && spec.op == "group_norm" && spec.dtype == Dtype::f32) return impl.title + " has no group_norm; versions from 3.3 on have";
  return impl.title + " is not asked for " + spec.op + " in this dtype";
}

}  // namespace opscope::cpu
