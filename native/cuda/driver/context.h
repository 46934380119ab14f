// One GPU as this process uses it: the primary context, one stream, the embedded kernels, and what it can do.
#pragma once
#include <cstdint>
#include <map>
#include <string>

#include "../module/archs.h"
#include "api.h"

namespace opscope::cuda {

struct Traits {
  int ordinal = 0;
  int major = 0, minor = 0;  // the architecture of the code that runs (module/archs.h), which may be older than the GPU
  int sm_count = 0;
  int64_t l2_bytes = 0;
  int shared_bytes_per_block = 0;  // opt-in maximum
};

class Context {
 public:
  // The context of device `ordinal`, made on first use and kept for the life of the process.
  static Context& of(int ordinal);
  // The same for a number that came from outside: throws Error "unsupported" where there is no such GPU.
  static Context& of_number(int ordinal);
  virtual ~Context() = default;

  // Makes this context current on the calling thread: call it first in every entry point.
  void use() const;
  const Traits& traits() const { return traits_; }
  CUstream stream() const { return stream_; }
  CUcontext handle() const { return context_; }
  // Kernel `name` of `module` (the .cu file's stem). Throws Error "unsupported" when absent.
  virtual CUfunction kernel(const std::string& module, const std::string& name);
  // The name that a kernel was looked up by; empty where it was not.
  std::string name_of(CUfunction function) const;
  void synchronize(const char* doing) const;

 protected:
  // Plans alone, without a GPU: for tests.
  explicit Context(const Traits& traits) : traits_(traits) {}

 private:
  explicit Context(int ordinal);
  Traits traits_;
  CodeOrigin origin_ = CodeOrigin::none;
  CUcontext context_ = nullptr;
  CUstream stream_ = nullptr;
  std::map<std::string, CUmodule> modules_;
  std::map<std::string, CUfunction> functions_;
};

// Device memory of one owner. Throws Error "out-of-memory" with the sizes and what to do.
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  explicit DeviceBuffer(int64_t bytes);
  ~DeviceBuffer();
  DeviceBuffer(DeviceBuffer&& other) noexcept;
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept;
  CUdeviceptr address() const { return address_; }
  int64_t bytes() const { return bytes_; }

 private:
  CUdeviceptr address_ = 0;
  int64_t bytes_ = 0;
};

int attribute(int ordinal, CUdevice_attribute which);

}  // namespace opscope::cuda
