// Finding NVIDIA's libraries at run time: those that the loader finds, those of a CUDA toolkit, and those that Python environments
// carry.
#pragma once
#include <string>
#include <vector>

#include "library.h"
#include "prepared.h"

namespace opscope::cuda {

// As given to set_library_folders (prepared.h), or in OPSCOPE_CUDA_LIBRARIES for a process that is given none: lib64 of toolkits, site-packages/nvidia/*/lib.
const std::vector<std::string>& library_folders();

// Every name to try for a library, in order: each plain, for the loader, then each in every folder.
std::vector<std::string> library_candidates(const std::vector<std::string>& names, const std::vector<std::string>& folders);

// Opens the first that is there.
Library open_library(const std::vector<std::string>& names);

// Where an opened library comes from, without its path: `from a Python environment`, `from a CUDA toolkit`, `found by the loader`.
std::string origin_of(const std::string& file);

// A sentence that says where was looked, and what would help: `cuBLASLt was not found: ...`.
std::string not_found(const std::string& title, const std::vector<std::string>& names, const std::string& package);

}  // namespace opscope::cuda
