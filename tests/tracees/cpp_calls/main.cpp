// Calls each function of kinds.h, with what its kind is about.
#include <stdexcept>

#include "kinds.h"

using namespace kinds;

namespace {

int negated(int a) { return -a; }

void call_with_numbers() {
  integers(-1, 4000000000U, -5000000000, 5, -7, 'x');
  small(-1, 200, 60000, true);
  wide_characters(L'w', u'a', U'u');
  long_longs(-1, 18446744073709551615ULL);
  reals(0.5, 0.25F, 3);
  many_reals(1, 2, 3, 4, 5, 6, 7, 8, 9.5);
  one_float(1.5F);
  one_double(-0.125);
  long_double(2.5L, 4);
  many(1, 2, 3, 4, 5, 6, 7, 8);
  in_turn(1, 0.5, -2, 1.5F, true, 2.5);
  truth(true);
  letter('\n');
  number(41);
  unsigned_number(7);
  nothing();
  complex_double({1, -0.5}, 4);
  complex_float({1.5F, -2}, true);
  duration(std::chrono::milliseconds(250), 0.5);
}

void call_with_enumerations() {
  color(Blue);
  level(Level::Low, 3);
  level(Level::High, 4);
  tag(Tag::Some, "some");
  wide_level(Wide::Far, true);
  access(Access(Read | Execute), "read");
  color_and_color(Green, Blue, "both");
  text_and_color("green", Green);
  color_behind(Green);
  colors({Red, Blue});
  maybe_color(Blue, 1);
  maybe_color(std::nullopt, 2);
}

void call_with_pointers() {
  int value = 5, *place = &value;
  double real = 0.5;
  const Point point{1, 2};
  char text[16] = "before";
  const char* const c_text = "c";
  const int three[3] = {1, 2, 3};
  c_string("plain", 1);
  c_string("\t\"quoted\"\\\001\377", 2);
  c_string("longer than what is shown of a string by default", 3);
  c_strings("", nullptr);
  buffer(text, "in");
  wide_c_string(L"wide");
  pointers(&value, &real, nullptr);
  pointer_to_pointer(&place, &c_text);
  point_behind(&point, 6);
  function_pointer(negated, 7);
  member_pointer(&Point::y, 8);
  null_pointer(nullptr, 9);
  array_behind(three, 10);
  references(7, 0.5, true);
  std::string filled = "filled";
  output(value, filled);
  moved(9, 1.5);
  formatted("text", "%d", 5);
}

void call_with_texts() {
  const std::string empty, nuls("a\0b\n", 4), long_one(100, 'x');
  for (const std::string& each :
       {empty, std::string("short"), nuls, long_one, std::string("\"\\"), std::string(15, 'f'),
        std::string(16, 's'), std::string(22, 't'), std::string(23, 'u')})
    text(each);
  texts("one", long_one, 2);
  text_between(1, "two", 3.5, "four");
  std::string changing = "before";
  changes(changing, 3);
  changes(changing, 4);
  takes("by value", 5);
  takes_two("first", "second");
  std::string moving(50, 'm');
  takes_moved(std::move(moving));
  text(moving); // moved from
  text_pointer(&changing);
  view("a view", 6);
  view(std::string_view("not all of it", 3), 7);
  view({}, 8);
  view_behind(9, "behind");
  views("one", "two", "three");
  wide(L"wide text");
  sixteen(u"sixteen", "text");
  on_the_stack(1, 2, 3, 4, 5, 6, "on the stack");
  view_on_the_stack(1, 2, 3, 4, 5, "a view", "there");
  gives_text("gives", 10);
  gives_view("a view");
  gives_reference("referred");
  gives_c_string("c string");
  gives_large("a large one");
  gives_point("a small one");
  gives_reals("two reals");
}

void call_with_containers() {
  ints({});
  ints({1, -2, 3});
  ints({1, 2, 3, 4, 5, 6});
  longs({1, 3, 256, 256}, 4);
  doubles({0.5, 1}, 2.5);
  floats({0.5F, 2});
  characters({'a', '\0'});
  bytes({1, 255});
  truths({true, false}, "truths");
  strings({"a", "bb", std::string(40, 'c')});
  all_views({"v", "vv"});
  c_texts({"c", nullptr});
  nested({{1, 2}, {}, {3}});
  std::vector<int> changing = {1};
  changed_ints(changing, 2);
  changed_ints(changing, 3);
  list({4, 5}, 6);
  text_list({"in", "a list"});
  real_list(7, {0.5, 1.5});
  array({1, 2, 3});
  array_by_value({1, 2, 3}, 4);
  reals_by_value({0.5, 1.5}, "reals");
  array_in_memory({1, 2, 3, 4, 5}, "memory");
  pairs({{1, 0.5}, {2, 1.5}});
  named_pairs({{"one", 1}});
  maybe_ints({1, std::nullopt});
  pointers_in({nullptr, std::make_shared<int>(1)});
  points({{1, 2}, {3, 4}}, "points");
  other_containers({1}, {2}, {3}, "containers");
  maps({{"one", 1}}, {{1, 2}}, 3);
  gives_ints({7, 8});
}

void call_with_values() {
  maybe_int(5, 1);
  maybe_int(std::nullopt, 2);
  maybe_real(0.5, 3);
  maybe_text("there");
  maybe_text(std::nullopt);
  maybe_text_by_value("by value", 4);
  maybe_list(std::vector<int>{1, 2});
  gives_maybe(true);
  gives_maybe(std::nullopt);
  shared(std::make_shared<int>(3), 5);
  shared_by_value(std::make_shared<int>(4), "shared");
  unique(std::make_unique<int>(5), "unique");
  unique_behind(std::make_unique<int>(6), 6);
  gives_shared(7);
  pair({1, 2}, 3);
  mixed_pair({1, 0.5}, "mixed");
  pair_behind({"first", 1.5});
  tuple({1, "in"}, "a tuple");
  variant("in", "a variant");
  any(1, "any");
  function(negated, "a function");
  function_by_value(negated, 0.25);
  point({1, 2}, "a point");
  two_words({1, 2}, "two words");
  large({{1, 2, 3, 4, 5}}, "large");
  real({0.5, 1.5}, "real");
  two_floats({0.5F, 1}, 2.5);
  mixed({0.5, 3}, "mixed");
  small_class({'s'}, 1);
  empty({}, "empty");
  either({5}, "either");
  bits({1, 2}, "bits");
  label({"label", 5}, "labelled");
  derived({{1, 2}, 3}, "derived");
  Point out{};
  points_behind({3, 4}, out, {"behind", 6});
}

void call_members() {
  Account nobody;
  Account account_("first");
  Account other("second", 2.5);
  Account listed({1, 2}, Account::Special);
  const Account copy(other);
  Account moved_to(std::move(listed));
  nobody = other;
  account_.deposit("wages", 100.5);
  account_.rename("a name that is too long to be a small one");
  account_.count(5);
  copy.score("rule");
  account_.visit("a visitor", Account::Plain);
  copy.title("Sir ");
  other.statement("of ", 2020);
  copy.balance_in("EUR", 2);
  account_.set(Account::Special, {1, 2});
  std::move(moved_to).release("somebody");
  Account::opened("all");
  Account::kind("any");
  Account::names({"one", "two"});
  account_ += "more";
  (void)(copy == "second");
  (void)account_["key"];
  account_("what", 3);
  ++account_;
  account_--;
  (void)copy->size();
  (void)!copy;
  (void)std::string(copy);
  (void)double(copy);
  try {
    account_.fails("on purpose");
  } catch (const std::runtime_error&) {}
  const Savings savings("savings", 5);
  const Account& as_account = savings;
  as_account.score("other rule");
  const Special special("special");
  (void)(copy + "added");
  (void)(account_ < copy);
  account(copy, "by value");
  gives_account("made");
  (void)"literal"_kind;
  inner::versioned("versioned", 0.5);
  inner::Outer::Nested::call("nested", {1, 2});
}

void call_templates() {
  twice(4, "int");
  twice(0.5, "double");
  joined("joined", 1, 2.5);
  largest<double>({0.5, 2});
  filled<3>(7);
  const std::string forwarded_one = "forwarded";
  forwarded(forwarded_one, 1);
  forwarded(std::string("moved"), 2);
  wrapped(5L, true);
  Box<std::string> box("boxed");
  box.put("another");
  (void)box.get(1);
  Box<std::string>::holds("held");
}

} // namespace

int main() {
  call_with_numbers();
  call_with_enumerations();
  call_with_pointers();
  call_with_texts();
  call_with_containers();
  call_with_values();
  call_members();
  call_templates();
}
