// What a test of native code expects.
#pragma once
#include <cstdio>
#include <string>

namespace opscope {

// Prints a line for everything that is not so.
class Expected {
 public:
  void operator()(bool right, const std::string& what) {
    if (right) return;
    wrong_++;
    std::printf("WRONG %s\n", what.c_str());
  }
  bool failed() const { return wrong_ > 0; }

 private:
  int wrong_ = 0;
};

}  // namespace opscope
