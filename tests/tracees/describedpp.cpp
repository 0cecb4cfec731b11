// Calls functions of C++ that have debug information.
#include "libdescribedpp.h"

using namespace described;

int main() {
  char buffer[8] = {'\001', '\377', 0};
  color(Color::Green, "first");
  color(Color::Red, std::string(25, 'r'));
  shout("hello", Color::Green);
  copied("by value", 1);
  numbers({"a", "bb"}, 5);
  view("a view", {1, -2});
  maybe(0.5, Color::Red);
  maybe(std::nullopt, Color::Green);
  moved({1, 2}, {0.5, 3});
  Point out{};
  referred({3, 4}, out, 9);
  labelled({"label", 5}, 6);
  pair({1, 2}, "pair");
  filled(buffer, "in");
  owned(std::make_unique<int>(1), "owned");
  Handle handle("a name");
  handle.number(1);
  Handle::count("kind");
  handle.Handle::title("title ");
  handle.rename("another", Color::Green);
  handled(handle, "handled");
  made("made");
  Joined joined("joined", 3);
  Further further("further", 4);
  twice(1.25, "twice");
}
