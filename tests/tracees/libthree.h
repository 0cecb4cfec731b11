#pragma once

#include <string>
#include <vector>

namespace shapes {

class Circle {
public:
  explicit Circle(int radius);
  int area() const;

private:
  int radius_;
};

int operator+(const Circle& a, const Circle& b);
int total(const std::vector<std::string>& names, int extra);
template <class T> T largest(T a, T b);
extern template int largest<int>(int, int);

} // namespace shapes

extern "C" int three_a(int x);
