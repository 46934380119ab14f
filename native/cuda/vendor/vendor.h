// NVIDIA's libraries as implementations beside our kernels. They are opened at run time; one that is absent is listed with the reason.
#pragma once
#include <string>
#include <vector>

#include "../kernels/plan.h"

namespace opscope::cuda {

// An operation that a library computes. The plan makes descriptors and chooses the algorithm; only the library's own call is timed.
struct VendorOp {
  std::string op;
  std::vector<Dtype> dtypes;
  PlanFunction plan;
};

struct Vendor {
  std::string id, title;
  std::vector<VendorOp> ops;
  // Why it cannot be used here, in one sentence; empty where it can.
  std::string missing;
  // Where it can be used: `13.0.2, from a Python environment`.
  std::string version;
};

// cuBLASLt and cuDNN. Opens them when first asked.
const std::vector<Vendor>& vendors();

// The plan of implementation `id` for a case, null where no vendor has this id. Throws Error "unsupported" where the library is missing or has
// no such operation.
PlanFunction vendor_plan(const std::string& id, const std::string& op, Dtype dtype);

Vendor cublaslt();
Vendor cudnn();

// cudaDataType_t of an element.
inline int cuda_data_type(Storage storage) {
  switch (storage) {
    case Storage::f16: return 2;
    case Storage::bf16: return 14;
    default: return 0;
  }
}

inline void* pointer(CUdeviceptr address) { return reinterpret_cast<void*>(static_cast<uintptr_t>(address)); }

}  // namespace opscope::cuda
