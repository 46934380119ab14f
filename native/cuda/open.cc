// Opens a case of our own kernels on a GPU.
#include <algorithm>

#include "composite.h"
#include "cuda_case.h"
#include "driver/context.h"
#include "kernels/plan.h"
#include "kernels/red_team.h"
#include "peer_copy.h"
#include "prepared.h"
#include "vendor/vendor.h"

namespace opscope::cuda {

namespace {

// The kernels of an operation. Throws Error "unsupported" where there are none in this dtype.
const OpKernels& kernels_of(const std::string& name, Dtype dtype) {
  const OpKernels* op = find_op(name);
  if (!op || std::find(op->dtypes.begin(), op->dtypes.end(), dtype) == op->dtypes.end()) throw Error("unsupported", "There is no CUDA kernel for " + name + " in this dtype.");
  return *op;
}

std::unique_ptr<Prepared> open_composite(const CaseSpec& spec) {
  if (spec.impl != "kernel") throw Error("unsupported", "The CUDA backend runs the parts of " + spec.op + " with \"kernel\" alone.");
  check_parts(spec);
  for (const PartSpec& part : spec.parts) check_shape(case_of(spec, part), kernels_of(part.op, spec.dtype));
  Context& context = Context::of_number(spec.device);
  context.use();
  return std::make_unique<CudaCase>(spec, plan_parts, context);
}

}  // namespace

std::unique_ptr<Prepared> open(const CaseSpec& spec) {
  if (!api().missing.empty()) throw Error("unsupported", api().missing);
  if (!spec.parts.empty()) return open_composite(spec);
  const OpKernels& op = kernels_of(spec.op, spec.dtype);
  const RedImpl* red = spec.op == "add" && spec.dtype == Dtype::f32 ? find_red(spec.impl) : nullptr;
  const PlanFunction vendor = vendor_plan(spec.impl, spec.op, spec.dtype);
  const int peer = peer_of(spec.impl);
  if (spec.impl != "kernel" && !red && !vendor && peer < 0) throw Error("unsupported", "The CUDA backend has no implementation called \"" + spec.impl + "\"; it has \"kernel\", \"cublaslt\" and \"cudnn\".");
  check_shape(spec, op);
  if (peer >= 0) return open_peer_copy(spec, peer);
  Context& context = Context::of_number(spec.device);
  context.use();
  return std::make_unique<CudaCase>(spec, vendor ? vendor : red ? red->plan : op.plan, context);
}

}  // namespace opscope::cuda
