// Plans of drawn cases of every operation on GPUs of each kind, none of which is here: part of opscope_cuda_plan_test.
#include <cstdio>
#include <map>
#include <set>
#include <string>

#include "driver/test/fake_driver.h"
#include "kernels/attention_choice.h"
#include "kernels/order_choose.h"
#include "kernels/test/draw.h"
#include "kernels/test/expect.h"
#include "kernels/test/gpus.h"
#include "module/sources.h"

using namespace opscope;
using namespace opscope::cuda;

namespace {

bool ends_with(const std::string& text, const std::string& end) { return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0; }

// Of the kernels that have shared memory of their own beside what a launch asks for, as their files say.
int own_shared(const std::string& kernel) {
  const auto starts = [&](const char* with) { return kernel.rfind(with, 0) == 0; };
  if (starts("order_filter/order_filter_sort")) return 0;
  if (starts("order_choose/order_choose_far") || starts("order_filter/")) return 48 << 10;
  if (starts("order_choose/")) return choose_own_shared;
  if (starts("scaled_dot_product_attention/scaled_dot_product_attention_")) return static_cast<int>(attention_any_own(ends_with(kernel, "_8") ? attention_any_few_keys : 32));
  if (starts("attention_warp/")) return attention_warp_own;
  if (starts("convolution_window/") && ends_with(kernel, "_shared")) return 8 << 10;
  if (starts("scatter_packed/scatter_packed")) return 5 << 10;
  if (starts("norm_backward_wide/") || starts("scatter_") || starts("group_norm_long/") || starts("group_norm_stay/")) return 2 << 10;
  if (starts("rows/") || starts("rows_stay/") || starts("layer_norm/")) return 1 << 10;
  for (const char* module : {"softmax/", "matmul_stream", "cumsum/", "pooling/", "convolution_depthwise/"})
    if (starts(module)) return 256;
  return 0;
}

struct Planned {
  std::vector<FakeLaunch> launches;
  std::string refusal;  // with its code
  int tensor_maps = 0;
};

Planned planned(Context& context, const CaseSpec& spec) {
  fake_driver.launches.clear(), fake_driver.allocations.clear();
  fake_driver.tensor_maps = 0;
  std::vector<CUdeviceptr> addresses;
  for (size_t i = 0; i < spec.tensors.size(); i++) addresses.push_back((i + 1) << 42);
  Planned plan;
  try {
    Planner planner(spec, context, addresses);
    find_op(spec.op)->plan(planner);
    for (const Launch& launch : planner.take_launches()) launch.enqueue(nullptr);
    plan.launches = fake_driver.launches;
  } catch (const Error& e) {
    plan.refusal = e.code + ": " + e.what();
  }
  plan.tensor_maps = fake_driver.tensor_maps;
  return plan;
}

// Whether a module has instructions of Hopper alone, and of Hopper and newer GPUs, without which its kernels do nothing.
struct Needs {
  bool wgmma, bulk;
};
Needs needs_of(const std::string& module) {
  static std::map<std::string, Needs> known;
  if (const auto found = known.find(module); found != known.end()) return found->second;
  const std::string text = amalgamated("kernels/" + module + ".cu");
  return known[module] = {text.find("__CUDA_ARCH_FEAT_SM90_ALL") != std::string::npos, text.find("define OPSCOPE_BULK") != std::string::npos};
}

// What of a launch the code of `gpu` has not; empty where it has all.
std::string missing(const Gpu& gpu, const FakeLaunch& launch) {
  const std::string& kernel = *launch.kernel;
  const int code = gpu.major * 10 + gpu.minor;
  const std::string module = kernel.substr(0, kernel.find('/'));
  const Needs needs = needs_of(module);
  if (needs.wgmma && code != 90 && (module != "peak_mma" || ends_with(kernel, "_wgmma"))) return "wgmma";
  if (needs.bulk && code < 90) return "bulk copies";
  if (launch.cluster > 1 && code < 90) return "clusters";
  if (launch.early && code < 90) return "early launches";
  if (kernel.find("scaled_matmul_mma_f8e4m3") != std::string::npos && code < 89) return "fp8";
  return {};
}

std::string words_of(const FakeLaunch& launch) {
  std::string words = *launch.kernel;
  for (const unsigned blocks : launch.grid) words += " " + std::to_string(blocks);
  words += " x " + std::to_string(launch.threads) + ", " + std::to_string(launch.shared) + " bytes";
  if (launch.cluster > 1) words += ", clusters of " + std::to_string(launch.cluster);
  return words + (launch.early ? ", early" : "");
}

// The first few of what is wrong, after the count.
struct Faults {
  int count = 0;
  std::string first;
  void add(const std::string& what) {
    if (count++ < 3) first += "\n  " + what;
  }
  std::string words() const { return count == 0 ? "" : " (" + std::to_string(count) + ")" + first; }
};

constexpr int cases_of_op = 400;
constexpr const char* hopper = "9.0";

}  // namespace

