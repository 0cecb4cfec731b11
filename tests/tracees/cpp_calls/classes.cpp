// Texts, classes by value, members, templates.
#include <stdexcept>

#include "shown_kinds.h"

namespace kinds {

// Texts.

void text(const std::string& a) { Call("text").with(a).gives_nothing(); }
void texts(const std::string& a, const std::string& b, int c) {
  Call("texts").with(a, b, c).gives_nothing();
}
void text_between(int a, const std::string& b, double c, const std::string& d) {
  Call("text_between").with(a, b, c, d).gives_nothing();
}
void changes(std::string& a, int b) {
  Call("changes").with(a, b).gives_nothing();
  a += " and more";
}
void takes(std::string a, int b) { Call("takes").with(a, b).gives_nothing(); }
void takes_two(std::string a, std::string b) { Call("takes_two").with(a, b).gives_nothing(); }
void takes_moved(std::string&& a) {
  Call("takes_moved").with(a).gives_nothing();
  const std::string taken = std::move(a);
}
void text_pointer(const std::string* a) { Call("text_pointer").with(a).gives_nothing(); }
void view(std::string_view a, int b) { Call("view").with(a, b).gives_nothing(); }
void view_behind(int a, const std::string_view& b) {
  Call("view_behind").with(a, b).gives_nothing();
}
void views(std::string_view a, std::string_view b, std::string_view c) {
  Call("views").with(a, b, c).gives_nothing();
}
void wide(const std::wstring& a) { Call("wide").with(a).gives_nothing(); }
void sixteen(const std::u16string& a, const std::string& b) {
  Call("sixteen").with(at(a), b).gives_nothing();
}
void on_the_stack(int a, int b, int c, int d, int e, int f, const std::string& g) {
  Call("on_the_stack").with(a, b, c, d, e, f, g).gives_nothing();
}
void view_on_the_stack(int a, int b, int c, int d, int e, std::string_view f,
                       const std::string& g) {
  Call("view_on_the_stack").with(a, b, c, d, e, f, g).gives_nothing();
}
std::string gives_text(const std::string& a, int b) {
  std::string both_of_them = a + a;
  Call("gives_text").with(a, b).gives(both_of_them);
  return both_of_them;
}
std::string_view gives_view(std::string_view a) {
  Call("gives_view").with(a).gives(a.substr(1));
  return a.substr(1);
}
const std::string& gives_reference(const std::string& a) {
  Call("gives_reference").with(a).gives(a);
  return a;
}
const char* gives_c_string(const std::string& a) {
  Call("gives_c_string").with(a).gives(a.c_str());
  return a.c_str();
}
Large gives_large(const std::string& a) {
  const Large large = {{1, 2, 3, 4, 5}};
  Call("gives_large").with(a).gives(large);
  return large;
}
Point gives_point(const std::string& a) {
  Call("gives_point").with(a).gives(Point{7, 8});
  return {7, 8};
}
Real gives_reals(const std::string& a) {
  Call("gives_reals").with(a).gives(Real{0.5, 1});
  return {0.5, 1};
}

// Classes by value.

void point(Point a, const std::string& b) { Call("point").with(a, b).gives_nothing(); }
Pair two_words(Pair a, const std::string& b) {
  Call("two_words").with(a, b).gives(a);
  return a;
}
void large(Large a, const std::string& b) { Call("large").with(a, b).gives_nothing(); }
void real(Real a, const std::string& b) { Call("real").with(a, b).gives_nothing(); }
void two_floats(Floats a, double b) { Call("two_floats").with(a, b).gives_nothing(); }
void mixed(Mixed a, const std::string& b) { Call("mixed").with(a, b).gives_nothing(); }
void small_class(Small a, int b) { Call("small_class").with(a, b).gives_nothing(); }
void empty(Empty, const std::string& b) { Call("empty").with(absent(), b).gives_nothing(); }
void either(Either, const std::string& b) { Call("either").with(elided(), b).gives_nothing(); }
void bits(Bits, const std::string& b) { Call("bits").with(elided(), b).gives_nothing(); }
void label(Label a, const std::string& b) { Call("label").with(a, b).gives_nothing(); }
void derived(Derived, const std::string& b) { Call("derived").with(elided(), b).gives_nothing(); }
void points_behind(const Point& a, Point& b, const Label& c) {
  Call("points_behind").with(behind(a), at(b), behind(c)).gives_nothing();
}

// Members.

Account::Account() { Call("Account::Account").of(this).tells_nothing(); }
Account::Account(const std::string& name) : name_(name) {
  Call("Account::Account").of(this).with(name).tells_nothing();
}
Account::Account(const std::string& name, double balance) : name_(name), balance_(balance) {
  Call("Account::Account").of(this).with(name, balance).tells_nothing();
}
Account::Account(std::initializer_list<int> numbers, Kind kind) {
  Call("Account::Account").of(this).with(numbers, kind).tells_nothing();
}
Account::Account(const Account& other) : name_(other.name_), balance_(other.balance_) {
  Call("Account::Account").of(this).with(at(other)).tells_nothing();
}
Account::Account(Account&& other) noexcept : name_(other.name_), balance_(other.balance_) {
  Call("Account::Account").of(this).with(at(other)).tells_nothing();
}
Account::~Account() { Call("Account::~Account").of(this).tells_nothing(); }
Account& Account::operator=(const Account& other) {
  Call("Account::operator=").of(this).with(at(other)).gives(at(*this));
  name_ = other.name_;
  return *this;
}
void Account::deposit(const std::string& from, double amount) {
  Call("Account::deposit").of_unnamed(this).with(from, amount).gives_nothing();
  balance_ += amount;
}
void Account::rename(std::string_view name) {
  Call("Account::rename").of_unnamed(this).with(name).gives_nothing();
  name_ = name;
}
int Account::count(int more) {
  Call("Account::count").of_unnamed(this).with(more).gives(more);
  return more;
}
int Account::score(const std::string& rule) const {
  Call("Account::score").of(this).with(rule).gives(1);
  return 1;
}
void Account::visit(const std::string& who, Kind kind) {
  Call("Account::visit").of_unnamed(this).with(who, kind).gives_nothing();
}
std::string Account::title(const std::string& prefix) const {
  std::string whole = prefix + name_;
  Call("Account::title").of(this).with(prefix).gives(whole);
  return whole;
}
std::string Account::statement(const std::string& of, int year) {
  std::string whole = of + name_;
  Call("Account::statement").of_unnamed(this).with(of, year).gives(whole);
  return whole;
}
double Account::balance_in(const std::string& currency, int digits) const {
  Call("Account::balance_in").of(this).with(currency, digits).gives(balance_);
  return balance_;
}
void Account::set(Kind kind, const std::vector<int>& numbers) & {
  Call("Account::set").of(this).with(kind, numbers).gives_nothing();
}
std::string Account::release(const std::string& to) && {
  Call("Account::release").of(this).with(to).gives(name_);
  return name_;
}
int Account::opened(const std::string& kind) {
  Call("Account::opened").with(kind).gives(2);
  return 2;
}
std::string Account::kind(const std::string& of) {
  Call("Account::kind").with(of).gives(of);
  return of;
}
std::vector<std::string> Account::names(const std::vector<std::string>& of) {
  Call("Account::names").with(of).gives(of);
  return of;
}
Account& Account::operator+=(const std::string& more) {
  Call("Account::operator+=").of(this).with(more).gives(at(*this));
  return *this;
}
bool Account::operator==(const std::string& name) const {
  Call("Account::operator==").of(this).with(name).gives(name == name_);
  return name == name_;
}
int Account::operator[](const std::string& key) {
  Call("Account::operator[]").of(this).with(key).gives(3);
  return 3;
}
void Account::operator()(const std::string& what, int n) {
  Call("Account::operator()").of(this).with(what, n).gives_nothing();
}
Account& Account::operator++() {
  Call("Account::operator++").of(this).gives(at(*this));
  return *this;
}
void Account::operator--(int n) { Call("Account::operator--").of(this).with(n).gives_nothing(); }
const std::string* Account::operator->() const {
  Call("Account::operator->").of(this).gives(&name_);
  return &name_;
}
bool Account::operator!() const {
  Call("Account::operator!").of(this).gives(name_.empty());
  return name_.empty();
}
Account::operator std::string() const {
  Call("Account::operator std::string").of(this).tells(name_);
  return name_;
}
Account::operator double() const {
  Call("Account::operator double").of(this).tells(balance_);
  return balance_;
}
void Account::fails(const std::string& why) {
  Call("Account::fails").of_unnamed(this).with(why).throws();
  throw std::runtime_error(why);
}

Savings::Savings(const std::string& name, int years) : Account(name) {
  Call("Savings::Savings").of(this).with(name, years).tells_nothing();
}
Savings::~Savings() { Call("Savings::~Savings").of(this).tells_nothing(); }
int Savings::score(const std::string& rule) const {
  Call("Savings::score").of(this).with(rule).gives(4);
  return 4;
}
Special::Special(const std::string& name) : Account(name, 1.5), Savings(name, 7) {
  Call("Special::Special").of(this).with(name).tells_nothing();
}
Special::~Special() { Call("Special::~Special").of(this).tells_nothing(); }

std::string operator+(const Account& a, const std::string& b) {
  Call("operator+").with(at(a), b).gives(b);
  return b;
}
bool operator<(const Account& a, const Account& b) {
  Call("operator<").with(at(a), at(b)).gives(&a < &b);
  return &a < &b;
}
void account(Account a, const std::string& b) { Call("account").with(at(a), b).gives_nothing(); }
Account gives_account(const std::string& a) {
  Account made(a);
  Call("gives_account").with(a).gives(at(made));
  return made;
}
unsigned long operator""_kind(const char* a, std::size_t b) {
  Call("operator\"\" _kind").with(a, b).gives(b);
  return b;
}

namespace inner {
inline namespace v2 {
void versioned(const std::string& a, double b) {
  Call("inner::v2::versioned").with(a, b).gives_nothing();
}
} // namespace v2
void Outer::Nested::call(const std::string& a, Point b) {
  Call("inner::Outer::Nested::call").with(a, b).gives_nothing();
}
} // namespace inner

// Templates.

template <class T>
T twice(T a, const std::string& b) {
  Call(sizeof a == 4 ? "twice<int>" : "twice<double>").with(a, b).tells(a + a);
  return a + a;
}
template int twice<int>(int, const std::string&);
template double twice<double>(double, const std::string&);

template <class... Parts>
std::string joined(const std::string& a, Parts... parts) {
  Call("joined<int, double>").with(a, parts...).tells(a);
  return a;
}
template std::string joined<int, double>(const std::string&, int, double);

template <class T>
T largest(const std::vector<T>& a) {
  Call("largest<double>").with(a).tells(a.back());
  return a.back();
}
template double largest<double>(const std::vector<double>&);

template <int kSize>
std::vector<int> filled(int a) {
  std::vector<int> made(kSize, a);
  Call("filled<3>").with(a).tells(made);
  return made;
}
template std::vector<int> filled<3>(int);

template <class T>
void forwarded(T&& a, int b) {
  Call(std::is_reference_v<T> ? "forwarded<std::string const&>" : "forwarded<std::string>")
      .with(a, b)
      .tells_nothing();
}
template void forwarded<const std::string&>(const std::string&, int);
template void forwarded<std::string>(std::string&&, int);

template <class T>
std::optional<T> wrapped(T a, bool is) {
  const std::optional<T> result = is ? std::optional<T>(a) : std::nullopt;
  Call("wrapped<long>").with(a, is).tells(result);
  return result;
}
template std::optional<long> wrapped<long>(long, bool);

template <class T>
Box<T>::Box(const T& value) : value_(value) {
  Call("Box<std::string>::Box").of(this).with(value).tells_nothing();
}
template <class T>
void Box<T>::put(const T& value) {
  Call("Box<std::string>::put").of_unnamed(this).with(value).gives_nothing();
  value_ = value;
}
template <class T>
const T& Box<T>::get(int index) const {
  Call("Box<std::string>::get").of(this).with(index).gives(value_);
  return value_;
}
template <class T>
bool Box<T>::holds(const T& value) {
  Call("Box<std::string>::holds").with(value).gives(true);
  return true;
}
template class Box<std::string>;

} // namespace kinds
