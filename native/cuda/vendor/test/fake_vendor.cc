// A library to be found by the tests.
extern "C" int opscope_fake_version() { return 1; }
