#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <set>
#include <system_error>
#include <vector>

#include "prepared.h"
#include "source.h"

namespace opscope {

namespace {

namespace fs = std::filesystem;

bool read_number(const fs::path& file, double* value) {
  std::ifstream stream(file);
  return static_cast<bool>(stream >> *value);
}

// A counter in microjoules that starts again at 0 beyond `range`.
struct Domain {
  fs::path counter;
  double range, last = 0, wrapped = 0;

  double joules() {
    double now = 0;
    if (!read_number(counter, &now)) return std::numeric_limits<double>::quiet_NaN();
    if (now < last) wrapped += range;
    last = now;
    return (now + wrapped) * 1e-6;
  }
};

class Rapl final : public EnergySource {
 public:
  explicit Rapl(std::vector<Domain> domains) : domains_(std::move(domains)) {}

  double joules() override {
    double sum = 0;
    for (Domain& domain : domains_) sum += domain.joules();
    return sum;
  }
  double watts() override { return std::numeric_limits<double>::quiet_NaN(); }
  std::string title() const override { return domains_.size() == 1 ? "RAPL package domain" : "RAPL package domains (" + std::to_string(domains_.size()) + ")"; }

 private:
  std::vector<Domain> domains_;
};

}  // namespace

std::unique_ptr<EnergySource> rapl_source(const std::string& root) {
  // Some processors show a package twice, as intel-rapl:0 and intel-rapl-mmio:0: one counter of each name counts, the first that can be read.
  std::vector<fs::path> folders;
  std::error_code problem;
  for (const auto& entry : fs::directory_iterator(root, problem)) folders.push_back(entry.path());
  // ':' comes after '-': the registers of the processor before those mapped to memory.
  std::sort(folders.rbegin(), folders.rend());
  std::vector<Domain> domains;
  std::set<std::string> counted, unreadable;
  for (const fs::path& folder : folders) {
    std::ifstream file(folder / "name");
    std::string name;
    if (!(file >> name) || name.rfind("package", 0) != 0 || counted.count(name)) continue;
    Domain domain = {folder / "energy_uj", 0};
    double first = 0;
    if (!read_number(domain.counter, &first)) {
      unreadable.insert(name);
      continue;
    }
    read_number(folder / "max_energy_range_uj", &domain.range);
    domain.last = first;
    counted.insert(name);
    unreadable.erase(name);
    domains.push_back(std::move(domain));
  }
  if (!unreadable.empty())
    throw Error("unsupported", "The energy counter of the processor may be read by root only. \"sudo chmod a+r " + root + "/intel-rapl:*/energy_uj\" allows it until the next start.");
  if (domains.empty()) throw Error("unsupported", "The system shows no energy counter of the processor (powercap), as in most virtual machines.");
  return std::make_unique<Rapl>(std::move(domains));
}

}  // namespace opscope
