// 150 functions of C++, of every kind that matters to who reads their arguments. In the callees
// (values.cpp, texts.cpp, classes.cpp) each says what the log should show of its calls.
#ifndef KINDS_H
#define KINDS_H

#include <any>
#include <array>
#include <chrono>
#include <complex>
#include <deque>
#include <functional>
#include <initializer_list>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

/// Also called from within the library, where a compiler may copy it into the caller.
#define KINDS_CALLED [[gnu::noinline]]

namespace kinds {

enum Color { Red, Green, Blue };
enum class Level : short { Low = -1, High = 1 };
enum class Tag : unsigned char { None, Some };
enum class Wide : long { Far = 0x123456789a, Near = 2 };
enum Access { Read = 1, Write = 2, Execute = 4 };
struct Point {
  int x, y;
};
struct Pair {
  long a, b;
};
struct Large {
  long values[5];
};
struct Real {
  double x, y;
};
struct Floats {
  float x, y;
};
struct Mixed {
  double share;
  int count;
};
struct Small {
  char c;
};
struct Empty {};
union Either {
  int number;
  float real;
};
struct Bits {
  unsigned low : 4, high : 12;
};
struct Label {
  const char* text;
  int size;
};
struct Derived : Point {
  int z;
};

// Numbers.
void integers(int a, unsigned b, long c, unsigned long d, short e, char f);
void small(signed char a, unsigned char b, unsigned short c, bool d);
void wide_characters(wchar_t a, char16_t b, char32_t c);
long long long_longs(long long a, unsigned long long b);
void reals(double a, float b, int c);
void many_reals(double a, double b, double c, double d, double e, double f, double g, double h,
                double i);
float one_float(float a);
double one_double(double a);
void long_double(long double a, int b);
void many(int a, int b, int c, int d, int e, int f, int g, int h);
void in_turn(int a, double b, long c, float d, bool e, double f);
bool truth(bool a);
char letter(char a);
int number(int a);
unsigned long unsigned_number(unsigned long a);
int nothing();
void complex_double(std::complex<double> a, int b);
void complex_float(std::complex<float> a, bool b);
void duration(std::chrono::milliseconds a, double b);

// Enumerations.
Color color(Color a);
void level(Level a, int b);
void tag(Tag a, const std::string& b);
void wide_level(Wide a, bool b);
void access(Access a, const std::string& b);
void color_and_color(Color a, Color b, const std::string& c);
void text_and_color(const std::string& a, Color b);
void color_behind(const Color& a);
void colors(const std::vector<Color>& a);
void maybe_color(std::optional<Color> a, int b);

// Pointers and references.
void c_string(const char* a, int b);
void c_strings(const char* a, const char* b);
void buffer(char* a, const char* b);
void wide_c_string(const wchar_t* a);
void pointers(int* a, const double* b, void* c);
void pointer_to_pointer(int** a, const char* const* b);
void point_behind(const Point* a, int b);
void function_pointer(int (*a)(int), int b);
void member_pointer(int Point::*a, int b);
void null_pointer(std::nullptr_t a, int b);
void array_behind(const int (&a)[3], int b);
void references(const int& a, const double& b, const bool& c);
void output(int& a, std::string& b);
void moved(int&& a, double&& b);
void formatted(const std::string& a, const char* format, ...);

// Texts.
void text(const std::string& a);
void texts(const std::string& a, const std::string& b, int c);
void text_between(int a, const std::string& b, double c, const std::string& d);
void changes(std::string& a, int b);
void takes(std::string a, int b);
void takes_two(std::string a, std::string b);
void takes_moved(std::string&& a);
void text_pointer(const std::string* a);
void view(std::string_view a, int b);
void view_behind(int a, const std::string_view& b);
void views(std::string_view a, std::string_view b, std::string_view c);
void wide(const std::wstring& a);
void sixteen(const std::u16string& a, const std::string& b);
void on_the_stack(int a, int b, int c, int d, int e, int f, const std::string& g);
void view_on_the_stack(int a, int b, int c, int d, int e, std::string_view f, const std::string& g);
std::string gives_text(const std::string& a, int b);
std::string_view gives_view(std::string_view a);
const std::string& gives_reference(const std::string& a);
const char* gives_c_string(const std::string& a);
Large gives_large(const std::string& a);
Point gives_point(const std::string& a);
Real gives_reals(const std::string& a);

// Containers.
void ints(const std::vector<int>& a);
void longs(std::vector<long> a, int b);
void doubles(const std::vector<double>& a, double b);
void floats(std::vector<float>&& a);
void characters(const std::vector<char>& a);
void bytes(const std::vector<unsigned char>& a);
void truths(const std::vector<bool>& a, const std::string& b);
void strings(const std::vector<std::string>& a);
void all_views(const std::vector<std::string_view>& a);
void c_texts(const std::vector<const char*>& a);
void nested(const std::vector<std::vector<int>>& a);
void changed_ints(std::vector<int>& a, int b);
void list(std::initializer_list<int> a, int b);
void text_list(std::initializer_list<std::string> a);
void real_list(int a, std::initializer_list<double> b);
void array(const std::array<int, 3>& a);
void array_by_value(std::array<int, 3> a, int b);
void reals_by_value(std::array<double, 2> a, const std::string& b);
void array_in_memory(std::array<long, 5> a, const std::string& b);
void pairs(const std::vector<std::pair<int, double>>& a);
void named_pairs(const std::vector<std::pair<std::string, int>>& a);
void maybe_ints(const std::vector<std::optional<int>>& a);
void pointers_in(const std::vector<std::shared_ptr<int>>& a);
void points(const std::vector<Point>& a, const std::string& b);
void other_containers(const std::deque<int>& a, const std::list<int>& b, const std::set<int>& c,
                      const std::string& d);
void maps(const std::map<std::string, int>& a, const std::unordered_map<int, int>& b, int c);
std::vector<int> gives_ints(const std::vector<int>& a);

// Values that may not be there, smart pointers, others of the library.
void maybe_int(std::optional<int> a, int b);
void maybe_real(std::optional<double> a, int b);
void maybe_text(const std::optional<std::string>& a);
void maybe_text_by_value(std::optional<std::string> a, int b);
void maybe_list(const std::optional<std::vector<int>>& a);
std::optional<int> gives_maybe(std::optional<bool> a);
void shared(const std::shared_ptr<int>& a, int b);
void shared_by_value(std::shared_ptr<const int> a, const std::string& b);
void unique(std::unique_ptr<int> a, const std::string& b);
void unique_behind(const std::unique_ptr<int>& a, int b);
std::shared_ptr<int> gives_shared(int a);
void pair(std::pair<int, int> a, int b);
void mixed_pair(std::pair<int, double> a, const std::string& b);
void pair_behind(const std::pair<std::string, double>& a);
void tuple(const std::tuple<int, std::string>& a, const std::string& b);
void variant(const std::variant<int, std::string>& a, const std::string& b);
void any(const std::any& a, const std::string& b);
void function(const std::function<int(int)>& a, const std::string& b);
void function_by_value(std::function<int(int)> a, double b);

// Classes by value.
void point(Point a, const std::string& b);
Pair two_words(Pair a, const std::string& b);
void large(Large a, const std::string& b);
void real(Real a, const std::string& b);
void two_floats(Floats a, double b);
void mixed(Mixed a, const std::string& b);
void small_class(Small a, int b);
void empty(Empty a, const std::string& b);
void either(Either a, const std::string& b);
void bits(Bits a, const std::string& b);
void label(Label a, const std::string& b);
void derived(Derived a, const std::string& b);
void points_behind(const Point& a, Point& b, const Label& c);

// Members.
class Account {
public:
  enum Kind { Plain, Special };
  Account();
  KINDS_CALLED explicit Account(const std::string& name);
  KINDS_CALLED Account(const std::string& name, double balance);
  Account(std::initializer_list<int> numbers, Kind kind);
  Account(const Account& other);
  Account(Account&& other) noexcept;
  KINDS_CALLED virtual ~Account();
  Account& operator=(const Account& other);
  void deposit(const std::string& from, double amount);
  void rename(std::string_view name);
  int count(int more);
  KINDS_CALLED virtual int score(const std::string& rule) const;
  virtual void visit(const std::string& who, Kind kind);
  std::string title(const std::string& prefix) const;
  std::string statement(const std::string& of, int year);
  double balance_in(const std::string& currency, int digits) const;
  void set(Kind kind, const std::vector<int>& numbers) &;
  std::string release(const std::string& to) &&;
  static int opened(const std::string& kind);
  static std::string kind(const std::string& of);
  static std::vector<std::string> names(const std::vector<std::string>& of);
  Account& operator+=(const std::string& more);
  bool operator==(const std::string& name) const;
  int operator[](const std::string& key);
  void operator()(const std::string& what, int n);
  Account& operator++();
  void operator--(int);
  const std::string* operator->() const;
  bool operator!() const;
  explicit operator std::string() const;
  explicit operator double() const;
  void fails(const std::string& why);

private:
  std::string name_;
  double balance_ = 0;
};
class Savings : public virtual Account {
public:
  KINDS_CALLED Savings(const std::string& name, int years);
  KINDS_CALLED ~Savings() override;
  KINDS_CALLED int score(const std::string& rule) const override;
};
class Special : public Savings {
public:
  explicit Special(const std::string& name);
  KINDS_CALLED ~Special() override;
};
std::string operator+(const Account& a, const std::string& b);
bool operator<(const Account& a, const Account& b);
void account(Account a, const std::string& b);
Account gives_account(const std::string& a);
unsigned long operator""_kind(const char* a, std::size_t b);
namespace inner {
inline namespace v2 {
void versioned(const std::string& a, double b);
}
struct Outer {
  struct Nested {
    static void call(const std::string& a, Point b);
  };
};
} // namespace inner

// Templates.
template <class T>
T twice(T a, const std::string& b);
extern template int twice<int>(int, const std::string&);
extern template double twice<double>(double, const std::string&);
template <class... Parts>
std::string joined(const std::string& a, Parts... parts);
extern template std::string joined<int, double>(const std::string&, int, double);
template <class T>
T largest(const std::vector<T>& a);
extern template double largest<double>(const std::vector<double>&);
template <int kSize>
std::vector<int> filled(int a);
extern template std::vector<int> filled<3>(int);
template <class T>
void forwarded(T&& a, int b);
extern template void forwarded<const std::string&>(const std::string&, int);
extern template void forwarded<std::string>(std::string&&, int);
template <class T>
std::optional<T> wrapped(T a, bool is);
extern template std::optional<long> wrapped<long>(long, bool);
template <class T>
class Box {
public:
  explicit Box(const T& value);
  void put(const T& value);
  const T& get(int index) const;
  static bool holds(const T& value);

private:
  T value_;
};
extern template class Box<std::string>;

} // namespace kinds

#endif
