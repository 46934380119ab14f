// Opens a case of our own kernels on a GPU.
#include <algorithm>

#include "cuda_case.h"
#include "driver/context.h"
#include "kernels/plan.h"
#include "kernels/red_team.h"
#include "peer_copy.h"
#include "prepared.h"
#include "vendor/vendor.h"

namespace opscope::cuda {

std::unique_ptr<Prepared> open(const CaseSpec& spec) {
  if (!api().missing.empty()) throw Error("unsupported", api().missing);
  const OpKernels* op = find_op(spec.op);
  if (!op || std::find(op->dtypes.begin(), op->dtypes.end(), spec.dtype) == op->dtypes.end())
    throw Error("unsupported", "There is no CUDA kernel for " + spec.op + " in this dtype.");
  const RedImpl* red = spec.op == "add" && spec.dtype == Dtype::f32 ? find_red(spec.impl) : nullptr;
  const PlanFunction vendor = vendor_plan(spec.impl, spec.op, spec.dtype);
  const int peer = peer_of(spec.impl);
  if (spec.impl != "kernel" && !red && !vendor && peer < 0) throw Error("unsupported", "The CUDA backend has no implementation called \"" + spec.impl + "\"; it has \"kernel\", \"cublaslt\" and \"cudnn\".");
  check_shape(spec, *op);
  if (peer >= 0) return open_peer_copy(spec, peer);
  Context& context = Context::of_number(spec.device);
  context.use();
  return std::make_unique<CudaCase>(spec, vendor ? vendor : red ? red->plan : op->plan, context);
}

}  // namespace opscope::cuda
