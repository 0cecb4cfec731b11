// What the log should show of each call is told by the callee, to stdout, a line each.
#include "libnames.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

namespace {

__attribute__((format(printf, 1, 2))) void expect(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  std::vprintf(format, arguments);
  va_end(arguments);
  std::putchar('\n');
}

/// As sonictrace quotes it: 32 characters at most.
std::string quoted(std::string_view text) {
  constexpr std::size_t kLimit = 32;
  std::string out = "\"";
  for (const char c : text.substr(0, kLimit)) {
    if (c == '\0')
      out += "\\000";
    else if (c == '\n')
      out += "\\n";
    else if (c == '"' || c == '\\')
      (out += '\\') += c;
    else
      out += c;
  }
  return out + (text.size() > kLimit ? "\"..." : "\"");
}

std::string shown(int value) { return std::to_string(value); }
std::string shown(long value) { return std::to_string(value); }
std::string shown(const std::string& value) { return quoted(value); }
std::string shown(double value) {
  char text[64];
  std::snprintf(text, sizeof text, "%g", value);
  std::string out = text;
  return out.find_first_of(".en") == std::string::npos ? out + ".0" : out;
}
std::string shown(const std::pair<int, double>& value) {
  return "{ " + shown(value.first) + ", " + shown(value.second) + " }";
}
template <class Element>
std::string shown(const std::vector<Element>& values) {
  constexpr std::size_t kLimit = 4; // of elements
  std::string out = "[";
  for (std::size_t at = 0; at < values.size() && at < kLimit; ++at)
    out += (at == 0 ? "" : ", ") + shown(values[at]);
  return out + (values.size() > kLimit ? ", ...]" : "]");
}
template <class Value>
std::string shown(const std::optional<Value>& value) {
  return value ? shown(*value) : "nullopt";
}

const char* c(const std::string& text) { return text.c_str(); }

} // namespace

