#include "nvrtc.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <map>
#include <system_error>

#ifndef _WIN32
#include <dlfcn.h>
#include <unistd.h>
#endif

#include "../vendor/search.h"
#include "archs.h"
#include "fatbins.h"
#include "prepared.h"
#include "sources.h"

namespace opscope::cuda {

namespace {

namespace fs = std::filesystem;

const std::vector<std::string>& names() {
#ifdef _WIN32
  static const std::vector<std::string> list = {"nvrtc64_130_0.dll", "nvrtc64_120_0.dll"};
#else
  static const std::vector<std::string> list = {"libnvrtc.so.13", "libnvrtc.so.12"};
#endif
  return list;
}

// What we use of nvrtc.h; 0 is success.
struct Table {
  int (*version)(int*, int*) = nullptr;
  int (*create)(void**, const char* source, const char* name, int headers, const char* const* texts, const char* const* header_names) = nullptr;
  int (*compile)(void*, int options, const char* const*) = nullptr;
  int (*cubin_size)(void*, size_t*) = nullptr;
  int (*cubin)(void*, char*) = nullptr;
  int (*log_size)(void*, size_t*) = nullptr;
  int (*log)(void*, char*) = nullptr;
  int (*ask_name)(void*, const char* expression) = nullptr;
  int (*lowered_name)(void*, const char* expression, const char**) = nullptr;
  int (*destroy)(void**) = nullptr;
  std::vector<std::string> includes;
  std::vector<int> archs;  // that it compiles for, as 90; none where it does not say
  Nvrtc about;
};

// Folders with the headers of CUDA: beside the library, beside its package, or of a toolkit.
std::vector<std::string> header_folders(const std::string& library_folder) {
  std::vector<fs::path> candidates;
  const auto around = [&](const fs::path& folder) {
    candidates.push_back(folder / ".." / "include");
    candidates.push_back(folder / ".." / ".." / "cuda_runtime" / "include");
    candidates.push_back(folder / ".." / "targets" / "x86_64-linux" / "include");
  };
  if (!library_folder.empty()) around(library_folder);
  for (const auto& folder : library_folders()) around(folder);
  candidates.emplace_back("/usr/local/cuda/include");
  candidates.emplace_back("/usr/include");
  for (const auto& candidate : candidates) {
    std::error_code problem;
    if (fs::exists(candidate / "cuda_fp16.h", problem)) return {candidate.lexically_normal().string()};
  }
  return {};
}

Table load() {
  Table t;
  static const Library library = open_library(names());
  if (!library.found()) {
    t.about.missing = not_found("NVRTC", names(), "nvidia-cuda-nvrtc");
    return t;
  }
  const auto find = [&](auto& slot, const char* name) {
    slot = reinterpret_cast<std::remove_reference_t<decltype(slot)>>(library.symbol(name));
    if (!slot && t.about.missing.empty()) t.about.missing = std::string("NVRTC cannot be used: it has no ") + name + ".";
  };
  find(t.version, "nvrtcVersion");
  find(t.create, "nvrtcCreateProgram");
  find(t.compile, "nvrtcCompileProgram");
  find(t.cubin_size, "nvrtcGetCUBINSize");
  find(t.cubin, "nvrtcGetCUBIN");
  find(t.log_size, "nvrtcGetProgramLogSize");
  find(t.log, "nvrtcGetProgramLog");
  find(t.ask_name, "nvrtcAddNameExpression");
  find(t.lowered_name, "nvrtcGetLoweredName");
  find(t.destroy, "nvrtcDestroyProgram");
  if (!t.about.missing.empty()) return t;
  std::string folder;
#ifndef _WIN32
  Dl_info info = {};
  std::error_code problem;
  if (dladdr(reinterpret_cast<void*>(t.version), &info) && info.dli_fname) folder = fs::weakly_canonical(info.dli_fname, problem).parent_path().string();
#endif
  t.includes = header_folders(folder);
  if (t.includes.empty()) {
    t.about.missing = "NVRTC was found, but not the headers of CUDA (cuda_fp16.h) that the kernels include. Install the CUDA toolkit, or nvidia-cuda-runtime in the Python environment that brings NVRTC.";
    return t;
  }
  int major = 0, minor = 0;
  t.version(&major, &minor);
  // NVRTC asks the loader for its builtins by name only; once open they are found, also in a folder that the loader does not search.
  static const Library builtins(std::vector<std::string>{folder.empty() ? "" : (fs::path(folder) / ("libnvrtc-builtins.so." + std::to_string(major) + "." + std::to_string(minor))).string()});
  const auto count_archs = reinterpret_cast<int (*)(int*)>(library.symbol("nvrtcGetNumSupportedArchs"));
  const auto list_archs = reinterpret_cast<int (*)(int*)>(library.symbol("nvrtcGetSupportedArchs"));
  if (int count = 0; count_archs && list_archs && count_archs(&count) == 0) {
    t.archs.resize(static_cast<size_t>(count));
    if (list_archs(t.archs.data()) != 0) t.archs.clear();
  }
  t.about.version = std::to_string(major) + "." + std::to_string(minor) + ", " + origin_of(library.name());
  return t;
}

const Table& table() {
  static const Table t = load();
  return t;
}

// FNV-1a: names files of the cache; what is read is still checked by the driver.
uint64_t hash_of(const std::string& text) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const unsigned char byte : text) hash = (hash ^ byte) * 0x100000001b3u;
  return hash;
}

