// Numbers, enumerations, pointers and references, containers, values that may not be there.
#include <cstdarg>

#include "shown_kinds.h"

namespace kinds {

// Numbers.

void integers(int a, unsigned b, long c, unsigned long d, short e, char f) {
  Call("integers").with(a, b, c, d, e, f).gives_nothing();
}
void small(signed char a, unsigned char b, unsigned short c, bool d) {
  Call("small").with(a, b, c, d).gives_nothing();
}
void wide_characters(wchar_t a, char16_t b, char32_t c) {
  Call("wide_characters").with(a, static_cast<int>(b), c).gives_nothing();
}
long long long_longs(long long a, unsigned long long b) {
  Call("long_longs").with(a, b).gives(a);
  return a;
}
void reals(double a, float b, int c) { Call("reals").with(a, b, c).gives_nothing(); }
void many_reals(double a, double b, double c, double d, double e, double f, double g, double h,
                double i) {
  Call("many_reals").with(a, b, c, d, e, f, g, h, i).gives_nothing();
}
float one_float(float a) {
  Call("one_float").with(a).gives(a);
  return a;
}
double one_double(double a) {
  Call("one_double").with(a).gives(a * 2);
  return a * 2;
}
void long_double(long double a, int b) { Call("long_double").with(a, b).gives_nothing(); }
void many(int a, int b, int c, int d, int e, int f, int g, int h) {
  Call("many").with(a, b, c, d, e, f, g, h).gives_nothing();
}
void in_turn(int a, double b, long c, float d, bool e, double f) {
  Call("in_turn").with(a, b, c, d, e, f).gives_nothing();
}
bool truth(bool a) {
  Call("truth").with(a).gives(!a);
  return !a;
}
char letter(char a) {
  Call("letter").with(a).gives(a);
  return a;
}
int number(int a) {
  Call("number").with(a).gives(a + 1);
  return a + 1;
}
unsigned long unsigned_number(unsigned long a) {
  Call("unsigned_number").with(a).gives(a);
  return a;
}
int nothing() {
  Call("nothing").gives(3);
  return 3;
}
void complex_double(std::complex<double> a, int b) {
  Call("complex_double").with(a, b).gives_nothing();
}
void complex_float(std::complex<float> a, bool b) {
  Call("complex_float").with(a, b).gives_nothing();
}
void duration(std::chrono::milliseconds a, double b) {
  Call("duration").with(a.count(), b).gives_nothing();
}

// Enumerations.

Color color(Color a) {
  Call("color").with(a).gives(a);
  return a;
}
void level(Level a, int b) { Call("level").with(a, b).gives_nothing(); }
void tag(Tag a, const std::string& b) { Call("tag").with(a, b).gives_nothing(); }
void wide_level(Wide a, bool b) { Call("wide_level").with(a, b).gives_nothing(); }
void access(Access a, const std::string& b) { Call("access").with(a, b).gives_nothing(); }
void color_and_color(Color a, Color b, const std::string& c) {
  Call("color_and_color").with(a, b, c).gives_nothing();
}
void text_and_color(const std::string& a, Color b) {
  Call("text_and_color").with(a, b).gives_nothing();
}
void color_behind(const Color& a) { Call("color_behind").with(behind(a)).gives_nothing(); }
void colors(const std::vector<Color>& a) { Call("colors").with(behind(a)).gives_nothing(); }
void maybe_color(std::optional<Color> a, int b) { Call("maybe_color").with(a, b).gives_nothing(); }

// Pointers and references.

void c_string(const char* a, int b) { Call("c_string").with(a, b).gives_nothing(); }
void c_strings(const char* a, const char* b) { Call("c_strings").with(a, b).gives_nothing(); }
void buffer(char* a, const char* b) {
  Call("buffer").with(a, b).gives_nothing();
  a[0] = b[0];
}
void wide_c_string(const wchar_t* a) { Call("wide_c_string").with(a).gives_nothing(); }
void pointers(int* a, const double* b, void* c) { Call("pointers").with(a, b, c).gives_nothing(); }
void pointer_to_pointer(int** a, const char* const* b) {
  Call("pointer_to_pointer").with(a, b).gives_nothing();
}
void point_behind(const Point* a, int b) {
  Call("point_behind").with(Shown{shown(*a).described, address(a)}, b).gives_nothing();
}
void function_pointer(int (*a)(int), int b) { Call("function_pointer").with(a, b).gives_nothing(); }
void member_pointer(int Point::*a, int b) {
  Call("member_pointer").with(a == &Point::y ? 4 : 0, b).gives_nothing();
}
void null_pointer(std::nullptr_t a, int b) { Call("null_pointer").with(a, b).gives_nothing(); }
void array_behind(const int (&a)[3], int b) { Call("array_behind").with(at(a), b).gives_nothing(); }
void references(const int& a, const double& b, const bool& c) {
  Call("references").with(a, b, c).gives_nothing();
}
void output(int& a, std::string& b) {
  Call("output").with(at(a), b).gives_nothing();
  a = 5;
  b = "changed";
}
void moved(int&& a, double&& b) { Call("moved").with(a, b).gives_nothing(); }
void formatted(const std::string& a, const char* format, ...) {
  va_list rest;
  va_start(rest, format);
  (void)va_arg(rest, int);
  va_end(rest);
  Call("formatted").with(a, format, both("...")).gives_nothing();
}

// Containers.

void ints(const std::vector<int>& a) { Call("ints").with(a).gives_nothing(); }
void longs(std::vector<long> a, int b) { Call("longs").with(a, b).gives_nothing(); }
void doubles(const std::vector<double>& a, double b) { Call("doubles").with(a, b).gives_nothing(); }
void floats(std::vector<float>&& a) { Call("floats").with(a).gives_nothing(); }
void characters(const std::vector<char>& a) { Call("characters").with(a).gives_nothing(); }
void bytes(const std::vector<unsigned char>& a) { Call("bytes").with(a).gives_nothing(); }
void truths(const std::vector<bool>& a, const std::string& b) {
  Call("truths").with(at(a), b).gives_nothing();
}
void strings(const std::vector<std::string>& a) { Call("strings").with(a).gives_nothing(); }
void all_views(const std::vector<std::string_view>& a) {
  Call("all_views").with(a).gives_nothing();
}
void c_texts(const std::vector<const char*>& a) { Call("c_texts").with(a).gives_nothing(); }
void nested(const std::vector<std::vector<int>>& a) { Call("nested").with(a).gives_nothing(); }
void changed_ints(std::vector<int>& a, int b) {
  Call("changed_ints").with(a, b).gives_nothing();
  a.push_back(b);
}
void list(std::initializer_list<int> a, int b) { Call("list").with(a, b).gives_nothing(); }
void text_list(std::initializer_list<std::string> a) { Call("text_list").with(a).gives_nothing(); }
void real_list(int a, std::initializer_list<double> b) {
  Call("real_list").with(a, b).gives_nothing();
}
void array(const std::array<int, 3>& a) { Call("array").with(a).gives_nothing(); }
void array_by_value(std::array<int, 3> a, int b) {
  Call("array_by_value").with(a, b).gives_nothing();
}
void reals_by_value(std::array<double, 2> a, const std::string& b) {
  Call("reals_by_value").with(a, b).gives_nothing();
}
void array_in_memory(std::array<long, 5> a, const std::string& b) {
  Call("array_in_memory").with(a, b).gives_nothing();
}
void pairs(const std::vector<std::pair<int, double>>& a) { Call("pairs").with(a).gives_nothing(); }
void named_pairs(const std::vector<std::pair<std::string, int>>& a) {
  Call("named_pairs").with(a).gives_nothing();
}
void maybe_ints(const std::vector<std::optional<int>>& a) {
  Call("maybe_ints").with(a).gives_nothing();
}
void pointers_in(const std::vector<std::shared_ptr<int>>& a) {
  Call("pointers_in").with(a).gives_nothing();
}
void points(const std::vector<Point>& a, const std::string& b) {
  Call("points").with(behind(a), b).gives_nothing();
}
void other_containers(const std::deque<int>& a, const std::list<int>& b, const std::set<int>& c,
                      const std::string& d) {
  Call("other_containers").with(at(a), at(b), at(c), d).gives_nothing();
}
void maps(const std::map<std::string, int>& a, const std::unordered_map<int, int>& b, int c) {
  Call("maps").with(at(a), at(b), c).gives_nothing();
}
std::vector<int> gives_ints(const std::vector<int>& a) {
  Call("gives_ints").with(a).gives(a);
  return a;
}

// Values that may not be there, smart pointers, others of the library.

void maybe_int(std::optional<int> a, int b) { Call("maybe_int").with(a, b).gives_nothing(); }
void maybe_real(std::optional<double> a, int b) { Call("maybe_real").with(a, b).gives_nothing(); }
void maybe_text(const std::optional<std::string>& a) { Call("maybe_text").with(a).gives_nothing(); }
void maybe_text_by_value(std::optional<std::string> a, int b) {
  Call("maybe_text_by_value").with(a, b).gives_nothing();
}
void maybe_list(const std::optional<std::vector<int>>& a) {
  Call("maybe_list").with(a).gives_nothing();
}
std::optional<int> gives_maybe(std::optional<bool> a) {
  const std::optional<int> result = a ? std::optional<int>(4) : std::nullopt;
  Call("gives_maybe").with(a).gives(result);
  return result;
}
void shared(const std::shared_ptr<int>& a, int b) { Call("shared").with(a, b).gives_nothing(); }
void shared_by_value(std::shared_ptr<const int> a, const std::string& b) {
  Call("shared_by_value").with(a, b).gives_nothing();
}
void unique(std::unique_ptr<int> a, const std::string& b) {
  Call("unique").with(a, b).gives_nothing();
}
void unique_behind(const std::unique_ptr<int>& a, int b) {
  Call("unique_behind").with(a, b).gives_nothing();
}
std::shared_ptr<int> gives_shared(int a) {
  auto made = std::make_shared<int>(a);
  Call("gives_shared").with(a).gives(made);
  return made;
}
void pair(std::pair<int, int> a, int b) { Call("pair").with(a, b).gives_nothing(); }
void mixed_pair(std::pair<int, double> a, const std::string& b) {
  Call("mixed_pair").with(a, b).gives_nothing();
}
void pair_behind(const std::pair<std::string, double>& a) {
  Call("pair_behind").with(a).gives_nothing();
}
void tuple(const std::tuple<int, std::string>& a, const std::string& b) {
  Call("tuple").with(at(a), b).gives_nothing();
}
void variant(const std::variant<int, std::string>& a, const std::string& b) {
  Call("variant").with(at(a), b).gives_nothing();
}
void any(const std::any& a, const std::string& b) { Call("any").with(at(a), b).gives_nothing(); }
void function(const std::function<int(int)>& a, const std::string& b) {
  Call("function").with(at(a), b).gives_nothing();
}
void function_by_value(std::function<int(int)> a, double b) {
  Call("function_by_value").with(at(a), b).gives_nothing();
}

} // namespace kinds
