// Which processor one thread computes on in a virtual machine, whose host may run something else beside any of them.
#pragma once

namespace opscope::cpu {

// The processor of teams of one thread: all that live at a time have the same, so that what is measured beside one another is measured there; the first of
// them looks for the quietest. Elsewhere than in such a guest it is the first usable one.
class OneProcessor {
 public:
  OneProcessor();
  ~OneProcessor();
  OneProcessor(const OneProcessor&) = delete;

  // Binds the calling thread to it. False where that is not allowed.
  bool bind();
};

// Its number; -1 where no processor is known.
int processor_of_one();

}  // namespace opscope::cpu