namespace named {

void integers(int a, unsigned b, long c, unsigned long d, short e, char f) {
  expect("named::integers(%d, %u, %ld, %lu, %d, '%c')", a, b, c, d, e, f);
}
void small(signed char a, unsigned char b, bool c, bool d) {
  expect("named::small(%d, %d, %s, %s)", a, b, c ? "true" : "false", d ? "true" : "false");
}
void reals(double a, float b, int n) {
  expect("named::reals(%s, %s, %d)", c(shown(a)), c(shown(static_cast<double>(b))), n);
}
void many_reals(double a, double b, double c_, double d, double e, double f, double g, double h,
                double i) {
  expect("named::many_reals(%s, %s, %s, %s, %s, %s, %s, %s, %s)", c(shown(a)), c(shown(b)),
         c(shown(c_)), c(shown(d)), c(shown(e)), c(shown(f)), c(shown(g)), c(shown(h)),
         c(shown(i)));
}
void many(int a, int b, int c, int d, int e, int f, int g, int h) {
  expect("named::many(%d, %d, %d, %d, %d, %d, %d, %d)", a, b, c, d, e, f, g, h);
}
void c_string(const char* text, int n) { expect("named::c_string(%s, %d)", c(quoted(text)), n); }
void pointers(int* a, const Point* b, void* c) {
  expect("named::pointers(%p, %p, %p)", static_cast<void*>(a), static_cast<const void*>(b), c);
}
void references(const int& a, const double& b, const bool& is) {
  expect("named::references(%d, %s, %s)", a, c(shown(b)), is ? "true" : "false");
}
void moved(int&& a) { expect("named::moved(%d)", a); }
int gives_int(int a) {
  expect("named::gives_int(%d)", a);
  return a + 1;
}
double gives_double(double a) {
  expect("named::gives_double(%s)", c(shown(a)));
  return a;
}
void color(Color color) { expect("named::color(%d)", color); }
void level(Level level, int n) { expect("named::level(%d, %d)", static_cast<int>(level), n); }

void text(const std::string& text) { expect("named::text(%s)", c(quoted(text))); }
void texts(const std::string& a, const std::string& b, int n) {
  expect("named::texts(%s, %s, %d)", c(quoted(a)), c(quoted(b)), n);
}
void changes(std::string& text, int n) {
  expect("named::changes(%s, %d)", c(quoted(text)), n);
  text += "changed";
}
void takes(std::string text, int n) { expect("named::takes(%s, %d)", c(quoted(text)), n); }
void takes_moved(std::string&& text) {
  expect("named::takes_moved(%s)", c(quoted(text)));
  const std::string taken = std::move(text);
}
void view(std::string_view text, int n) { expect("named::view(%s, %d)", c(quoted(text)), n); }
void view_behind(int n, const std::string_view& text) {
  expect("named::view_behind(%d, %s)", n, c(quoted(text)));
}
void wide(const std::wstring& text) {
  expect("named::wide(L%s)", c(quoted(std::string(text.begin(), text.end()))));
}
void last(int a, int b, int c_, int d, int e, int f, const std::string& text) {
  expect("named::last(%d, %d, %d, %d, %d, %d, %s)", a, b, c_, d, e, f, c(quoted(text)));
}
void color_and_text(Color color, const std::string& text) {
  expect("named::color_and_text(%d, %s)", color, c(quoted(text)));
}
std::string gives_string(const std::string& text, int n) {
  expect("named::gives_string(%s, %d)", c(quoted(text)), n);
  return text + text;
}
Large gives_large(const std::string& text) {
  expect("named::gives_large(%s)", c(quoted(text)));
  return {};
}
Point gives_point(const std::string& text) {
  expect("named::gives_point(%s)", c(quoted(text)));
  return {1, 2};
}

void ints(const std::vector<int>& values) { expect("named::ints(%s)", c(shown(values))); }
void longs(std::vector<long> values, int n) { expect("named::longs(%s, %d)", c(shown(values)), n); }
void doubles(const std::vector<double>& values) { expect("named::doubles(%s)", c(shown(values))); }
void strings(const std::vector<std::string>& values) {
  expect("named::strings(%s)", c(shown(values)));
}
void nested(const std::vector<std::vector<int>>& values) {
  expect("named::nested(%s)", c(shown(values)));
}
void list(std::initializer_list<int> values, int n) {
  expect("named::list(%s, %d)", c(shown(std::vector<int>(values))), n);
}
void array(const std::array<int, 3>& values) {
  expect("named::array([ %d, %d, %d ])", values[0], values[1], values[2]);
}
void pairs(const std::vector<std::pair<int, double>>& values) {
  expect("named::pairs(%s)", c(shown(values)));
}
std::vector<int> gives_vector(const std::vector<int>& values) {
  expect("named::gives_vector(%s)", c(shown(values)));
  return values;
}

void maybe(std::optional<int> value, int n) { expect("named::maybe(%s, %d)", c(shown(value)), n); }
void maybe_real(std::optional<double> value, int n) {
  expect("named::maybe_real(%s, %d)", c(shown(value)), n);
}
void maybe_text(const std::optional<std::string>& text) {
  expect("named::maybe_text(%s)", c(shown(text)));
}
void pair(std::pair<int, int> pair, int n) {
  expect("named::pair({ %d, %d }, %d)", pair.first, pair.second, n);
}
void complex(std::complex<double> number, int n) {
  expect("named::complex({ %s, %s }, %d)", c(shown(number.real())), c(shown(number.imag())), n);
}
void shared(const std::shared_ptr<int>& pointer, int n) {
  expect("named::shared(%p, %d)", static_cast<void*>(pointer.get()), n);
}
void function(const std::function<void()>& function, const std::string& text) {
  expect("named::function(%p, %s)", static_cast<const void*>(&function), c(quoted(text)));
}
void map(const std::map<int, int>& map, const std::string& text) {
  expect("named::map(%p, %s)", static_cast<const void*>(&map), c(quoted(text)));
}

// Of a class that is passed in registers the log shows its first word, or `...`.
void point(Point point, const std::string& text) {
  expect("named::point(?, %s)", c(quoted(text)));
  (void)point;
}
void wide_struct(Wide wide, const std::string& text) {
  expect("named::wide_struct(?, %s)", c(quoted(text)));
  (void)wide;
}
void large(Large large, const std::string& text) {
  expect("named::large(?, %s)", c(quoted(text)));
  (void)large;
}

// `this` is shown where the name says that there is one.
Account::Account(const std::string& name) : name_(name) {
  expect("named::Account::Account(%p, %s)", static_cast<void*>(this), c(quoted(name)));
}
Account::Account(const std::string& name, double balance) : name_(name), balance_(balance) {
  expect("named::Account::Account(%p, %s, %s)", static_cast<void*>(this), c(quoted(name)),
         c(shown(balance)));
}
Account::Account(const Account& other) : name_(other.name_), balance_(other.balance_) {
  expect("named::Account::Account(%p, %p)", static_cast<void*>(this),
         static_cast<const void*>(&other));
}
Account::~Account() { expect("named::Account::~Account(%p)", static_cast<void*>(this)); }
void Account::deposit(const std::string& from, double amount) {
  expect("named::Account::deposit(%s, %s)", c(quoted(from)), c(shown(amount)));
  balance_ += amount;
}
void Account::rename(const std::string& name) {
  expect("named::Account::rename(%s)", c(quoted(name)));
  name_ = name;
}
int Account::score(const std::string& rule) const {
  expect("named::Account::score(%p, %s)", static_cast<const void*>(this), c(quoted(rule)));
  return 1;
}
std::string Account::title(const std::string& prefix) const {
  expect("named::Account::title(%p, %s)", static_cast<const void*>(this), c(quoted(prefix)));
  return prefix + name_;
}
double Account::balance_in(const std::string& currency, int digits) const {
  expect("named::Account::balance_in(%p, %s, %d)", static_cast<const void*>(this),
         c(quoted(currency)), digits);
  return balance_;
}
int Account::count(const std::string& kind) {
  expect("named::Account::count(%s)", c(quoted(kind)));
  return 2;
}
std::string Account::kind(const std::string& of) {
  expect("named::Account::kind(%s)", c(quoted(of)));
  return of;
}
Account& Account::operator+=(const std::string& more) {
  expect("named::Account::operator+=(%s)", c(quoted(more)));
  return *this;
}
bool Account::operator==(const std::string& name) const {
  expect("named::Account::operator==(%p, %s)", static_cast<const void*>(this), c(quoted(name)));
  return name == name_;
}
int Account::operator[](const std::string& key) {
  expect("named::Account::operator[](%p, %s)", static_cast<void*>(this), c(quoted(key)));
  return 3;
}
void Account::operator()(const std::string& what, int n) {
  expect("named::Account::operator()(%p, %s, %d)", static_cast<void*>(this), c(quoted(what)), n);
}
void Account::fails(const std::string& why) {
  expect("named::Account::fails(%s)", c(quoted(why)));
  throw std::runtime_error(why);
}

Savings::Savings(const std::string& name, int years) : Account(name) {
  expect("named::Savings::Savings(%p, %s, %d)", static_cast<void*>(this), c(quoted(name)), years);
}
Savings::~Savings() { expect("named::Savings::~Savings(%p)", static_cast<void*>(this)); }
int Savings::score(const std::string& rule) const {
  expect("named::Savings::score(%p, %s)", static_cast<const void*>(this), c(quoted(rule)));
  return 4;
}
Special::Special(const std::string& name) : Account(name, 1.5), Savings(name, 7) {
  expect("named::Special::Special(%p, %s)", static_cast<void*>(this), c(quoted(name)));
}
Special::~Special() { expect("named::Special::~Special(%p)", static_cast<void*>(this)); }

template <class T>
T twice(T value, const std::string& text) {
  expect("named::twice<%s>(%s, %s)", sizeof value == 4 ? "int" : "double", c(shown(value)),
         c(quoted(text)));
  return value + value;
}
template int twice<int>(int, const std::string&);
template double twice<double>(double, const std::string&);
template <class... Parts>
std::string joined(const std::string& text, Parts... parts) {
  const std::string all = ((", " + shown(parts)) + ...);
  expect("named::joined<int, double>(%s%s)", c(quoted(text)), c(all));
  return text;
}
template std::string joined<int, double>(const std::string&, int, double);

} // namespace named
