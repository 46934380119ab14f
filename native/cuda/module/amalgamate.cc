#include <filesystem>
#include <set>
#include <sstream>

#include "prepared.h"
#include "sources.h"

namespace opscope::cuda {

namespace {

namespace fs = std::filesystem;
using Find = std::function<std::optional<std::string_view>(const std::string&)>;

void append(const std::string& path, const Find& find, std::set<std::string>& seen, std::string& text) {
  if (!seen.insert(path).second) return;
  const auto source = find(path);
  if (!source) throw Error("internal", "the source of the kernels has no " + path);
  std::istringstream lines{std::string(*source)};
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("#pragma once", 0) == 0) continue;
    constexpr std::string_view opening = "#include \"";
    if (line.rfind(opening, 0) != 0) {
      text += line + "\n";
      continue;
    }
    const std::string name = line.substr(opening.size(), line.find('"', opening.size()) - opening.size());
    const std::string beside = (fs::path(path).parent_path() / name).lexically_normal().generic_string();
    append(find(beside) ? beside : (fs::path("kernels") / name).lexically_normal().generic_string(), find, seen, text);
  }
}

}  // namespace

std::string amalgamated(const std::string& path, const Find& find) {
  std::set<std::string> seen;
  std::string text;
  append(path, find, seen, text);
  return text;
}

}  // namespace opscope::cuda
