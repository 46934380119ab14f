// One tensor of a case in device memory. Around what calls write lie guard bands, so that a write beyond the end is found.
#pragma once
#include <string>

#include "../device/service.h"
#include "../driver/context.h"
#include "prepared.h"

namespace opscope::cuda {

class Tensor {
 public:
  // Takes the memory; an input is not filled yet. Throws Error "out-of-memory".
  Tensor(const TensorDesc& description, Context& context);

  // These queue on the context's stream: the rule in core/random.ts; the sentinel (`out` tensors only) and the guard bands;
  // a search of the whole tensor and its guard bands, which adds to `counts` on the device.
  void fill(const Fill& fill) const;
  void poison() const;
  void scan(CUdeviceptr counts) const;

  const std::string& name() const { return description_.name; }
  Storage storage() const { return description_.storage; }
  int64_t elements() const { return description_.elements; }
  bool filled() const { return description_.role != Role::out; }
  bool written() const { return description_.role != Role::in; }
  // Aligned to 256 bytes.
  CUdeviceptr address() const { return memory_.address() + static_cast<CUdeviceptr>(before()); }
  // Of the tensor / of the memory taken for it.
  int64_t bytes() const { return elements() * static_cast<int64_t>(storage_bytes(storage())); }
  int64_t allocated_bytes() const { return memory_.bytes(); }

 private:
  int64_t before() const { return written() ? guard_bytes : 0; }
  int64_t after() const { return memory_.bytes() - before() - bytes(); }

  TensorDesc description_;
  Context& context_;
  DeviceBuffer memory_;
};

}  // namespace opscope::cuda
