// What the backends share of composite cases: a list of operations whose tensors are those of the case or scratch buffers (core/ops/composite-plan.ts).
#pragma once
#include <algorithm>
#include <string>
#include <vector>

#include "prepared.h"

namespace opscope {

inline int64_t tensor_bytes(const TensorDesc& tensor) { return tensor.elements * static_cast<int64_t>(storage_bytes(tensor.storage)); }

// The tensors of a case and behind them its scratch buffers, as outputs of the case's dtype: backends fill them with wrong values before each check, so
// that a part that leaves elements out shows.
inline std::vector<TensorDesc> buffers_of(const CaseSpec& spec) {
  std::vector<TensorDesc> buffers = spec.tensors;
  for (size_t i = 0; i < spec.scratch_bytes.size(); i++) {
    TensorDesc& scratch = buffers.emplace_back();
    scratch.name = "scratch buffer " + std::to_string(i + 1) + " of " + std::to_string(spec.scratch_bytes.size());
    scratch.elements = spec.scratch_bytes[i] / static_cast<int64_t>(dtype_bytes(spec.dtype));
    scratch.storage = storage_of(spec.dtype);
    scratch.role = Role::out;
  }
  return buffers;
}

// A part as a case of its own.
inline CaseSpec case_of(const CaseSpec& whole, const PartSpec& part) {
  CaseSpec spec;
  spec.op = part.op;
  spec.impl = whole.impl;
  spec.device = whole.device;
  spec.dtype = whole.dtype;
  spec.threads = whole.threads;
  spec.dims = part.dims;
  spec.scalars = part.scalars;
  spec.tensors = part.tensors;
  return spec;
}

// Throws Error "internal" where a part has a tensor that its buffer does not hold, writes a buffer that the call only reads, or writes one that it
// reads as another tensor. What the tensors of a part are, its backend checks.
inline void check_parts(const CaseSpec& spec) {
  const std::vector<TensorDesc> buffers = buffers_of(spec);
  for (const PartSpec& part : spec.parts) {
    const auto refuse = [&](const std::string& what) { throw Error("internal", "malformed " + spec.op + " case: part " + part.name + ": " + what); };
    if (part.buffers.size() != part.tensors.size()) refuse("expected a buffer for each tensor");
    for (size_t i = 0; i < part.tensors.size(); i++) {
      const TensorDesc& tensor = part.tensors[i];
      const size_t at = part.buffers[i];
      if (at >= buffers.size()) refuse(tensor.name + " lies in buffer " + std::to_string(at) + " of " + std::to_string(buffers.size()));
      const bool scratch = at >= spec.tensors.size();
      const int64_t room = scratch ? spec.scratch_bytes[at - spec.tensors.size()] : tensor_bytes(buffers[at]);
      if (tensor_bytes(tensor) > room) refuse(tensor.name + " takes " + std::to_string(tensor_bytes(tensor)) + " bytes, " + buffers[at].name + " has " + std::to_string(room));
      if (tensor.role == Role::in) continue;
      if (buffers[at].role == Role::in) refuse(tensor.name + " would be written to " + buffers[at].name);
      if (std::count(part.buffers.begin(), part.buffers.end(), at) > 1) refuse(tensor.name + " shares " + buffers[at].name + " with another tensor");
    }
  }
}

}  // namespace opscope
