#include "guarded.h"

#include "../kernels/plan.h"

namespace opscope::cuda {

GuardedBuffer::GuardedBuffer(int64_t bytes, Context& context) : bytes_(bytes), memory_(ceil_div(bytes, 256) * 256 + 2 * guard_bytes) {
  const auto write = [&](CUdeviceptr from, int64_t count) { check(api().MemsetD8Async(from, guard_byte, static_cast<size_t>(count), context.stream()), "writing the guard bands"); };
  write(memory_.address(), guard_bytes);
  write(address() + static_cast<CUdeviceptr>(bytes), after());
}

void GuardedBuffer::scan(CUdeviceptr counts, Context& context) const {
  Launch(context.kernel("service", "scan_bands"), {}, 256, 0, address(), static_cast<long long>(bytes_), static_cast<int>(after()), counts).enqueue(context.stream());
}

}  // namespace opscope::cuda
