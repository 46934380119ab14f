// Plans attention for other operations, of which it is a part.
#pragma once
#include "plan.h"

namespace opscope::cuda {

// `tokens_first`: the output is [batch, queries, heads, headDim]; every head has keys of its own then.
void plan_attention(Planner& p, bool tokens_first);

}  // namespace opscope::cuda
