/* Functions of C++ that say, in the callee, what the log should show of each of their calls. */
#ifndef LIBNAMES_H
#define LIBNAMES_H

#include <array>
#include <complex>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace named {

enum Color { RED, GREEN, BLUE };
enum class Level : short { LOW = -1, HIGH = 1 };
struct Point {
  int x, y;
};
struct Wide {
  long a, b;
};
struct Large {
  long values[5];
};
struct Real {
  double x, y;
};

// Plain.
void integers(int a, unsigned b, long c, unsigned long d, short e, char f);
void small(signed char a, unsigned char b, bool c, bool d);
void reals(double a, float b, int c);
void many_reals(double a, double b, double c, double d, double e, double f, double g, double h,
                double i);
void many(int a, int b, int c, int d, int e, int f, int g, int h);
void c_string(const char* text, int n);
void pointers(int* a, const Point* b, void* c);
void references(const int& a, const double& b, const bool& c);
void moved(int&& a);
int gives_int(int a);
double gives_double(double a);
void color(Color color);
void level(Level level, int n);

// Strings.
void text(const std::string& text);
void texts(const std::string& a, const std::string& b, int n);
void changes(std::string& text, int n);
void takes(std::string text, int n);
void takes_moved(std::string&& text);
void view(std::string_view text, int n);
void view_behind(int n, const std::string_view& text);
void wide(const std::wstring& text);
void last(int a, int b, int c, int d, int e, int f, const std::string& text);
void color_and_text(Color color, const std::string& text);
std::string gives_string(const std::string& text, int n);
Large gives_large(const std::string& text);
Point gives_point(const std::string& text);

// Containers.
void ints(const std::vector<int>& values);
void longs(std::vector<long> values, int n);
void doubles(const std::vector<double>& values);
void strings(const std::vector<std::string>& values);
void nested(const std::vector<std::vector<int>>& values);
void list(std::initializer_list<int> values, int n);
void array(const std::array<int, 3>& values);
void pairs(const std::vector<std::pair<int, double>>& values);
std::vector<int> gives_vector(const std::vector<int>& values);

// Values that may not be there, smart pointers.
void maybe(std::optional<int> value, int n);
void maybe_real(std::optional<double> value, int n);
void maybe_text(const std::optional<std::string>& text);
void pair(std::pair<int, int> pair, int n);
void complex(std::complex<double> number, int n);
void shared(const std::shared_ptr<int>& pointer, int n);
void function(const std::function<void()>& function, const std::string& text);
void map(const std::map<int, int>& map, const std::string& text);

// Classes by value.
void point(Point point, const std::string& text);
void wide_struct(Wide wide, const std::string& text);
void large(Large large, const std::string& text);

class Account {
public:
  explicit Account(const std::string& name);
  Account(const std::string& name, double balance);
  Account(const Account& other);
  virtual ~Account();
  void deposit(const std::string& from, double amount);
  void rename(const std::string& name);
  virtual int score(const std::string& rule) const;
  std::string title(const std::string& prefix) const;
  double balance_in(const std::string& currency, int digits) const;
  static int count(const std::string& kind);
  static std::string kind(const std::string& of);
  Account& operator+=(const std::string& more);
  bool operator==(const std::string& name) const;
  int operator[](const std::string& key);
  void operator()(const std::string& what, int n);
  void fails(const std::string& why);

private:
  std::string name_;
  double balance_ = 0;
};

class Savings : public virtual Account {
public:
  Savings(const std::string& name, int years);
  ~Savings() override;
  int score(const std::string& rule) const override;
};
class Special : public Savings {
public:
  explicit Special(const std::string& name);
  ~Special() override;
};

template <class T>
T twice(T value, const std::string& text);
extern template int twice<int>(int, const std::string&);
extern template double twice<double>(double, const std::string&);
template <class... Parts>
std::string joined(const std::string& text, Parts... parts);
extern template std::string joined<int, double>(const std::string&, int, double);

} // namespace named

#endif
