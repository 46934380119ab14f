// What the parts of opscope_cuda_plan_test share.
#pragma once
#include <cstdio>
#include <string>

inline int failed = 0;

inline void expect(bool right, const std::string& what) {
  std::printf("%s: %s\n", what.c_str(), right ? "right" : "WRONG");
  failed += !right;
}

// rows_test.cc
void row_shapes();
void staying_shapes();
// order_test.cc
void order_shapes();
// convolution_test.cc
void convolution_shapes();
// convolution_narrow_test.cc
void narrow_convolution_shapes();
void f32_convolutions();
// products_test.cc
void products();
// products_f32_test.cc
void f32_products();
// products_panels_test.cc
void panel_products();
// products_fit_test.cc
void fitted_products();
// moves_test.cc
void move_shapes();
// few_test.cc
void few_shapes();
// choices_test.cc
void choices();
// attention_test.cc
void attention_groups_of_blocks();
// composite_test.cc
void composites();
// devices_test.cc
void device_plans();
int print_plans(const std::string& gpu, int cases);
