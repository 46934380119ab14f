// GPUs that plans are made for in tests; none of them is here.
#pragma once
#include <set>
#include <string>

#include "driver/context.h"

namespace opscope::cuda {

struct Gpu {
  const char* name;
  int major, minor;  // of the code
  int sm_count, shared_bytes;
};
inline constexpr Gpu gpus[] = {{"8.0", 8, 0, 108, 163 << 10}, {"8.6", 8, 6, 84, 99 << 10}, {"8.9", 8, 9, 128, 99 << 10}, {"8.9 with code of 8.0", 8, 0, 128, 99 << 10}, {"9.0", 9, 0, 132, 227 << 10}, {"10.0", 10, 0, 148, 227 << 10},
                        {"12.0", 12, 0, 170, 99 << 10}, {"12.0 with code of 8.0", 8, 0, 170, 99 << 10}};
inline Traits traits_of(const Gpu& gpu) {
  Traits traits;
  traits.major = gpu.major, traits.minor = gpu.minor, traits.sm_count = gpu.sm_count, traits.shared_bytes_per_block = gpu.shared_bytes;
  return traits;
}

// Kernels are their names.
class InventedGpu final : public Context {
 public:
  explicit InventedGpu(const Gpu& gpu) : Context(traits_of(gpu)) {}
  CUfunction kernel(const std::string& module, const std::string& name) override { return reinterpret_cast<CUfunction>(const_cast<std::string*>(&*names_.insert(module + "/" + name).first)); }

 private:
  std::set<std::string> names_;
};

}  // namespace opscope::cuda
