// The highest, with C++ names.
#include "libthree.h"

extern "C" int one_b(int x);
extern "C" int two_a(int x);

namespace shapes {

Circle::Circle(int radius) : radius_(radius) {}
int Circle::area() const { return 3 * radius_ * radius_; }
int operator+(const Circle& a, const Circle& b) { return a.area() + b.area(); }
int total(const std::vector<std::string>& names, int extra) {
  return static_cast<int>(names.size()) + extra;
}
template <class T> T largest(T a, T b) { return a < b ? b : a; }
template int largest<int>(int, int);

} // namespace shapes

extern "C" int three_a(int x) { return one_b(x) + two_a(x); }
