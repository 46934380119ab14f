// A guest on a GPU: it queues its work on our stream of the device's primary context, and records graphs by its own means.
#include "../guest_case.h"
#include "cuda_case.h"

namespace opscope::cuda {

namespace {

class GuestCalls final : public Calls {
 public:
  explicit GuestCalls(opscope_guest_call guest) : guest_(guest) {}

  void enqueue(CUstream, size_t set, int count) override { ask(guest_, OPSCOPE_GUEST_RUN, static_cast<int>(set), count); }
  void record(CUstream, size_t set, int count) override { ask(guest_, OPSCOPE_GUEST_RECORD, static_cast<int>(set), count); }
  void launch(CUstream) override { ask(guest_, OPSCOPE_GUEST_LAUNCH, 0, 1); }
  // It may be on the way out of a failure: one more of forgetting says nothing.
  void drop() override { guest_(OPSCOPE_GUEST_DROP, 0, 0); }
  bool may_wait() const override { return true; }

 private:
  const opscope_guest_call guest_;
};

class CudaGuest final : public GuestCase {
 public:
  CudaGuest(const CaseSpec& spec, opscope_guest_call guest, Context& context) : case_(spec, std::make_unique<GuestCalls>(guest), context) {}

  Prepared& prepared() override { return case_; }
  void run() override { case_.run(); }
  int sets() const override { return static_cast<int>(case_.sets().size()); }
  void* input_at(int set, int input) const override {
    const BufferSet* buffers = at(set);
    if (!buffers || input < 0) return nullptr;
    for (const Tensor& tensor : buffers->tensors())
      if (tensor.filled() && input-- == 0) return pointer(tensor.address());
    return nullptr;
  }
  void* output_at(int set, int output) const override {
    const BufferSet* buffers = at(set);
    return buffers && output >= 0 && static_cast<size_t>(output) < buffers->outputs() ? pointer(buffers->output(static_cast<size_t>(output)).address()) : nullptr;
  }
  void* stream() const override { return case_.context().stream(); }

 private:
  static void* pointer(CUdeviceptr address) { return reinterpret_cast<void*>(static_cast<uintptr_t>(address)); }
  const BufferSet* at(int set) const { return set >= 0 && set < sets() ? case_.sets()[static_cast<size_t>(set)].get() : nullptr; }

  CudaCase case_;
};

}  // namespace

std::unique_ptr<GuestCase> open_guest(const CaseSpec& spec, opscope_guest_call guest) {
  Context& context = Context::of_number(spec.device);
  context.use();
  return std::make_unique<CudaGuest>(spec, guest, context);
}

}  // namespace opscope::cuda
