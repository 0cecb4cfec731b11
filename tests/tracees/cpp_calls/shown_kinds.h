// What the log should show of the types of kinds.h.
#ifndef SHOWN_KINDS_H
#define SHOWN_KINDS_H

#include "kinds.h"
#include "shown.h"

namespace told {

/// By its name where debug information has it; else as a register of which nothing is known.
template <class Enum>
Shown enumerator(Enum value, const char* name) {
  const long number = static_cast<long>(value);
  return {name, number > 10000 ? address(reinterpret_cast<void*>(number)) : std::to_string(number)};
}

} // namespace told

namespace kinds {

using namespace told;
using told::shown; // not hidden by those below

// Found where the types are. There is no function of them in the library: all that it has in this
// namespace is what is traced.
#define INLINED [[gnu::always_inline]] inline
INLINED Shown shown(Color value) {
  return enumerator(value, value == Red ? "Red" : value == Green ? "Green" : "Blue");
}
INLINED Shown shown(Level value) { return enumerator(value, value == Level::Low ? "Low" : "High"); }
INLINED Shown shown(Tag value) { return enumerator(value, value == Tag::Some ? "Some" : "None"); }
INLINED Shown shown(Wide value) { return enumerator(value, value == Wide::Far ? "Far" : "Near"); }
INLINED Shown shown(Account::Kind value) {
  return enumerator(value, value == Account::Plain ? "Plain" : "Special");
}
INLINED Shown shown(Access value) {
  Text names;
  for (const auto& [bit, name] :
       {std::pair(Read, "Read"), std::pair(Write, "Write"), std::pair(Execute, "Execute")})
    if ((value & bit) != 0) names += (names.empty() ? "" : "|") + Text(name);
  return enumerator(value, names.c_str());
}
INLINED Shown shown(Point value) {
  return {"{ " + std::to_string(value.x) + ", " + std::to_string(value.y) + " }", "?"};
}
INLINED Shown shown(Pair value) {
  return {"{ " + std::to_string(value.a) + ", " + std::to_string(value.b) + " }", "?"};
}
INLINED Shown shown(Real value) {
  return {"{ " + decimal(value.x) + ", " + decimal(value.y) + " }", "?"};
}
INLINED Shown shown(Floats value) {
  return {"{ " + shown(value.x).named + ", " + shown(value.y).named + " }", "?"};
}
INLINED Shown shown(Mixed value) {
  return {"{ " + decimal(value.share) + ", " + std::to_string(value.count) + " }", "?"};
}
INLINED Shown shown(Small value) { return {"{ " + shown(value.c).named + " }", "?"}; }
INLINED Shown shown(const Large& value) {
  Text text = "{ [ ";
  for (int at = 0; at < 4; ++at)
    text += std::to_string(value.values[at]) + ", ";
  return {text.substr(0, text.size() - 2) + "... ] }", "?"};
}
INLINED Shown shown(Label value) {
  return {"{ " + shown(value.text).named + ", " + std::to_string(value.size) + " }", "?"};
}

} // namespace kinds

#endif
