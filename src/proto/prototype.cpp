#include "sonictrace/proto/prototype.hpp"

namespace sonictrace::proto {

const Prototype& Prototype::unknown() {
  // What ltrace assumes: four words, each shown as a long with a guess at its base.
  static const Type guess = [] {
    Type type;
    type.kind = TypeKind::Signed;
    type.lens = Lens::Guess;
    return type;
  }();
  static const Prototype prototype{
      "", &guess, std::vector<Parameter>(4, Parameter{&guess, false}), false, true};
  return prototype;
}

} // namespace sonictrace::proto
