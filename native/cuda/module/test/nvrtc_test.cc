// Compiles modules of the kernels by NVRTC, or single kernels (MODULE/KERNEL), without a GPU:
//   cmake --build native/build --target opscope_nvrtc_test && OPSCOPE_CUDA_LIBRARIES=FOLDER native/build/opscope_nvrtc_test 90 softmax reduction/sum_f32_row
// OPSCOPE_CUDA_LIBRARIES names folders of libnvrtc that the loader does not search. The first word is the compute capability.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "module/nvrtc.h"
#include "prepared.h"

using namespace opscope;
using namespace opscope::cuda;

int main(int count, char** words) {
  if (count < 3) return std::printf("expected a compute capability such as 90, and modules\n"), 2;
  if (!nvrtc().missing.empty()) return std::printf("%s\n", nvrtc().missing.c_str()), 0;
  const int capability = std::atoi(words[1]);
  int failed = 0;
  for (int i = 2; i < count; i++) {
    const auto from = std::chrono::steady_clock::now();
    try {
      const std::string word = words[i], module = word.substr(0, word.find('/')), name = module.size() < word.size() ? word.substr(module.size() + 1) : "";
      const size_t bytes = compiled_kernel(module, name, capability / 10, capability % 10).image.size();
      std::printf("%s: %zu bytes in %.1f s\n", words[i], bytes, std::chrono::duration<double>(std::chrono::steady_clock::now() - from).count());
    } catch (const Error& e) {
      std::printf("%s: WRONG: %s\n%s\n", words[i], e.what(), e.detail.c_str());
      failed++;
    }
  }
  return failed ? 1 : 0;
}
