// The caches that a processor tells by cpuid: of registers as known processors have them, and beside what the system of this machine lists.
#include "cache_sizes.h"

#include <cstdio>
#include <map>
#include <string>
#include <utility>

#include "caches.h"
#include "topology.h"

namespace opscope {

namespace {

int wrong = 0;

using Leaves = std::map<std::pair<uint32_t, uint32_t>, cpu::Registers>;

cpu::Cpuid answers(Leaves leaves) {
  return [leaves = std::move(leaves)](uint32_t leaf, uint32_t subleaf) {
    const auto found = leaves.find({leaf, subleaf});
    return found == leaves.end() ? cpu::Registers{} : found->second;
  };
}

// "L1 Data 48 KiB, 56 of 2": so many instances, each shared by so many.
std::string text_of(const std::vector<cpu::Cache>& caches) {
  std::string text;
  for (const cpu::Cache& cache : caches)
    text += " L" + std::to_string(cache.level) + " " + cache.type + " " + cpu::size_text(cache.bytes) + ", " + std::to_string(cache.instances) + " of " + std::to_string(cache.shared_by) + ";";
  return text;
}

void check(const cpu::Cpuid& cpuid, int processors, int cores, const std::string& expected) {
  const std::string found = text_of(cpu::caches_of(cpuid, processors, cores));
  if (found == expected) return;
  wrong++;
  std::printf("WRONG caches \"%s\", expected \"%s\"\n", found.c_str(), expected.c_str());
}

// Xeon Platinum 8480+: 56 cores of two threads, identifiers for 128.
const Leaves XEON = {
    {{0, 0}, {0x20, 0x756e6547, 0x6c65746e, 0x49656e69}}, {{0x80000000u, 0}, {0x80000008u}},
    {{4, 0}, {0xfc004121u, 0x02c0003f, 0x3f, 0}}, {{4, 1}, {0xfc004122u, 0x01c0003f, 0x3f, 0}}, {{4, 2}, {0xfc004143u, 0x03c0003f, 0x7ff, 0}}, {{4, 3}, {0xfc1fc163u, 0x0380003f, 0x1bfff, 4}},
};

// A guest on 64 processors of a Xeon of model 207, whose Linux lists the same sizes.
const Leaves GUEST = {
    {{0, 0}, {0x20, 0x756e6547, 0x6c65746e, 0x49656e69}}, {{0x80000000u, 0}, {0x80000008u}}, {{0x80000006u, 0}, {0, 0, 0x08007040}},
    {{4, 0}, {0xfc000121u, 0x02c0003f, 0x3f, 0}}, {{4, 1}, {0xfc000122u, 0x01c0003f, 0x3f, 0}}, {{4, 2}, {0xfc000143u, 0x03c0003f, 0x7ff, 0}}, {{4, 3}, {0xfc0fc163u, 0x04c0003f, 0x3bfff, 4}},
};

// EPYC 9654: 96 cores of two threads, eight cores to a last-level cache.
const Leaves EPYC = {
    {{0, 0}, {0x10, 0x68747541, 0x444d4163, 0x69746e65}}, {{0x80000000u, 0}, {0x80000028u}},
    {{0x8000001du, 0}, {0x4121, 0x01c0003f, 0x3f, 0}}, {{0x8000001du, 1}, {0x4122, 0x01c0003f, 0x3f, 0}}, {{0x8000001du, 2}, {0x4143, 0x01c0003f, 0x7ff, 2}}, {{0x8000001du, 3}, {0x3c163, 0x03c0003f, 0x7fff, 1}},
};

// A guest on two cores of an EPYC of family 0x1a, whose hypervisor hides the leaf that describes each cache.
const Leaves HIDDEN = {
    {{0, 0}, {0xd, 0x68747541, 0x444d4163, 0x69746e65}}, {{0x80000000u, 0}, {0x80000021u}},
    {{0x80000005u, 0}, {0xff60ff40u, 0xff60ff40u, 0x300c0140, 0x20080140}}, {{0x80000006u, 0}, {0x40802040, 0x60804040, 0x04006140, 0x0fe09140}},
};

#if defined(__linux__)

// Where the system lists the caches, cpuid tells the same ones.
void check_system() {
  const cpu::Topology& own = cpu::topology();
  const cpu::Topology listed = cpu::read_topology("/sys/devices/system/cpu", own.processors);
  const std::vector<cpu::Cache> told = cpu::caches_of(cpu::cpuid, static_cast<int>(own.processors.size()), own.physical);
  if (listed.caches.empty() || told.empty()) return;
  const auto sizes = [](const std::vector<cpu::Cache>& caches) {
    std::string text;
    for (const cpu::Cache& cache : caches) text += " L" + std::to_string(cache.level) + " " + cache.type + " " + cpu::size_text(cache.bytes);
    return text;
  };
  if (sizes(listed.caches) == sizes(told)) return;
  wrong++;
  std::printf("WRONG the system lists%s, the processor tells%s\n", sizes(listed.caches).c_str(), sizes(told).c_str());
}

#endif

}  // namespace

int check_caches() {
  check(answers(XEON), 112, 56, " L1 Data 48 KiB, 56 of 2; L1 Instruction 32 KiB, 56 of 2; L2 Unified 2 MiB, 56 of 2; L3 Unified 105 MiB, 1 of 112;");
  check(answers(XEON), 8, 8, " L1 Data 48 KiB, 8 of 1; L1 Instruction 32 KiB, 8 of 1; L2 Unified 2 MiB, 8 of 1; L3 Unified 105 MiB, 1 of 8;");
  check(answers(GUEST), 64, 64, " L1 Data 48 KiB, 64 of 1; L1 Instruction 32 KiB, 64 of 1; L2 Unified 2 MiB, 64 of 1; L3 Unified 300 MiB, 1 of 64;");
  check(answers(EPYC), 192, 96, " L1 Data 32 KiB, 96 of 2; L1 Instruction 32 KiB, 96 of 2; L2 Unified 1 MiB, 96 of 2; L3 Unified 32 MiB, 12 of 16;");
  check(answers(HIDDEN), 2, 2, "");
  check(answers({}), 4, 4, "");
#if defined(__linux__)
  check_system();
#endif
  return wrong > 0;
}

}  // namespace opscope
