// Units that a thread of lookup.cu has where there are many, the same for host and device.
#pragma once

constexpr int many_units = 4;
