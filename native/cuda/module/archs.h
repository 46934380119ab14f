// Which GPUs a build has kernels for. Needs no GPU.
#pragma once
#include <sstream>
#include <string>

namespace opscope::cuda {

// Whether kernels compiled for `archs` (`80;90a;100`) run on compute capability major.minor: machine code runs on its own major
// number from its minor number up, that with architecture-specific instructions (`90a`) on its own only (CUDA C++ Programming
// Guide, "Binary Compatibility"). With 80 comes PTX (cuda.cmake), which every later GPU can be given.
inline bool archs_cover(const std::string& archs, int major, int minor) {
  std::istringstream list(archs);
  for (std::string arch; std::getline(list, arch, ';');) {
    const int number = std::stoi(arch);
    if (number == 80 && major >= 8) return true;
    if (number / 10 != major) continue;
    if (arch.find_first_not_of("0123456789") == std::string::npos ? minor >= number % 10 : minor == number % 10) return true;
  }
  return false;
}

}  // namespace opscope::cuda
