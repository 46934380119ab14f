// Where the threads of a team go: one per core before any core has two, each bound to its processor.
#include "threads.h"

#include <cstdio>

#include "team.h"
#include "topology.h"

#if defined(__linux__)
#include <sched.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>
#endif

namespace opscope {

#if defined(__linux__)

namespace {

int wrong = 0;

void expect(bool right, const std::string& what) {
  if (right) return;
  wrong++;
  std::printf("WRONG %s\n", what.c_str());
}

// A folder as the system has it, with these siblings of every processor.
class Folder {
 public:
  explicit Folder(const std::vector<std::string>& siblings) {
    std::string name = (std::filesystem::temp_directory_path() / "opscope-cpus-XXXXXX").string();
    path_ = mkdtemp(name.data());
    for (size_t i = 0; i < siblings.size(); i++) {
      const auto topology = path_ / ("cpu" + std::to_string(i)) / "topology";
      std::filesystem::create_directories(topology);
      std::ofstream(topology / "thread_siblings_list") << siblings[i] << '\n';
    }
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

void check_order(const std::vector<std::string>& siblings, const std::vector<int>& usable, const std::vector<int>& expected, int physical, const std::string& text) {
  const cpu::Topology topology = cpu::read_topology(Folder(siblings).path(), usable);
  expect(topology.processors == expected && topology.physical == physical, "order of processors: " + cpu::placement_text(topology));
  expect(cpu::placement_text(topology).ends_with(text), "placement \"" + cpu::placement_text(topology) + "\", expected \"" + text + "\"");
}

// Cases that are open at the same time have one team of each size.
void check_shared() {
  auto team = cpu::Team::shared(1);
  expect(team == cpu::Team::shared(1) && team->size() == 1, "cases of one thread that are open together run on the same one");
  expect(team != cpu::Team::shared(2) && team != cpu::Team::shared(1, cpu::Team::Wait::asleep), "another size, and another way to wait, have teams of their own");
  const std::weak_ptr<cpu::Team> gone = team;
  team.reset();
  expect(gone.expired(), "a team ends with the last case that has it");
}

// Every thread of a team may run on its own processor only.
void check_bound(int threads) {
  cpu::Team team(threads);
  std::vector<int> at(static_cast<size_t>(threads), -1);
  team.lead([&] {
    team.run(
        [](void* context, int thread) {
          cpu_set_t set;
          CPU_ZERO(&set);
          if (sched_getaffinity(0, sizeof set, &set) != 0 || CPU_COUNT(&set) != 1) return;
          for (int i = 0; i < CPU_SETSIZE; i++)
            if (CPU_ISSET(i, &set)) static_cast<int*>(context)[thread] = i;
        },
        at.data());
  });
  const auto& processors = cpu::topology().processors;
  expect(team.pinned() == threads, "a team of " + std::to_string(threads) + " says that " + std::to_string(team.pinned()) + " are bound");
  for (size_t i = 0; i < at.size(); i++) expect(at[i] == processors[i], "thread " + std::to_string(i) + " is on processor " + std::to_string(at[i]) + ", expected " + std::to_string(processors[i]));
}

}  // namespace

int check_threads() {
  // Siblings half the processors apart, beside one another, and none.
  check_order({"0,2", "1,3", "0,2", "1,3"}, {0, 1, 2, 3}, {0, 1, 2, 3}, 2, ": 0-1, then their siblings 2-3");
  check_order({"0-1", "0-1", "2-3", "2-3"}, {0, 1, 2, 3}, {0, 2, 1, 3}, 2, ": 0, 2, then their siblings 1, 3");
  check_order({"0", "1", "2"}, {0, 1, 2}, {0, 1, 2}, 3, ": 0-2");
  // Of a core whose first processor may not be used, the other one is the first.
  check_order({"0-1", "0-1", "2-3", "2-3"}, {1, 2, 3}, {1, 2, 3}, 2, ": 1-2, then their siblings 3");
  const int processors = static_cast<int>(cpu::topology().processors.size());
  for (int threads = 1; threads <= processors && threads <= 8; threads++) check_bound(threads);
  check_shared();
  return wrong > 0;
}

#else

int check_threads() { return 0; }

#endif

}  // namespace opscope
