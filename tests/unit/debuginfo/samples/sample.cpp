// Behind each function stands the prototype that its debug information tells.
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#define EXPORT __attribute__((visibility("default"), noinline))

inline int sink;

namespace shop {
enum class Color : short { Red, Green = 3 };
enum Access : unsigned { None = 0, Read = 1, Write = 2, Run = 4, All = 7 };
struct Point { int x, y; };
struct Pair { std::string first; int second; };
struct Spread { double share; int count; };
struct Label { const char* text; int size; };

class Handle { // not to be copied as its bytes are
public:
  EXPORT explicit Handle(int number);
  EXPORT Handle(const Handle& other);
  EXPORT ~Handle();
  EXPORT int number() const;
  EXPORT static int count(int step);
  EXPORT virtual int scaled(double by);

private:
  int number_;
};

class Plain { // may be
public:
  EXPORT int get() const;
  int value, other;
};

struct Base { int base = 0; };
struct Joined : virtual Base {
  EXPORT explicit Joined(const char* name);
  EXPORT virtual ~Joined();
  int joined = 0;
};

// clang-format off
EXPORT void nothing() { ++sink; } // void _ZN4shop7nothingEv();
EXPORT std::string shout(const std::string& text, Color color) { return text + std::to_string(int(color)); } // std::string& _ZN4shop5shoutERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEENS_5ColorE(hide(ulong), std::string&, enum[short](Red=0, Green=3));
EXPORT int by_copy(std::string text, Access access) { return int(text.size()) + int(access); } // int _ZN4shop7by_copyENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEENS_6AccessE(std::string&, flags[uint](None=0, Read=1, Write=2, Run=4, All=7));
EXPORT std::vector<int> numbers(std::vector<std::string>&& names) { return std::vector<int>(names.size()); } // list(int)& _ZN4shop7numbersEOSt6vectorINSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEESaIS6_EE(hide(ulong), list(std::string)&);
EXPORT int view(std::string_view text, std::initializer_list<long> list) { return int(text.size() + list.size()); } // int _ZN4shop4viewESt17basic_string_viewIcSt11char_traitsIcEESt16initializer_listIlE(std::string_view, list(long));
EXPORT std::optional<int> maybe(std::optional<double> value) { return value ? std::optional<int>(int(*value)) : std::nullopt; } // optional(int) _ZN4shop5maybeESt8optionalIdE(optional(double));
EXPORT int owned(std::unique_ptr<int> one, std::shared_ptr<int> many) { return *one + *many; } // int _ZN4shop5ownedESt10unique_ptrIiSt14default_deleteIiEESt10shared_ptrIiE(addr&, addr&);
EXPORT Point moved(Point point, Spread spread) { point.x += spread.count; return point; } // struct(int, int) _ZN4shop5movedENS_5PointENS_6SpreadE(struct(int, int), struct(double, int));
EXPORT int referred(const Point& in, Point& out, const int& number, int& result, bool&& flag) { result = number; out = in; return flag; } // int _ZN4shop8referredERKNS_5PointERS0_RKiRiOb(struct(int, int)&, addr&, int&, addr&, bool(uchar)&);
EXPORT int labelled(const Label& label, const Label* more) { return label.size + more->size; } // int _ZN4shop8labelledERKNS_5LabelEPS1_(struct(string, int)&, struct(string, int)*);
EXPORT Handle copied(Handle handle, char letter) { sink += letter; return handle; } // addr& _ZN4shop6copiedENS_6HandleEc(hide(ulong), addr&, char);
EXPORT int plain(Plain plain, unsigned char byte, char32_t wide, char16_t narrow) { return plain.value + byte + int(wide) + narrow; } // int _ZN4shop5plainENS_5PlainEhDiDs(..., uchar, wchar, ushort);
EXPORT int pointers(int Point::*data, int (Plain::*method)() const, std::nullptr_t none, const char* text) { return (data == nullptr) + (method == nullptr) + (none == nullptr) + *text; } // int _ZN4shop8pointersEMNS_5PointEiMNS_5PlainEKFivEDnPKc(long, ..., addr, string);
EXPORT void filled(char* out, const wchar_t* wide) { *out = char(wide[0]); } // void _ZN4shop6filledEPcPKw(string?, wstring);
EXPORT int pair(const Pair& pair) { return pair.second; } // int _ZN4shop4pairERKNS_4PairE(struct(std::string, int)&);

Handle::Handle(int number) : number_(number) {} // void _ZN4shop6HandleC1Ei(addr&, int);
Handle::Handle(const Handle& other) : number_(other.number_) {} // void _ZN4shop6HandleC2ERKS0_(addr&, addr&);
Handle::~Handle() { ++sink; } // void _ZN4shop6HandleD1Ev(addr&);
int Handle::number() const { return number_; } // int _ZNK4shop6Handle6numberEv(addr&);
int Handle::count(int step) { return sink += step; } // int _ZN4shop6Handle5countEi(int);
int Handle::scaled(double by) { return int(number_ * by); } // int _ZN4shop6Handle6scaledEd(addr&, double);
int Plain::get() const { return value + other; } // int _ZNK4shop5Plain3getEv(addr&);
Joined::Joined(const char* name) : joined(*name) {} // void _ZN4shop6JoinedC1EPKc(addr&, string);
Joined::~Joined() { ++sink; } // void _ZN4shop6JoinedD2Ev(addr&, hide(ulong));
// of a base: void _ZN4shop6JoinedC2EPKc(addr&, hide(ulong), string);
// clang-format on
} // namespace shop

template <class T>
EXPORT T twice(T value) { return value + value; }
template EXPORT double twice(double);             // double _Z5twiceIdET_S0_(double);
template EXPORT std::string twice(std::string s); // std::string& _Z5twiceINSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEET_S6_(hide(ulong), std::string&);
template <class... T>
EXPORT int all(T... values) { return int((sink + ... + values)); }
template EXPORT int all(int, char, double); // int _Z3allIJicdEEiDpT_(int, char, double);
extern "C" EXPORT int plain_c(shop::Color color, const char* text) { return int(color) + *text; } // int plain_c(enum[short](Red=0, Green=3), string);
