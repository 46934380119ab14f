// What a step of AdamW needs of its scalars, worked out in float64 (adamw_step.plan.cc) and rounded to f32.
#pragma once

struct AdamwNumbers {
  float keep1, new1, keep2, new2;  // beta and 1 - beta
  float decay;                     // 1 - lr * weightDecay
  float rate;                      // -lr / (1 - beta1^step)
  float spread;                    // 1 / sqrt(1 - beta2^step)
  float eps;
};
