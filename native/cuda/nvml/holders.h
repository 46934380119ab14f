// Which processes of this very app hold a context on a GPU: each keeps a locked file, named by its number, for its life in the
// folder that OPSCOPE_GPU_HOLDERS names. Without that variable (and on Windows) nobody is registered.
#pragma once
#include <string>
#include <vector>

namespace opscope::cuda {

unsigned own_pid();

// Registers this process; does nothing when it is already, or cannot be.
void hold_gpu();
// Those registered that still live, this process among them. Files that nobody holds any more are removed.
std::vector<unsigned> gpu_holders();

// The same in a given folder. The first gives false where the file cannot be made.
bool hold_in(const std::string& folder, unsigned pid);
std::vector<unsigned> holders_in(const std::string& folder);

// What the processes that the driver lists for a GPU are to this app.
struct Listed {
  std::vector<unsigned> others;  // not of this app
  // This process holds a context and yet is not listed, as in a container, whose own numbers differ from the driver's: then
  // `others` is empty and this many of those listed cannot be of this app.
  int unnamed = 0;
  int count() const { return static_cast<int>(others.size()) + unnamed; }
};

// `ours`: processes of this app that are known, with or without a context; `holders`: those with one. `holding`: whether this
// process holds one.
Listed tell_apart(const std::vector<unsigned>& listed, unsigned own, const std::vector<unsigned>& ours, const std::vector<unsigned>& holders, bool holding);

}  // namespace opscope::cuda