fs::path cache_file(const std::string& kernel, const std::string& arch, const std::string& source) {
  const char* folder = std::getenv("OPSCOPE_KERNEL_CACHE");
  if (!folder || !*folder) return {};
  char hash[17];
  std::snprintf(hash, sizeof hash, "%016llx", static_cast<unsigned long long>(hash_of(source + "|" + table().about.version)));
  return fs::path(folder) / (kernel + "-" + arch + "-" + hash + ".cubin");
}

// A file of the cache: lines of the symbol and of the cubin's bytes, the cubin. Without image where it is absent or was cut.
CompiledKernel read_file(const fs::path& path) {
  CompiledKernel kernel;
  std::string bytes;
  std::ifstream file(path, std::ios::binary);
  std::getline(file, kernel.symbol);
  std::getline(file, bytes);
  kernel.image = {std::istreambuf_iterator<char>(file), {}};
  if (std::to_string(kernel.image.size()) != bytes) kernel.image.clear();
  return kernel;
}

// A cache that cannot be written costs time at the next start, and nothing else.
void keep(const fs::path& path, const CompiledKernel& kernel) {
  std::error_code problem;
  fs::create_directories(path.parent_path(), problem);
#ifdef _WIN32
  const fs::path part = path.string() + ".part";
#else
  const fs::path part = path.string() + "." + std::to_string(getpid()) + ".part";
#endif
  {
    std::ofstream file(part, std::ios::binary);
    file << kernel.symbol << '\n' << kernel.image.size() << '\n';
    file.write(kernel.image.data(), static_cast<std::streamsize>(kernel.image.size()));
    file.close();
    if (!file) {
      fs::remove(part, problem);
      return;
    }
  }
  fs::rename(part, path, problem);
}

// NVRTC has no C++ library; the kernels take fixed-width integers and a few traits from it.
constexpr const char* cstdint_text =
    "#pragma once\n"
    "typedef signed char int8_t;\ntypedef short int16_t;\ntypedef int int32_t;\ntypedef long long int64_t;\n"
    "typedef unsigned char uint8_t;\ntypedef unsigned short uint16_t;\ntypedef unsigned int uint32_t;\ntypedef unsigned long long uint64_t;\ntypedef unsigned long long uintptr_t;\n"
    "namespace std { using ::int8_t; using ::int16_t; using ::int32_t; using ::int64_t; using ::uint8_t; using ::uint16_t; using ::uint32_t; using ::uint64_t; using ::uintptr_t; }\n";

constexpr const char* type_traits_text =
    "#pragma once\n"
    "namespace std {\n"
    "template <class A, class B> inline constexpr bool is_same_v = false;\ntemplate <class A> inline constexpr bool is_same_v<A, A> = true;\n"
    "template <class T> struct remove_reference { using type = T; };\ntemplate <class T> struct remove_reference<T&> { using type = T; };\ntemplate <class T> struct remove_reference<T&&> { using type = T; };\n"
    "template <class T> using remove_reference_t = typename remove_reference<T>::type;\n"
    "}\n";

// What nvcc includes without being asked.
constexpr const char* prelude =
    "#ifndef INFINITY\n#define INFINITY __builtin_bit_cast(float, 0x7f800000u)\n#endif\n"
    "#ifndef NAN\n#define NAN __builtin_bit_cast(float, 0x7fffffffu)\n#endif\n";

std::string words_for(const std::string& module, const std::string& name) { return name.empty() ? "the kernels of " + module : name + " of " + module; }

// Every kernel of a file as a template, of which the compiler makes those that are asked for: a module of hundreds takes up to a minute, a kernel
// 0.2 to 5 s.
std::string as_templates(std::string source) {
  constexpr std::string_view made = "template <int> __global__";
  for (size_t at = 0; (at = source.find(kernel_opening, at)) != std::string::npos; at += made.size()) source.replace(at, kernel_opening.size(), made);
  return source;
}

