// Device memory with a guard band before and behind it, so that a write of a kernel beside it is found.
#pragma once
#include "../device/service.h"
#include "../driver/context.h"

namespace opscope::cuda {

class GuardedBuffer {
 public:
  // Takes `bytes`, rounded up to a multiple of 256, and the bands, and queues on the context's stream that the bands are written: nothing that
  // a kernel reads beside it is uninitialized. Throws Error "out-of-memory".
  GuardedBuffer(int64_t bytes, Context& context);

  // Aligned to 256 bytes.
  CUdeviceptr address() const { return memory_.address() + guard_bytes; }
  int64_t bytes() const { return bytes_; }
  // With the bands.
  int64_t allocated_bytes() const { return memory_.bytes(); }
  // Of the band behind it.
  int64_t after() const { return memory_.bytes() - guard_bytes - bytes_; }
  // Queues a search of the bands, which adds the bytes that changed to `counts` on the device.
  void scan(CUdeviceptr counts, Context& context) const;

 private:
  int64_t bytes_;
  DeviceBuffer memory_;
};

}  // namespace opscope::cuda
