// What plans ask of the driver, on an invented machine: the launches and allocations that a test reads. Linked under the real one's name, so that it is found where that is opened.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

struct FakeLaunch {
  const std::string* kernel;  // `module/name`
  unsigned grid[3], threads, shared, cluster;
  bool early;
};

// Bytes of shared memory that a block gets unasked, with those that its kernel has of its own.
constexpr int fake_default_shared = 48 << 10;

struct FakeDriver {
  std::vector<FakeLaunch> launches;
  std::vector<uint64_t> allocations;  // bytes
  int tensor_maps = 0;
  std::map<const void*, int> granted;  // shared memory that kernels were asked for, beyond what they are given unasked
  int (*own_shared)(const std::string& kernel) = nullptr;  // bytes that a kernel has of its own
  unsigned long long next_address = 1 << 20;
};

extern __attribute__((visibility("default"))) FakeDriver fake_driver;
