#include "peer_copy.h"

#include <utility>

#include "cuda_case.h"
#include "driver/context.h"
#include "timing/stream_calls.h"

namespace opscope::cuda {

namespace {

const std::string prefix = "peer-";

// From now on `from` reaches the memory of `to` directly; asking twice is no error.
void enable(const Context& from, const Context& to) {
  from.use();
  const CUresult result = api().CtxEnablePeerAccess(to.handle(), 0);
  if (result != CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED) check(result, "opening the link to another GPU");
}

class PeerCopyCalls final : public StreamCalls {
 public:
  PeerCopyCalls(const Context& own, const Context& peer, int64_t bytes) : own_(own), peer_(peer) {
    enable(peer_, own_);
    enable(own_, peer_);
    peer_.use();
    there_ = DeviceBuffer(bytes);
    own_.use();
    entries = 2;
  }
  ~PeerCopyCalls() override {
    drop();
    peer_.use();
    there_ = DeviceBuffer();
    own_.use();
  }

  // The buffers of each set; called once they are there.
  void bind(const std::vector<std::unique_ptr<BufferSet>>& sets) {
    for (const auto& set : sets) ends_.push_back({set->tensors().front().address(), set->output(0).address(), static_cast<size_t>(set->output(0).bytes())});
  }

  void enqueue(CUstream stream, size_t set, int count) override {
    const auto& [from, to, bytes] = ends_.at(set);
    for (int i = 0; i < count; i++) {
      check(api().MemcpyPeerAsync(there_.address(), peer_.handle(), from, own_.handle(), bytes, stream), "copying to another GPU");
      check(api().MemcpyPeerAsync(to, own_.handle(), there_.address(), peer_.handle(), bytes, stream), "copying from another GPU");
    }
  }

 private:
  struct Ends {
    CUdeviceptr from, to;
    size_t bytes;
  };
  const Context& own_;
  const Context& peer_;
  DeviceBuffer there_;
  std::vector<Ends> ends_;
};

}  // namespace

std::string peer_impl(int ordinal) { return prefix + std::to_string(ordinal); }

int peer_of(const std::string& impl) {
  if (impl.size() <= prefix.size() || impl.size() > prefix.size() + 4 || impl.compare(0, prefix.size(), prefix) != 0) return -1;
  const std::string digits = impl.substr(prefix.size());
  return digits.find_first_not_of("0123456789") == std::string::npos ? std::stoi(digits) : -1;
}

std::vector<int> reachable_peers(int ordinal) {
  int count = 0;
  std::vector<int> found;
  if (api().DeviceGetCount(&count) != CUDA_SUCCESS) return found;
  for (int other = 0; other < count; other++) {
    int reachable = 0;
    if (other != ordinal && api().DeviceCanAccessPeer(&reachable, ordinal, other) == CUDA_SUCCESS && reachable) found.push_back(other);
  }
  return found;
}

std::unique_ptr<Prepared> open_peer_copy(const CaseSpec& spec, int peer) {
  if (spec.op != "copy" || spec.tensors.size() != 2) throw Error("unsupported", "The implementation \"" + spec.impl + "\" copies between GPUs; it has no " + spec.op + ".");
  Context& own = Context::of_number(spec.device);
  Context& other = Context::of_number(peer);
  if (peer == spec.device) throw Error("unsupported", "A GPU is no peer of itself.");
  const int64_t bytes = spec.tensors[1].elements * static_cast<int64_t>(storage_bytes(spec.tensors[1].storage));
  auto calls = std::make_unique<PeerCopyCalls>(own, other, bytes);
  PeerCopyCalls& copies = *calls;
  own.use();
  auto prepared = std::make_unique<CudaCase>(spec, std::move(calls), own);
  copies.bind(prepared->sets());
  return prepared;
}

}  // namespace opscope::cuda
