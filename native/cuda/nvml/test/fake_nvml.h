// What the invented machine has and says; tests change it.
#pragma once
#include <string>
#include <vector>

struct Machine {
  std::vector<std::string> gpus;
  unsigned clock_mhz = 0;
  unsigned long long millijoules = 0, throttle = 0;
  std::vector<unsigned> computing, drawing;  // numbers of processes, as the driver lists them
};

extern __attribute__((visibility("default"))) Machine machine;
