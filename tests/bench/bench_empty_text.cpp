// As bench_empty, of C++: the argument is an object that has to be looked into.
#include <string>

int bench_empty_text(const std::string& text);
int bench_empty_text(const std::string& text) { return static_cast<int>(text.size()); }
