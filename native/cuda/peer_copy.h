// The copy to another GPU and back, as an implementation of the operation `copy`: what the link between two GPUs carries.
// Each of the two ways moves the tensor once, so that the bytes of a copy (read and written) over its time are the mean of both.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "prepared.h"

namespace opscope::cuda {

// `peer-1`: the GPU that the driver calls 1.
std::string peer_impl(int ordinal);
// The GPU that an implementation copies to; -1 where it is none of these.
int peer_of(const std::string& impl);
// GPUs that this one reaches without the host between them.
std::vector<int> reachable_peers(int ordinal);

std::unique_ptr<Prepared> open_peer_copy(const CaseSpec& spec, int peer);

}  // namespace opscope::cuda
