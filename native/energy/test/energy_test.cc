// Counters of energy, on a powercap folder made for it:
//   cmake --build native/build --target opscope_energy_test && native/build/opscope_energy_test
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "prepared.h"
#include "recorder.h"

using namespace opscope;
namespace fs = std::filesystem;

namespace {

int failed = 0;

void expect(bool right, const char* what) {
  std::printf("%s: %s\n", what, right ? "right" : "WRONG");
  failed += !right;
}

void put(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream(file) << text << "\n";
}

std::string refusal(const std::string& root) {
  try {
    rapl_source(root);
  } catch (const Error& e) {
    return e.code + ": " + e.what();
  }
  return {};
}

// A counter of a joule every ten reads.
class Steps final : public EnergySource {
 public:
  double joules() override { return std::floor(reads_++ / 10.0); }
  double watts() override { return 250; }
  std::string title() const override { return "steps"; }

 private:
  int reads_ = 0;
};

}  // namespace

int main() {
  const fs::path root = fs::temp_directory_path() / "opscope-energy-test";
  fs::remove_all(root);
  expect(refusal(root.string()).find("unsupported: The system shows no energy counter") == 0, "a system without counters says so");
  put(root / "intel-rapl:0" / "name", "package-0");
  put(root / "intel-rapl:0" / "energy_uj", "1500000");
  put(root / "intel-rapl:0" / "max_energy_range_uj", "2000000");
  put(root / "intel-rapl:0:0" / "name", "core");
  put(root / "intel-rapl:0:0" / "energy_uj", "77");
  put(root / "intel-rapl:1" / "name", "package-1");
  put(root / "intel-rapl:1" / "energy_uj", "500000");
  put(root / "intel-rapl:1" / "max_energy_range_uj", "2000000");
  put(root / "intel-rapl-mmio:0" / "name", "package-0");
  put(root / "intel-rapl-mmio:0" / "energy_uj", "1500000");
  put(root / "intel-rapl-mmio:0" / "max_energy_range_uj", "2000000");
  const auto rapl = rapl_source(root.string());
  expect(std::abs(rapl->joules() - 2) < 1e-9, "packages are added up, each once, their parts are not");
  put(root / "intel-rapl:0" / "energy_uj", "100000");
  expect(std::abs(rapl->joules() - 2.6) < 1e-9, "a counter that starts again goes on");
  fs::remove(root / "intel-rapl:0" / "energy_uj");
  expect(std::isnan(rapl->joules()), "a counter that cannot be read any more is not a number");
  expect(std::abs(rapl_source(root.string())->joules() - 2) < 1e-9, "a package is read where it can be");
  fs::remove_all(root / "intel-rapl-mmio:0");
  expect(refusal(root.string()).find("may be read by root only") != std::string::npos, "a counter that may not be read says what allows it");
  fs::remove_all(root);

  EnergyRecorder recorder(std::make_unique<Steps>());
  std::this_thread::sleep_for(std::chrono::milliseconds(150));
  const EnergyTrace trace = recorder.stop();
  bool rises = trace.tick_ms.size() >= 2;
  for (size_t i = 1; i < trace.tick_ms.size(); i++) rises = rises && trace.tick_ms[i] > trace.tick_ms[i - 1] && trace.joules[i] == trace.joules[i - 1] + 1;
  expect(rises, "a recorder keeps when the counter moved");
  expect(!trace.watts.empty() && trace.watts[0] == 250 && trace.power_ms.size() == trace.watts.size() && trace.source == "steps", "and the power");
  return failed ? 1 : 0;
}
