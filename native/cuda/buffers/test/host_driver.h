// A driver whose device memory is the host's, for what must be tested without a GPU.
#pragma once
#include <functional>
#include <string>

struct HostDriver {
  // Called in place of each kernel but those that fill and scan.
  std::function<void(const std::string& kernel, void** arguments)> kernel;
  // What waiting for the stream answers: a CUresult.
  int waiting = 0;
};

extern HostDriver host_driver;
