// Calls functions of C++ that have no debug information, each with what its kind is about.
#include "libnames.h"

#include <stdexcept>

using namespace named;

namespace {

void call_plain() {
  integers(-1, 4000000000U, -5000000000, 5, -7, 'x');
  small(-1, 200, true, false);
  reals(0.5, 0.25F, 3);
  many_reals(1, 2, 3, 4, 5, 6, 7, 8, 9.5);
  many(1, 2, 3, 4, 5, 6, 7, 8);
  c_string("plain", 1);
  int number = 5;
  const Point point{1, 2};
  pointers(&number, &point, &number);
  references(7, 0.5, true);
  moved(9);
  gives_int(41);
  gives_double(2.5);
  color(BLUE);
  level(Level::LOW, 3);
}

void call_texts() {
  const std::string empty, nuls("a\0b\n", 4), large(100, 'x');
  for (const std::string& each : {empty, std::string("short"), nuls, large, std::string("\"\\")})
    text(each);
  texts("one", large, 2);
  std::string changing = "before";
  changes(changing, 3);
  changes(changing, 4);
  takes("by value", 5);
  std::string moving(50, 'm');
  takes_moved(std::move(moving));
  text(moving); // moved from
  view("a view", 6);
  view(std::string_view("not all of it", 3), 7);
  view_behind(8, "behind");
  wide(L"wide text");
  last(1, 2, 3, 4, 5, 6, "on the stack");
  color_and_text(GREEN, "green");
  gives_string("gives", 9);
  gives_large("a large one");
  gives_point("a small one");
}

void call_containers() {
  ints({});
  ints({1, -2, 3});
  ints({1, 2, 3, 4, 5, 6});
  longs({1, 3, 256, 256}, 4);
  doubles({0.5, 1});
  strings({"a", "bb", std::string(40, 'c')});
  nested({{1, 2}, {}, {3}});
  list({4, 5}, 6);
  array({1, 2, 3});
  pairs({{1, 0.5}, {2, 1.5}});
  gives_vector({7, 8});
}

void call_values() {
  maybe(5, 1);
  maybe(std::nullopt, 2);
  maybe_real(0.5, 3);
  maybe_text("there");
  maybe_text(std::nullopt);
  pair({1, 2}, 3);
  complex({1, -0.5}, 4);
  shared(std::make_shared<int>(3), 5);
  function([] {}, "a function");
  map({{1, 2}}, "a map");
  point({1, 2}, "a point");
  wide_struct({1, 2}, "wide");
  large({}, "large");
}

void call_members() {
  Account account("first");
  Account other("second", 2.5);
  const Account copy(other);
  account.deposit("wages", 100.5);
  account.rename("a name that is too long to be a small one");
  copy.score("rule");
  copy.title("Sir ");
  copy.balance_in("EUR", 2);
  Account::count("all");
  Account::kind("any");
  account += "more";
  (void)(copy == "second");
  (void)account["key"];
  account("what", 3);
  try {
    account.fails("on purpose");
  } catch (const std::runtime_error&) {}
  const Savings savings("savings", 5);
  savings.score("other rule");
  const Special special("special");
}

void call_templates() {
  (void)twice(4, "int");
  (void)twice(0.5, "double");
  (void)joined("joined", 1, 2.5);
}

} // namespace

int main() {
  call_plain();
  call_texts();
  call_containers();
  call_values();
  call_members();
  call_templates();
}
