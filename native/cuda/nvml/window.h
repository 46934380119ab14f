// The state of a device over a window of time, from readings taken while it worked.
#pragma once
#include "prepared.h"

namespace opscope::cuda {

class StateWindow {
 public:
  // Clocks and power become the mean of the readings, throttle reasons their union, temperature and processes the highest.
  void add(const DeviceState& reading);
  bool empty() const { return count_ == 0; }
  // The window so far; readings that never came are absent.
  DeviceState state() const;

 private:
  struct Mean {
    double sum = 0;
    int count = 0;
    void add(double value);
    double value() const;
  };
  Mean sm_clock_, mem_clock_, power_;
  DeviceState all_ = {};
  int count_ = 0;
};

}  // namespace opscope::cuda
