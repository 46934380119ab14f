// Which code a GPU runs: that of a build, what NVRTC compiles, or PTX. Needs no GPU.
#pragma once
#include <algorithm>
#include <sstream>
#include <string>

namespace opscope::cuda {

enum class CodeOrigin {
  none,        // the build has no code for this GPU, and NVRTC cannot compile any
  built,       // machine code in the addon
  compiled,    // machine code of NVRTC, for this very GPU
  translated,  // PTX in the addon, which the driver compiles
};

// `major`.`minor`: the architecture of the code. Plans choose by it which instructions kernels have; the GPU may be newer.
struct KernelCode {
  CodeOrigin origin;
  int major, minor;
};

// The code that a GPU of compute capability major.minor runs, of a build for `archs` (`80;90a;100`). `compiles()`: whether NVRTC can compile for it, which is asked only where that matters: it has to be
// looked for; `asked`: whether the user wants that. Machine code runs on its own major number from its minor number up, that with architecture-specific instructions (`90a`) on its own only (CUDA C++ Programming
// Guide, "Binary Compatibility"). With 80 comes PTX (cuda.cmake), which has none of the instructions of later GPUs: NVRTC is better wherever it is found.
template <class Compiles>
KernelCode code_for(const std::string& archs, int major, int minor, const Compiles& compiles, bool asked = false) {
  const KernelCode compiled = {CodeOrigin::compiled, major, minor}, none = {CodeOrigin::none, major, minor};
  if (asked) return compiles() ? compiled : none;
  constexpr int fp8 = 89;  // the one step within a major number at which kernels have other instructions (common/mma.cuh)
  const int gpu = major * 10 + minor;
  int built = 0;
  bool ptx = false;
  std::istringstream list(archs);
  for (std::string arch; std::getline(list, arch, ';');) {
    const int number = std::stoi(arch);
    const bool specific = arch.find_first_not_of("0123456789") != std::string::npos;
    if (specific ? number == gpu : number / 10 == major && number <= gpu) built = std::max(built, number);
    ptx = ptx || (number == 80 && major > 8);
  }
  const bool lacks = built < fp8 && gpu >= fp8;
  if ((built == 0 || lacks) && compiles()) return compiled;
  if (built > 0) return {CodeOrigin::built, built / 10, built % 10};
  return ptx ? KernelCode{CodeOrigin::translated, 8, 0} : none;
}

}  // namespace opscope::cuda
