#include "libdescribedpp.h"

#include <cstdio>

namespace described {
namespace {

const char* of(Color color) { return color == Color::Red ? "Red" : "Green"; }
const void* at(const void* object) { return object; }

} // namespace

int color(Color color, const std::string& text) {
  std::printf("described::color(%s, \"%s\") = 1\n", of(color), text.c_str());
  return 1;
}

std::string shout(const std::string& text, Color color) {
  std::printf("described::shout(\"%s\", %s) = \"%s!\"\n", text.c_str(), of(color), text.c_str());
  return text + "!";
}

std::string copied(std::string text, int n) {
  std::printf("described::copied(\"%s\", %d) = \"%s\"\n", text.c_str(), n, text.c_str());
  return text;
}

std::vector<int> numbers(const std::vector<std::string>& names, int n) {
  std::printf("described::numbers([\"%s\", \"%s\"], %d) = [%d]\n", names[0].c_str(),
              names[1].c_str(), n, n);
  return {n};
}

int view(std::string_view text, Point point) {
  std::printf("described::view(\"%.*s\", { %d, %d }) = 2\n", int(text.size()), text.data(), point.x,
              point.y);
  return 2;
}

std::optional<int> maybe(std::optional<double> value, Color color) {
  if (value) std::printf("described::maybe(%g, %s) = 3\n", *value, of(color));
  else std::printf("described::maybe(nullopt, %s) = nullopt\n", of(color));
  return value ? std::optional<int>(3) : std::nullopt;
}

Point moved(Point point, Spread spread) {
  std::printf("described::moved({ %d, %d }, { %g, %d }) = { %d, %d }\n", point.x, point.y,
              spread.share, spread.count, point.y, point.x);
  return {point.y, point.x};
}

int referred(const Point& in, Point& out, const int& number) {
  out = in;
  std::printf("described::referred({ %d, %d }, %p, %d) = 4\n", in.x, in.y, at(&out), number);
  return 4;
}

int labelled(const Label& label, int n) {
  std::printf("described::labelled({ \"%s\", %d }, %d) = 5\n", label.text, label.size, n);
  return 5;
}

int pair(Pair pair, const std::string& text) {
  std::printf("described::pair(..., \"%s\") = %d\n", text.c_str(), pair.a + pair.b);
  return pair.a + pair.b;
}

void filled(char* out, const char* in) {
  std::printf("described::filled(%p, \"%s\") = <void>\n", at(out), in);
  out[0] = in[0];
}

int owned(std::unique_ptr<int> one, const std::string& text) {
  std::printf("described::owned(%p, \"%s\") = 6\n", at(one.get()), text.c_str());
  return 6;
}

Handle::Handle(const std::string& name) : name_(name) {
  std::printf("described::Handle::Handle(%p, \"%s\") = <void>\n", at(this), name.c_str());
}
Handle::Handle(const Handle& other) : name_(other.name_) {
  std::printf("described::Handle::Handle(%p, %p) = <void>\n", at(this), at(&other));
}
Handle::~Handle() { std::printf("described::Handle::~Handle(%p) = <void>\n", at(this)); }
int Handle::number(int n) const {
  std::printf("described::Handle::number(%p, %d) = 7\n", at(this), n);
  return 7;
}
int Handle::count(const std::string& kind) {
  std::printf("described::Handle::count(\"%s\") = 8\n", kind.c_str());
  return 8;
}
std::string Handle::title(const std::string& prefix) {
  std::printf("described::Handle::title(%p, \"%s\") = \"%s\"\n", at(this), prefix.c_str(),
              (prefix + name_).c_str());
  return prefix + name_;
}
void Handle::rename(const std::string& name, Color color) {
  std::printf("described::Handle::rename(%p, \"%s\", %s) = <void>\n", at(this), name.c_str(),
              of(color));
  name_ = name;
}
int handled(Handle handle, const std::string& text) {
  std::printf("described::handled(%p, \"%s\") = 9\n", at(&handle), text.c_str());
  return 9;
}
Handle made(const std::string& text) {
  Handle handle(text);
  std::printf("described::made(\"%s\") = %p\n", text.c_str(), at(&handle));
  return handle;
}

Joined::Joined(const std::string& name, int n) : n_(n) {
  std::printf("described::Joined::Joined(%p, \"%s\", %d) = <void>\n", at(this), name.c_str(), n);
}
Further::Further(const std::string& name, int n) : Joined(name, n) {
  std::printf("described::Further::Further(%p, \"%s\", %d) = <void>\n", at(this), name.c_str(), n);
}

template <class T>
T twice(T value, const std::string& text) {
  std::printf("described::twice<double>(%g, \"%s\") = %g\n", value, text.c_str(), value + value);
  return value + value;
}
template double twice(double, const std::string&);

} // namespace described
