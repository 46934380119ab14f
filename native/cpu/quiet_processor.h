// Which processor one thread computes on in a virtual machine, whose host may run something else beside any of them.
#pragma once

namespace opscope::cpu {

// From now on teams of one thread compute on the quietest processor, or on the first usable one as at the start. Those that live already stay where they are.
void set_quietest(bool asked);

// The processor of teams of one thread: all that live at a time have the same, so that what is measured beside one another is measured there. The first of
// them looks for the quietest where that is asked for and the system is such a guest.
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
