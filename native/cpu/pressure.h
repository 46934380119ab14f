// What competes with a measurement for the processors.
#pragma once
#include <string>
#include <vector>

namespace opscope::cpu {

// Whether programs had to wait for a processor lately, as the system tells it; one sentence, or none.
std::vector<std::string> disturbances();

// Processors' worth of time that the control group of this process may use; 0 without such a limit.
double processor_quota();

}  // namespace opscope::cpu
