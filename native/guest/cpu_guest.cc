// A guest on the CPU: it computes on the thread that asks, with whatever threads it has itself.
#include <algorithm>
#include <array>
#include <optional>

#include "clock.h"
#include "cpu_case.h"
#include "guest_case.h"

namespace opscope::cpu {

namespace {

class GuestCalls final : public Calls {
 public:
  explicit GuestCalls(opscope_guest_call guest) : guest_(guest) {}

  void bind(const std::vector<Tensors>&, float*, Team&) override {}
  void run(size_t set, int count) override { ask(guest_, OPSCOPE_GUEST_RUN, static_cast<int>(set), count); }
  bool alone() const override { return true; }
  // Asked for nothing many times; measured when first wanted, for a guest is not ready while its case is being opened.
  double overhead_ns() const override {
    if (overhead_ns_) return *overhead_ns_;
    std::array<int64_t, 1001> times;
    for (int64_t& time : times) {
      const int64_t start = now_ns();
      ask(guest_, OPSCOPE_GUEST_RUN, 0, 0);
      time = now_ns() - start;
    }
    std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
    overhead_ns_ = std::max(0.0, static_cast<double>(times[times.size() / 2]) - clock_cost().read_ns);
    return *overhead_ns_;
  }

 private:
  const opscope_guest_call guest_;
  mutable std::optional<double> overhead_ns_;
};

class CpuGuest final : public GuestCase {
 public:
  CpuGuest(const CaseSpec& spec, std::unique_ptr<GuestCalls> calls) : calls_(*calls), case_(spec, std::move(calls)) {}

  Prepared& prepared() override { return case_; }
  void run() override {
    for (int i = 0; i < sets(); i++) case_.run();
  }
  int sets() const override { return static_cast<int>(case_.sets().size()); }
  void* input_at(int set, int input) const override {
    const Tensors* tensors = at(set);
    return tensors ? buffer(tensors->inputs(), input) : nullptr;
  }
  void* output_at(int set, int output) const override {
    const Tensors* tensors = at(set);
    return tensors ? buffer(tensors->outputs(), output) : nullptr;
  }
  double callback_ns() override { return calls_.overhead_ns(); }

 private:
  static void* buffer(const std::vector<void*>& list, int index) { return index >= 0 && static_cast<size_t>(index) < list.size() ? list[static_cast<size_t>(index)] : nullptr; }
  const Tensors* at(int set) const { return set >= 0 && set < sets() ? &case_.sets()[static_cast<size_t>(set)] : nullptr; }

  const GuestCalls& calls_;  // the case's
  CpuCase case_;
};

}  // namespace

std::unique_ptr<GuestCase> open_guest(const CaseSpec& spec, opscope_guest_call guest) {
  if (spec.device != 0) throw Error("unsupported", "there is one CPU device; received number " + std::to_string(spec.device));
  if (spec.dtype == Dtype::tf32) throw Error("unsupported", "tf32 is computed on GPUs only");
  return std::make_unique<CpuGuest>(spec, std::make_unique<GuestCalls>(guest));
}

}  // namespace opscope::cpu
