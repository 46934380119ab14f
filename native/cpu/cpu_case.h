// One case ready to run on the CPU.
#pragma once
#include "kernel.h"
#include "prepared.h"
#include "team.h"
#include "tensors.h"

namespace opscope::cpu {

class CpuCase final : public Prepared {
 public:
  CpuCase(const CaseSpec& spec, const Kernel& kernel);

  void poison() override;
  void run() override;
  int64_t count_unwritten() override;
  void read(int64_t start, int64_t count, void* destination) override;
  SampleBatch sample(Mode mode, int count, int inner) override;
  int64_t case_bytes() const override { return tensors_.bytes(); }
  double tick_ns() const override;
  std::string timer() const override { return "steady-clock"; }
  std::vector<std::string> notes() const override { return notes_; }

 private:
  // fn(begin, end) on every thread, over its share of 0..n.
  template <class F>
  void each(int64_t n, const F& fn);
  void call();

  const CaseSpec spec_;
  const Kernel& kernel_;
  Team team_;
  Tensors tensors_;
  Call call_{};
  std::vector<std::string> notes_;
};

}  // namespace opscope::cpu
