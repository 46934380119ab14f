// Where the threads of a team go: one per core before any core has two, each bound to its processor.
#include "threads.h"

#include "expected.h"
#include "hypervisor.h"
#include "quiet_processor.h"
#include "team.h"
#include "topology.h"

#if defined(__linux__)
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>
#endif

namespace opscope {

#if defined(__linux__)

namespace {

Expected expect;

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

// What the record says on systems that are not Linux.
void check_other_systems() {
  const cpu::Topology two = cpu::topology_of_cores({0b0011, 0b1100, 0b010000});
  expect(two.processors == std::vector<int>{0, 2, 4, 1, 3} && two.physical == 3, "siblings of a core are not counted as cores");
  expect(cpu::placement_text(two).starts_with("one per core first") && cpu::placement_text(two).ends_with("0, 2, 4, then their siblings 1, 3"), "placement by masks of cores");
  expect(cpu::placement_text(two, false) == "placed by the system: threads cannot be bound to a processor here", "threads that cannot be bound");
  cpu::Topology guest = cpu::topology_of_cores({0b0001, 0b0010, 0b0100});
  guest.cores_of_guest = true;
  expect(cpu::placement_text(guest) == "each bound to its processor: 0-2 (in a virtual machine, two of them may share a core; in interleaved rounds one thread takes the quietest)", "processors that a hypervisor tells to be cores");
  cpu::Topology unknown;
  unknown.processors = {0, 1, 2, 3}, unknown.physical = 4;
  expect(cpu::placement_text(unknown) == "each bound to its processor, in their order (which of them share a core is not known): 0-3", "processors whose cores are not known");
}

// Folders as machines and their guests have them.
void check_hypervisors() {
  using Files = std::vector<std::pair<std::string, std::string>>;
  const auto named = [](const Files& files) {
    std::string name = (std::filesystem::temp_directory_path() / "opscope-root-XXXXXX").string();
    const std::filesystem::path root = mkdtemp(name.data());
    for (const auto& [path, text] : files) {
      std::filesystem::create_directories((root / path).parent_path());
      std::ofstream(root / path, std::ios::binary) << text;
    }
    const bool found = cpu::files_name_hypervisor(root.string());
    std::filesystem::remove_all(root);
    return found;
  };
  const std::string dmi = "sys/class/dmi/id/";
  expect(!named({}) && !named({{dmi + "sys_vendor", "HPE\n"}, {dmi + "product_name", "ProLiant RL300 Gen11\n"}}), "a machine of its own");
  expect(named({{dmi + "sys_vendor", "Amazon EC2\n"}, {dmi + "product_name", "m7g.large\n"}}) && !named({{dmi + "sys_vendor", "Amazon EC2\n"}, {dmi + "product_name", "m7g.metal\n"}}), "a guest of a cloud, and a whole machine of it");
  expect(named({{dmi + "sys_vendor", "QEMU\n"}}) && named({{dmi + "product_name", "Google Compute Engine\n"}}), "guests by their firmware");
  expect(named({{dmi + "sys_vendor", "Microsoft Corporation\n"}, {dmi + "product_name", "Virtual Machine\n"}}) && !named({{dmi + "sys_vendor", "Microsoft Corporation\n"}, {dmi + "product_name", "Surface Pro\n"}}), "Hyper-V, and a computer of its vendor");
  expect(named({{"proc/device-tree/hypervisor/compatible", "linux,kvm"}}) && named({{"proc/device-tree/compatible", "linux,dummy-virt"}}) && !named({{"proc/device-tree/compatible", "raspberrypi,5-model-b"}}), "a device tree");
  expect(named({{"sys/hypervisor/type", "xen\n"}}) && !named({{"sys/hypervisor/type", "xen\n"}, {"proc/xen/capabilities", "control_d\n"}}), "a guest of Xen, and its first domain");
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

// Teams of one thread that live at the same time are on one processor, where threads can be bound.
void check_one() {
  const auto processor = [](cpu::Team& team) {
    int at = -1;
    team.lead([&] { at = sched_getcpu(); });
    return team.pinned() == 1 ? at : -1;
  };
  const auto& usable = cpu::topology().processors;
  for (int round = 0; round < 4; round++) {
    cpu::set_quietest(round % 2 == 0);
    cpu::Team first(1), second(1, cpu::Team::Wait::asleep);
    const int at = processor(first);
    expect(at == processor(second) && at == cpu::processor_of_one() && std::find(usable.begin(), usable.end(), at) != usable.end(), "teams of one thread on one of the usable processors");
    if (round % 2 == 1) expect(at == usable[0], "a team of one thread on the first processor");
  }
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

// Each part of the loops that a team shares is taken once in every run, also where a thread is late or takes none of its own.
void check_parts(int threads) {
  constexpr int PARTS = 8, LOOPS = 2, RUNS = 3;
  cpu::Team team(threads);
  struct Job {
    cpu::Team& team;
    std::vector<std::atomic<int>> taken;
  } job{team, std::vector<std::atomic<int>>(static_cast<size_t>(LOOPS * PARTS * threads))};
  team.lead([&] {
    for (int run = 0; run < RUNS; run++)
      team.run(
          [](void* context, int thread) {
            Job& j = *static_cast<Job*>(context);
            if (thread == j.team.size() - 1) std::this_thread::sleep_for(std::chrono::milliseconds(2));
            for (int loop = 0; loop < LOOPS; loop++)
              for (int part; (part = j.team.take(thread, PARTS, loop)) >= 0;) j.taken[static_cast<size_t>(loop * PARTS * j.team.size() + part)]++;
          },
          &job);
  });
  for (size_t i = 0; i < job.taken.size(); i++) expect(job.taken[i] == RUNS, "part " + std::to_string(i) + " of a team of " + std::to_string(threads) + " was taken " + std::to_string(job.taken[i]) + " times in " + std::to_string(RUNS) + " runs");
}

// The shares of a team follow one another from begin to end in every run, and that of a thread that is slow, or begins late, becomes smaller.
void check_shares(int threads, bool late) {
  constexpr int RUNS = 64;
  cpu::Team team(threads);
  struct Job {
    cpu::Team& team;
    const bool late;
    std::vector<cpu::Team::Share> shares;
  } job{team, late, std::vector<cpu::Team::Share>(static_cast<size_t>(threads))};
  bool whole = true;
  team.lead([&] {
    for (int run = 0; run < RUNS; run++) {
      team.run(
          [](void* context, int thread) {
            Job& j = *static_cast<Job*>(context);
            const auto wait = [&] {
              if (thread == j.team.size() - 1) std::this_thread::sleep_for(std::chrono::milliseconds(1));
            };
            if (j.late) wait();
            j.shares[static_cast<size_t>(thread)] = j.team.share(thread);
            if (!j.late) wait();
          },
          &job);
      int at = 0;
      for (const auto& [begin, end] : job.shares) {
        whole &= begin == at && end > begin;
        at = end;
      }
      whole &= at == cpu::Team::SHARES;
    }
  });
  expect(whole, "shares of a team of " + std::to_string(threads) + " do not follow one another from begin to end");
  const auto [begin, end] = job.shares.back();
  expect(end - begin < cpu::Team::SHARES / threads, std::string(late ? "the late" : "the slow") + " thread of a team of " + std::to_string(threads) + " keeps " + std::to_string(end - begin) + " of " + std::to_string(cpu::Team::SHARES));
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
  for (int threads = 2; threads <= 5; threads++) check_parts(threads), check_shares(threads, false), check_shares(threads, true);
  check_shared();
  check_one();
  check_other_systems();
  check_hypervisors();
  return expect.failed();
}

#else

int check_threads() { return 0; }

#endif

}  // namespace opscope
