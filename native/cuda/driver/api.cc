#include "api.h"

#include "library.h"
#include "prepared.h"

namespace opscope::cuda {

namespace {

std::string version_text(int version) { return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10); }

Api load() {
  Api table;
#ifdef _WIN32
  static const Library library({"nvcuda.dll"});
#else
  static const Library library({"libcuda.so.1"});
#endif
  if (!library.found()) {
    table.missing = "No NVIDIA driver was found on this machine (" + library.error() + ").";
    return table;
  }
#define OPSCOPE_LOAD(name, symbol_name)                                                       \
  table.name = reinterpret_cast<decltype(table.name)>(library.symbol(symbol_name));           \
  if (!table.name && table.missing.empty())                                                   \
    table.missing = "The NVIDIA driver is too old: it has no " symbol_name ". Driver 580 or newer is needed.";
  OPSCOPE_CUDA_FUNCTIONS(OPSCOPE_LOAD)
#undef OPSCOPE_LOAD
  if (!table.missing.empty()) return table;
  const CUresult started = table.Init(0);
  if (started != CUDA_SUCCESS) {
    const char* name = nullptr;
    table.GetErrorName(started, &name);
    table.missing = started == CUDA_ERROR_NO_DEVICE
                        ? "The NVIDIA driver is installed but finds no GPU."
                        : std::string("The NVIDIA driver is installed but does not start (") + (name ? name : "unknown error") + ").";
    return table;
  }
  table.DriverGetVersion(&table.driver_version);
  if (table.driver_version / 1000 < CUDA_VERSION / 1000)
    table.missing = "The NVIDIA driver supports CUDA " + version_text(table.driver_version) + ", but Opscope's kernels were built for CUDA " +
                    version_text(CUDA_VERSION) + ": update the driver.";
  return table;
}

// The context is unusable after these; only a new process gets a new one.
bool fatal(CUresult result) {
  switch (result) {
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_LAUNCH_FAILED:
      return true;
    default:
      return false;
  }
}

bool lost(CUresult result) {
  return result == CUDA_ERROR_ECC_UNCORRECTABLE || result == CUDA_ERROR_DEVICE_UNAVAILABLE || result == CUDA_ERROR_NVLINK_UNCORRECTABLE ||
         result == CUDA_ERROR_CONTEXT_IS_DESTROYED || result == CUDA_ERROR_DEINITIALIZED || result == CUDA_ERROR_SYSTEM_NOT_READY;
}

}  // namespace

const Api& api() {
  static const Api table = load();
  return table;
}

std::string describe(CUresult result) {
  const char* name = nullptr;
  const char* text = nullptr;
  api().GetErrorName(result, &name);
  api().GetErrorString(result, &text);
  return std::string(name ? name : "unknown CUDA error") + ": " + (text ? text : std::to_string(static_cast<int>(result)));
}

void check(CUresult result, const char* doing) {
  if (result == CUDA_SUCCESS) return;
  const std::string where = std::string("while ") + doing;
  if (fatal(result))
    throw Error("kernel-failed", "A kernel crashed on the GPU (noticed " + where + "). The GPU context is lost; the measurement process is replaced.",
                describe(result));
  if (lost(result)) throw Error("device-lost", "The GPU stopped answering " + where + ".", describe(result));
  if (result == CUDA_ERROR_OUT_OF_MEMORY) throw Error("out-of-memory", "The GPU ran out of memory " + where + ".", describe(result));
  throw Error("internal", "The GPU driver failed " + where + ".", describe(result));
}

}  // namespace opscope::cuda
