// Implementations of add that are wrong on purpose, each in one way that a measurement must notice. They are there only
// while OPSCOPE_RED_TEAM=1 stands in the environment, and none of their results may be taken for good.
#pragma once
#include <string>
#include <vector>

#include "plan.h"

namespace opscope::cuda {

struct RedImpl {
  const char* id;
  const char* title;
  PlanFunction plan;  // of add in f32
};

// Empty without OPSCOPE_RED_TEAM=1.
const std::vector<RedImpl>& red_team();
const RedImpl* find_red(const std::string& id);

}  // namespace opscope::cuda
