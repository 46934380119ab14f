#include "vendor.h"

#include <algorithm>

namespace opscope::cuda {

const std::vector<Vendor>& vendors() {
  static const std::vector<Vendor> list = {cublaslt(), cudnn()};
  return list;
}

PlanFunction vendor_plan(const std::string& id, const std::string& op, Dtype dtype) {
  for (const auto& vendor : vendors()) {
    if (vendor.id != id) continue;
    if (!vendor.missing.empty()) throw Error("unsupported", vendor.missing);
    for (const auto& entry : vendor.ops)
      if (entry.op == op && std::find(entry.dtypes.begin(), entry.dtypes.end(), dtype) != entry.dtypes.end()) return entry.plan;
    throw Error("unsupported", vendor.title + " does not compute " + op + " in this dtype here.");
  }
  return nullptr;
}

}  // namespace opscope::cuda
