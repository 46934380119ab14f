// A case whose calls are made by a guest: between the C functions of guest.h and the two backends.
#pragma once
#include <memory>

#include "guest.h"
#include "prepared.h"

namespace opscope {

// Buffers, clocks and timers of a backend around a guest's calls. Lives on the thread that the guest computes on.
class GuestCase {
 public:
  virtual ~GuestCase() = default;
  virtual Prepared& prepared() = 0;
  // One call on every set, and waits.
  virtual void run() = 0;
  virtual int sets() const = 0;
  // Null when there is no such buffer.
  virtual void* input_at(int set, int input) const = 0;
  virtual void* output_at(int set, int output) const = 0;
  virtual void* stream() const { return nullptr; }
  // Time in ns of a call for nothing, which is taken off samples.
  virtual double callback_ns() { return 0; }
};

// Asks the guest. Throws Error("kernel-failed") when it says that it failed; it keeps the reason.
inline void ask(opscope_guest_call guest, int action, int set, int count) {
  if (guest(action, set, count) != 0) throw Error("kernel-failed", "the guest's call failed");
}

// `spec`: without op, implementation and dims.
namespace cpu {
std::unique_ptr<GuestCase> open_guest(const CaseSpec& spec, opscope_guest_call guest);
}
namespace cuda {
// Always declared, as cuda::open is.
std::unique_ptr<GuestCase> open_guest(const CaseSpec& spec, opscope_guest_call guest);
}

}  // namespace opscope
