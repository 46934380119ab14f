#include "tensor.h"

#include <algorithm>

#include "../kernels/plan.h"

namespace opscope::cuda {

namespace {

Dim3 grid_for(int64_t elements, const Traits& device) { return {std::clamp<int64_t>(ceil_div(elements, 256), 1, device.sm_count * 16)}; }

const char* fill_kernel(Storage storage) {
  switch (storage) {
    case Storage::f16: return "fill_f16";
    case Storage::bf16: return "fill_bf16";
    case Storage::f8e4m3: return "fill_f8e4m3";
    case Storage::i8: return "fill_i8";
    case Storage::i32: return "fill_i32";
    case Storage::u8: return "fill_u8";
    default: return "fill_f32";
  }
}

// The exponent of a NaN or an infinity; E4M3 has no infinity, and one NaN.
uint32_t finite_mask(Storage storage) {
  switch (storage) {
    case Storage::f32: return 0x7f800000;
    case Storage::f16: return 0x7c00;
    case Storage::bf16: return 0x7f80;
    case Storage::f8e4m3: return 0x7f;
    default: return 0;
  }
}

}  // namespace

Tensor::Tensor(const TensorDesc& description, Context& context)
    : description_(description), context_(context), memory_(description.elements * static_cast<int64_t>(storage_bytes(description.storage)), context) {}

void Tensor::fill(const Fill& fill) const {
  const bool counted = fill.kind == FillKind::integers || fill.kind == FillKind::permutation;
  if (counted && fill.below == 0) throw Error("internal", "the fill of " + name() + " has no integers to choose from");
  const FillRule rule{static_cast<uint32_t>(fill.kind), fill.key0, fill.key1, fill.factor, fill.low, fill.below};
  Launch(context_.kernel("service", fill_kernel(storage())), grid_for(elements(), context_.traits()), 256, 0, address(), static_cast<long long>(elements()), rule).enqueue(context_.stream());
}

void Tensor::poison() const {
  if (filled()) return;
  const CUstream stream = context_.stream();
  const auto count = static_cast<size_t>(elements());
  const uint32_t sentinel = sentinel_of(storage());
  const size_t size = storage_bytes(storage());
  check(size == 1   ? api().MemsetD8Async(address(), static_cast<unsigned char>(sentinel), count, stream)
        : size == 2 ? api().MemsetD16Async(address(), static_cast<unsigned short>(sentinel), count, stream)
                    : api().MemsetD32Async(address(), sentinel, count, stream),
        "filling an output with the sentinel");
}

void Tensor::scan(CUdeviceptr counts) const {
  if (!written()) return memory_.scan(counts, context_);
  const ScanRule rule{sentinel_of(storage()), finite_mask(storage()), filled() ? 0 : 1};
  const size_t size = storage_bytes(storage());
  const char* kernel = size == 1 ? "scan_8" : size == 2 ? "scan_16" : "scan_32";
  Launch(context_.kernel("service", kernel), grid_for(ceil_div(bytes(), 16), context_.traits()), 256, 0, address(), static_cast<long long>(elements()), rule, static_cast<int>(memory_.after()), counts)
      .enqueue(context_.stream());
}

}  // namespace opscope::cuda