void device_plans() {
  fake_driver.own_shared = own_shared;
  // Long heads of attention in f32 need more shared memory than other GPUs have.
  const auto long_head = [](const std::string& refusal) { return refusal.find("is too large for this GPU") != std::string::npos; };
  std::map<std::string, std::set<std::string>> refused;
  for (const Gpu& gpu : gpus) {
    InventedGpu context(gpu);
    Faults shared, unasked, instructions, unclear, early;
    int plans = 0;
    for (const OpKernels& op : registered_ops())
      for (const CaseSpec& spec : drawn_cases(op, cases_of_op)) {
        const Planned plan = planned(context, spec);
        const std::string words = words_of(spec);
        plans++;
        if (!plan.refusal.empty() && !(long_head(plan.refusal) && gpu.shared_bytes < 227 << 10)) refused[gpu.name].insert(words);
        if (!plan.refusal.empty() && plan.refusal.rfind("unsupported: ", 0) != 0) unclear.add(words + ": " + plan.refusal);
        if (!plan.launches.empty() && plan.launches[0].early) early.add(words);
        for (const FakeLaunch& launch : plan.launches) {
          const int own = own_shared(*launch.kernel), granted = fake_driver.granted.count(launch.kernel) ? fake_driver.granted[launch.kernel] : fake_default_shared - own, asked = static_cast<int>(launch.shared);
          if (own + asked > gpu.shared_bytes) shared.add(words + ": " + words_of(launch));
          if (asked > granted) unasked.add(words + ": " + words_of(launch));
          if (const std::string what = missing(gpu, launch); !what.empty()) instructions.add(words + ": " + what + " for " + words_of(launch));
        }
        if (plan.tensor_maps > 0 && gpu.major < 9) instructions.add(words + ": a tensor map");
      }
    const std::string of = std::string(" on ") + gpu.name;
    expect(plans > 15'000, "drawn cases are planned" + of);
    expect(shared.count == 0, "no plan asks for more shared memory than there is" + of + shared.words());
    expect(unasked.count == 0, "every kernel is asked for the shared memory that it is launched with" + of + unasked.words());
    expect(instructions.count == 0, "no plan needs what the code has not" + of + instructions.words());
    expect(early.count == 0, "no plan begins with a launch that may start early, so that parts of a composite follow each other" + of + early.words());
    expect(unclear.count == 0, "what is refused is told why" + of + unclear.words());
  }
  for (const Gpu& gpu : gpus) {
    Faults fewer;
    for (const std::string& words : refused[gpu.name])
      if (refused[hopper].count(words) == 0) fewer.add(words);
    expect(fewer.count == 0, std::string("every case that 9.0 takes has a plan on ") + gpu.name + fewer.words());
  }
}

// For comparisons of two builds: every plan of the drawn cases, one launch a line.
int print_plans(const std::string& name, int cases) {
  fake_driver.own_shared = own_shared;
  for (const Gpu& gpu : gpus) {
    if (name != gpu.name) continue;
    InventedGpu context(gpu);
    for (const OpKernels& op : registered_ops())
      for (const CaseSpec& spec : drawn_cases(op, cases)) {
        const Planned plan = planned(context, spec);
        std::printf("%s\n", words_of(spec).c_str());
        if (!plan.refusal.empty()) std::printf("  %s\n", plan.refusal.c_str());
        for (const FakeLaunch& launch : plan.launches) std::printf("  %s\n", words_of(launch).c_str());
        for (const uint64_t bytes : fake_driver.allocations) std::printf("  workspace %llu\n", static_cast<unsigned long long>(bytes));
      }
    return 0;
  }
  std::printf("expected a GPU such as 9.0\n");
  return 2;
}
