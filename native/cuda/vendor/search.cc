#include "search.h"

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <system_error>
#include <utility>

namespace opscope::cuda {

namespace {

std::vector<std::string>& folders_here() {
  static std::vector<std::string> folders;
  return folders;
}

}  // namespace

void set_library_folders(std::vector<std::string> folders) { folders_here() = std::move(folders); }
const std::vector<std::string>& library_folders() {
  std::vector<std::string>& folders = folders_here();
  const char* given = std::getenv("OPSCOPE_CUDA_LIBRARIES");
  if (!folders.empty() || !given) return folders;
#ifdef _WIN32
  constexpr char between = ';';
#else
  constexpr char between = ':';
#endif
  std::istringstream list(given);
  for (std::string folder; std::getline(list, folder, between);)
    if (!folder.empty()) folders.push_back(folder);
  return folders;
}

std::vector<std::string> library_candidates(const std::vector<std::string>& names, const std::vector<std::string>& folders) {
  std::vector<std::string> list = names;
  for (const auto& folder : folders)
    for (const auto& name : names) list.push_back((std::filesystem::path(folder) / name).string());
  return list;
}

Library open_library(const std::vector<std::string>& names) {
  std::vector<std::string> there;
  for (auto& candidate : library_candidates(names, library_folders())) {
    std::error_code problem;
    const bool plain = !std::filesystem::path(candidate).has_parent_path();
    if (plain || std::filesystem::exists(candidate, problem)) there.push_back(std::move(candidate));
  }
  return Library(there);
}

std::string origin_of(const std::string& file) {
  if (!std::filesystem::path(file).has_parent_path()) return "found by the loader";
  return file.find("site-packages") != std::string::npos ? "from a Python environment" : "from a CUDA toolkit";
}

std::string not_found(const std::string& title, const std::vector<std::string>& names, const std::string& package) {
  std::string list;
  for (const auto& name : names) list += (list.empty() ? "" : " or ") + name;
  const size_t folders = library_folders().size();
  return title + " was not found: no " + list + " on the loader's path" + (folders ? " or in " + std::to_string(folders) + " folders of CUDA toolkits and Python environments" : "") +
         ". Install the CUDA toolkit, or " + package + " in a Python environment, and rescan devices.";
}

}  // namespace opscope::cuda
