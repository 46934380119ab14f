#include "holders.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#ifdef _WIN32
#include <process.h>
#else
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>
#endif

namespace opscope::cuda {

namespace {

std::string registry() {
  const char* folder = std::getenv("OPSCOPE_GPU_HOLDERS");
  return folder ? folder : "";
}

bool contains(const std::vector<unsigned>& list, unsigned pid) { return std::find(list.begin(), list.end(), pid) != list.end(); }

}  // namespace

unsigned own_pid() {
#ifdef _WIN32
  return static_cast<unsigned>(_getpid());
#else
  return static_cast<unsigned>(getpid());
#endif
}

void hold_gpu() {
  static const bool held = registry().empty() || hold_in(registry(), own_pid());
  static_cast<void>(held);
}

std::vector<unsigned> gpu_holders() { return registry().empty() ? std::vector<unsigned>{} : holders_in(registry()); }

bool hold_in(const std::string& folder, unsigned pid) {
#ifdef _WIN32
  static_cast<void>(folder), static_cast<void>(pid);
  return false;
#else
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);
  // Locked before it has its name, so that nobody ever finds it unlocked.
  const std::string path = folder + "/" + std::to_string(pid), unnamed = path + ".new";
  const int file = open(unnamed.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  if (file < 0) return false;
  if (flock(file, LOCK_EX | LOCK_NB) == 0 && std::rename(unnamed.c_str(), path.c_str()) == 0) return true;
  close(file);
  return false;
#endif
}

std::vector<unsigned> holders_in(const std::string& folder) {
  std::vector<unsigned> live;
#ifdef _WIN32
  static_cast<void>(folder);
#else
  std::error_code problem;
  for (auto entry = std::filesystem::directory_iterator(folder, problem); !problem && entry != std::filesystem::directory_iterator(); entry.increment(problem)) {
    const std::string name = entry->path().filename().string();
    if (name.empty() || name.size() > 9 || name.find_first_not_of("0123456789") != std::string::npos) continue;
    const int file = open(entry->path().c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) continue;
    if (flock(file, LOCK_SH | LOCK_NB) == 0)
      unlink(entry->path().c_str());
    else
      live.push_back(static_cast<unsigned>(std::stoul(name)));
    close(file);
  }
#endif
  return live;
}

Listed tell_apart(const std::vector<unsigned>& listed, unsigned own, const std::vector<unsigned>& ours, const std::vector<unsigned>& holders, bool holding) {
  Listed out;
  if (holding && !contains(listed, own)) {
    const int known = std::max<int>(1, static_cast<int>(holders.size()));
    out.unnamed = std::max(0, static_cast<int>(listed.size()) - known);
    return out;
  }
  for (const unsigned pid : listed)
    if (pid != own && !contains(ours, pid) && !contains(holders, pid)) out.others.push_back(pid);
  return out;
}

}  // namespace opscope::cuda
