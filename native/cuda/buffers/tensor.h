// One tensor of a case in device memory.
#pragma once
#include <string>

#include "guarded.h"
#include "prepared.h"

namespace opscope::cuda {

class Tensor {
 public:
  // Takes the memory, with guard bands; an input is not filled yet. Throws Error "out-of-memory".
  Tensor(const TensorDesc& description, Context& context);

  // These queue on the context's stream: the rule in core/random.ts; the sentinel (`out` tensors only); a search of
  // the guard bands and, where calls write the tensor, of the whole tensor, which adds to `counts` on the device.
  void fill(const Fill& fill) const;
  void poison() const;
  void scan(CUdeviceptr counts) const;

  const std::string& name() const { return description_.name; }
  Storage storage() const { return description_.storage; }
  int64_t elements() const { return description_.elements; }
  bool filled() const { return description_.role != Role::out; }
  bool written() const { return description_.role != Role::in; }
  // Aligned to 256 bytes.
  CUdeviceptr address() const { return memory_.address(); }
  // Of the tensor / of the memory taken for it.
  int64_t bytes() const { return elements() * static_cast<int64_t>(storage_bytes(storage())); }
  int64_t allocated_bytes() const { return memory_.allocated_bytes(); }

 private:
  TensorDesc description_;
  Context& context_;
  GuardedBuffer memory_;
};

}  // namespace opscope::cuda
