// One case ready to run on the CPU.
#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "block.h"
#include "calls.h"
#include "prepared.h"
#include "team.h"
#include "tensors.h"

namespace opscope::cpu {

class CpuCase final : public Prepared {
 public:
  // On the tensors of `beside`, as they are filled, where it has such, and then on its scratch memory too where that is of the same size.
  CpuCase(const CaseSpec& spec, std::unique_ptr<Calls> calls, const CpuCase* beside = nullptr);

  const std::vector<Tensors>& sets() const { return *sets_; }

  void refill(const std::vector<Fill>& fills) override;
  void poison() override;
  void run() override;
  std::vector<OutputScan> scan() override;
  void read(size_t output, int64_t start, int64_t count, void* destination) override;
  SampleBatch sample(Mode mode, int count, int inner) override;
  int64_t case_bytes() const override { return case_bytes_; }
  double tick_ns() const override;
  std::string timer() const override { return "steady-clock"; }
  double clock_settles_seconds() const override;
  std::vector<std::string> notes() const override { return notes_; }
  bool counts() const override { return true; }
  CallCounts count(Mode mode, int calls) override;

 private:
  // Whether this case can be called on the tensors of `other`.
  bool has_tensors_of(const CpuCase& other) const;
  // fn(begin, end) on every thread, over its share of a tensor's elements.
  template <class F>
  void each(const TensorDesc& tensor, const F& fn);
  // Runs `job` on the thread that makes the calls.
  void where_called(const std::function<void()>& job);
  // Takes the samples, on the thread that makes the calls.
  void take(SampleBatch& batch, Mode mode, int count, int calls);
  // Calls on the current set.
  void call(int count);
  // Makes the next set the current one, in mode rotated.
  void advance() { current_ = current_ + 1 == sets_->size() ? 0 : current_ + 1; }

  const CaseSpec spec_;
  std::vector<TensorDesc> inputs_, outputs_;  // tensors that are read / written
  const std::vector<TensorDesc> buffers_;     // all tensors, and behind them the scratch buffers
  const std::unique_ptr<Calls> calls_;
  const std::shared_ptr<Team> team_;
  std::shared_ptr<Block> scratch_;
  std::shared_ptr<std::vector<Tensors>> sets_;
  std::vector<char> used_;  // by a call since poison(), for every set
  size_t current_ = 0;      // the set used last
  int64_t case_bytes_ = 0;
  std::vector<std::string> notes_;
};

}  // namespace opscope::cpu