CompiledKernel compile(const std::string& module, const std::string& name, const std::string& arch, const std::string& source) {
  const Table& t = table();
  void* program = nullptr;
  const char* texts[] = {cstdint_text, type_traits_text};
  const char* header_names[] = {"cstdint", "type_traits"};
  if (t.create(&program, source.c_str(), (module + ".cu").c_str(), 2, texts, header_names) != 0) throw Error("unsupported", "NVRTC could not start on " + module + ".cu.");
  const struct Destroy {
    const Table& t;
    void* program;
    ~Destroy() { t.destroy(&program); }
  } destroy{t, program};
  // The last: what nvcc has as --expt-relaxed-constexpr.
  std::vector<std::string> words = {"--gpu-architecture=" + arch, "-std=c++17", "-default-device"};
  for (const auto& folder : t.includes) words.push_back("-I" + folder);
  std::vector<const char*> options;
  for (const auto& word : words) options.push_back(word.c_str());
  const std::string wanted = name + "<0>";
  if (!name.empty()) t.ask_name(program, wanted.c_str());
  if (t.compile(program, static_cast<int>(options.size()), options.data()) != 0) {
    size_t size = 0;
    t.log_size(program, &size);
    std::string log(size, '\0');
    t.log(program, log.data());
    throw Error("unsupported", "NVRTC " + t.about.version + " could not compile " + words_for(module, name) + " for " + arch + ".", log.substr(0, 8000));
  }
  size_t size = 0;
  const char* symbol = "";
  if (t.cubin_size(program, &size) != 0 || size == 0 || (!name.empty() && t.lowered_name(program, wanted.c_str(), &symbol) != 0)) throw Error("unsupported", "NVRTC gave no code for " + words_for(module, name) + " on " + arch + ".");
  CompiledKernel kernel{symbol, std::vector<char>(size)};
  t.cubin(program, kernel.image.data());
  return kernel;
}

}  // namespace

const Nvrtc& nvrtc() { return table().about; }

std::string nvrtc_refusal(int major, int minor) {
  const Table& t = table();
  if (!t.about.missing.empty()) return t.about.missing;
  if (t.archs.empty() || std::find(t.archs.begin(), t.archs.end(), major * 10 + minor) != t.archs.end()) return {};
  return "NVRTC " + t.about.version + ", does not compile for compute capability " + std::to_string(major) + "." + std::to_string(minor) + ": install a newer one.";
}

KernelCode kernel_code(int major, int minor) {
  const char* asked = std::getenv("OPSCOPE_NVRTC");
  return code_for(built_archs(), major, minor, [&] { return nvrtc_refusal(major, minor).empty(); }, asked && std::string(asked) == "1");
}

// Hopper's own instructions need their own architecture.
std::string nvrtc_arch(int major, int minor) { return "sm_" + std::to_string(major) + std::to_string(minor) + (major == 9 && minor == 0 ? "a" : ""); }

CompiledKernel compiled_kernel(const std::string& module, const std::string& name, int major, int minor) {
  if (const std::string refusal = nvrtc_refusal(major, minor); !refusal.empty()) throw Error("unsupported", refusal);
  const std::string path = find_source("kernels/" + module + ".cu") ? "kernels/" + module + ".cu" : "device/" + module + ".cu";
  const std::string text = prelude + amalgamated(path), source = name.empty() ? text : as_templates(text), arch = nvrtc_arch(major, minor);
  const fs::path cached = cache_file(name.empty() ? module : module + "-" + name, arch, source);
  if (!cached.empty())
    if (CompiledKernel kernel = read_file(cached); !kernel.image.empty()) return kernel;
  CompiledKernel kernel = compile(module, name, arch, source);
  if (!cached.empty()) keep(cached, kernel);
  return kernel;
}

namespace {
bool in_background = false;
}

void set_compile_in_background(bool on) { in_background = on; }
bool compiles_in_background() { return in_background; }

CompiledKernel kernel_when_compiled(const std::string& module, const std::string& name, int major, int minor) {
  // Never destroyed: a process that ends need not wait for a compiler.
  static auto* running = new std::map<std::string, std::future<CompiledKernel>>;
  const std::string key = module + " " + name + " " + nvrtc_arch(major, minor);
  auto found = running->find(key);
  if (found == running->end()) found = running->emplace(key, std::async(std::launch::async, compiled_kernel, module, name, major, minor)).first;
  if (found->second.wait_for(std::chrono::milliseconds(200)) != std::future_status::ready) throw Error("compiling", "NVRTC is compiling " + words_for(module, name) + ".");
  std::future<CompiledKernel> done = std::move(found->second);
  running->erase(found);
  return done.get();
}

}  // namespace opscope::cuda
