// Kernels compiled at run time by NVRTC, for GPUs that the build has no kernels for.
#pragma once
#include <string>
#include <vector>

#include "archs.h"

namespace opscope::cuda {

struct Nvrtc {
  // `13.0, from a Python environment`; why it cannot be used, in one sentence, empty where it can.
  std::string version, missing;
};

// Looks for NVRTC and the headers of CUDA when first asked.
const Nvrtc& nvrtc();

// Why NVRTC cannot compile for this GPU, in one sentence; empty where it can.
std::string nvrtc_refusal(int major, int minor);

// The code that this GPU runs (archs.h); OPSCOPE_NVRTC=1 asks for NVRTC on any.
KernelCode kernel_code(int major, int minor);

// The architecture that such kernels are compiled for: `sm_90a`.
std::string nvrtc_arch(int major, int minor);

// A kernel as NVRTC made it: its name in the cubin, and the cubin, which has no other kernel.
struct CompiledKernel {
  std::string symbol;
  std::vector<char> image;
};

// Kernel `name` of `<module>.cu` for this GPU, from the cache on disk (OPSCOPE_KERNEL_CACHE) where it was compiled before. Without a name: all
// kernels of the module, under their own names, which takes up to a minute. Throws Error "unsupported" with the compiler's words.
CompiledKernel compiled_kernel(const std::string& module, const std::string& name, int major, int minor);

// The same without waiting: compiles in a thread, and throws Error "compiling" until that is done. The addon opens a case again then, so that
// its process can say that it is alive.
CompiledKernel kernel_when_compiled(const std::string& module, const std::string& name, int major, int minor);

// Whether this process asks again (the addon does) or waits.
void set_compile_in_background(bool on);
bool compiles_in_background();

}  // namespace opscope::cuda
