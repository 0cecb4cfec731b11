/* Functions of C++ with debug information, which say in the callee what the log should show. */
#ifndef LIBDESCRIBEDPP_H
#define LIBDESCRIBEDPP_H

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace described {

enum class Color : short { Red, Green = 3 };
struct Point { int x, y; };
struct Spread { double share; int count; };
struct Label { const char* text; int size; };
class Pair { // copied as its bytes are, and nobody knows it from its name
public:
  int a, b;
};

int color(Color color, const std::string& text);
std::string shout(const std::string& text, Color color);
std::string copied(std::string text, int n);
std::vector<int> numbers(const std::vector<std::string>& names, int n);
int view(std::string_view text, Point point);
std::optional<int> maybe(std::optional<double> value, Color color);
Point moved(Point point, Spread spread);
int referred(const Point& in, Point& out, const int& number);
int labelled(const Label& label, int n);
int pair(Pair pair, const std::string& text);
void filled(char* out, const char* in);
int owned(std::unique_ptr<int> one, const std::string& text);

class Handle {
public:
  explicit Handle(const std::string& name);
  Handle(const Handle& other);
  ~Handle();
  int number(int n) const;
  static int count(const std::string& kind);
  virtual std::string title(const std::string& prefix);
  void rename(const std::string& name, Color color);

private:
  std::string name_;
};
int handled(Handle handle, const std::string& text);
Handle made(const std::string& text);

struct Base {
  int base;
};
struct Joined : virtual Base {
  Joined(const std::string& name, int n);
  int n_;
};
struct Further : Joined {
  Further(const std::string& name, int n);
};

template <class T>
T twice(T value, const std::string& text);
extern template double twice(double, const std::string&);

} // namespace described

#endif
